//! When and how often crawlers fetched robots.txt.

use crate::audit::crawler_row::ActorRow;
use crate::audit::refetches::{Refetches, refetches};
use crate::report::table::table;
use crate::table::columns::{
    CRAWLER, ORIGIN, PRIOR_FETCHES, ROBOTS_TXT_REQUESTS, STATUSES, VIOLATIONS, WHO,
};
use crate::table::schema::{column, count, time};

table! {
    /// Fetches of robots.txt by crawlers, and requests before the first fetch.
    pub(crate) const ROBOTS_FETCHES = "robots-fetches.csv", "each origin, crawler and identity";
    rows of => of.audit.rows();
    ActorRow { origin, actor, tally, prior_fetches, .. } => {
        let (sums, fetches) = (tally.total(), &tally.robots_fetches);
        let (fetched, read) = (fetches.fetched, fetches.read);
    }
    cells row => {
        ORIGIN => row.text(origin),
        WHO => row.known_crawler(of.crawlers, *actor),
        ROBOTS_TXT_REQUESTS => row.counts([sums.robots_txt_requests]),
        count("successful_fetches", "requests for robots.txt by GET that were answered 200 or 304, without those in `fetch_altered`") => row.counts([fetches.successful_fetches]),
        STATUSES => row.statuses(&fetches.statuses),
        time("first_fetch_utc", "time of the first request for robots.txt in these logs") => row.maybe(fetched, 1, |row, span| row.time(span.first)),
        time("last_fetch_utc", "time of the last request for robots.txt in these logs") => row.maybe(fetched, 1, |row, span| row.time(span.last)),
        time("first_successful_fetch_utc", "time of the first successful fetch in these logs; empty if there is none") => row.maybe(read, 1, |row, span| row.time(span.first)),
        time("last_successful_fetch_utc", "time of the last successful fetch in these logs; empty if there is none") => row.maybe(read, 1, |row, span| row.time(span.last)),
        count("other_requests", "all other requests") => row.counts([sums.requests - sums.robots_txt_requests]),
        count("requests_before_first_fetch", "other requests in minutes before the first successful fetch; all of them if there is no fetch") => row.counts([fetches.requests_before_first_fetch()]),
        VIOLATIONS => row.counts([sums.violations]),
        PRIOR_FETCHES => row.prior_fetches(prior_fetches),
        count("fetch_altered", "requests by GET that were answered with something other than robots.txt, such as a challenge: see [other answers](#other-answers)") => row.counts([fetches.altered]),
    }
}

table! {
    /// How often crawlers fetch robots.txt again.
    pub(crate) const REFETCHES = "refetches.csv", "each crawler and identity that fetched robots.txt with success, for all origins together and for each origin";
    rows of => refetches(of.audit);
    ((origin, (id, identity)), refetches) => {
        let Refetches { fetches, gaps, requests, on_old_copy } = refetches;
        let minutes = |percent| gaps.percentile(percent).map(|minutes| [minutes.unsigned_abs()]);
    }
    cells row => {
        column("origin", "scheme://host[:port]", "origin that was requested; `*` for all origins together") => row.text(origin.unwrap_or("*")),
        CRAWLER => row.crawler_and_identity(of.crawlers.registry.crawler(id), identity),
        count("successful_fetches", "requests for robots.txt by GET that were answered 200 or 304, without those in `fetch_altered`") => row.counts([fetches]),
        count("gaps", "times from one of these fetches to the next at the same origin, by the minute: 0 within one minute") => row.counts([gaps.total()]),
        column("gap_minutes_median", "minutes", "median of these times, by the nearest rank") => row.maybe_counts(minutes(50)),
        column("gap_minutes_p95", "minutes", "their 95th percentile, by the nearest rank") => row.maybe_counts(minutes(95)),
        count("requests_after_first_fetch", "other requests from the minute of the first successful fetch on") => row.counts([requests]),
        count("requests_on_old_copy", "those of them more than 24 hours after the last successful fetch before them, by the minute: 1,440 minutes are not more") => row.counts([on_old_copy]),
        column("old_copy_share", "fraction, 6 decimals", "requests_on_old_copy / requests_after_first_fetch") => row.fraction(on_old_copy, requests),
    }
}
