//! Columns that several tables share, with the same meaning in all of them.

#![allow(missing_docs, reason = "a column says itself what it means")]

use super::schema::{column, count, groups, joined, line_number, time};

groups! {
    ORIGIN = [column("origin", "scheme://host[:port]", "origin that was requested; `-` if the log names no host, `(invalid)` if the host is not valid, `(others)` for all origins past the limit of 10,000")];
    DAY = [column("day", "YYYY-MM-DD", "day in UTC, or in the zone of `--timezone`")];
    SITE = [column("site", "text", "name of the site in the configuration file")];
    SITE_DAY = [column("day", "YYYY-MM-DD", "day in the zone of the site, in `trend.csv` and `events.csv`")];
    REQUESTS = [count("requests", "requests of this row")];
    ROBOTS_TXT_REQUESTS = [count("robots_txt_requests", "requests for /robots.txt without a query, which is always allowed")];
    ALLOWED = [count("allowed", "requests that the rules in force allowed")];
    VIOLATIONS = [count("violations", "requests that a rule in force disallowed")];
    GRACE = [count("grace", "requests disallowed only by a version of robots.txt that the crawler may not have fetched yet")];
    UNREACHABLE = [count("unreachable", "requests made while robots.txt could not be fetched")];
    UNKNOWN = [count("unknown", "requests to an origin without a known robots.txt, and those for which it is uncertain which group of robots.txt counts")];
    NOT_BOUND = [
        count("not_bound", "requests of a crawler that robots.txt does not bind; these are not violations"),
        count("not_bound_disallowed", "requests in `not_bound` that the rules would have disallowed"),
    ];
    NO_PATH = [count("no_path", "requests without a path: `*`, CONNECT, an empty request")];
    ALLOWED_IGNORING_STAR = [count("allowed_ignoring_star", "requests in `allowed` that a `*` group disallows, by a crawler that is documented to ignore `*`")];
    NOT_BOUND_REASON = [column("not_bound_reason", "user-triggered, declined, reported-not-following", "why robots.txt does not bind the crawler; empty if it does")];
    VIOLATION_RATE = [column("violation_rate", "fraction, 6 decimals", "violations / (allowed + violations); empty if both are 0")];
    BYTES = [column("bytes", "bytes", "size of the responses, as logged")];

    /// The crawler of a row that is about all its identities.
    NAMES = [
        column("crawler", "text", "name of the crawler in the registry"),
        column("operator", "text", "company that runs the crawler"),
        column("purpose", "text", "purpose of the crawler: search, ai-training, seo, ..."),
    ];

    /// The crawler of the row.
    WHO = [
        NAMES,
        column("stated_policy", "follows, partly, does-not-follow, unknown", "what the operator's own documentation says about following robots.txt"),
        column("identity", "verified, spoofed, unverified, not-on-list", "whether the client's address belongs to the operator: see [identity](identity.md#crawler-verification)"),
    ];

    /// The same without what its operator says.
    CRAWLER = [
        NAMES,
        column("identity", "verified, spoofed, unverified, not-on-list", "whether the client's address belongs to the operator: see [identity](identity.md#crawler-verification)"),
    ];

    /// The statuses of the answers.
    STATUSES = [
        count("status_2xx", "requests answered with a status of 200 to 299"),
        count("status_3xx", "requests answered with a status of 300 to 399"),
        count("status_4xx", "requests answered with a status of 400 to 499"),
        count("status_5xx", "requests answered with a status of 500 to 599"),
        count("status_other", "requests with any other status, such as 000, and requests without an answer"),
    ];

    /// Fetches of robots.txt before violations.
    PRIOR_FETCHES = [
        count("prior_fetch_own", "violations after this crawler, with the same identity, had fetched the origin's robots.txt"),
        count("prior_fetch_operator", "violations after only another crawler of the same operator had fetched it"),
        count("prior_fetch_none", "violations without any earlier fetch by either in these logs"),
        count("prior_fetch_unknown", "violations for which this is not known: in `(others)`, or past the memory limit of 33,554,432 minutes and hours"),
        count("prior_fetch_failed", "violations in `prior_fetch_none` after the crawler had requested robots.txt without success"),
        count("last_fetch_200", "violations whose last successful fetch before was answered 200; in one minute, 200 counts as later than 304"),
        count("last_fetch_304", "violations whose last successful fetch before was answered 304"),
    ];

    /// The deciding rule.
    RULE = [
        column("robots_digest", "sha256:hex", "digest of the robots.txt version that decided"),
        line_number("rule_line", "line of the deciding rule in that version"),
        column("directive", "allow, disallow", "kind of the deciding rule"),
        column("pattern", "path pattern", "pattern of the deciding rule, as written in the file"),
        column("group", "product token or `*`", "User-agent token through which the rule applies to the crawler"),
        line_number("continued_over_line", "line of another field between that User-agent line and the next one of its group; empty if there is none. The rule applies because such a field does not end a group"),
    ];

    /// The times of the requests.
    SEEN = [
        time("first_seen_utc", "time of the first request"),
        time("last_seen_utc", "time of the last request"),
    ];

    /// The earliest request.
    EXAMPLE = [
        column("example_target", "request target", "target of the earliest request, cut to 2,048 bytes"),
        column("example_file", "path", "log file that holds the earliest request"),
        line_number("example_line", "line number of that request in the log file"),
    ];

    /// Counts of requests by verdict.
    SUMS = [
        REQUESTS, ROBOTS_TXT_REQUESTS, ALLOWED, VIOLATIONS, GRACE, UNREACHABLE, UNKNOWN, NOT_BOUND, NO_PATH,
        VIOLATION_RATE, BYTES,
    ];

    /// Sessions of clients.
    SESSION_SUMS = [
        count("sessions", "runs of requests of one client, each at most the given minutes after the one before"),
        count("requests_in_sessions", "requests in these sessions"),
        column("requests_per_session", "number, 6 decimals", "requests_in_sessions / sessions"),
        count("requests_median", "median of the requests in a session, by the nearest rank"),
        count("requests_p95", "their 95th percentile, by the nearest rank"),
        count("requests_without_session", "requests of clients past the limit of 100,000, and those whose client is not known"),
    ];
    REQUESTS_LATE = [count("requests_late", "requests more than 15 minutes earlier than one on a line before: in no session and no gap")];

    /// The two fetches in the archive around a change.
    CHANGE_TIMES = [
        time("changed_after_utc", "last fetch in the archive that still saw the old rules"),
        time("changed_before_utc", "first fetch in the archive that saw the new rules"),
    ];

    CHANGE_DIRECTION = [column("direction", "newly-disallowed, newly-allowed", "effect of the change on the paths that are counted in this row")];

    SHARE_INTERVAL = [
        column("share_low", "fraction, 6 decimals", "lower end of the Wilson score interval of 95 %"),
        column("share_high", "fraction, 6 decimals", "upper end of that interval"),
    ];

    /// A test of two shares.
    SHARE_TEST = [
        column("z", "number, 6 decimals", "statistic of the two-proportion z-test, positive if the later share is greater; empty if one of the four expected counts (in the share or not, before or since, at the share of both parts together) is less than 5"),
        column("p_value", "probability, 6 decimals", "two-sided p value of that test; empty as `z` is"),
    ];
}
