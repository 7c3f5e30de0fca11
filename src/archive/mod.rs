//! robots.txt as fetched: where its bytes come from.
//!
//! A file, a directory of files, or an archive with the history of any number of origins; and how
//! histories of other makes are brought into an archive.

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

/// The robots.txt files that a run may judge by.
#[derive(Debug)]
pub enum Store {
    /// A single file for the whole log.
    File(PathBuf),
    /// A directory with one file an origin.
    Directory(Directory),
    /// An archive: what any number of origins gave over time.
    Archive(Archive),
}

impl Store {
    /// Tells a file, a directory and an archive apart by looking.
    ///
    /// # Errors
    /// Where `path` is missing or unreadable, a directory names one origin twice, or an archive is
    /// not of this version.
    pub fn open(path: &Path) -> Result<Store> {
        refuse_url(path)?;
        let metadata =
            std::fs::metadata(path).map_err(|err| Error::io("cannot read --robots", path, err))?;
        if metadata.is_dir() {
            return Ok(Store::Directory(Directory::open(path)?));
        }
        std::fs::File::open(path).map_err(|err| Error::io("cannot read --robots", path, err))?;
        // A pipe must not lose its first bytes.
        if metadata.is_file() && is_sqlite(path)? {
            return Ok(Store::Archive(Archive::open(path)?));
        }
        Ok(Store::File(path.to_owned()))
    }

    /// The name of what governs `origin`, without reading it; `None` where nothing is known of it.
    pub fn source(&self, origin: &Origin) -> Option<String> {
        match self {
            Store::File(_) => None,
            Store::Directory(directory) => {
                directory.path_of(origin).map(|path| path.display().to_string())
            }
            // Where it cannot be read, whoever asks for the snapshot is told.
            Store::Archive(archive) => archive
                .holds(origin)
                .unwrap_or(true)
                .then(|| format!("{}: {origin}", archive.path().display())),
        }
    }

    /// The snapshot that governs `origin`, the newest of an archive; `None` where nothing is known of it.
    ///
    /// # Errors
    /// Where the file cannot be read.
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
    /// Where the file cannot be read.
    pub fn single_file(&self) -> Result<Option<Snapshot>> {
        match self {
            Store::File(path) => Snapshot::from_file(path).map(Some),
            Store::Directory(_) | Store::Archive(_) => Ok(None),
        }
    }
}

/// That `path`, maybe below a directory, is not a URL.
///
/// # Errors
/// Where it is one.
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
