//! The history of one origin in a tally, without the archive.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::archive::snapshot::SnapshotOutcome;
use crate::digest::Digest;
use crate::time::UtcTime;

use super::timeline::{BeforeFirst, Period, Ruling, Sighting, Timeline, Version};

/// The history of one origin.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct SnapshotHistory {
    /// The name of the archive, and the origin in it.
    pub source: String,
    /// By the time of the fetch.
    pub snapshots: BTreeMap<UtcTime, SnapshotSummary>,
}

/// One snapshot.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SnapshotSummary {
    /// The outcome of the fetch.
    #[serde(with = "as_text")]
    pub outcome: SnapshotOutcome,
    /// `Cache-Control: max-age`, in seconds.
    pub max_age_seconds: Option<u64>,
    /// The digest of its body, if it has one.
    pub digest: Option<Digest>,
}

/// A snapshot that decided requests.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotInForce {
    /// When it was fetched.
    pub fetched_at: UtcTime,
    /// The outcome.
    pub outcome: SnapshotOutcome,
    /// The digest of the robots.txt that was in force, if any.
    pub digest: Option<Digest>,
}

impl SnapshotHistory {
    /// The snapshots that decide at any time from `first` to `last`, the earliest first.
    pub(crate) fn between(
        &self,
        first: UtcTime,
        last: UtcTime,
        before: BeforeFirst,
    ) -> Vec<SnapshotInForce> {
        let (sightings, versions) = self.sightings();
        let times: Vec<UtcTime> = sightings.iter().map(|sighting| sighting.fetched_at).collect();
        let deciding = Timeline::new(&sightings).between(&times, first, last, before);
        let of = |(at, ruling): (usize, Ruling)| SnapshotInForce {
            fetched_at: sightings[at].fetched_at,
            outcome: sightings[at].outcome,
            digest: digest_of(ruling, &versions),
        };
        deciding.into_iter().map(of).collect()
    }

    /// Each run of snapshots with the same ruling, whatever failed between them: the time of the
    /// first and of the last, and the digest of the robots.txt, if there was one.
    pub(crate) fn periods(&self) -> Vec<(UtcTime, UtcTime, Option<Digest>)> {
        let (sightings, versions) = self.sightings();
        let periods = Timeline::new(&sightings).periods();
        let of = |period: Period| (period.first, period.last, digest_of(period.ruling, &versions));
        periods.into_iter().map(of).collect()
    }

    fn sightings(&self) -> (Vec<Sighting>, Vec<Digest>) {
        let mut versions: Vec<Digest> = Vec::new();
        let sightings: Vec<Sighting> = self
            .snapshots
            .iter()
            .map(|(&fetched_at, snapshot)| Sighting {
                fetched_at,
                outcome: snapshot.outcome,
                max_age_seconds: snapshot.max_age_seconds,
                version: snapshot.digest.map(|digest| version_of(&mut versions, digest)),
            })
            .collect();
        (sightings, versions)
    }
}

fn digest_of(ruling: Ruling, versions: &[Digest]) -> Option<Digest> {
    match ruling {
        Ruling::Rules(Version(at)) => Some(versions[at as usize]),
        Ruling::AllowAll(_) | Ruling::Unreachable => None,
    }
}

fn version_of(versions: &mut Vec<Digest>, digest: Digest) -> Version {
    let at = versions.iter().position(|known| *known == digest).unwrap_or_else(|| {
        versions.push(digest);
        versions.len() - 1
    });
    Version(u32::try_from(at).expect("no origin has four thousand million versions"))
}

/// An outcome as reports write it.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::archive::snapshot::SnapshotOutcome;

    pub(crate) fn serialize<S: Serializer>(
        outcome: &SnapshotOutcome,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(outcome)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<SnapshotOutcome, D::Error> {
        let text = String::deserialize(from)?;
        SnapshotOutcome::parse(&text).ok_or_else(|| D::Error::custom("an outcome of no fetch"))
    }
}
