//! Requests by day and by hour.

use crate::audit::hours::HourSums;
use crate::crawlers::identity::Actor;
use crate::report::table::{Audited, table};
use crate::table::columns::{
    ALLOWED, BYTES, DAY, ORIGIN, REQUESTS, SUMS, VIOLATION_RATE, VIOLATIONS, WHO,
};
use crate::table::schema::column;
use crate::time::Hour;

table! {
    /// Requests by day.
    pub(crate) const DAILY = "daily.csv", "each day, origin, crawler and identity";
    rows of => of.audit.days();
    (day, origin, actor, sums) => {
    }
    cells row => {
        DAY => row.day(day),
        ORIGIN => row.text(origin),
        WHO => row.known_crawler(of.crawlers, actor),
        SUMS => row.sums(sums),
    }
}

table! {
    /// Requests by hour.
    pub(crate) const HOURLY = "hourly.csv", "each hour, crawler and identity, for all origins together; the last 1,488 hours with requests";
    rows of => hours(of);
    (Hour { day, hour }, actor, sums) => {
    }
    cells row => {
        DAY => row.day(day),
        column("hour", "0 to 23", "hour of the day in that zone; an hour that occurs twice when clocks change is one row") => row.counts([u64::from(hour)]),
        WHO => row.known_crawler(of.crawlers, actor),
        REQUESTS => row.counts([sums.requests]),
        ALLOWED => row.counts([sums.allowed]),
        VIOLATIONS => row.counts([sums.violations]),
        VIOLATION_RATE => row.fraction(sums.violations, sums.allowed + sums.violations),
        BYTES => row.counts([sums.bytes]),
    }
}

/// By hour, and by name.
fn hours<'a>(of: &Audited<'a>) -> impl Iterator<Item = (Hour, Actor, &'a HourSums)> {
    let registry = of.crawlers.registry;
    of.audit.hours.kept().flat_map(move |(hour, actors)| {
        let mut rows: Vec<_> = actors.iter().map(|(actor, sums)| (*actor, sums)).collect();
        rows.sort_by_key(|((crawler, identity), _)| (&registry.crawler(*crawler).name, *identity));
        rows.into_iter().map(move |(actor, sums)| (hour, actor, sums))
    })
}
