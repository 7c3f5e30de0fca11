//! What an archive says was in force at the time that is asked about.

use std::sync::Arc;

use crate::crawlers::crawler::CrawlerId;
use crate::judge::Judge;
use crate::judge::dated::{Dated, Judgement, Seen};
use crate::judge::timeline::{BeforeFirst, Standing};
use crate::time::UtcTime;
use crate::url::path::prepare;

/// What was in force at a time, by the snapshots of an archive.
#[derive(Clone, Debug)]
pub struct InForce {
    /// The time.
    pub at: UtcTime,
    /// What counted, and since when.
    pub standing: Standing,
    /// The snapshot that says so.
    pub seen: Seen,
    known: Arc<Dated>,
}

impl InForce {
    /// At `at`; `None` where nothing is known of that time, or robots.txt has no history.
    pub(super) fn new(known: &Arc<Dated>, at: UtcTime) -> Option<InForce> {
        let standing = known.at(at, BeforeFirst::AsFirst)?;
        let seen = known.seen(&standing)?;
        Some(InForce { at, standing, seen, known: Arc::clone(known) })
    }

    /// Whether `crawler` may still have held an earlier ruling that allows `path`, which what is
    /// in force disallows.
    pub(super) fn is_grace(&self, judge: &Judge, crawler: CrawlerId, path: &[u8]) -> bool {
        let mut scratch = Vec::new();
        let path = prepare(path, judge.dialect(), &mut scratch);
        let before = BeforeFirst::AsFirst;
        !path.is_robots_txt()
            && matches!(
                judge.verdict_at(&self.known, crawler, path, self.at, before),
                Judgement::Grace(_)
            )
    }
}
