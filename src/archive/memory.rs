//! Snapshots in memory, such as the rows of a table.

use std::collections::HashMap;

use bytes::Bytes;
use foldhash::fast::RandomState;

use crate::digest::Digest;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::snapshot::{BodyKey, Fetch, HistoryEntry, SnapshotOutcome};
use super::writer::KEPT_BYTES_MAX;

/// Snapshots of any number of origins, which no file holds.
#[derive(Debug, Default)]
pub struct MemoryArchive {
    /// By time.
    by_origin: HashMap<Origin, Vec<MemorySnapshot>, RandomState>,
}

/// One fetch of a robots.txt.
#[derive(Clone, Debug)]
pub struct MemorySnapshot {
    /// The time of the request.
    pub fetched_at: UtcTime,
    /// The outcome.
    pub outcome: SnapshotOutcome,
    /// `Cache-Control: max-age` of the answer, in seconds.
    pub max_age_seconds: Option<u64>,
    /// The body, which counts only if the outcome is a success.
    pub body: Bytes,
}

impl MemoryArchive {
    /// Adds a snapshot of `origin`. An equal one of the same second counts once, with the longer
    /// `max-age`. Returns false if one of the same second has another outcome or body; it stays.
    #[must_use]
    pub fn add(&mut self, origin: Origin, mut snapshot: MemorySnapshot) -> bool {
        let snapshots = self.by_origin.entry(origin).or_default();
        let at = snapshots.binary_search_by_key(&snapshot.fetched_at, |known| known.fetched_at);
        snapshot.body.truncate(KEPT_BYTES_MAX);
        match at {
            Err(at) => {
                snapshots.insert(at, snapshot);
                true
            }
            Ok(at) => snapshots[at].absorb_equal(&snapshot),
        }
    }

    /// Forgets the snapshots of `origin`.
    pub fn remove(&mut self, origin: &Origin) {
        self.by_origin.remove(origin);
    }

    /// Its origins, in the order of their texts.
    pub(crate) fn origins(&self) -> Vec<Origin> {
        let mut origins: Vec<Origin> = self.by_origin.keys().cloned().collect();
        origins.sort_unstable_by(|left, right| left.as_str().cmp(right.as_str()));
        origins
    }

    /// Whether it has any snapshot of `origin`.
    pub(crate) fn holds(&self, origin: &Origin) -> bool {
        self.by_origin.contains_key(origin)
    }

    /// The snapshots of `origin`, the earliest first; empty if nothing is known.
    pub(crate) fn history(&self, origin: &Origin) -> Vec<HistoryEntry> {
        let snapshots = self.by_origin.get(origin).map_or(&[][..], Vec::as_slice);
        (0..).zip(snapshots).map(|(id, snapshot)| snapshot.entry(id)).collect()
    }

    /// The bytes of a body of `origin`.
    pub(crate) fn body(&self, origin: &Origin, key: BodyKey) -> Bytes {
        let snapshots = self.by_origin.get(origin);
        let index = usize::try_from(key.id).ok();
        let found = snapshots.zip(index).and_then(|(snapshots, index)| snapshots.get(index));
        found.map(|snapshot| snapshot.body.clone()).unwrap_or_default()
    }
}

impl MemorySnapshot {
    /// Whether `other` is the same answer; then the longer `max-age` counts.
    fn absorb_equal(&mut self, other: &MemorySnapshot) -> bool {
        let has_body = self.outcome.is_success();
        let is_equal = self.outcome == other.outcome && (!has_body || self.body == other.body);
        if is_equal {
            self.max_age_seconds = self.max_age_seconds.max(other.max_age_seconds);
        }
        is_equal
    }

    /// The entry of the snapshot with the index `id`.
    fn entry(&self, id: i64) -> HistoryEntry {
        let MemorySnapshot { fetched_at, outcome, max_age_seconds, ref body } = *self;
        let fetch = Fetch { fetched_at, outcome, max_age_seconds, chain: Vec::new() };
        let key = |digest| BodyKey { id, digest, size_bytes: body.len() as u64 };
        let body = outcome.is_success().then(|| key(Digest::of(body)));
        HistoryEntry { fetch, body, source: String::new() }
    }
}
