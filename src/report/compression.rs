//! How a file is compressed that a report writes: the end of its name says so.

use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, compress_bound, get_error_name};

/// The level that zstd itself takes if nobody asks for another.
const ZSTD_LEVEL: i32 = 3;

/// How bytes are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OutputCompression {
    /// As they are.
    Plain,
    /// `.gz`.
    Gzip,
    /// `.zst`.
    Zstd,
}

impl OutputCompression {
    /// That which the name of `path` asks for.
    pub fn of_name(path: &Path) -> OutputCompression {
        match path.extension() {
            Some(end) if end.eq_ignore_ascii_case("gz") => OutputCompression::Gzip,
            Some(end) if end.eq_ignore_ascii_case("zst") => OutputCompression::Zstd,
            _ => OutputCompression::Plain,
        }
    }

    /// All of `bytes` at once; what several calls give may stand one after the other.
    ///
    /// # Errors
    /// As the encoder has them.
    pub fn encode(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            OutputCompression::Plain => Ok(bytes.to_vec()),
            OutputCompression::Gzip => {
                let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
                gzip.write_all(bytes)?;
                gzip.finish()
            }
            OutputCompression::Zstd => {
                let mut frame = vec![0; compress_bound(bytes.len())];
                let written = zstd_context()?.compress2(&mut frame[..], bytes);
                frame.truncate(written.map_err(zstd_error)?);
                Ok(frame)
            }
        }
    }
}

/// Compresses what is written to it, as it comes.
pub enum Encoder<W: Write> {
    /// See [`OutputCompression::Plain`].
    Plain(W),
    /// See [`OutputCompression::Gzip`].
    Gzip(Box<GzEncoder<W>>),
    /// See [`OutputCompression::Zstd`].
    Zstd(Box<ZstdEncoder<W>>),
}

impl<W: Write> Encoder<W> {
    /// Writes to `out`.
    ///
    /// # Errors
    /// Where there is no memory for an encoder.
    pub fn new(coding: OutputCompression, out: W) -> io::Result<Encoder<W>> {
        Ok(match coding {
            OutputCompression::Plain => Encoder::Plain(out),
            OutputCompression::Gzip => {
                Encoder::Gzip(Box::new(GzEncoder::new(out, Compression::fast())))
            }
            OutputCompression::Zstd => Encoder::Zstd(Box::new(ZstdEncoder::new(out)?)),
        })
    }

    /// Writes what is still held back, and gives up what was written to.
    ///
    /// # Errors
    /// As that has them.
    pub fn finish(self) -> io::Result<W> {
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
            Encoder::Zstd(zstd) => zstd.out.flush(),
        }
    }
}

/// One zstd frame with a checksum.
pub struct ZstdEncoder<W: Write> {
    context: CCtx<'static>,
    /// What the encoder put out last.
    buffer: Vec<u8>,
    out: W,
}

impl<W: Write> ZstdEncoder<W> {
    fn new(out: W) -> io::Result<ZstdEncoder<W>> {
        let buffer = vec![0; CCtx::out_size()];
        Ok(ZstdEncoder { context: zstd_context()?, buffer, out })
    }

    fn finish(mut self) -> io::Result<W> {
        loop {
            let mut output = OutBuffer::around(&mut self.buffer[..]);
            let left = self.context.end_stream(&mut output).map_err(zstd_error)?;
            let written = output.pos();
            self.out.write_all(&self.buffer[..written])?;
            if left == 0 {
                return Ok(self.out);
            }
        }
    }
}

impl<W: Write> Write for ZstdEncoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut input = InBuffer::around(bytes);
        while input.pos() < bytes.len() {
            let mut output = OutBuffer::around(&mut self.buffer[..]);
            self.context.compress_stream(&mut output, &mut input).map_err(zstd_error)?;
            let written = output.pos();
            self.out.write_all(&self.buffer[..written])?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn zstd_context() -> io::Result<CCtx<'static>> {
    let mut context = CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
    for parameter in [CParameter::CompressionLevel(ZSTD_LEVEL), CParameter::ChecksumFlag(true)] {
        context.set_parameter(parameter).map_err(zstd_error)?;
    }
    Ok(context)
}

fn zstd_error(code: usize) -> io::Error {
    io::Error::other(get_error_name(code))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::input::open::open;
    use crate::input::source::{Location, Source};

    /// As our own reader of compressed files has it.
    fn decoded(bytes: &[u8]) -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let place = Location::File(file.path().to_owned());
        let source = Source { name: "it".to_owned(), place };
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
