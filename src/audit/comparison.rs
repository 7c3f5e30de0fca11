//! The shares of requests before and since a day or a change of robots.txt, by crawler.

use std::collections::BTreeMap;

use crate::crawlers::identity::Actor;
use crate::measures::sums::Sums;
use crate::merge::{Merge, sum};
use crate::time::Day;

use super::{model::ReportModel, reaction_rows::ReactionRow};

/// The option with the day, or [`CHANGES`].
pub(crate) const COMPARE_AT: &str = "compare_at";

/// The value for changes of robots.txt.
pub(crate) const CHANGES: &str = "changes";

/// The day with which `audit` compares; `None` if it does not compare.
pub(crate) fn compared_day(audit: &ReportModel) -> Option<Day> {
    Day::parse(audit.options.get(COMPARE_AT).as_str()?)
}

/// The sums before `day` and since then, of each crawler at all origins.
pub(crate) fn comparison(audit: &ReportModel, day: Day) -> BTreeMap<Actor, [Sums; 2]> {
    let mut rows: BTreeMap<Actor, [Sums; 2]> = BTreeMap::new();
    for (_, actor, tally) in audit.actors() {
        let part = |is_since: bool| {
            let days = tally.days.iter().filter(|(of, _)| (**of >= day) == is_since);
            sum(days.map(|(_, sums)| *sums))
        };
        rows.entry(actor).or_default().absorb([part(false), part(true)]);
    }
    rows
}

/// Whether `audit` compares requests before and since changes.
pub(crate) fn has_compared_changes(audit: &ReportModel) -> bool {
    audit.options.get(COMPARE_AT).as_str() == Some(CHANGES)
}

/// The changes around which all requests were counted, with those for touched paths and all
/// requests, before and since.
pub(crate) fn compared_changes(
    audit: &ReportModel,
) -> impl Iterator<Item = (&str, Actor, &ReactionRow, [(u64, u64); 2])> {
    let known = audit.reactions().filter(|(_, _, row)| has_all_requests(row));
    known.map(|(origin, actor, row)| {
        let touched = [row.tally.before, row.tally.since.requests];
        (origin, actor, row, [0, 1].map(|part| (touched[part], row.all[part])))
    })
}

/// Whether all requests around a change are known. Older tallies lack those before it.
fn has_all_requests(row: &ReactionRow) -> bool {
    !row.is_partial && row.tally.before <= row.all[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::reaction_rows::Reaction;
    use crate::measures::draft_effect::WhatIfChange;
    use crate::measures::reactions::{ChangeTimes, TouchedTally};
    use crate::time::UtcTime;

    #[test]
    fn only_changes_around_which_all_requests_are_known_are_compared() {
        let is_compared = |is_partial, before, all_before| {
            let row = ReactionRow {
                times: ChangeTimes { after: UtcTime::EPOCH, before: UtcTime::EPOCH },
                old_digest: None,
                new_digest: None,
                direction: WhatIfChange::NewlyDisallowed,
                is_partial,
                tally: TouchedTally { before, ..TouchedTally::default() },
                all: [all_before, 9],
                seconds_before: 0,
                seconds_since: 0,
                first_fetch: None,
                around_fetch: None,
                others_after: None,
                reaction: Reaction::Unknown,
                seconds: None,
            };
            has_all_requests(&row)
        };
        assert!(is_compared(false, 2, 2) && is_compared(false, 0, 0));
        assert!(!is_compared(true, 2, 2), "some logs were read without the change");
        assert!(!is_compared(false, 2, 1), "not all requests were counted");
    }
}
