//! The snapshots of an archive that an audit judged by.

use crate::error::Result;
use crate::judge::origin_history::SnapshotInForce;

use super::quotes::{Quotes, UsedRobots};
use super::tally::counts::OriginRows;

/// The most origins whose snapshots are listed; the others are only counted.
pub(crate) const ORIGINS_LISTED_MAX: usize = 1000;

/// The most snapshots that are listed for one origin, the earliest ones; the others are only
/// counted.
pub(crate) const SNAPSHOTS_LISTED_MAX: usize = 100;

/// The snapshots that were judged by.
#[derive(Clone, Debug, Default)]
pub struct Snapshots {
    /// Ordered by name.
    pub origins: Vec<OriginSnapshots>,
    /// The number of origins with a history.
    pub origins_total: usize,
}

/// The snapshots of one origin.
#[derive(Clone, Debug)]
pub struct OriginSnapshots {
    /// The origin.
    pub origin: String,
    /// Ordered by time.
    pub snapshots: Vec<SnapshotInForce>,
    /// The number of snapshots that decided.
    pub snapshots_total: usize,
}

impl Snapshots {
    /// Adds the snapshots in force between the first and the last request of an origin, and adds
    /// their versions of robots.txt to `robots`, by name.
    ///
    /// # Errors
    /// If the tally is damaged.
    pub(super) fn add(
        &mut self,
        of: &OriginRows,
        quotes: &Quotes<'_>,
        robots: &mut Vec<(String, UsedRobots)>,
    ) -> Result<()> {
        let Some((history, deciding)) = of.in_force(quotes.rulings()) else { return Ok(()) };
        let mut versions = Vec::new();
        for SnapshotInForce { fetched_at, digest, .. } in &deciding {
            if let Some(digest) = digest.filter(|digest| !versions.contains(digest)) {
                versions.push(digest);
                robots.push((format!("{} at {fetched_at}", history.source), quotes.used(digest)?));
            }
        }
        self.origins_total += 1;
        if self.origins.len() < ORIGINS_LISTED_MAX {
            let snapshots_total = deciding.len();
            let snapshots = deciding.into_iter().take(SNAPSHOTS_LISTED_MAX).collect();
            let origin = of.origin_key.to_string();
            self.origins.push(OriginSnapshots { origin, snapshots, snapshots_total });
        }
        Ok(())
    }
}
