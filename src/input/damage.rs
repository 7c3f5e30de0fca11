//! What ended a file before its end, and where.

use std::fmt;
use std::io;

/// Why the rest of a file could not be read. All before it was delivered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Damage {
    /// Bytes from the start of the file as it lies on disk (compressed, if it is).
    pub offset_bytes: u64,
    /// What was found there.
    pub cause: Cause,
}

/// The ways in which a file can be damaged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// The name ends in `.gz`, the content does not start like gzip.
    NotGzip,
    /// A gzip header asks for what RFC 1952 does not define.
    BadHeader,
    /// The CRC of a gzip header is wrong.
    WrongHeaderChecksum,
    /// The deflate stream makes no sense from here on.
    BadStream,
    /// The file ends inside a gzip member.
    Truncated,
    /// The CRC-32 of a member is wrong: some of its bytes are.
    WrongChecksum,
    /// The length that a member states is not what it inflated to.
    WrongLength,
    /// After a gzip member comes something that is neither gzip nor padding.
    TrailingGarbage,
    /// The operating system failed to read on.
    Unreadable(io::ErrorKind),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Cause::NotGzip => "named .gz but is not gzip",
            Cause::BadHeader => "invalid gzip header",
            Cause::WrongHeaderChecksum => "wrong checksum of a gzip header",
            Cause::BadStream => "corrupt deflate stream",
            Cause::Truncated => "truncated gzip stream",
            Cause::WrongChecksum => "wrong checksum of a gzip member",
            Cause::WrongLength => "wrong length of a gzip member",
            Cause::TrailingGarbage => "trailing garbage after a gzip member",
            Cause::Unreadable(kind) => return write!(f, "cannot read on: {kind}"),
        };
        f.write_str(text)
    }
}

/// `truncated gzip stream at byte 1234`.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.cause, self.offset_bytes)
    }
}
