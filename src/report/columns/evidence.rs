//! The columns of what `--evidence` writes.

use super::shared::{
    CRAWLER, DIRECTIVE, GROUP, IDENTITY, OPERATOR, ORIGIN, PATTERN, PURPOSE, ROBOTS_DIGEST,
    RULE_LINE, STATED_POLICY,
};
use super::{Table, column};

/// Every violating request: the evidence behind an accusation.
pub const REQUESTS_EVIDENCE: Table = Table {
    file: "--evidence FILE",
    row: "each violating request, by file and line",
    columns: &[
        column("file", "path", "the input that holds the request"),
        column("line", "line number from 1", "its line there"),
        column("time_utc", "RFC 3339, UTC", "when it was made"),
        ORIGIN,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        STATED_POLICY,
        IDENTITY,
        column("method", "text", "HTTP method"),
        column("target", "request target", "what it asked for, as logged"),
        column("status", "HTTP status", "how it was answered"),
        column("bytes", "bytes", "bytes sent in answer, as logged"),
        column("user_agent", "text", "the header"),
        ROBOTS_DIGEST,
        RULE_LINE,
        DIRECTIVE,
        PATTERN,
        GROUP,
        column(
            "client",
            "text",
            "who made it, as `--ip` says: nothing, a network, a hash or the address",
        ),
        column(
            "snapshot_fetched_utc",
            "RFC 3339, UTC",
            "when the snapshot was fetched that decided; empty where robots.txt came from no archive",
        ),
        column(
            "snapshot_age_seconds",
            "seconds",
            "how old it was when the request was made; below 0 where it was fetched later and none is known from before",
        ),
    ],
};
