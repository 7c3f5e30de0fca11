//! One fetch of one robots.txt.

use std::{fmt, path::Path};

use crate::error::{Error, Result};
use crate::files::read_up_to;
use crate::named_enum::named_enum;
use crate::time::UtcTime;

/// Bytes of a file that are read: what counts (512,000) is less, but the digest
/// should name the whole file wherever that is of a sensible size.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// What came of asking for a robots.txt.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum SnapshotOutcome {
    /// The status of the last answer, after all redirects that were followed.
    Status(u16),
    /// There was no answer.
    Failure(Failure),
    /// A redirect of which only the answer was recorded, not what its target gave:
    /// it says nothing of what is allowed.
    Unfollowed,
}

named_enum! {
    /// Why there was no answer.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum Failure {
        /// No address for the host.
        Dns = "dns",
        /// No connection.
        Connect = "connect",
        /// No trust: a handshake that failed, a wrong certificate.
        Tls = "tls",
        /// Too slow, at any stage.
        Timeout = "timeout",
        /// Reset or closed before the end.
        Interrupted = "interrupted",
        /// What was said is no valid response, or is coded wrongly.
        InvalidResponse = "invalid-response",
        /// Unreachable, for a reason that was not recorded.
        Network = "network",
    }
}

impl SnapshotOutcome {
    /// Reads what [`SnapshotOutcome`] writes: a status from 100 to 999, the name of a failure, or
    /// `unfollowed`.
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

    /// Whether a robots.txt was given.
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

/// A redirect on the way to an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hop {
    /// Its status.
    pub status: u16,
    /// Where it sent.
    pub location: String,
}

/// One fetch of a robots.txt: when, and what came of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fetch {
    /// When it was asked for.
    pub fetched_at: UtcTime,
    /// What came of it.
    pub outcome: SnapshotOutcome,
    /// `Cache-Control: max-age` of the answer, in seconds.
    pub max_age_seconds: Option<u64>,
    /// Redirects that were followed, in order.
    pub chain: Vec<Hop>,
}

/// A robots.txt as it was got, and from where.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Where it comes from, as shown to the user: a file, or an archive and a time.
    pub source: String,
    /// The bytes of a file, uncut; those of a fetch up to one byte more than count.
    pub body: Vec<u8>,
}

impl Snapshot {
    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read, or is far too long to be a robots.txt.
    pub fn from_file(path: &Path) -> Result<Snapshot> {
        Ok(Snapshot { source: path.display().to_string(), body: read_body(path)? })
    }
}

/// The bytes of the file `path`.
///
/// # Errors
/// Where it cannot be read, or is far too long to be a robots.txt.
pub fn read_body(path: &Path) -> Result<Vec<u8>> {
    let body = read_up_to(path, FILE_BYTES_MAX)
        .map_err(|err| Error::io("cannot read robots.txt", path, err))?;
    body.ok_or_else(|| Error::invalid_file(path, "larger than 64 MiB, so it is not a robots.txt"))
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
