//! The ruling in force at a time, from an archive.

use crate::judge::origin_history::OriginHistory;
use crate::judge::timeline::{BeforeFirst, RulingInForce, Sighting};
use crate::time::UtcTime;

/// The ruling in force at a time, from the snapshots of an archive.
#[derive(Clone, Debug)]
pub(crate) struct InForce {
    /// The time.
    pub at: UtcTime,
    /// The ruling, and since when.
    pub ruling_in_force: RulingInForce,
    /// The snapshot of the ruling.
    pub snapshot: Sighting,
}

impl InForce {
    /// The ruling at `at`; `None` if nothing is known about that time, or robots.txt has no
    /// history.
    pub(super) fn new(known: &OriginHistory, at: UtcTime) -> Option<InForce> {
        let ruling_in_force = known.at(at, BeforeFirst::AsFirst)?;
        let snapshot = known.snapshot(&ruling_in_force)?;
        Some(InForce { at, ruling_in_force, snapshot })
    }
}
