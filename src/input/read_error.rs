//! What ended a file before its end, and where.

use std::{fmt, io};

use crate::input::compression::{Compression, MEMORY_BYTES_MAX};

/// Why the rest of a file could not be read. All before it was delivered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReadError {
    /// Bytes from the start of the file as it lies on disk (compressed, if it is). Of a damaged
    /// block of zstd: where the block begins.
    pub offset_bytes: u64,
    /// What was found there.
    pub cause: ReadErrorCause,
}

/// The ways in which a file can be damaged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReadErrorCause {
    /// The name claims a compression, the content starts like none.
    NotAsNamed(Compression),
    /// A gzip header asks for what RFC 1952 does not define.
    BadHeader,
    /// The CRC of a gzip header is wrong.
    WrongHeaderChecksum,
    /// The stream makes no sense from here on, or its own checksum says so.
    BadStream(Compression),
    /// More memory would be needed than any known tool's default settings ask for.
    TooLarge(Compression),
    /// The file ends inside a member.
    Truncated(Compression),
    /// The CRC-32 of a gzip member is wrong: some of its bytes are.
    WrongChecksum,
    /// The length that a gzip member states is not what it inflated to.
    WrongLength,
    /// After a member comes something that is neither another nor padding.
    TrailingGarbage(Compression),
    /// The file became shorter while it was read, as `copytruncate` of logrotate makes it.
    Shrunk,
    /// The operating system failed to read on.
    Unreadable(io::ErrorKind),
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
            ReadErrorCause::Unreadable(kind) => write!(f, "cannot continue reading: {kind}"),
        }
    }
}

/// `truncated gzip stream at byte 1234`.
impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.cause, self.offset_bytes)
    }
}
