//! A folder with the evidence against one crawler at one origin, for a complaint to its operator or to
//! the network that it came from.

pub mod folder;

mod letter;
mod requests;
mod robots;
pub mod subject;

use std::{fs::File, io::Write, path::Path};

use crate::error::{Error, Result};

/// Who sends the folder.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    /// A person, a company, or the host.
    pub organisation: String,
    /// An e-mail address.
    pub contact: Option<String>,
}

/// The files of a folder.
struct Files<'a> {
    directory: &'a Path,
    /// The names of those that were written.
    pub names: Vec<String>,
}

impl Files<'_> {
    /// None yet, in `directory`.
    fn of(directory: &Path) -> Files<'_> {
        Files { directory, names: Vec::new() }
    }

    /// Writes a new file.
    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        write_file(&self.directory.join(name), bytes)?;
        self.names.push(name.to_owned());
        Ok(())
    }
}

/// Writes a new file, and waits until it is on disk.
fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|err| Error::io("cannot write", path, err))
}
