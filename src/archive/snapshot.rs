//! One fetch of one robots.txt, and its stored form in an archive.

use std::{fmt, path::Path};

use botaudit_robots::named_enum;
use rusqlite::Row;

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::files::read_up_to;
use crate::time::UtcTime;
use crate::url::origin::Origin;

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

/// A snapshot in an archive without the bytes of its body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryEntry {
    /// The time and the outcome of the fetch.
    pub fetch: Fetch,
    /// The key of the body; `None` if there was none.
    pub body: Option<BodyKey>,
    /// The source of an imported snapshot.
    pub source: String,
}

/// The key of a body in one archive.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BodyKey {
    /// The row id.
    pub(super) id: i64,
    /// The digest of the stored bytes.
    pub digest: Digest,
    /// The number of stored bytes.
    pub size_bytes: u64,
}

/// The stored number of an outcome: a status, or a negative number for a failure. These numbers are
/// in files and must never change.
pub(super) fn outcome_code(outcome: SnapshotOutcome) -> i64 {
    match outcome {
        SnapshotOutcome::Status(status) => i64::from(status),
        SnapshotOutcome::Unfollowed => 0,
        SnapshotOutcome::Failure(Failure::Network) => -1,
        SnapshotOutcome::Failure(Failure::Dns) => -2,
        SnapshotOutcome::Failure(Failure::Connect) => -3,
        SnapshotOutcome::Failure(Failure::Tls) => -4,
        SnapshotOutcome::Failure(Failure::Timeout) => -5,
        SnapshotOutcome::Failure(Failure::Interrupted) => -6,
        SnapshotOutcome::Failure(Failure::InvalidResponse) => -7,
    }
}

/// Undoes [`outcome_code`].
pub(super) fn outcome(code: i64) -> Option<SnapshotOutcome> {
    match code {
        100..=999 => u16::try_from(code).ok().map(SnapshotOutcome::Status),
        0 => Some(SnapshotOutcome::Unfollowed),
        _ => {
            let failures = Failure::ALL.into_iter().map(SnapshotOutcome::Failure);
            failures.into_iter().find(|outcome| outcome_code(*outcome) == code)
        }
    }
}

