//! The columns of `violations.csv`.

use super::shared::{
    BYTES, CRAWLER, DIRECTIVE, EXAMPLE_FILE, EXAMPLE_LINE, EXAMPLE_TARGET, FIRST_SEEN, GROUP,
    IDENTITY, LAST_FETCH_200, LAST_FETCH_304, LAST_SEEN, OPERATOR, ORIGIN, PATTERN,
    PRIOR_FETCH_FAILED, PRIOR_FETCH_NONE, PRIOR_FETCH_OPERATOR, PRIOR_FETCH_OWN,
    PRIOR_FETCH_UNKNOWN, PURPOSE, REQUESTS, ROBOTS_DIGEST, RULE_LINE, STATED_POLICY, STATUS_2XX,
    STATUS_3XX, STATUS_4XX, STATUS_5XX, STATUS_OTHER,
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
        STATED_POLICY,
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
        PRIOR_FETCH_OWN,
        PRIOR_FETCH_OPERATOR,
        PRIOR_FETCH_NONE,
        PRIOR_FETCH_UNKNOWN,
        PRIOR_FETCH_FAILED,
        LAST_FETCH_200,
        LAST_FETCH_304,
        column(
            "fetch_age_minutes_min",
            "minutes",
            "from the last successful fetch before to the violation: the least; empty where there was none",
        ),
        column(
            "fetch_age_minutes_median",
            "minutes",
            "no more than this for half of the violations that had one before",
        ),
        column("fetch_age_minutes_max", "minutes", "the most"),
        column(
            "not_bound_reason",
            "user-triggered, declined, reported-not-following, ignores-star",
            "why the rule does not bind the crawler, which `--include-unbound` holds to it all the same; empty where it does",
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
