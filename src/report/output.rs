//! A file that appears whole or not at all, compressed as its name asks for.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::staged::StagedFile;

use super::compression::{Encoder, OutputCompression};

/// A file on its way to its name, compressed as that asks for. Dropped before
/// [`OutputFile::commit`] it is gone, and what stood under the name is as it was.
pub struct OutputFile {
    path: PathBuf,
    hidden: Option<PathBuf>,
    encoder: Encoder<BufWriter<StagedFile>>,
}

impl OutputFile {
    /// Prepares to write `path`.
    ///
    /// # Errors
    /// Where its directory cannot be written to, or it is a directory itself.
    pub fn create(path: &Path) -> Result<OutputFile> {
        if path.file_name().is_none() || path.is_dir() {
            return Err(Error::invalid_file(path, "is not a file name; write -o verdicts.csv"));
        }
        let file = StagedFile::create(path).map_err(|err| Error::io("cannot write", path, err))?;
        OutputFile::to(path, file)
    }

    /// Prepares to write to `stream`, which messages call `name`.
    ///
    /// # Errors
    /// Where there is no memory to compress with.
    pub fn stream(name: &Path, stream: File) -> Result<OutputFile> {
        OutputFile::to(name, StagedFile::stream(stream))
    }

    fn to(path: &Path, file: StagedFile) -> Result<OutputFile> {
        let hidden = file.hidden().map(Path::to_owned);
        let encoder = Encoder::new(OutputCompression::of_name(path), BufWriter::new(file))
            .map_err(|err| Error::io("cannot write", path, err))?;
        Ok(OutputFile { path: path.to_owned(), hidden, encoder })
    }

    /// The name under which it is written, to be removed if the run is stopped. None where it is
    /// a pipe or a device, which is written to as it stands.
    pub fn hidden(&self) -> Option<&Path> {
        self.hidden.as_deref()
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Where the disk is full, or the place refused.
    pub fn commit(self) -> Result<()> {
        self.encoder
            .finish()
            .and_then(|file| file.into_inner().map_err(io::IntoInnerError::into_error))
            .and_then(StagedFile::commit)
            .map_err(|err| Error::io("cannot write", &self.path, err))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}
