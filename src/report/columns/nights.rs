//! The tables over all sites and days that a nightly job writes beside its reports.

use super::shared::{
    ALLOWED, BYTES, CRAWLER, GRACE, IDENTITY, NO_PATH, NOT_BOUND, NOT_BOUND_DISALLOWED, OPERATOR,
    PURPOSE, REQUESTS, ROBOTS_TXT_REQUESTS, STATED_POLICY, UNKNOWN, UNREACHABLE, VIOLATION_RATE,
    VIOLATIONS,
};
use super::{Column, Table, column};

const SITE: Column = column("site", "text", "the site, as the configuration names it");
const DAY: Column = column("day", "YYYY-MM-DD", "day in the zone of the site");

/// What crawlers did, by day.
pub const TREND: Table = Table {
    file: "trend.csv",
    row: "each site, day, crawler and identity, over all days that are remembered and over",
    columns: &[
        SITE,
        DAY,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        STATED_POLICY,
        IDENTITY,
        REQUESTS,
        ROBOTS_TXT_REQUESTS,
        ALLOWED,
        VIOLATIONS,
        GRACE,
        UNREACHABLE,
        UNKNOWN,
        NOT_BOUND,
        NOT_BOUND_DISALLOWED,
        NO_PATH,
        VIOLATION_RATE,
        BYTES,
    ],
};

/// What was new, by day.
pub const EVENTS: Table = Table {
    file: "events.csv",
    row: "each thing that was new on a day, the last day first",
    columns: &[
        SITE,
        DAY,
        column(
            "event",
            "first-violation, rate-doubled, stopped-fetching, robots-changed, robots-failing",
            "what kind of thing it is",
        ),
        column("crawler", "text", "the crawler that it is about, if it is about one"),
        column("identity", "verified, spoofed, unverified", "the identity of that crawler"),
        column("source", "text", "the origin or file of the robots.txt, if it is about one"),
        column("before", "text", "how it was before: a rate, a day, a digest or an outcome"),
        column("now", "text", "how it is now: a count, a rate, a digest or an outcome"),
        column("message", "text", "the same in a sentence"),
    ],
};
