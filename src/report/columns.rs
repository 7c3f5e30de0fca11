//! Every column of every table that a run writes: name, unit, meaning.
//!
//! The columns are a promise: names and order stay; new ones come last.

pub mod nights;

/// A column of a CSV file.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The header cell.
    pub name: &'static str,
    /// What a cell holds: a unit, a kind of text, or the values it can have.
    pub unit: &'static str,
    /// What it says, in a sentence fragment.
    pub meaning: &'static str,
}

/// A CSV file.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name in the report directory.
    pub file: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

const fn column(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, unit, meaning }
}

const ORIGIN: Column = column(
    "origin",
    "scheme://host[:port]",
    "where the requests were addressed; `-` no host known, `(invalid)` no possible host, `(others)` past 10,000 unnamed ones",
);
const CRAWLER: Column = column("crawler", "text", "name of the crawler in the registry");
const OPERATOR: Column = column("operator", "text", "who runs it");
const PURPOSE: Column =
    column("purpose", "text", "what it crawls for: search, ai-training, seo, ...");
const PROMISE: Column = column(
    "promise",
    "documented, partial, declined, unknown",
    "what its operator's own documentation says of following robots.txt",
);
const IDENTITY: Column = column(
    "identity",
    "verified, spoofed, unverified",
    "whether the client's address is the operator's",
);
const REQUESTS: Column = column("requests", "count", "requests of this row");
const ROBOTS_TXT_REQUESTS: Column =
    column("robots_txt_requests", "count", "requests for /robots.txt, which is always allowed");
const ALLOWED: Column = column("allowed", "count", "requests that the rules in force allowed");
const VIOLATIONS: Column =
    column("violations", "count", "requests that a rule in force disallowed");
const GRACE: Column = column(
    "grace",
    "count",
    "requests disallowed only by rules that the crawler need not have seen yet",
);
const UNREACHABLE: Column =
    column("unreachable", "count", "requests made while robots.txt could not be fetched");
const UNKNOWN: Column =
    column("unknown", "count", "requests to an origin of which no robots.txt is known");
const NOT_BOUND: Column = column(
    "not_bound",
    "count",
    "requests of a crawler that robots.txt does not bind; never an accusation",
);
const NOT_BOUND_DISALLOWED: Column = column(
    "not_bound_disallowed",
    "count",
    "those of `not_bound` that the rules would have disallowed",
);
const NO_PATH: Column =
    column("no_path", "count", "requests without a path: `*`, CONNECT, an empty request");
const ALLOWED_IGNORING_STAR: Column = column(
    "allowed_ignoring_star",
    "count",
    "those of `allowed` that the `*` groups would have disallowed to a crawler that is not documented to ignore them",
);
const NOT_BOUND_REASON: Column = column(
    "not_bound_reason",
    "user-triggered, declined, reported-not-following",
    "why robots.txt does not bind the crawler; empty where it does",
);
const READ_BY_ITSELF: Column = column(
    "read_by_itself",
    "count",
    "violations before which this crawler, of the same identity, had read this origin's robots.txt",
);
const READ_BY_OPERATOR: Column = column(
    "read_by_operator",
    "count",
    "violations before which it had not, but another crawler of its operator had",
);
const NOT_READ_IN_LOGS: Column = column(
    "not_read_in_logs",
    "count",
    "violations before which neither had, as far as these logs show",
);
const READING_UNKNOWN: Column = column(
    "reading_unknown",
    "count",
    "violations of which that cannot be told: at `(others)`, or past 33,554,432 minutes and hours that are kept",
);
const ASKED_WITHOUT_READING: Column = column(
    "asked_without_reading",
    "count",
    "those of `not_read_in_logs` before which the crawler had asked for robots.txt, but by no GET answered 200 or 304",
);
const LAST_READING_200: Column = column(
    "last_reading_200",
    "count",
    "violations before which the last reading was answered 200",
);
const LAST_READING_304: Column = column(
    "last_reading_304",
    "count",
    "violations before which the last reading was answered 304",
);
const VIOLATION_RATE: Column = column(
    "violation_rate",
    "fraction, 6 decimals",
    "violations / (allowed + violations); empty where nothing was judged",
);
const BYTES: Column = column("bytes", "bytes", "bytes sent in answer, as logged");
const FIRST_SEEN: Column = column("first_seen_utc", "RFC 3339, UTC", "time of the first request");
const LAST_SEEN: Column = column("last_seen_utc", "RFC 3339, UTC", "time of the last request");
const STATUS_2XX: Column = column("status_2xx", "count", "answered 200 to 299");
const STATUS_3XX: Column = column("status_3xx", "count", "answered 300 to 399");
const STATUS_4XX: Column = column("status_4xx", "count", "answered 400 to 499");
const STATUS_5XX: Column = column("status_5xx", "count", "answered 500 to 599");
const STATUS_OTHER: Column = column("status_other", "count", "answered anything else");
const ROBOTS_DIGEST: Column =
    column("robots_digest", "sha256:hex", "which version of a robots.txt decided");
