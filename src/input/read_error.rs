//! Damage that ends a file early, and its position.

use std::{fmt, io};

use crate::input::compression::{Compression, MEMORY_BYTES_MAX};

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