/// One line `status location` for each hop. Locations contain no line ends, because headers cannot.
pub fn chain_text(chain: &[Hop]) -> String {
    let line = |hop: &Hop| format!("{} {}", hop.status, hop.location.replace(['\n', '\r'], ""));
    chain.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Undoes [`chain_text`].
pub(crate) fn chain(text: &str) -> Option<Vec<Hop>> {
    let hop = |line: &str| {
        let (status, location) = line.split_once(' ')?;
        Some(Hop { status: status.parse().ok()?, location: location.to_owned() })
    };
    text.split('\n').filter(|line| !line.is_empty()).map(hop).collect()
}

/// A statement that selects the columns of a [`HistoryEntry`] in the order of [`entry`]. It is a
/// literal, because prepared statements are found by their text.
macro_rules! entries {
    ($rest:literal) => {
        concat!(
            "SELECT fetched_at, outcome, max_age, chain, name, body, digest, size, origin ",
            // A row without its source is damage and must not be omitted.
            "FROM snapshots LEFT JOIN sources ON sources.id = snapshots.source ",
            $rest
        )
    };
}

/// The snapshots of an origin, the earliest first.
pub(crate) const HISTORY: &str = entries!("WHERE origin = ?1 ORDER BY fetched_at, outcome, body");

/// The last snapshot of an origin at or before a time.
pub(crate) const NEWEST: &str = entries!(
    "WHERE origin = ?1 AND fetched_at <= ?2
     ORDER BY fetched_at DESC, outcome DESC, body DESC LIMIT 1"
);

/// The snapshot of an origin that is nearest to a time, within a number of seconds.
pub(crate) const NEAREST: &str = entries!(
    "WHERE origin = ?1 AND fetched_at BETWEEN ?2 - ?3 AND ?2 + ?3
     ORDER BY abs(fetched_at - ?2), fetched_at, outcome DESC LIMIT 1"
);

/// Unfollowed redirects after an origin and a time, with a limit.
pub(crate) const UNFOLLOWED: &str = entries!(
    "WHERE outcome = 0 AND (origin, fetched_at) > (?1, ?2) ORDER BY origin, fetched_at LIMIT ?3"
);

/// The longest text in a row; a row of a manifest may be as long.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// The most bytes of texts in rows that are in memory together: many rows may share one long source.
const TEXTS_BYTES_MAX: usize = 256 << 20;

/// The index of the origin column.
pub(crate) const ORIGIN_COLUMN: usize = 8;

/// Parses a row.
pub(crate) fn entry(row: &Row<'_>) -> rusqlite::Result<HistoryEntry> {
    let max_age: Option<i64> = row.get(2)?;
    for column in [3, 4] {
        let text = row.get_ref(column)?.as_bytes_or_null()?.unwrap_or_default();
        sane(column, (text.len() <= TEXT_BYTES_MAX).then_some(()))?;
    }
    let chain_text: Option<String> = row.get(3)?;
    let body = match row.get(5)? {
        0 => None,
        id => {
            let digest: [u8; 32] = row.get(6)?;
            let size_bytes = row.get::<_, i64>(7)?.unsigned_abs();
            Some(BodyKey { id, digest: Digest::from(digest), size_bytes })
        }
    };
    Ok(HistoryEntry {
        fetch: Fetch {
            fetched_at: sane(0, UtcTime::from_unix_seconds(row.get(0)?))?,
            outcome: sane(1, outcome(row.get(1)?))?,
            max_age_seconds: max_age.map(i64::unsigned_abs),
            chain: sane(3, chain(chain_text.as_deref().unwrap_or_default()))?,
        },
        body,
        source: row.get(4)?,
    })
}

/// Parses a row that stays in memory with others, whose texts are `texts_bytes` so far.
pub(crate) fn entry_of_many(
    row: &Row<'_>,
    texts_bytes: &mut usize,
) -> rusqlite::Result<HistoryEntry> {
    let entry = entry(row)?;
    let chain_bytes: usize = entry.fetch.chain.iter().map(|hop| hop.location.len()).sum();
    *texts_bytes += entry.source.len() + chain_bytes;
    sane(4, (*texts_bytes <= TEXTS_BYTES_MAX).then_some(entry))
}

/// The value, or an error for a value that botaudit never writes.
pub(crate) fn sane<T>(column: usize, value: Option<T>) -> rusqlite::Result<T> {
    let insane = || {
        let kind = rusqlite::types::Type::Null;
        let why = "an invalid value".into();
        rusqlite::Error::FromSqlConversionFailure(column, kind, why)
    };
    value.ok_or_else(insane)
}

/// The origin in a column. It must have the canonical form that a writer gives it; otherwise the
/// next row after it would not be found.
pub(crate) fn canonical(row: &Row<'_>, column: usize) -> rusqlite::Result<Origin> {
    let text = row.get_ref(column)?.as_str()?;
    let origin = Origin::parse(text.as_bytes()).filter(|origin| origin.as_str() == text);
    sane(column, origin)
}

/// Checks the strict order of rows. Otherwise the tree is damaged and may have no end.
pub(crate) fn in_order(is_in_order: bool) -> rusqlite::Result<()> {
    sane(0, is_in_order.then_some(()))
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

    #[test]
    fn what_is_kept_comes_back() {
        let failures = Failure::ALL.map(SnapshotOutcome::Failure);
        for kept in
            [SnapshotOutcome::Status(200), SnapshotOutcome::Unfollowed].into_iter().chain(failures)
        {
            assert_eq!(outcome(outcome_code(kept)), Some(kept));
        }
        assert_eq!((outcome(-8), outcome(1), outcome(1000)), (None, None, None));
        let hops = vec![
            Hop { status: 301, location: "https://a.example/robots.txt".to_owned() },
            Hop { status: 302, location: "/a b".to_owned() },
        ];
        assert_eq!(chain(&chain_text(&hops)), Some(hops));
        assert_eq!(chain(""), Some(Vec::new()));
        assert_eq!(chain("x"), None);
    }
}
