//! Requests for paths about whose use robots.txt stated a preference.

use crate::error::Result;
use crate::judge::{robots::RobotsId, usage::StatedPreference};

use super::request::{JudgedRequest, Measure};
use super::{answer_tally::AnswerTally, renumbering::Renumbering, short_map::ShortMap};

/// Requests by the preference that applied to them.
pub(crate) type UsedPreferences = ShortMap<StatedPreference, AnswerTally>;

impl Measure for UsedPreferences {
    #[inline]
    fn count(&mut self, request: &JudgedRequest<'_>) {
        let record = request.record;
        for stated in request.stated {
            self.entry(*stated).count(record.time, record.status, record.bytes);
        }
    }

    fn quoted_robots(&self, quote: &mut dyn FnMut(RobotsId)) {
        self.iter().for_each(|(stated, _)| quote(stated.robots));
    }

    fn renumbered(self, numbers: &Renumbering) -> Result<UsedPreferences> {
        let renumbered = self.into_iter().map(|(stated, tally)| {
            Ok((StatedPreference { robots: numbers.version(stated.robots)?, ..stated }, tally))
        });
        renumbered.collect()
    }
}
