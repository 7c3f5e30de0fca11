//! The snapshots of an archive that an audit judged by.

use std::sync::Arc;

use crate::judge::Judge;
use crate::judge::origin_history::SnapshotRef;
use crate::judge::robots::Robots;
use crate::judge::timeline::BeforeFirst;

use super::place::Place;
use super::places::PlaceTally;
use super::sums::Span;
use crate::merge::Merge;

/// Origins whose snapshots are told; of the others it is told how many there are.
pub const ORIGINS_TOLD_MAX: usize = 1000;

/// Snapshots that are told of one origin, the earliest; of the others it is told how many there are.
pub const SNAPSHOTS_TOLD_MAX: usize = 100;

/// The snapshots that were judged by.
#[derive(Clone, Debug, Default)]
pub struct Snapshots {
    /// In the order of their names.
    pub origins: Vec<OriginSnapshots>,
    /// All that were judged by a history.
    pub origins_total: usize,
}

/// Those of one origin.
#[derive(Clone, Debug)]
pub struct OriginSnapshots {
    /// The origin.
    pub origin: String,
    /// In the order of their times.
    pub snapshots: Vec<UsedSnapshot>,
    /// All that decided.
    pub snapshots_total: usize,
}

/// A snapshot that decided.
#[derive(Clone, Debug)]
pub struct UsedSnapshot {
    /// When it was fetched, and what came of it.
    pub seen: SnapshotRef,
    /// The robots.txt whose rules it put in force, if it did.
    pub robots: Option<Arc<Robots>>,
}

impl Snapshots {
    /// Adds what was in force between the first and the last request at `place`, and puts each
    /// version of robots.txt among that into `robots`, by name.
    pub(super) fn add(
        &mut self,
        place: &Place,
        actors: &PlaceTally,
        (judge, before): (&Judge, BeforeFirst),
        robots: &mut Vec<(String, Arc<Robots>)>,
    ) {
        let Place::Origin(origin) = place else { return };
        let mut span: Option<Span> = None;
        actors.values().for_each(|tally| span.absorb(tally.span));
        let (Some(known), Some(span)) = (judge.history(origin), span) else { return };
        let deciding = known.between(span.first, span.last, before);
        let source = judge.source(Some(origin)).unwrap_or_default();
        let mut versions = Vec::new();
        for (seen, version) in &deciding {
            if let Some(version) = version.filter(|version| !versions.contains(&version.id)) {
                versions.push(version.id);
                robots.push((format!("{source} at {}", seen.fetched_at), Arc::clone(version)));
            }
        }
        self.origins_total += 1;
        if self.origins.len() == ORIGINS_TOLD_MAX {
            return;
        }
        let told = deciding
            .iter()
            .take(SNAPSHOTS_TOLD_MAX)
            .map(|(seen, version)| UsedSnapshot { seen: *seen, robots: version.map(Arc::clone) });
        self.origins.push(OriginSnapshots {
            origin: origin.to_string(),
            snapshots: told.collect(),
            snapshots_total: deciding.len(),
        });
    }
}
