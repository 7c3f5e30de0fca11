//! Sources of robots.txt files.
//!
//! A source is a file, a directory of files, or an archive with the history of any number of
//! origins. Histories in other formats can be imported into an archive.

pub mod directory;
pub mod snapshot;

pub mod entry;
pub mod export;
pub mod fetched;
pub mod import;
pub mod reader;
mod rows;
mod sqlite;
pub mod versions;
pub mod writer;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::url::origin::Origin;

use directory::Directory;
use reader::Archive;
use snapshot::Snapshot;
use sqlite::is_sqlite;

/// The source of robots.txt files for a run.
#[derive(Debug)]
pub enum Store {
    /// A single file for the whole log.
    File(PathBuf),
    /// A directory with one file per origin.
    Directory(Directory),
    /// An archive with snapshots of any number of origins.
    Archive(Archive),
}

impl Store {
    /// Opens a file, a directory or an archive.
    ///
    /// # Errors
    /// If `path` is missing or unreadable, a directory names one origin twice, or an archive has
    /// another version.
    pub fn open(path: &Path) -> Result<Store> {
        refuse_url(path)?;
        let metadata =
            std::fs::metadata(path).map_err(|err| Error::io("cannot read --robots", path, err))?;
        if metadata.is_dir() {
            return Ok(Store::Directory(Directory::open(path)?));
        }
        std::fs::File::open(path).map_err(|err| Error::io("cannot read --robots", path, err))?;
        // The first bytes of a pipe must not be consumed.
        if metadata.is_file() && is_sqlite(path)? {
            return Ok(Store::Archive(Archive::open(path)?));
        }
        Ok(Store::File(path.to_owned()))
    }

    /// The name of the robots.txt of `origin`, without reading it; `None` if nothing is known.
    pub fn source(&self, origin: &Origin) -> Option<String> {
        match self {
            Store::File(_) => None,
            Store::Directory(directory) => {
                directory.path_of(origin).map(|path| path.display().to_string())
            }
            // A read error appears when the snapshot is read.
            Store::Archive(archive) => archive
                .holds(origin)
                .unwrap_or(true)
                .then(|| format!("{}: {origin}", archive.path().display())),
        }
    }

    /// The snapshot of `origin`, for an archive the newest one; `None` if nothing is known.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn snapshot(&self, origin: &Origin) -> Result<Option<Snapshot>> {
        match self {
            Store::File(_) => Ok(None),
            Store::Directory(directory) => {
                directory.path_of(origin).map(Snapshot::from_file).transpose()
            }
            Store::Archive(archive) => {
                let newest = archive.newest(origin, None)?;
                newest.map(|entry| archive.snapshot(origin, entry)).transpose()
            }
        }
    }

    /// The robots.txt, if the store is a single file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn single_file(&self) -> Result<Option<Snapshot>> {
        match self {
            Store::File(path) => Snapshot::from_file(path).map(Some),
            Store::Directory(_) | Store::Archive(_) => Ok(None),
        }
    }
}

/// Checks that `path`, possibly below a directory, is not a URL.
///
/// # Errors
/// If it is one.
pub fn refuse_url(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    let start = ["http://", "https://"].iter().find_map(|scheme| text.find(scheme));
    let Some(url) = start.map(|start| &text[start..]).filter(|_| !path.exists()) else {
        return Ok(());
    };
    let origin = Origin::parse(url.as_bytes()).map_or_else(|| url.to_owned(), |of| of.to_string());
    Err(Error::usage(format!(
        "--robots {url} is a URL, not a file; download it to an archive and use that: botaudit \
         robots fetch --archive robots.db {origin}"
    )))
}
