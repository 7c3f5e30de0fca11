//! The outcomes of requests to servers.

use std::{fmt, io};

use botaudit_robots::named_enum;

/// The outcome of fetching a robots.txt.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FetchOutcome {
    /// The status of the last answer. A 3xx is a redirect that was not followed: one too many, a
    /// loop, without a target, or to a place where no robots.txt can be.
    ///
    /// FTP replies are translated to HTTP statuses: 200 for the file, 404 and 401 for permanent
    /// refusals (of the file, of the login), 503 for temporary ones.
    Status(u16),
    /// There was no answer.
    Failure(FailureKind),
    /// No request was sent: the [`Settings`](super::settings::Settings) forbid the address or the
    /// port, or the scheme has no robots.txt. This says nothing about the site.
    NotAsked,
    /// The time for all fetches was over before there was an answer. This says nothing about the
    /// site.
    GivenUp,
}

impl FetchOutcome {
    /// Whether the answer says what is allowed: a file, or that there is no file. 429, 5xx and no
    /// answer do not: crawlers must stay away and ask again.
    pub(crate) fn is_ruling(self) -> bool {
        matches!(self, FetchOutcome::Status(status) if status != 429 && (200..500).contains(&status))
    }
}

/// `200`, `timeout`, `not fetched`.
impl fmt::Display for FetchOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchOutcome::Status(status) => write!(f, "{status}"),
            FetchOutcome::Failure(kind) => f.write_str(kind.as_str()),
            FetchOutcome::NotAsked => f.write_str("not fetched"),
            FetchOutcome::GivenUp => f.write_str("given up"),
        }
    }
}

named_enum! {
    /// Why there was no answer.
    #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
    pub enum FailureKind {
        /// The host has no address.
        Dns = "dns",
        /// No connection.
        Connect = "connect",
        /// A failed handshake, or an untrusted certificate.
        Tls = "tls",
        /// A timeout: of the lookup, the connection, a read, or the whole fetch.
        Timeout = "timeout",
        /// Reset, or closed before the end.
        Interrupted = "interrupted",
        /// The answer is not a response of the protocol, or far too long.
        InvalidResponse = "invalid response",
        /// The body's chunks are malformed.
        BadChunking = "bad chunking",
        /// The body does not have the coding in its header, or that coding was not offered.
        BadEncoding = "bad encoding",
    }
}

/// A followed redirect.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Redirect {
    /// Its status: 301, 302, 303, 307 or 308.
    pub status: u16,
    /// Its target as an absolute URL.
    pub location: String,
}

/// One answer of a server; FTP replies are translated to HTTP statuses.
#[derive(Debug, Default)]
pub(super) struct ServerResponse {
    pub status: u16,
    /// The target of a redirect, as written.
    pub location: Option<String>,
    pub max_age_seconds: Option<u64>,
    /// Empty unless the status is 2xx.
    pub body: Vec<u8>,
    /// The message of an FTP server; empty for HTTP.
    pub note: String,
}

/// Why there is no answer: a kind, and a text.
#[derive(Debug)]
pub struct Problem {
    /// The kind.
    pub kind: FailureKind,
    /// The text.
    pub why: String,
}

impl Problem {
    /// A problem of `kind`.
    pub(crate) fn new(kind: FailureKind, why: impl Into<String>) -> Problem {
        Problem { kind, why: why.into() }
    }

    /// The time limit of `what` is over.
    pub(crate) fn timeout(what: &str) -> Problem {
        Problem::new(FailureKind::Timeout, format!("timed out: {what}"))
    }

    /// The failure for an error of a socket.
    pub(crate) fn of_io(err: &io::Error) -> Problem {
        let kind = match err.kind() {
            io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::AddrNotAvailable
            | io::ErrorKind::PermissionDenied => FailureKind::Connect,
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => FailureKind::Timeout,
            // Only TLS reports invalid data for a socket.
            io::ErrorKind::InvalidData => FailureKind::Tls,
            _ => FailureKind::Interrupted,
        };
        Problem::new(kind, err.to_string())
    }
}

/// The most bytes of foreign text that a message quotes.
const EXCERPT_BYTES_MAX: usize = 300;

/// The beginning of `text` for a message.
pub(super) fn excerpt(text: &str) -> String {
    let mut end = text.len().min(EXCERPT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
