//! The raw bytes of a file, buffered, with the offset of each; and damage that ends it early, with its position.

use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::compression::{Compression, MEMORY_BYTES_MAX};

/// The size of one read, with room for the longest look-ahead. At a ratio of 8 it decompresses to
/// about one chunk.
pub(super) const RAW_BUFFER_BYTES: usize = 144 << 10;

/// A file as it lies on disk, read front to back.
pub(crate) struct RawReader {
    reader: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Of `buffer[start]`.
    offset_bytes: u64,
    /// Set after a failed read; nothing is read after that.
    failed: Option<ReadFailure>,
    /// Shared with other files.
    bytes_read: Arc<AtomicU64>,
}

impl RawReader {
    /// `bytes_read` grows with each read, for progress.
    pub(crate) fn new(reader: Box<dyn Read + Send>, bytes_read: Arc<AtomicU64>) -> RawReader {
        let buffer = vec![0; RAW_BUFFER_BYTES].into_boxed_slice();
        RawReader { reader, buffer, start: 0, end: 0, offset_bytes: 0, failed: None, bytes_read }
    }

    /// Damage at the next byte that was not consumed.
    pub(crate) fn damage(&self, cause: ReadErrorCause) -> ReadError {
        ReadError { offset_bytes: self.offset_bytes, cause }
    }

    /// Bytes read from the file so far, whether they were consumed or not.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.offset_bytes + (self.end - self.start) as u64
    }

    /// The next bytes; empty only at the end of the file.
    pub(crate) fn peek(&mut self) -> Result<&[u8], ReadError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.fill_once()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// The next `count` bytes, or fewer at the end of the file.
    pub(crate) fn peek_at_least(&mut self, count: usize) -> Result<&[u8], ReadError> {
        assert!(count <= self.buffer.len(), "look-ahead is limited to the buffer");
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.buffer.len() - self.start < count {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        while self.end - self.start < count && self.fill_once()? > 0 {}
        Ok(&self.buffer[self.start..self.end])
    }

    /// The bytes that were read and not used yet; may be empty.
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Marks `count` bytes of `peek` as used.
    pub(crate) fn consume(&mut self, count: usize) {
        assert!(count <= self.end - self.start, "only what was seen can be used");
        self.start += count;
        self.offset_bytes += count as u64;
    }

    /// Moves bytes into `out`; 0 only at the end of the file.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        if self.start == self.end {
            let read = read_some(&mut *self.reader, self.failed, out);
            let count = read.map_err(|failure| self.unreadable(failure))?;
            self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
            self.offset_bytes += count as u64;
            return Ok(count);
        }
        let count = out.len().min(self.end - self.start);
        out[..count].copy_from_slice(&self.buffer[self.start..self.start + count]);
        self.consume(count);
        Ok(count)
    }

    fn fill_once(&mut self) -> Result<usize, ReadError> {
        let read = read_some(&mut *self.reader, self.failed, &mut self.buffer[self.end..]);
        let count = read.map_err(|failure| self.unreadable(failure))?;
        self.end += count;
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    /// The failed read comes after the buffered bytes.
    fn unreadable(&mut self, failure: ReadFailure) -> ReadError {
        self.failed = Some(failure);
        ReadError { offset_bytes: self.size_bytes(), cause: ReadErrorCause::Unreadable(failure) }
    }
}

/// Repeats a read that a signal interrupted; stops after a read that `failed` before.
fn read_some(
    reader: &mut dyn Read,
    failed: Option<ReadFailure>,
    out: &mut [u8],
) -> Result<usize, ReadFailure> {
    if let Some(failure) = failed {
        return Err(failure);
    }
    loop {
        match reader.read(out) {
            Ok(count) => return Ok(count),
            Err(err) if err.kind() == ErrorKind::Interrupted => {}
            Err(err) => return Err(err.into()),
        }
    }
}

/// Why the rest of a file could not be read. Everything before it was delivered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReadError {
    /// The position in the file on disk (compressed, if it is). For zstd, the start of the damaged
    /// block.
    pub offset_bytes: u64,
    /// The kind of damage.
    pub cause: ReadErrorCause,
}

/// The kinds of damage.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReadErrorCause {
    /// The name claims a compression, the content starts like none.
    NotAsNamed(Compression),
    /// A gzip header has flags that RFC 1952 does not define.
    BadHeader,
    /// The CRC of a gzip header is wrong.
    WrongHeaderChecksum,
    /// The stream is not valid from here on, or its checksum does not match.
    BadStream(Compression),
    /// It needs more memory than the default settings of any known tool.
    TooLarge(Compression),
    /// The file ends inside a member.
    Truncated(Compression),
    /// The CRC-32 of a gzip member is wrong.
    WrongChecksum,
    /// The length of a gzip member is wrong.
    WrongLength,
    /// After a member comes something that is neither another nor padding.
    TrailingGarbage(Compression),
    /// The file was truncated while it was read, as by `copytruncate` of logrotate.
    Shrunk,
    /// The operating system failed to read on.
    Unreadable(ReadFailure),
}

/// An error of the operating system, in a form that can be copied.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReadFailure {
    kind: io::ErrorKind,
    code: Option<i32>,
}

impl From<io::Error> for ReadFailure {
    fn from(err: io::Error) -> ReadFailure {
        ReadFailure { kind: err.kind(), code: err.raw_os_error() }
    }
}

impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.map_or_else(|| self.kind.into(), io::Error::from_raw_os_error).fmt(f)
    }
}

impl fmt::Display for ReadErrorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadErrorCause::NotAsNamed(kind) => {
                write!(f, "named {} but is not {}", kind.suffix(), kind.as_str())
            }
            ReadErrorCause::BadHeader => f.write_str("invalid gzip header"),
            ReadErrorCause::WrongHeaderChecksum => f.write_str("wrong checksum of a gzip header"),
            ReadErrorCause::BadStream(kind) => write!(f, "corrupt {} stream", kind.as_str()),
            ReadErrorCause::TooLarge(kind) => write!(
                f,
                "{} stream that needs more than {} MiB of memory; decompress it first",
                kind.as_str(),
                MEMORY_BYTES_MAX >> 20
            ),
            ReadErrorCause::Truncated(kind) => write!(f, "truncated {} stream", kind.as_str()),
            ReadErrorCause::WrongChecksum => f.write_str("wrong checksum of a gzip member"),
            ReadErrorCause::WrongLength => f.write_str("wrong length of a gzip member"),
            ReadErrorCause::TrailingGarbage(kind) => {
                write!(f, "trailing garbage after a {} stream", kind.as_str())
            }
            ReadErrorCause::Shrunk => f.write_str(
                "the file became shorter while it was read; \
                 read a copy of it",
            ),
            ReadErrorCause::Unreadable(failure) => write!(f, "cannot continue reading: {failure}"),
        }
    }
}

/// `truncated gzip stream at byte 1234`.
impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.cause, self.offset_bytes)
    }
}
