//! What an archive says was in force at the time that is asked about.

use crate::judge::origin_history::OriginHistory;
use crate::judge::timeline::{BeforeFirst, RulingInForce, Sighting};
use crate::time::UtcTime;

/// What was in force at a time, by the snapshots of an archive.
#[derive(Clone, Debug)]
pub struct InForce {
    /// The time.
    pub at: UtcTime,
    /// What counted, and since when.
    pub ruling_in_force: RulingInForce,
    /// The snapshot that says so.
    pub snapshot: Sighting,
}

impl InForce {
    /// At `at`; `None` where nothing is known of that time, or robots.txt has no history.
    pub(super) fn new(known: &OriginHistory, at: UtcTime) -> Option<InForce> {
        let ruling_in_force = known.at(at, BeforeFirst::AsFirst)?;
        let snapshot = known.snapshot(&ruling_in_force)?;
        Some(InForce { at, ruling_in_force, snapshot })
    }
}
