//! Builds the timeline of an origin from the snapshots of an archive.

use std::collections::HashMap;

use crate::archive::snapshot::{BodyKey, HistoryEntry};

use super::timeline::{Sighting, Timeline, Version};

/// The rulings of an origin, and their bodies.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// A sighting for each entry, in the same order.
    pub timeline: Timeline,
    /// By [`Version`], each once.
    pub bodies: Vec<BodyKey>,
    /// Each entry, in the same order.
    pub sightings: Box<[Sighting]>,
}

impl History {
    /// The history of one origin with the snapshots `entries`, in order.
    pub fn new(entries: &[HistoryEntry]) -> History {
        let mut bodies = Vec::new();
        let mut versions = HashMap::new();
        let mut version_of = |key: BodyKey| {
            *versions.entry(key).or_insert_with(|| {
                bodies.push(key);
                let index = u32::try_from(bodies.len() - 1);
                Version(index.expect("no origin has four thousand million versions"))
            })
        };
        let sightings: Box<[Sighting]> = entries
            .iter()
            .map(|entry| Sighting {
                fetched_at: entry.fetch.fetched_at,
                outcome: entry.fetch.outcome,
                max_age_seconds: entry.fetch.max_age_seconds,
                version: entry.body.map(&mut version_of),
            })
            .collect();
        History { timeline: Timeline::new(&sightings), bodies, sightings }
    }

    /// The body of `version`.
    pub(crate) fn body(&self, version: Version) -> BodyKey {
        self.bodies[version.0 as usize]
    }
}
