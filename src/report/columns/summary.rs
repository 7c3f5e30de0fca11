//! The columns of `summary.csv`.

use super::Table;
use super::shared::{
    ALLOWED, ALLOWED_IGNORING_STAR, BYTES, CRAWLER, FIRST_SEEN, GRACE, IDENTITY, LAST_SEEN,
    NO_PATH, NOT_BOUND, NOT_BOUND_DISALLOWED, NOT_BOUND_REASON, OPERATOR, ORIGIN, PURPOSE,
    REQUESTS, ROBOTS_TXT_REQUESTS, STATED_POLICY, UNKNOWN, UNREACHABLE, VIOLATION_RATE, VIOLATIONS,
};

/// A row for each origin, crawler and identity.
pub const SUMMARY: Table = Table {
    file: "summary.csv",
    row: "each origin, crawler and identity",
    columns: &[
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
        FIRST_SEEN,
        LAST_SEEN,
        NOT_BOUND_REASON,
        ALLOWED_IGNORING_STAR,
    ],
};
