//! Writes a file in one step, compressed by its name.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::staged::StagedFile;

use super::compression::{Encoder, OutputCompression};

/// A file that gets its name only with [`OutputFile::commit`]. If it is dropped before, it is
/// removed, and an existing file stays unchanged.
pub(crate) struct OutputFile {
    path: PathBuf,
    encoder: Encoder<BufWriter<StagedFile>>,
}

impl OutputFile {
    /// Prepares to write `path`.
    ///
    /// # Errors
    /// If its directory cannot be written to, or it is a directory.
    pub(crate) fn create(path: &Path) -> Result<OutputFile> {
        if path.file_name().is_none() || path.is_dir() {
            return Err(Error::refused(path, "is not a file name; write -o verdicts.csv"));
        }
        let file = StagedFile::create(path).map_err(|err| Error::io("cannot write", path, err))?;
        OutputFile::to(path, file)
    }

    /// Prepares to write to `stream`, which messages call `name`.
    ///
    /// # Errors
    /// If there is not enough memory for compression.
    pub(crate) fn stream(name: &Path, stream: File) -> Result<OutputFile> {
        OutputFile::to(name, StagedFile::stream(stream))
    }

    fn to(path: &Path, file: StagedFile) -> Result<OutputFile> {
        let encoder = Encoder::new(OutputCompression::of_name(path), BufWriter::new(file))
            .map_err(|err| Error::io("cannot write", path, err))?;
        Ok(OutputFile { path: path.to_owned(), encoder })
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// If the disk is full, or the reader of a pipe is gone. The message names the file.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.encoder.write_all(bytes);
        written.map_err(|err| Error::io("cannot write", &self.path, err))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If the disk is full or the file cannot be renamed.
    pub(crate) fn commit(self) -> Result<()> {
        self.encoder
            .finish()
            .and_then(|file| file.into_inner().map_err(io::IntoInnerError::into_error))
            .and_then(|file| file.sync().and_then(|()| file.commit()))
            .map_err(|err| Error::io("cannot write", &self.path, err))
    }
}
