//! The raw bytes of a file, buffered, with the offset of each.

use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::input::read_error::{ReadError, ReadErrorCause, ReadFailure};
use crate::input::zstd::BLOCK_BYTES_MAX;

/// The size of one read, with room for the longest look-ahead. At a ratio of 8 it decompresses to
/// about one chunk.
const RAW_BUFFER_BYTES: usize = 144 << 10;

const _: () = assert!(RAW_BUFFER_BYTES >= BLOCK_BYTES_MAX, "a block of zstd is looked at whole");

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
