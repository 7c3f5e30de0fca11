//! One fetch of one robots.txt.

use std::{fmt, path::Path};

use crate::error::{Error, Result};
use crate::files::read_up_to;
use crate::time::UtcTime;
use botaudit_robots::named_enum;

/// The most bytes of a file that are read. Fewer count (512,000), but the digest should cover the
/// whole file if its size is reasonable.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The outcome of a request for a robots.txt.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum SnapshotOutcome {
    /// The status of the last answer, after all followed redirects.
    Status(u16),
    /// There was no answer.
    Failure(Failure),
    /// A redirect of which only the answer was recorded, not that of its target; it gives no
    /// ruling.
    Unfollowed,
}

named_enum! {
    /// Why there was no answer.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum Failure {
        /// The host has no address.
        Dns = "dns",
        /// No connection.
        Connect = "connect",
        /// A failed handshake or an untrusted certificate.
        Tls = "tls",
        /// A timeout at any stage.
        Timeout = "timeout",
        /// Reset or closed before the end.
        Interrupted = "interrupted",
        /// The response is invalid or wrongly encoded.
        InvalidResponse = "invalid-response",
        /// Unreachable for an unrecorded reason.
        Network = "network",
    }
}

impl SnapshotOutcome {
    /// Parses the text of a [`SnapshotOutcome`]: a status from 100 to 999, the name of a failure,
    /// or `unfollowed`.
    pub fn parse(text: &str) -> Option<SnapshotOutcome> {
        if text == "unfollowed" {
            return Some(SnapshotOutcome::Unfollowed);
        }
        let failure = Failure::ALL.into_iter().find(|failure| failure.as_str() == text);
        let status = || {
            let is_status = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
            let status = text.parse().ok().filter(|status| is_status && *status >= 100)?;
            Some(SnapshotOutcome::Status(status))
        };
        failure.map(SnapshotOutcome::Failure).or_else(status)
    }

    /// Whether there is a robots.txt.
    pub fn is_success(self) -> bool {
        matches!(self, SnapshotOutcome::Status(200..=299))
    }
}

/// `200`, `timeout`, `unfollowed`.
impl fmt::Display for SnapshotOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotOutcome::Status(status) => write!(f, "{status}"),
            SnapshotOutcome::Failure(failure) => f.write_str(failure.as_str()),
            SnapshotOutcome::Unfollowed => f.write_str("unfollowed"),
        }
    }
}

/// A redirect before an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hop {
    /// Its status.
    pub status: u16,
    /// Its target.
    pub location: String,
}

/// One fetch of a robots.txt: time and outcome.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fetch {
    /// The time of the request.
    pub fetched_at: UtcTime,
    /// The outcome.
    pub outcome: SnapshotOutcome,
    /// `Cache-Control: max-age` of the answer, in seconds.
    pub max_age_seconds: Option<u64>,
    /// Followed redirects, in order.
    pub chain: Vec<Hop>,
}

/// A fetched robots.txt with its source.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The source as shown to the user: a file, or an archive and a time.
    pub source: String,
    /// All bytes of a file; for a fetch, at most one byte more than counts.
    pub body: Vec<u8>,
}

impl Snapshot {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is far too long for a robots.txt.
    pub(crate) fn from_file(path: &Path) -> Result<Snapshot> {
        Ok(Snapshot { source: path.display().to_string(), body: read_body(path)? })
    }
}

/// The bytes of the file `path`.
///
/// # Errors
/// If it cannot be read, or is far too long for a robots.txt.
pub(crate) fn read_body(path: &Path) -> Result<Vec<u8>> {
    let body = read_up_to(path, FILE_BYTES_MAX)
        .map_err(|err| Error::io("cannot read robots.txt", path, err))?;
    body.ok_or_else(|| {
        Error::invalid_file(
            path,
            "larger than 64 MiB, so it is not a robots.txt; name another file",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_as_they_are_written() {
        let failures = Failure::ALL.map(SnapshotOutcome::Failure);
        for outcome in [
            SnapshotOutcome::Status(100),
            SnapshotOutcome::Status(999),
            SnapshotOutcome::Unfollowed,
        ]
        .into_iter()
        .chain(failures)
        {
            assert_eq!(SnapshotOutcome::parse(&outcome.to_string()), Some(outcome));
        }
        for text in ["", "99", "099", "+20", "1000", "ok", "DNS"] {
            assert_eq!(SnapshotOutcome::parse(text), None, "{text}");
        }
    }
}
