//! robots.txt as fetched: where its bytes come from.

pub mod directory;
pub mod snapshot;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::url::origin::Origin;

use directory::Directory;
use snapshot::Snapshot;

/// The robots.txt files that a run may judge by.
#[derive(Debug)]
pub enum Store {
    /// One file, given by hand for the whole log.
    File(PathBuf),
    /// A directory with one file an origin.
    Directory(Directory),
}

impl Store {
    /// Tells a file from a directory by looking.
    ///
    /// # Errors
    /// Where `path` is missing or unreadable, or a directory names one origin twice.
    pub fn open(path: &Path) -> Result<Store> {
        let metadata =
            std::fs::metadata(path).map_err(|err| Error::io("cannot read --robots", path, err))?;
        if metadata.is_dir() {
            return Ok(Store::Directory(Directory::open(path)?));
        }
        std::fs::File::open(path).map_err(|err| Error::io("cannot read --robots", path, err))?;
        Ok(Store::File(path.to_owned()))
    }

    /// The name of what governs `origin`, without reading it; `None` where nothing is known of it.
    pub fn source(&self, origin: &Origin) -> Option<String> {
        match self {
            Store::File(_) => None,
            Store::Directory(directory) => {
                directory.path_of(origin).map(|path| path.display().to_string())
            }
        }
    }

    /// The snapshot that governs `origin` by the name of a file; `None` where nothing is known of it.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn snapshot(&self, origin: &Origin) -> Result<Option<Snapshot>> {
        match self {
            Store::File(_) => Ok(None),
            Store::Directory(directory) => {
                directory.path_of(origin).map(Snapshot::from_file).transpose()
            }
        }
    }

    /// The one file that was given by hand, if it was one.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn by_hand(&self) -> Result<Option<Snapshot>> {
        match self {
            Store::File(path) => Snapshot::from_file(path).map(Some),
            Store::Directory(_) => Ok(None),
        }
    }
}