const RULE_LINE: Column =
    column("rule_line", "line number from 1", "line of the deciding rule in that robots.txt");
const DIRECTIVE: Column = column("directive", "allow, disallow", "kind of the deciding rule");
const PATTERN: Column =
    column("pattern", "path pattern", "the deciding rule as written in the file");
const GROUP: Column =
    column("group", "product token or `*`", "the token that bound the crawler to the rule's group");
const EXAMPLE_TARGET: Column = column(
    "example_target",
    "request target",
    "what the earliest of them asked for, cut to 2,048 bytes",
);
const EXAMPLE_FILE: Column =
    column("example_file", "path", "the input that holds the earliest of them");
const EXAMPLE_LINE: Column = column("example_line", "line number from 1", "its line there");

/// A row for each origin, crawler and identity.
pub const SUMMARY: Table = Table {
    file: "summary.csv",
    row: "each origin, crawler and identity",
    columns: &[
        ORIGIN,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        PROMISE,
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

/// The rules that were broken, among their neighbours in robots.txt.
pub const ROBOTS_RULES: Table = Table {
    file: "robots-rules.csv",
    row: "each line of a robots.txt that is a broken rule, a User-agent line of its group, or a rule near it",
    columns: &[
        column("robots_digest", "sha256:hex", "which version of a robots.txt holds it"),
        column("line", "line number from 1", "where it stands there"),
        column("field", "user-agent, allow, disallow", "what kind of line it is"),
        column("value", "product token, `*` or path pattern", "its value as written in the file"),
        column(
            "requests",
            "count",
            "requests that broke it, of crawlers that are not spoofed; empty where none did",
        ),
    ],
};

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

/// How fast crawlers asked that are asked for a delay.
pub const CRAWL_DELAY: Table = Table {
    file: "crawl-delay.csv",
    row: "each origin, crawler, identity and version of a robots.txt that asks this crawler for a Crawl-delay",
    columns: &[
        ORIGIN,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        PROMISE,
        IDENTITY,
        column("robots_digest", "sha256:hex", "which version of a robots.txt asks"),
        column(
            "delay_line",
            "line number from 1",
            "line of the Crawl-delay; the shortest, where several bind the crawler",
        ),
        column("delay", "text", "its value as written"),
        column(
            "delay_seconds",
            "seconds, 3 decimals",
            "what it comes to; empty where the value is no number",
        ),
        column("group", "product token or `*`", "the token by which it is meant for the crawler"),
        column(
            "honours_delay",
            "honoured, ignored, unknown",
            "whether the crawler is documented to honour Crawl-delay",
        ),
        column(
            "requests",
            "count",
            "requests of this row, but for those of robots.txt and those without a path",
        ),
        column(
            "allowed_per_hour",
            "count",
            "the most requests in an hour that can keep the delay; empty where it sets no limit",
        ),
        column(
            "over_hourly",
            "count",
            "requests beyond that, of all hours of the clock: at least so many did not keep the delay",
        ),
        column("hours_over", "count", "hours with such requests"),
        column(
            "allowed_per_day",
            "count",
            "the most requests in a day of UTC that can keep the delay",
        ),
        column("over_daily", "count", "requests beyond that, of all days"),
        column("days_over", "count", "days with such requests"),
        column(
            "busiest_hour_utc",
            "RFC 3339, UTC",
            "beginning of the hour with most requests, the first of equal ones; empty where times were given up",
        ),
        column("busiest_hour_requests", "count", "requests in that hour"),
        NOT_BOUND_REASON,
    ],
};

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
        PROMISE,
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
        PROMISE,
        IDENTITY,
        REQUESTS,
        ALLOWED,
        VIOLATIONS,
        VIOLATION_RATE,
        BYTES,
    ],
};

