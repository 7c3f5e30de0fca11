//! A file that appears whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use super::coding::{Coding, Encoder};

/// A file on its way to its name, compressed as that asks for. Dropped before
/// [`OutputFile::commit`] it is gone, and what stood under the name is as it was.
pub struct OutputFile {
    path: PathBuf,
    staged: Staged,
    encoder: Option<Encoder<BufWriter<File>>>,
}

/// Removed when dropped.
struct Staged(PathBuf);

impl OutputFile {
    /// Prepares to write `path`.
    ///
    /// # Errors
    /// Where its directory cannot be written to, or it is a directory itself.
    pub fn create(path: &Path) -> Result<OutputFile> {
        let Some(name) = path.file_name().filter(|_| !path.is_dir()) else {
            return Err(Error::invalid_file(path, "is no file name; write -o verdicts.csv"));
        };
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".botaudit-{}", std::process::id()));
        let staged = path.with_file_name(hidden);
        let staged = Staged(staged);
        let encoder = File::create(&staged.0)
            .and_then(|file| Encoder::new(Coding::of_name(path), BufWriter::new(file)))
            .map_err(|err| Error::io("cannot write", path, err))?;
        Ok(OutputFile { path: path.to_owned(), staged, encoder: Some(encoder) })
    }

    /// The name under which it is written, to be removed if the run is stopped.
    pub fn staged(&self) -> &Path {
        &self.staged.0
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Where the disk is full, or the place refused.
    pub fn commit(mut self) -> Result<()> {
        let encoder = self.encoder.take().expect("a file is committed once");
        encoder
            .finish()
            .and_then(|file| file.into_inner().map_err(io::IntoInnerError::into_error))
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.staged.0, &self.path))
            .map_err(|err| Error::io("cannot write", &self.path, err))
    }
}

impl OutputFile {
    fn encoder(&mut self) -> &mut Encoder<BufWriter<File>> {
        self.encoder.as_mut().expect("it is written before it is committed")
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder().flush()
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a commit there is nothing under this name.
        let _ = fs::remove_file(&self.0);
    }
}
