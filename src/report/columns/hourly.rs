//! The columns of `hourly.csv`.

use super::shared::{
    ALLOWED, BYTES, CRAWLER, IDENTITY, OPERATOR, PURPOSE, REQUESTS, STATED_POLICY, VIOLATION_RATE,
    VIOLATIONS,
};
use super::{Table, column};

/// Requests by hour.
pub const HOURLY: Table = Table {
    file: "hourly.csv",
    row: "each hour, crawler and identity, at all origins together; of the last 1,488 hours with requests",
    columns: &[
        column("day", "YYYY-MM-DD", "day in UTC, or in the zone of `--timezone`"),
        column("hour", "0 to 23", "hour that clocks show there; one that they show twice is one"),
        CRAWLER,
        OPERATOR,
        PURPOSE,
        STATED_POLICY,
        IDENTITY,
        REQUESTS,
        ALLOWED,
        VIOLATIONS,
        VIOLATION_RATE,
        BYTES,
    ],
};
