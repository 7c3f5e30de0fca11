//! Events that no later night could find again: the state remembers them.

use crate::audit::tally::Tally;
use crate::error::Result;
use crate::nightly::events::of_site;
use crate::nightly::state::State;
use crate::nightly::state::rows::{LATE_LINES, LISTS_OLD};
use crate::numbers::counted;
use crate::report::nights::EventRow;
use crate::time::{Day, Zone};

use super::site::Job;

impl Job<'_> {
    /// Remembers as an event that `late` lines changed `day`, which had a report.
    pub(super) fn tell_late(&self, state: &State, day: Day, late: u64) -> Result<()> {
        let lines = counted(late, "line");
        let message = format!("{lines} of {day} came late; the report of that day has changed");
        let counts = (String::new(), late.to_string());
        let event = of_site(&self.site.name, self.day, LATE_LINES, counts, message);
        state.tell(&EventRow { source: day.to_string(), ..event }, false)
    }

    /// Remembers once as an event that no address list is younger than `days`, if there are any; 0
    /// means never.
    pub(super) fn tell_old_lists(&self, state: &State, tally: &Tally, days: u64) -> Result<()> {
        let lists = tally.header.identities.ranges.iter().flat_map(|ranges| ranges.lists.values());
        let newest = lists.filter_map(|list| list.fetched_at.or(list.created)).max();
        let Some(newest) = newest.map(|time| Zone::UTC.day_of(time)) else { return Ok(()) };
        let age = newest.days_until(self.day);
        if days == 0 || age < i64::try_from(days).unwrap_or(i64::MAX) {
            return Ok(());
        }
        let message = format!(
            "the newest address list was fetched on {newest}, {age} days before; run: botaudit crawlers \
             fetch-ranges"
        );
        let counts = (newest.to_string(), age.to_string());
        let event = of_site(&self.site.name, self.day, LISTS_OLD, counts, message);
        state.tell(&EventRow { source: newest.to_string(), ..event }, true)
    }
}