/// User agents that look automated and are in no row of the registry.
pub const UNKNOWN_CRAWLERS: Table = Table {
    file: "unknown-crawlers.csv",
    row: "each user agent that looks automated and is no known crawler's; at most 10,000, the rest is `(others)`",
    columns: &[
        column("user_agent", "text", "the header, cut to 1,024 bytes"),
        REQUESTS,
        ROBOTS_TXT_REQUESTS,
        column("star_allowed", "count", "requests that the `*` groups would have allowed"),
        column("star_disallowed", "count", "requests that the `*` groups would have disallowed"),
        UNKNOWN,
        column(
            "no_path",
            "count",
            "requests without a path, or whose line could not be read past the user agent",
        ),
        BYTES,
        FIRST_SEEN,
        LAST_SEEN,
        column(
            "token",
            "product token",
            "the name that it gives itself, as robots.txt would name it; empty where none was found",
        ),
        column(
            "robots_txt_naming",
            "count",
            "robots.txt files looked at in this run that name that token; empty where there is none. What their groups for it say is not in `star_allowed`, `star_disallowed`",
        ),
        column(
            "star_grace",
            "count",
            "requests that the `*` groups would have disallowed, but an earlier version that could still be held allowed",
        ),
        UNREACHABLE,
    ],
};

/// Why lines were no records.
pub const REJECTS: Table = Table {
    file: "rejects.csv",
    row: "each input and reason for which lines were no records",
    columns: &[
        column("file", "path", "the input"),
        column("reason", "text", "why the lines are no records"),
        column("lines", "count", "how many lines"),
        column("example_line", "line number from 1", "the first of them"),
        column("example", "text", "its beginning, cut to 512 bytes"),
    ],
};

/// What a draft of a robots.txt would change, where one is given.
pub const SIMULATION: Table = Table {
    file: "simulation.csv",
    row: "each origin, crawler, identity, change, deciding rule of the draft and rule that decided",
    columns: &[
        ORIGIN,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        PROMISE,
        IDENTITY,
        column(
            "change",
            "newly-disallowed, newly-allowed",
            "what the draft would do to requests that the rules in force allowed or disallowed",
        ),
        column(
            "draft_line",
            "line number from 1",
            "line of the rule of the draft that would decide; empty where none would, which allows",
        ),
        column("draft_directive", "allow, disallow", "kind of that rule"),
        column("draft_pattern", "path pattern", "that rule as written in the draft"),
        column(
            "draft_group",
            "product token or `*`",
            "the token that would bind the crawler to that rule's group",
        ),
        column(
            "present_digest",
            "sha256:hex",
            "which version of a robots.txt decided; empty where no rule did, which allowed",
        ),
        column("present_line", "line number from 1", "line of the rule that decided, in it"),
        column("present_directive", "allow, disallow", "kind of the rule that decided"),
        column("present_pattern", "path pattern", "the rule that decided as written in the file"),
        column(
            "present_group",
            "product token or `*`",
            "the token that bound the crawler to the group of the rule that decided",
        ),
        REQUESTS,
        FIRST_SEEN,
        LAST_SEEN,
        EXAMPLE_TARGET,
        EXAMPLE_FILE,
        EXAMPLE_LINE,
    ],
};

/// Every violating request: the evidence behind an accusation.
pub const REQUESTS_EVIDENCE: Table = Table {
    file: "--requests FILE",
    row: "each violating request, by file and line",
    columns: &[
        column("file", "path", "the input that holds the request"),
        column("line", "line number from 1", "its line there"),
        column("time_utc", "RFC 3339, UTC", "when it was made"),
        ORIGIN,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        PROMISE,
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

/// All tables, in the order in which they are documented.
pub const TABLES: &[Table] = &[
    SUMMARY,
    VIOLATION,
    ROBOTS_RULES,
    ROBOTS_FETCHES,
    CRAWL_DELAY,
    DAILY,
    HOURLY,
    UNKNOWN_CRAWLERS,
    REJECTS,
    SIMULATION,
    REQUESTS_EVIDENCE,
    nights::TREND,
    nights::NEWS,
];
