//! When and how often crawlers fetched robots.txt, how fast they requested, and what their operators
//! promise.

use crate::audit::crawler_row::{ActorRow, Delayed};
use crate::audit::promises::{Observed, PromiseRow, PromisedValue, promises};
use crate::audit::refetches::{Refetches, refetches};
use crate::report::table::table;
use crate::table::columns::{
    CRAWLER, NOT_BOUND_REASON, ORIGIN, PRIOR_FETCHES, ROBOTS_TXT_REQUESTS, SHARE_INTERVAL,
    STATUSES, VIOLATIONS, WHO,
};
use crate::table::csv::Row;
use crate::table::schema::{column, count, line_number, time};

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
        WHO => row.known_crawler(&of.audit.registry, *actor),
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
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(id), identity),
        count("successful_fetches", "requests for robots.txt by GET that were answered 200 or 304, without those in `fetch_altered`") => row.counts([fetches]),
        count("gaps", "times from one of these fetches to the next at the same origin, by the minute: 0 within one minute") => row.counts([gaps.total()]),
        column("gap_minutes_median", "minutes", "median of these times, by the nearest rank") => row.maybe_counts(minutes(50)),
        column("gap_minutes_p95", "minutes", "their 95th percentile, by the nearest rank") => row.maybe_counts(minutes(95)),
        count("requests_after_first_fetch", "other requests from the minute of the first successful fetch on") => row.counts([requests]),
        count("requests_on_old_copy", "those of them more than 24 hours after the last successful fetch before them, by the minute: 1,440 minutes are not more") => row.counts([on_old_copy]),
        column("old_copy_share", "fraction, 6 decimals", "requests_on_old_copy / requests_after_first_fetch") => row.fraction(on_old_copy, requests),
    }
}

table! {
    /// Request intervals of crawlers whose group has a Crawl-delay.
    pub(crate) const CRAWL_DELAY = "crawl-delay.csv", "each origin, crawler, identity and version of robots.txt with a Crawl-delay for this crawler";
    rows of => of.audit.delays();
    (origin, actor, delayed) => {
        let Delayed { asked, requests, pace, .. } = delayed;
        let crawler = &of.audit.registry.crawler(actor.0);
        let busiest = pace.and_then(|pace| pace.busiest);
        let hourly = pace.and_then(|pace| pace.hourly);
        let daily = pace.and_then(|pace| pace.daily);
    }
    cells row => {
        ORIGIN => row.text(origin),
        WHO => row.known_crawler(&of.audit.registry, actor),
        column("robots_digest", "sha256:hex", "digest of the robots.txt version with the Crawl-delay") => row.digest(&asked.digest),
        line_number("delay_line", "line of the Crawl-delay; of the shortest one if several apply to the crawler") => row.counts([u64::from(asked.line)]),
        column("delay", "text", "value of the line, as written") => row.bytes(&asked.written),
        column("delay_seconds", "seconds, 3 decimals", "the same as a number, cut off after 3 decimals; empty if the value is not a number") => row.milliseconds(asked.milliseconds),
        column("group", "product token or `*`", "User-agent token through which the line applies to the crawler") => row.bytes(&asked.group),
        column("honours_delay", "honoured, partly, ignored, unknown", "whether the crawler honours Crawl-delay, according to the registry; `partly`: up to some delay, or not for all requests") => row.word(crawler.crawl_delay.as_str()),
        count("requests", "requests of this row, without requests for robots.txt and requests without a path") => row.counts([*requests]),
        count("allowed_per_hour", "most requests in an hour that are possible with this delay: 3,600 / delay, rounded up; empty if it sets no limit") => row.maybe_counts(hourly.map(|excess| [excess.allowed])),
        count("over_hourly", "sum of the requests over that limit in all clock hours of UTC, of all clients together: at least this many came too early") => row.maybe_counts(hourly.map(|excess| [excess.requests_over])),
        count("hours_over", "clock hours over the limit") => row.maybe_counts(hourly.map(|excess| [excess.periods_over])),
        count("allowed_per_day", "most requests in a UTC day that are possible with this delay: 86,400 / delay, rounded up") => row.maybe_counts(daily.map(|excess| [excess.allowed])),
        count("over_daily", "sum of the requests over that limit in all days") => row.maybe_counts(daily.map(|excess| [excess.requests_over])),
        count("days_over", "days over the limit") => row.maybe_counts(daily.map(|excess| [excess.periods_over])),
        time("busiest_hour_utc", "start of the hour with most requests, the earliest of equal ones; empty past the memory limit for times") => row.maybe(busiest.and_then(|busiest| busiest.start), 1, Row::time),
        count("busiest_hour_requests", "requests in that hour") => row.maybe_counts(busiest.map(|busiest| [busiest.requests])),
        NOT_BOUND_REASON => row.not_bound_reason(crawler),
    }
}

table! {
    /// What operators promise, beside what their crawlers did.
    pub(crate) const PROMISES = "promises.csv", "each origin, crawler, identity that is not spoofed, and promise of its operator: see [promises](#promises)";
    rows of => promises(of.audit);
    PromiseRow { origin, actor: (id, identity), promise, value, words, url, observed, state, reason } => {
        let Observed { tested, kept, broken } = observed;
        let number = match value {
            PromisedValue::Hours(number) | PromisedValue::RequestsPerHour(number) => Some(u64::from(number)),
            PromisedValue::Yes | PromisedValue::Partly | PromisedValue::Words => None,
        };
        let unit = match value {
            PromisedValue::Yes => "always",
            PromisedValue::Partly => "partly",
            PromisedValue::Hours(_) => "hours",
            PromisedValue::RequestsPerHour(_) => "requests-per-hour",
            PromisedValue::Words => "words",
        };
    }
    cells row => {
        ORIGIN => row.text(origin),
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(id), identity),
        column("promise", "follows-robots-txt, crawl-delay, change-within, copy-at-most, rate", "what is promised") => row.word(promise.as_str()),
        column("promised", "always, partly, hours, requests-per-hour, words", "how much of it; `partly`: with conditions; `words`: no number") => row.word(unit),
        count("promised_number", "number of these hours or requests; empty if there is none") => row.maybe_counts(number.map(|number| [number])),
        column("promise_words", "text", "words of the operator, as in the registry") => row.text(words),
        column("promise_url", "URL", "page with the promise") => row.text(url),
        count("tested", "requests, times between requests, changes or days that test the promise") => row.counts([tested]),
        count("kept", "those that kept it") => row.counts([kept]),
        count("broken", "those that certainly broke it") => row.counts([broken]),
        column("share", "fraction, 6 decimals", "kept / tested") => row.fraction(kept, tested),
        SHARE_INTERVAL => row.share_interval(kept, tested),
        column("state", "kept, broken, not-tested", "what these logs show: see [promises](#promises)") => row.word(state.as_str()),
        column("reason", "word", "why it was not tested: see [promises](#promises)") => row.word(reason.map_or("", |reason| reason.as_str())),
    }
}
