//! What came of asking a server.

use std::{fmt, io};

use crate::named_enum::named_enum;

/// What came of asking for a robots.txt.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FetchOutcome {
    /// The status of the last answer. One of 3xx is a redirect that was not followed: one too
    /// many, in a circle, without a target or to a place where no robots.txt can be.
    ///
    /// FTP has no such numbers; its replies are told in those of HTTP that amount to the same:
    /// 200 the file, 404 and 401 refused for good (the file, the login), 503 refused for now.
    Status(u16),
    /// There was no answer.
    Failure(FailureKind),
    /// Nobody was asked: the address is private and [`Reach`](super::settings::Reach) forbids
    /// that, or no robots.txt is defined for the scheme. Says nothing of the site.
    NotAsked,
}

/// `200`, `timeout`, `not asked`.
impl fmt::Display for FetchOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchOutcome::Status(status) => write!(f, "{status}"),
            FetchOutcome::Failure(kind) => f.write_str(kind.as_str()),
            FetchOutcome::NotAsked => f.write_str("not fetched"),
        }
    }
}

named_enum! {
    /// Why there was no answer.
    #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
    pub enum FailureKind {
        /// No address for the host.
        Dns = "dns",
        /// No connection.
        Connect = "connect",
        /// A handshake that failed, or a certificate that proves nothing.
        Tls = "tls",
        /// Too slow: to be found, to be reached, between two bytes, or in all.
        Timeout = "timeout",
        /// Reset, or closed before the end.
        Interrupted = "interrupted",
        /// What was said is no response of the protocol, or is far too long for one.
        InvalidResponse = "invalid response",
        /// The body's chunks are malformed.
        BadChunking = "bad chunking",
        /// The body is not in the coding that its header names, or in one that was not offered.
        BadEncoding = "bad encoding",
    }
}

/// A redirect that was followed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Redirect {
    /// Its status: 301, 302, 303, 307 or 308.
    pub status: u16,
    /// Where it led, as an absolute URL.
    pub location: String,
}

/// One answer of a server: of HTTP as it stands, of FTP in the numbers of HTTP.
#[derive(Debug, Default)]
pub(super) struct ServerResponse {
    pub status: u16,
    /// Where a redirect leads, as it was written.
    pub location: Option<String>,
    pub max_age_seconds: Option<u64>,
    /// Empty unless the status is 2xx.
    pub body: Vec<u8>,
    /// What an FTP server said; nothing for HTTP.
    pub note: String,
}

/// Why there is no answer, for a table and in words.
#[derive(Debug)]
pub(super) struct Problem {
    pub kind: FailureKind,
    pub why: String,
}

impl Problem {
    pub fn new(kind: FailureKind, why: impl Into<String>) -> Problem {
        Problem { kind, why: why.into() }
    }

    pub fn timeout(what: &str) -> Problem {
        Problem::new(FailureKind::Timeout, format!("timed out: {what}"))
    }

    /// What an error of a socket amounts to.
    pub fn of_io(err: &io::Error) -> Problem {
        let kind = match err.kind() {
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::AddrNotAvailable
            | io::ErrorKind::PermissionDenied => FailureKind::Connect,
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => FailureKind::Timeout,
            // Only TLS finds data of a socket invalid.
            io::ErrorKind::InvalidData => FailureKind::Tls,
            _ => FailureKind::Interrupted,
        };
        Problem::new(kind, err.to_string())
    }
}

/// Longest text of a stranger that is kept for a message, in bytes.
const EXCERPT_BYTES_MAX: usize = 300;

/// The beginning of `text`, for a message.
pub(super) fn excerpt(text: &str) -> String {
    let mut end = text.len().min(EXCERPT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
