//! Request intervals of crawlers whose group has a Crawl-delay.

use crate::audit::crawler_row::Delayed;
use crate::report::table::table;
use crate::table::columns::{NOT_BOUND_REASON, ORIGIN, WHO};
use crate::table::csv::Row;
use crate::table::schema::{column, count, line_number, time};

table! {
    /// Request intervals of crawlers whose group has a Crawl-delay.
    pub(crate) const CRAWL_DELAY = "crawl-delay.csv", "each origin, crawler, identity and version of robots.txt with a Crawl-delay for this crawler";
    rows of => of.audit.delays();
    (origin, actor, delayed) => {
        let Delayed { asked, requests, pace, .. } = delayed;
        let crawler = of.crawlers.registry.crawler(actor.0);
        let busiest = pace.and_then(|pace| pace.busiest);
        let hourly = pace.and_then(|pace| pace.hourly);
        let daily = pace.and_then(|pace| pace.daily);
    }
    cells row => {
        ORIGIN => row.text(origin),
        WHO => row.known_crawler(of.crawlers, actor),
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
