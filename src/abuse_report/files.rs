//! Writes the files of a folder.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

/// The files of a folder.
pub(super) struct Files<'a> {
    directory: &'a Path,
    /// The names of those that were written.
    pub names: Vec<String>,
}

impl Files<'_> {
    /// None yet, in `directory`.
    pub(super) fn of(directory: &Path) -> Files<'_> {
        Files { directory, names: Vec::new() }
    }

    /// Writes a new file.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        write_file(&self.directory.join(name), bytes)?;
        self.names.push(name.to_owned());
        Ok(())
    }
}

/// Writes a new file, and waits until it is on disk.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|err| Error::io("cannot write", path, err))
}
