//! The share of disallowed requests before and since a day, by crawler.

use std::collections::BTreeMap;

use crate::merge::{Merge, sum};
use crate::time::Day;

use super::{model::ReportModel, sums::Sums, tally::crawler_tally::Actor};

/// The option with the day.
pub const COMPARE_AT: &str = "compare_at";

/// The day with which `audit` compares; `None` if it does not compare.
pub fn compared_day(audit: &ReportModel) -> Option<Day> {
    Day::parse(audit.options.get(COMPARE_AT).as_str()?)
}

/// The sums before `day` and since then, of each crawler at all origins.
pub fn comparison(audit: &ReportModel, day: Day) -> BTreeMap<Actor, [Sums; 2]> {
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
