//! Writes a file in one step, compressed by its name.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder, write::GzEncoder};
use zstd::stream::write::Encoder as ZstdEncoder;
use zstd::{DEFAULT_COMPRESSION_LEVEL as ZSTD_LEVEL, bulk::Compressor};

use crate::error::{Error, Result};
use crate::staged::StagedFile;

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

/// A compression format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OutputCompression {
    /// Uncompressed.
    Plain,
    /// `.gz`.
    Gzip,
    /// `.zst`.
    Zstd,
}

impl OutputCompression {
    /// The compression for the name of `path`.
    pub(crate) fn of_name(path: &Path) -> OutputCompression {
        match path.extension() {
            Some(end) if end.eq_ignore_ascii_case("gz") => OutputCompression::Gzip,
            Some(end) if end.eq_ignore_ascii_case("zst") => OutputCompression::Zstd,
            _ => OutputCompression::Plain,
        }
    }

    /// Compresses `bytes` at once. The results of several calls can be concatenated.
    ///
    /// # Errors
    /// If the encoder fails.
    pub(crate) fn encode(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            OutputCompression::Plain => Ok(bytes.to_vec()),
            OutputCompression::Gzip => {
                let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
                gzip.write_all(bytes)?;
                gzip.finish()
            }
            OutputCompression::Zstd => {
                let mut zstd = Compressor::new(ZSTD_LEVEL)?;
                zstd.include_checksum(true)?;
                zstd.compress(bytes)
            }
        }
    }
}

/// A writer that compresses.
pub(crate) enum Encoder<W: Write> {
    /// See [`OutputCompression::Plain`].
    Plain(W),
    /// See [`OutputCompression::Gzip`].
    Gzip(Box<GzEncoder<W>>),
    /// See [`OutputCompression::Zstd`].
    Zstd(Box<ZstdEncoder<'static, W>>),
}

impl<W: Write> Encoder<W> {
    /// Writes to `out`.
    ///
    /// # Errors
    /// If there is not enough memory for an encoder.
    pub(crate) fn new(coding: OutputCompression, out: W) -> io::Result<Encoder<W>> {
        Ok(match coding {
            OutputCompression::Plain => Encoder::Plain(out),
            OutputCompression::Gzip => {
                Encoder::Gzip(Box::new(GzEncoder::new(out, Compression::fast())))
            }
            OutputCompression::Zstd => {
                let mut zstd = ZstdEncoder::new(out, ZSTD_LEVEL)?;
                zstd.include_checksum(true)?;
                Encoder::Zstd(Box::new(zstd))
            }
        })
    }

    /// Writes the remaining bytes and returns the inner writer.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self {
            Encoder::Plain(out) => Ok(out),
            Encoder::Gzip(gzip) => gzip.finish(),
            Encoder::Zstd(zstd) => zstd.finish(),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Encoder::Plain(out) => out.write(bytes),
            Encoder::Gzip(gzip) => gzip.write(bytes),
            Encoder::Zstd(zstd) => zstd.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Encoder::Plain(out) => out.flush(),
            Encoder::Gzip(gzip) => gzip.flush(),
            Encoder::Zstd(zstd) => zstd.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::input::open::open;
    use crate::input::source::{Location, Source};

    /// Decompresses with our own reader.
    fn decoded(bytes: &[u8]) -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let location = Location::File(file.path().to_owned());
        let source = Source { name: "it".to_owned(), location };
        let mut opened = open(&source, &Arc::new(AtomicU64::new(0))).unwrap();
        let (mut text, mut part) = (Vec::new(), [0; 4096]);
        loop {
            match opened.read(&mut part).unwrap() {
                0 => return text,
                count => text.extend_from_slice(&part[..count]),
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let long: Vec<u8> =
            (0..400_000_u32).flat_map(|n| (n.wrapping_mul(n) % 65_521).to_le_bytes()).collect();
        for coding in [OutputCompression::Plain, OutputCompression::Gzip, OutputCompression::Zstd] {
            for text in [&b""[..], b"x", &long] {
                let mut encoder = Encoder::new(coding, Vec::new()).unwrap();
                text.chunks(70_001).for_each(|part| encoder.write_all(part).unwrap());
                assert_eq!(decoded(&encoder.finish().unwrap()), text, "{coding:?}");
                let blocks = [coding.encode(text).unwrap(), coding.encode(b"end").unwrap()];
                assert_eq!(decoded(&blocks.concat()), [text, b"end"].concat(), "{coding:?}");
            }
        }
    }

    #[test]
    fn the_name_says_how() {
        for (name, coding) in [
            ("a.csv", OutputCompression::Plain),
            ("a.csv.GZ", OutputCompression::Gzip),
            ("a.zst", OutputCompression::Zstd),
        ] {
            assert_eq!(OutputCompression::of_name(Path::new(name)), coding, "{name}");
        }
    }
}
