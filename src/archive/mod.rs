//! Sources of robots.txt files.
//!
//! A source is a file, a directory of files, or an archive with the history of any number of
//! origins. Histories in other formats can be imported into an archive.

pub mod directory;
pub mod snapshot;

pub mod export;
pub mod import;
pub(crate) mod kept;
pub mod memory;
pub mod reader;
mod sqlite;
pub mod versions;
pub mod writer;

use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::url::origin::Origin;

use directory::Directory;
use memory::MemoryArchive;
use reader::Archive;
use snapshot::{BodyKey, HistoryEntry, Snapshot};
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
    /// Snapshots in memory.
    Memory(MemoryArchive),
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
            Store::Memory(memory) => memory.holds(origin).then(|| origin.to_string()),
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
            Store::Memory(memory) => Ok(memory.history(origin).pop().map(|entry| {
                let body = entry.body.map_or_else(Bytes::new, |key| memory.body(origin, key));
                Snapshot { source: origin.to_string(), body: body.into() }
            })),
        }
    }

    /// Entries of a directory whose names are not hosts.
    pub(crate) fn ignored_names(&self) -> Vec<String> {
        match self {
            Store::File(_) | Store::Archive(_) | Store::Memory(_) => Vec::new(),
            Store::Directory(directory) => {
                directory.ignored.iter().map(|path| path.display().to_string()).collect()
            }
        }
    }

    /// Whether each origin has any number of snapshots, so that the time decides.
    pub(crate) fn has_history(&self) -> bool {
        matches!(self, Store::Archive(_) | Store::Memory(_))
    }

    /// The snapshots of `origin`, the earliest first; empty if nothing is known, and for files.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub(crate) fn history(&self, origin: &Origin) -> Result<Vec<HistoryEntry>> {
        match self {
            Store::File(_) | Store::Directory(_) => Ok(Vec::new()),
            Store::Archive(archive) => archive.history(origin),
            Store::Memory(memory) => Ok(memory.history(origin)),
        }
    }

    /// The bytes of a body in the history of `origin`.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub(crate) fn body(&self, origin: &Origin, key: BodyKey) -> Result<Bytes> {
        match self {
            Store::File(_) | Store::Directory(_) => Ok(Bytes::new()),
            Store::Archive(archive) => archive.body(key).map(Bytes::from),
            Store::Memory(memory) => Ok(memory.body(origin, key)),
        }
    }

    /// The robots.txt, if the store is a single file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn single_file(&self) -> Result<Option<Snapshot>> {
        match self {
            Store::File(path) => Snapshot::from_file(path).map(Some),
            Store::Directory(_) | Store::Archive(_) | Store::Memory(_) => Ok(None),
        }
    }
}

/// Checks that `path`, possibly below a directory, is not a URL.
///
/// # Errors
/// If it is one.
pub(crate) fn refuse_url(path: &Path) -> Result<()> {
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
