//! The columns of `crawl-delay.csv`.

use super::shared::{
    CRAWLER, IDENTITY, NOT_BOUND_REASON, OPERATOR, ORIGIN, PURPOSE, STATED_POLICY,
};
use super::{Table, column};

/// How fast crawlers asked that are asked for a delay.
pub const CRAWL_DELAY: Table = Table {
    file: "crawl-delay.csv",
    row: "each origin, crawler, identity and version of a robots.txt that asks this crawler for a Crawl-delay",
    columns: &[
        ORIGIN,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        STATED_POLICY,
        IDENTITY,
        column("robots_digest", "sha256:hex", "which version of a robots.txt asks"),
        column(
            "delay_line",
            "line number from 1",
            "line of the Crawl-delay; the shortest, where several bind the crawler",
        ),
        column("delay", "text", "its value as written"),
        column(
            "delay_seconds",
            "seconds, 3 decimals",
            "what it comes to; empty where the value is no number",
        ),
        column("group", "product token or `*`", "the token by which it is meant for the crawler"),
        column(
            "honours_delay",
            "honoured, ignored, unknown",
            "whether the crawler is documented to honour Crawl-delay",
        ),
        column(
            "requests",
            "count",
            "requests of this row, but for those of robots.txt and those without a path",
        ),
        column(
            "allowed_per_hour",
            "count",
            "the most requests in an hour that can keep the delay; empty where it sets no limit",
        ),
        column(
            "over_hourly",
            "count",
            "requests beyond that, of all hours of the clock: at least so many did not keep the delay",
        ),
        column("hours_over", "count", "hours with such requests"),
        column(
            "allowed_per_day",
            "count",
            "the most requests in a day of UTC that can keep the delay",
        ),
        column("over_daily", "count", "requests beyond that, of all days"),
        column("days_over", "count", "days with such requests"),
        column(
            "busiest_hour_utc",
            "RFC 3339, UTC",
            "beginning of the hour with most requests, the first of equal ones; empty where times were given up",
        ),
        column("busiest_hour_requests", "count", "requests in that hour"),
        NOT_BOUND_REASON,
    ],
};
