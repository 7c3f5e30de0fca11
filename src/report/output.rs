//! A file that appears whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::error::{Error, Result};

/// A file on its way to its name; gzipped if that ends in `.gz`. Dropped before
/// [`OutputFile::commit`] it is gone, and what stood under the name is as it was.
pub struct OutputFile {
    path: PathBuf,
    staged: Staged,
    coding: Option<Coding>,
}

/// Removed when dropped.
struct Staged(PathBuf);

enum Coding {
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
}

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
        let file = File::create(&staged).map_err(|err| Error::io("cannot write", path, err))?;
        let file = BufWriter::new(file);
        let is_gzip = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        let coding = if is_gzip {
            Coding::Gzip(Box::new(GzEncoder::new(file, Compression::fast())))
        } else {
            Coding::Plain(file)
        };
        Ok(OutputFile { path: path.to_owned(), staged: Staged(staged), coding: Some(coding) })
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
        let finished = match self.coding.take().expect("a file is committed once") {
            Coding::Plain(file) => file.into_inner().map_err(io::IntoInnerError::into_error),
            Coding::Gzip(gzip) => gzip
                .finish()
                .and_then(|file| file.into_inner().map_err(io::IntoInnerError::into_error)),
        };
        finished
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.staged.0, &self.path))
            .map_err(|err| Error::io("cannot write", &self.path, err))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.coding.as_mut().expect("it is written before it is committed") {
            Coding::Plain(file) => file.write(bytes),
            Coding::Gzip(gzip) => gzip.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.coding.as_mut().expect("it is written before it is committed") {
            Coding::Plain(file) => file.flush(),
            Coding::Gzip(gzip) => gzip.flush(),
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After a commit there is nothing under this name.
        let _ = fs::remove_file(&self.0);
    }
}
