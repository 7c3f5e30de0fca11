//! Columns of several tables: each means the same in all of them.

#![allow(missing_docs, reason = "a column says itself what it means")]

use super::{Column, column};

pub const ORIGIN: Column = column(
    "origin",
    "scheme://host[:port]",
    "where the requests were addressed; `-` no host known, `(invalid)` no possible host, `(others)` past 10,000 unnamed ones",
);
pub const CRAWLER: Column = column("crawler", "text", "name of the crawler in the registry");
pub const OPERATOR: Column = column("operator", "text", "who runs it");
pub const PURPOSE: Column =
    column("purpose", "text", "what it crawls for: search, ai-training, seo, ...");
pub const STATED_POLICY: Column = column(
    "stated_policy",
    "follows, partly, does-not-follow, unknown",
    "what its operator's own documentation says of following robots.txt",
);
pub const IDENTITY: Column = column(
    "identity",
    "verified, spoofed, unverified",
    "whether the client's address is the operator's",
);
pub const REQUESTS: Column = column("requests", "count", "requests of this row");
pub const ROBOTS_TXT_REQUESTS: Column =
    column("robots_txt_requests", "count", "requests for /robots.txt, which is always allowed");
pub const ALLOWED: Column = column("allowed", "count", "requests that the rules in force allowed");
pub const VIOLATIONS: Column =
    column("violations", "count", "requests that a rule in force disallowed");
pub const GRACE: Column = column(
    "grace",
    "count",
    "requests disallowed only by rules that the crawler need not have seen yet",
);
pub const UNREACHABLE: Column =
    column("unreachable", "count", "requests made while robots.txt could not be fetched");
pub const UNKNOWN: Column =
    column("unknown", "count", "requests to an origin of which no robots.txt is known");
pub const NOT_BOUND: Column = column(
    "not_bound",
    "count",
    "requests of a crawler that robots.txt does not bind; never an accusation",
);
pub const NOT_BOUND_DISALLOWED: Column = column(
    "not_bound_disallowed",
    "count",
    "those of `not_bound` that the rules would have disallowed",
);
pub const NO_PATH: Column =
    column("no_path", "count", "requests without a path: `*`, CONNECT, an empty request");
pub const ALLOWED_IGNORING_STAR: Column = column(
    "allowed_ignoring_star",
    "count",
    "those of `allowed` that the `*` groups would have disallowed to a crawler that is not documented to ignore them",
);
pub const NOT_BOUND_REASON: Column = column(
    "not_bound_reason",
    "user-triggered, declined, reported-not-following",
    "why robots.txt does not bind the crawler; empty where it does",
);
pub const PRIOR_FETCH_OWN: Column = column(
    "prior_fetch_own",
    "count",
    "violations before which this crawler, of the same identity, had fetched this origin's robots.txt",
);
pub const PRIOR_FETCH_OPERATOR: Column = column(
    "prior_fetch_operator",
    "count",
    "violations before which it had not, but another crawler of its operator had",
);
pub const PRIOR_FETCH_NONE: Column = column(
    "prior_fetch_none",
    "count",
    "violations before which neither had, as far as these logs show",
);
pub const PRIOR_FETCH_UNKNOWN: Column = column(
    "prior_fetch_unknown",
    "count",
    "violations of which that cannot be told: at `(others)`, or past 33,554,432 minutes and hours that are kept",
);
pub const PRIOR_FETCH_FAILED: Column = column(
    "prior_fetch_failed",
    "count",
    "those of `prior_fetch_none` before which the crawler had asked for robots.txt, but by no GET answered 200 or 304",
);
pub const LAST_FETCH_200: Column = column(
    "last_fetch_200",
    "count",
    "violations before which the last successful fetch was answered 200",
);
pub const LAST_FETCH_304: Column = column(
    "last_fetch_304",
    "count",
    "violations before which the last successful fetch was answered 304",
);
pub const VIOLATION_RATE: Column = column(
    "violation_rate",
    "fraction, 6 decimals",
    "violations / (allowed + violations); empty where nothing was judged",
);
pub const BYTES: Column = column("bytes", "bytes", "bytes sent in answer, as logged");
pub const FIRST_SEEN: Column =
    column("first_seen_utc", "RFC 3339, UTC", "time of the first request");
pub const LAST_SEEN: Column = column("last_seen_utc", "RFC 3339, UTC", "time of the last request");
pub const STATUS_2XX: Column = column("status_2xx", "count", "answered 200 to 299");
pub const STATUS_3XX: Column = column("status_3xx", "count", "answered 300 to 399");
pub const STATUS_4XX: Column = column("status_4xx", "count", "answered 400 to 499");
pub const STATUS_5XX: Column = column("status_5xx", "count", "answered 500 to 599");
pub const STATUS_OTHER: Column = column("status_other", "count", "answered anything else");
pub const ROBOTS_DIGEST: Column =
    column("robots_digest", "sha256:hex", "which version of a robots.txt decided");
pub const RULE_LINE: Column =
    column("rule_line", "line number from 1", "line of the deciding rule in that robots.txt");
pub const DIRECTIVE: Column = column("directive", "allow, disallow", "kind of the deciding rule");
pub const PATTERN: Column =
    column("pattern", "path pattern", "the deciding rule as written in the file");
pub const GROUP: Column =
    column("group", "product token or `*`", "the token that bound the crawler to the rule's group");
pub const EXAMPLE_TARGET: Column = column(
    "example_target",
    "request target",
    "what the earliest of them asked for, cut to 2,048 bytes",
);
pub const EXAMPLE_FILE: Column =
    column("example_file", "path", "the input that holds the earliest of them");
pub const EXAMPLE_LINE: Column = column("example_line", "line number from 1", "its line there");
