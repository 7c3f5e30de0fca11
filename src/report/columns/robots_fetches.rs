//! The columns of `robots-fetches.csv`.

use super::shared::{
    CRAWLER, IDENTITY, LAST_FETCH_200, LAST_FETCH_304, OPERATOR, ORIGIN, PRIOR_FETCH_FAILED,
    PRIOR_FETCH_NONE, PRIOR_FETCH_OPERATOR, PRIOR_FETCH_OWN, PRIOR_FETCH_UNKNOWN, PURPOSE,
    ROBOTS_TXT_REQUESTS, STATED_POLICY, STATUS_2XX, STATUS_3XX, STATUS_4XX, STATUS_5XX,
    STATUS_OTHER, VIOLATIONS,
};
use super::{Table, column};

/// Who read robots.txt, and what was asked for before.
pub const ROBOTS_FETCHES: Table = Table {
    file: "robots-fetches.csv",
    row: "each origin, crawler and identity",
    columns: &[
        ORIGIN,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        STATED_POLICY,
        IDENTITY,
        ROBOTS_TXT_REQUESTS,
        column("successful_fetches", "count", "those that were a GET answered 200 or 304"),
        STATUS_2XX,
        STATUS_3XX,
        STATUS_4XX,
        STATUS_5XX,
        STATUS_OTHER,
        column("first_fetch_utc", "RFC 3339, UTC", "first request for robots.txt in these logs"),
        column("last_fetch_utc", "RFC 3339, UTC", "last request for robots.txt in these logs"),
        column(
            "first_successful_fetch_utc",
            "RFC 3339, UTC",
            "first of them in these logs; empty where there is none",
        ),
        column("last_successful_fetch_utc", "RFC 3339, UTC", "last of them in these logs"),
        column("other_requests", "count", "requests for anything but robots.txt"),
        column(
            "requests_before_first_fetch",
            "count",
            "those made in minutes before that of the first successful fetch; all, where there is none in these logs",
        ),
        VIOLATIONS,
        PRIOR_FETCH_OWN,
        PRIOR_FETCH_OPERATOR,
        PRIOR_FETCH_NONE,
        PRIOR_FETCH_UNKNOWN,
        PRIOR_FETCH_FAILED,
        LAST_FETCH_200,
        LAST_FETCH_304,
    ],
};
