//! Opens a source and decompresses it. The compression is detected from the magic number, never
//! from the name.
//!
//! Consecutive members of any compression are read as one stream. A decoder handles the body of one member. The gaps
//! between members, and the handling of damage, are the same for all.

use std::io::{self, Read};
use std::sync::{Arc, atomic::AtomicU64};
use std::{fs::File, path::Path};

use crate::error::{self, Error};

use super::compression::{Compression, MAGIC_BYTES_MAX};
use super::decoders::{Bzip2, Gzip, Next, Step, Xz, Zstd};
use super::raw_reader::{RawReader, ReadError, ReadErrorCause};
use super::source::{Location, Source};

/// An opened source, decompressed as it is read.
pub struct Opened {
    raw: RawReader,
    decoding: Decoding,
    /// `None` if the source is not a file on a disk.
    watched: Option<Watched>,
}

/// A file whose length is compared at its end with the earlier length. `copytruncate` truncates
/// logs while they are read, which looks like their end.
struct Watched {
    file: File,
    size_at_open: u64,
}

enum Decoding {
    Plain,
    Inflate(Box<Inflate>),
    /// Damaged from the first byte on, or since a read: the answer stays.
    Damaged(ReadError),
}

/// Opens `source`; `bytes_read` grows with the bytes read from it, as they lie
/// on disk.
pub(crate) fn open(source: &Source, bytes_read: &Arc<AtomicU64>) -> error::Result<Opened> {
    match &source.location {
        Location::Stdin => Ok(Opened::new(Box::new(io::stdin()), None, bytes_read)),
        Location::Nowhere(why) => Err(Error::invalid_file(Path::new(&source.name), why)),
        Location::File(path) => {
            let cannot_open = |err| Error::io("cannot open", path, err);
            let file = File::open(path).map_err(cannot_open)?;
            let watched = Watched::new(&file).map_err(cannot_open)?;
            let opened = Opened::new(Box::new(file), Compression::claimed_by(path), bytes_read);
            Ok(Opened { watched, ..opened })
        }
    }
}

impl Opened {
    /// Any reader as a source, whose name has the suffix of the compression `claimed`. Reads the
    /// first bytes to detect the compression.
    pub fn new(
        reader: Box<dyn Read + Send>,
        claimed: Option<Compression>,
        bytes_read: &Arc<AtomicU64>,
    ) -> Opened {
        let mut raw = RawReader::new(reader, Arc::clone(bytes_read));
        let failed = raw.peek_at_least(MAGIC_BYTES_MAX).err();
        let start = raw.buffered();
        let decoding = match (Compression::of(start), claimed, failed) {
            (_, _, Some(damage)) if start.is_empty() => Decoding::Damaged(damage),
            (Some(found), _, _) => Decoding::Inflate(Box::new(Inflate::new(found))),
            (None, Some(claimed), _) if !start.is_empty() => {
                Decoding::Damaged(raw.damage(ReadErrorCause::NotAsNamed(claimed)))
            }
            (None, _, _) => Decoding::Plain,
        };
        Opened { raw, decoding, watched: None }
    }

    /// Whether the source is compressed.
    pub(crate) fn is_compressed(&self) -> bool {
        !matches!(self.decoding, Decoding::Plain)
    }

    /// Whether the source ended undamaged, but without the last block of its format.
    pub(crate) fn may_be_cut(&self) -> bool {
        matches!(&self.decoding, Decoding::Inflate(inflate) if inflate.may_be_cut())
    }

    /// Bytes read so far, as they lie on disk; of a damaged source, those before the damage. How many
    /// more were read depends on the size of the reads and of the chunks.
    pub(crate) fn size_bytes(&self) -> u64 {
        let read = self.raw.size_bytes();
        match self.decoding {
            // Something was read in which there is damage.
            Decoding::Damaged(damage) => read.min(damage.offset_bytes.max(1)),
            Decoding::Plain | Decoding::Inflate(_) => read,
        }
    }

    /// Fills the start of `out`, which is not empty, and returns the number of bytes; 0 only at the
    /// end. After damage every further call returns the same damage.
    pub fn read(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        let read = match &mut self.decoding {
            Decoding::Plain => self.raw.read(out),
            Decoding::Inflate(inflate) => inflate.read(&mut self.raw, out),
            Decoding::Damaged(damage) => Err(*damage),
        };
        let is_cut = || self.watched.as_ref().is_some_and(|file| file.is_cut(self.size_bytes()));
        let read = match read {
            Ok(0) if !out.is_empty() && is_cut() => {
                let offset_bytes = self.size_bytes();
                Err(ReadError { offset_bytes, cause: ReadErrorCause::Shrunk })
            }
            read => read,
        };
        if let Err(damage) = read {
            self.decoding = Decoding::Damaged(damage);
        }
        read
    }

    /// Fills `out` as far as possible, and returns the number of bytes; those before damage stay.
    pub(crate) fn fill(&mut self, out: &mut [u8]) -> usize {
        let mut filled = 0;
        while filled < out.len()
            && let Ok(count @ 1..) = self.read(&mut out[filled..])
        {
            filled += count;
        }
        filled
    }
}

impl Watched {
    /// `None` for a pipe or a device.
    fn new(file: &File) -> io::Result<Option<Watched>> {
        let metadata = file.metadata()?;
        match metadata.is_file() {
            true => Ok(Some(Watched { file: file.try_clone()?, size_at_open: metadata.len() })),
            false => Ok(None),
        }
    }

