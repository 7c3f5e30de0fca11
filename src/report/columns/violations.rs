//! The columns of `violations.csv`.

use super::shared::{
    ASKED_WITHOUT_READING, BYTES, CRAWLER, DIRECTIVE, EXAMPLE_FILE, EXAMPLE_LINE, EXAMPLE_TARGET,
    FIRST_SEEN, GROUP, IDENTITY, LAST_READING_200, LAST_READING_304, LAST_SEEN, NOT_READ_IN_LOGS,
    OPERATOR, ORIGIN, PATTERN, PROMISE, PURPOSE, READ_BY_ITSELF, READ_BY_OPERATOR, READING_UNKNOWN,
    REQUESTS, ROBOTS_DIGEST, RULE_LINE, STATUS_2XX, STATUS_3XX, STATUS_4XX, STATUS_5XX,
    STATUS_OTHER,
};
use super::{Table, column};

/// A row for each rule that was broken, by whom.
pub const VIOLATION: Table = Table {
    file: "violations.csv",
    row: "each origin, crawler, identity and deciding rule of one version of a robots.txt",
    columns: &[
        ORIGIN,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        PROMISE,
        IDENTITY,
        ROBOTS_DIGEST,
        RULE_LINE,
        DIRECTIVE,
        PATTERN,
        GROUP,
        REQUESTS,
        STATUS_2XX,
        STATUS_3XX,
        STATUS_4XX,
        STATUS_5XX,
        STATUS_OTHER,
        BYTES,
        FIRST_SEEN,
        LAST_SEEN,
        EXAMPLE_TARGET,
        EXAMPLE_FILE,
        EXAMPLE_LINE,
        READ_BY_ITSELF,
        READ_BY_OPERATOR,
        NOT_READ_IN_LOGS,
        READING_UNKNOWN,
        ASKED_WITHOUT_READING,
        LAST_READING_200,
        LAST_READING_304,
        column(
            "reading_age_min",
            "minutes",
            "from the last reading before to the violation: the least; empty where nothing was read",
        ),
        column(
            "reading_age_median",
            "minutes",
            "no more than this for half of the violations that were read before",
        ),
        column("reading_age_max", "minutes", "the most"),
        column(
            "not_bound_reason",
            "user-triggered, declined, reported-not-following, ignores-star",
            "why the rule does not bind the crawler, which `--judge everyone` holds to it all the same; empty where it does",
        ),
        column(
            "snapshot_fetched_utc",
            "RFC 3339, UTC",
            "when the snapshot was fetched by which the earliest of them was judged; empty where robots.txt came from no archive",
        ),
        column(
            "snapshot_age_seconds",
            "seconds",
            "how old it then was; below 0 where it was fetched later and none is known from before",
        ),
    ],
};
