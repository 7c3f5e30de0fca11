//! Columns of several tables: each means the same in all of them.

#![allow(missing_docs, reason = "a column says itself what it means")]

use super::column::{CsvColumn, column, count, groups, joined, line_number, time};

groups! {
    ORIGIN = [column("origin", "scheme://host[:port]", "where the requests were addressed; `-` no host known, `(invalid)` no possible host, `(others)` past 10,000 unnamed ones")];
    DAY = [column("day", "YYYY-MM-DD", "day in UTC, or in the zone of `--timezone`")];
    SITE = [column("site", "text", "the site, as the configuration names it")];
    SITE_DAY = [column("day", "YYYY-MM-DD", "day in the zone of the site")];
    REQUESTS = [count("requests", "requests of this row")];
    ROBOTS_TXT_REQUESTS = [count("robots_txt_requests", "requests for /robots.txt, which is always allowed")];
    ALLOWED = [count("allowed", "requests that the rules in force allowed")];
    VIOLATIONS = [count("violations", "requests that a rule in force disallowed")];
    GRACE = [count("grace", "requests disallowed only by rules that the crawler need not have seen yet")];
    UNREACHABLE = [count("unreachable", "requests made while robots.txt could not be fetched")];
    UNKNOWN = [count("unknown", "requests to an origin of which no robots.txt is known")];
    NOT_BOUND = [
        count("not_bound", "requests of a crawler that robots.txt does not bind; never an accusation"),
        count("not_bound_disallowed", "those of `not_bound` that the rules would have disallowed"),
    ];
    NO_PATH = [count("no_path", "requests without a path: `*`, CONNECT, an empty request")];
    ALLOWED_IGNORING_STAR = [count("allowed_ignoring_star", "those of `allowed` that the `*` groups would have disallowed to a crawler that is not documented to ignore them")];
    NOT_BOUND_REASON = [column("not_bound_reason", "user-triggered, declined, reported-not-following", "why robots.txt does not bind the crawler; empty where it does")];
    VIOLATION_RATE = [column("violation_rate", "fraction, 6 decimals", "violations / (allowed + violations); empty where nothing was judged")];
    BYTES = [column("bytes", "bytes", "bytes sent in answer, as logged")];

    /// Who the row is about.
    WHO = [
        column("crawler", "text", "name of the crawler in the registry"),
        column("operator", "text", "who runs it"),
        column("purpose", "text", "what it crawls for: search, ai-training, seo, ..."),
        column("stated_policy", "follows, partly, does-not-follow, unknown", "what its operator's own documentation says of following robots.txt"),
        column("identity", "verified, spoofed, unverified", "whether the client's address is the operator's"),
    ];

    /// How they were answered.
    STATUSES = [
        count("status_2xx", "answered 200 to 299"),
        count("status_3xx", "answered 300 to 399"),
        count("status_4xx", "answered 400 to 499"),
        count("status_5xx", "answered 500 to 599"),
        count("status_other", "answered anything else"),
    ];

    /// Who had fetched robots.txt before violations.
    PRIOR_FETCHES = [
        count("prior_fetch_own", "violations before which this crawler, of the same identity, had fetched this origin's robots.txt"),
        count("prior_fetch_operator", "violations before which it had not, but another crawler of its operator had"),
        count("prior_fetch_none", "violations before which neither had, as far as these logs show"),
        count("prior_fetch_unknown", "violations for which this is not known: at `(others)`, or past 33,554,432 minutes and hours that are kept"),
        count("prior_fetch_failed", "those of `prior_fetch_none` before which the crawler had asked for robots.txt, but by no GET answered 200 or 304"),
        count("last_fetch_200", "violations before which the last successful fetch was answered 200"),
        count("last_fetch_304", "violations before which the last successful fetch was answered 304"),
    ];

    /// The deciding rule.
    RULE = [
        column("robots_digest", "sha256:hex", "which version of a robots.txt decided"),
        line_number("rule_line", "line of the deciding rule in that robots.txt"),
        column("directive", "allow, disallow", "kind of the deciding rule"),
        column("pattern", "path pattern", "the deciding rule as written in the file"),
        column("group", "product token or `*`", "the token that bound the crawler to the rule's group"),
    ];

    /// When the requests were made.
    SEEN = [
        time("first_seen_utc", "time of the first request"),
        time("last_seen_utc", "time of the last request"),
    ];

    /// The earliest request.
    EXAMPLE = [
        column("example_target", "request target", "what the earliest of them asked for, cut to 2,048 bytes"),
        column("example_file", "path", "the input that holds the earliest of them"),
        line_number("example_line", "its line there"),
    ];

    /// What its requests came to.
    SUMS = [
        REQUESTS, ROBOTS_TXT_REQUESTS, ALLOWED, VIOLATIONS, GRACE, UNREACHABLE, UNKNOWN, NOT_BOUND, NO_PATH,
        VIOLATION_RATE, BYTES,
    ];
}