    /// Whether the file is shorter than when it was opened, or than the `read_bytes` that were
    /// read. False if its length is unknown.
    fn is_cut(&self, read_bytes: u64) -> bool {
        let size_bytes = self.file.metadata().map(|metadata| metadata.len());
        size_bytes.is_ok_and(|size_bytes| size_bytes < self.size_at_open.max(read_bytes))
    }
}

#[cfg(test)]
mod tests;

/// Inflates a file from its first byte to its end.
pub(crate) struct Inflate {
    compression: Compression,
    decoder: Decoder,
    state: State,
}

enum Decoder {
    Gzip(Gzip),
    Zstd(Zstd),
    Bzip2(Bzip2),
    Xz(Xz),
}

#[derive(Clone, Copy)]
enum State {
    /// Before the first member.
    Start,
    /// Inside a member.
    Body,
    /// After a member.
    Between,
    End,
    /// Given once the bytes inflated before it are.
    Damaged(ReadError),
}

impl Inflate {
    /// A decoder before the first member, in `compression`.
    pub(crate) fn new(compression: Compression) -> Inflate {
        let decoder = match compression {
            Compression::Gzip => Decoder::Gzip(Gzip::new()),
            Compression::Zstd => Decoder::Zstd(Zstd::new()),
            Compression::Bzip2 => Decoder::Bzip2(Bzip2::new()),
            Compression::Xz => Decoder::Xz(Xz::new()),
        };
        Inflate { compression, decoder, state: State::Start }
    }

    /// Decompresses into `out`, which is not empty; returns 0 only at the end.
    pub(crate) fn read(&mut self, raw: &mut RawReader, out: &mut [u8]) -> Result<usize, ReadError> {
        loop {
            match self.state {
                State::Start => self.begin_member(raw)?,
                State::Between => {
                    skip_zeros(raw)?;
                    if raw.peek()?.is_empty() {
                        self.state = State::End;
                        continue;
                    }
                    let start = raw.peek_at_least(MAGIC_BYTES_MAX)?;
                    if Compression::of(start) != Some(self.compression) {
                        return Err(raw.damage(ReadErrorCause::TrailingGarbage(self.compression)));
                    }
                    self.begin_member(raw)?;
                }
                State::Body => {
                    let count = self.inflate_some(raw, out)?;
                    if count > 0 {
                        return Ok(count);
                    }
                }
                State::End => return Ok(0),
                State::Damaged(damage) => return Err(damage),
            }
        }
    }

    /// Whether the file ended without the last block of its format, though between two members.
    pub(crate) fn may_be_cut(&self) -> bool {
        let lacks_end = matches!(&self.decoder, Decoder::Gzip(gzip) if gzip.lacks_end_block());
        lacks_end && matches!(self.state, State::End)
    }

    fn begin_member(&mut self, raw: &mut RawReader) -> Result<(), ReadError> {
        match &mut self.decoder {
            Decoder::Gzip(gzip) => gzip.begin(raw)?,
            Decoder::Zstd(zstd) => zstd.begin(),
            Decoder::Bzip2(bzip2) => bzip2.begin(),
            Decoder::Xz(xz) => xz.begin(),
        }
        self.state = State::Body;
        Ok(())
    }

    fn inflate_some(&mut self, raw: &mut RawReader, out: &mut [u8]) -> Result<usize, ReadError> {
        let wanted = match &self.decoder {
            Decoder::Zstd(zstd) => zstd.wanted(),
            Decoder::Bzip2(bzip2) => bzip2.wanted(),
            Decoder::Gzip(_) | Decoder::Xz(_) => 1,
        };
        // The bytes before a failed read may decompress to more than `out` can take.
        let failed = raw.peek_at_least(wanted).err();
        let input = raw.buffered();
        let input_is_over = input.is_empty();
        let Step { consumed, produced, next } = match &mut self.decoder {
            Decoder::Gzip(gzip) => gzip.step(input, out),
            Decoder::Zstd(zstd) => zstd.step(input, out),
            Decoder::Bzip2(bzip2) => bzip2.step(input, out),
            Decoder::Xz(xz) => xz.step(input, out),
        };
        raw.consume(consumed);
        match next {
            Next::End => {
                self.state = State::Between;
                if let Err(damage) = self.end_member(raw) {
                    self.stop(damage, produced)?;
                }
            }
            Next::More if produced == 0 && consumed == 0 => {
                let cause = if input_is_over {
                    ReadErrorCause::Truncated(self.compression)
                } else {
                    ReadErrorCause::BadStream(self.compression)
                };
                return Err(failed.unwrap_or(raw.damage(cause)));
            }
            Next::More => {}
            Next::Damaged(cause) => self.stop(raw.damage(cause), produced)?,
        }
        Ok(produced)
    }

    fn end_member(&mut self, raw: &mut RawReader) -> Result<(), ReadError> {
        match &mut self.decoder {
            Decoder::Gzip(gzip) => gzip.end(raw),
            Decoder::Zstd(_) | Decoder::Bzip2(_) | Decoder::Xz(_) => Ok(()),
        }
    }

    /// The `produced` bytes are delivered before the damage is reported.
    fn stop(&mut self, damage: ReadError, produced: usize) -> Result<(), ReadError> {
        if produced == 0 {
            return Err(damage);
        }
        self.state = State::Damaged(damage);
        Ok(())
    }
}

/// Tapes and some copiers pad with zeros, xz does itself; the tools tolerate it.
fn skip_zeros(raw: &mut RawReader) -> Result<(), ReadError> {
    loop {
        let seen = raw.peek()?;
        let zeros = seen.iter().position(|&byte| byte != 0).unwrap_or(seen.len());
        let is_over = zeros == 0 || zeros < seen.len();
        raw.consume(zeros);
        if is_over {
            return Ok(());
        }
    }
}
