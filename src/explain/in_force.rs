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
    pub standing: RulingInForce,
    /// The snapshot that says so.
    pub seen: Sighting,
}

impl InForce {
    /// At `at`; `None` where nothing is known of that time, or robots.txt has no history.
    pub(super) fn new(known: &OriginHistory, at: UtcTime) -> Option<InForce> {
        let standing = known.at(at, BeforeFirst::AsFirst)?;
        let seen = known.seen(&standing)?;
        Some(InForce { at, standing, seen })
    }
}
