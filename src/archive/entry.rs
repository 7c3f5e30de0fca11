//! The stored form of a snapshot in an archive.

use crate::digest::Digest;

use super::snapshot::{Failure, Fetch, Hop, SnapshotOutcome};

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

#[cfg(test)]
mod tests {
    use super::*;

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
