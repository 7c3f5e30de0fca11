//! The columns of `robots-fetches.csv`.

use super::shared::{
    ASKED_WITHOUT_READING, CRAWLER, IDENTITY, LAST_READING_200, LAST_READING_304, NOT_READ_IN_LOGS,
    OPERATOR, ORIGIN, PROMISE, PURPOSE, READ_BY_ITSELF, READ_BY_OPERATOR, READING_UNKNOWN,
    ROBOTS_TXT_REQUESTS, STATUS_2XX, STATUS_3XX, STATUS_4XX, STATUS_5XX, STATUS_OTHER, VIOLATIONS,
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
        PROMISE,
        IDENTITY,
        ROBOTS_TXT_REQUESTS,
        column("readings", "count", "those that were a GET answered 200 or 304"),
        STATUS_2XX,
        STATUS_3XX,
        STATUS_4XX,
        STATUS_5XX,
        STATUS_OTHER,
        column("first_fetch_utc", "RFC 3339, UTC", "first request for robots.txt in these logs"),
        column("last_fetch_utc", "RFC 3339, UTC", "last request for robots.txt in these logs"),
        column(
            "first_reading_utc",
            "RFC 3339, UTC",
            "first reading in these logs; empty where there is none",
        ),
        column("last_reading_utc", "RFC 3339, UTC", "last reading in these logs"),
        column("other_requests", "count", "requests for anything but robots.txt"),
        column(
            "requests_before_first_reading",
            "count",
            "those made in minutes before that of the first reading; all, where there is no reading in these logs",
        ),
        VIOLATIONS,
        READ_BY_ITSELF,
        READ_BY_OPERATOR,
        NOT_READ_IN_LOGS,
        READING_UNKNOWN,
        ASKED_WITHOUT_READING,
        LAST_READING_200,
        LAST_READING_304,
    ],
};
