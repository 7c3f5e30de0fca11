//! The columns of `daily.csv`.

use super::shared::{
    ALLOWED, BYTES, CRAWLER, GRACE, IDENTITY, NO_PATH, NOT_BOUND, NOT_BOUND_DISALLOWED, OPERATOR,
    ORIGIN, PURPOSE, REQUESTS, ROBOTS_TXT_REQUESTS, STATED_POLICY, UNKNOWN, UNREACHABLE,
    VIOLATION_RATE, VIOLATIONS,
};
use super::{Table, column};

/// Requests by day.
pub const DAILY: Table = Table {
    file: "daily.csv",
    row: "each day, origin, crawler and identity",
    columns: &[
        column("day", "YYYY-MM-DD", "day in UTC, or in the zone of `--timezone`"),
        ORIGIN,
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
