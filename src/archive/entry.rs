//! What an archive keeps of one snapshot, and the numbers and text it keeps it as.

use crate::digest::Digest;

use super::snapshot::{Failure, Fetch, Hop, SnapshotOutcome};

/// A snapshot in an archive, but for the bytes of its body.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HistoryEntry {
    /// When, and what came of it.
    pub fetch: Fetch,
    /// What the archive has of the body; `None` where nothing was given.
    pub body: Option<BodyKey>,
    /// Where the snapshot was imported from.
    pub source: String,
}

/// Stands for a body of one archive.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BodyKey {
    /// In the archive.
    pub(super) id: i64,
    /// Of the bytes that the archive has.
    pub digest: Digest,
    /// How many they are.
    pub size_bytes: u64,
}

/// Statuses stand for themselves; below 0 are the failures. The numbers are in files: they stay.
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

/// A line `status location` for each hop. Locations hold no line ends: no header does.
pub fn chain_text(chain: &[Hop]) -> String {
    let line = |hop: &Hop| format!("{} {}", hop.status, hop.location.replace(['\n', '\r'], ""));
    chain.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Undoes [`chain_text`].
pub fn chain(text: &str) -> Option<Vec<Hop>> {
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
