//! Opens a source and decompresses it. The compression is detected from the magic number, never
//! from the name.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, atomic::AtomicU64};

use crate::error::{Error, Result};
use crate::input::compression::{Compression, MAGIC_BYTES_MAX};
use crate::input::read_error::{ReadError, ReadErrorCause};
use crate::input::source::{Location, Source};
use crate::input::{inflate::Inflate, raw_reader::RawReader};

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
pub(crate) fn open(source: &Source, bytes_read: &Arc<AtomicU64>) -> Result<Opened> {
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

    /// Bytes read so far, as they lie on disk.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.raw.size_bytes()
    }

    /// Fills the start of `out`, which is not empty, and returns the number of bytes; 0 only at the
    /// end. After damage every further call returns the same damage.
    pub fn read(&mut self, out: &mut [u8]) -> std::result::Result<usize, ReadError> {
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
