//! A row for each broken rule and crawler.

use crate::audit::crawler_row::Broken;
use crate::report::table::table;
use crate::table::columns::{
    BYTES, EXAMPLE, ORIGIN, PRIOR_FETCHES, REQUESTS, RULE, SEEN, STATUSES, WHO,
};
use crate::table::csv::Row;
use crate::table::schema::{column, count, time};

table! {
    /// A row for each broken rule and crawler.
    pub(crate) const VIOLATION = "violations.csv", "each origin, crawler, identity and deciding rule of one version of a robots.txt";
    rows of => of.audit.broken_rules();
    (origin, actor, broken) => {
        let Broken { rule, tally, prior_fetches } = broken;
        let ages = prior_fetches.ages();
        let example = &tally.example;
    }
    cells row => {
        ORIGIN => row.text(origin),
        WHO => row.known_crawler(of.crawlers, actor),
        RULE => row.violated_rule(rule),
        REQUESTS => row.counts([tally.requests]),
        STATUSES => row.statuses(&tally.statuses),
        BYTES => row.counts([tally.bytes]),
        SEEN => row.span(Some(tally.span)),
        EXAMPLE => row.example(example, of.audit),
        PRIOR_FETCHES => row.prior_fetches(prior_fetches),
        column("fetch_age_minutes_min", "minutes", "least time from the last successful fetch to a violation, by the minute; empty if there was no fetch") => row.maybe_counts(ages.map(|ages| [ages.min])),
        column("fetch_age_minutes_median", "minutes", "median of that time, by the nearest rank") => row.maybe_counts(ages.map(|ages| [ages.median])),
        column("fetch_age_minutes_max", "minutes", "greatest value of that time") => row.maybe_counts(ages.map(|ages| [ages.max])),
        column("not_bound_reason", "user-triggered, declined, reported-not-following, ignores-star", "with `--include-unbound`: why the rule does not bind the crawler; empty if it does") => row.rule_not_bound_reason(of.crawlers.registry.crawler(actor.0), rule),
        time("snapshot_fetched_utc", "fetch time of the snapshot by which the earliest request was judged; empty without an archive") => row.maybe(example.snapshot, 1, Row::time),
        column("snapshot_age_seconds", "seconds", "age of the snapshot at the time of the request; negative if the snapshot is later and no earlier one is known") => row.snapshot_age(example.snapshot, example.time),
        count("signed", "requests with a valid signature of an agent: see signatures.csv") => row.counts([tally.signed]),
    }
}
