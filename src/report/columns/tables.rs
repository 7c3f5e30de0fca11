//! The tables that a run writes.

use super::column::{CsvColumn, TableSchema, column, count, joined, line_number, tables, time};
use super::groups::{
    ALLOWED, ALLOWED_IGNORING_STAR, BYTES, DAY, EXAMPLE, NOT_BOUND_REASON, ORIGIN, PRIOR_FETCHES,
    REQUESTS, ROBOTS_TXT_REQUESTS, RULE, SEEN, SITE, SITE_DAY, STATUSES, SUMS, UNKNOWN,
    UNREACHABLE, VIOLATION_RATE, VIOLATIONS, WHO,
};

tables! {
    /// All tables, in the order in which they are documented.
    TABLES;

    /// A row for each origin, crawler and identity.
    SUMMARY = "summary.csv", "each origin, crawler and identity": [
        ORIGIN, WHO, SUMS, SEEN, NOT_BOUND_REASON, ALLOWED_IGNORING_STAR,
    ];

    /// A row for each rule that was broken, by whom.
    VIOLATION = "violations.csv", "each origin, crawler, identity and deciding rule of one version of a robots.txt": [
        ORIGIN, WHO, RULE, REQUESTS, STATUSES, BYTES, SEEN, EXAMPLE, PRIOR_FETCHES,
        column("fetch_age_minutes_min", "minutes", "from the last successful fetch before to the violation: the least; empty where there was none"),
        column("fetch_age_minutes_median", "minutes", "no more than this for half of the violations that had one before"),
        column("fetch_age_minutes_max", "minutes", "the most"),
        column("not_bound_reason", "user-triggered, declined, reported-not-following, ignores-star", "why the rule does not bind the crawler, which `--include-unbound` holds to it all the same; empty where it does"),
        time("snapshot_fetched_utc", "when the snapshot was fetched by which the earliest of them was judged; empty where robots.txt came from no archive"),
        column("snapshot_age_seconds", "seconds", "how old it then was; below 0 where it was fetched later and none is known from before"),
    ];

    /// The rules that were broken, among their neighbours in robots.txt.
    ROBOTS_RULES = "robots-rules.csv", "each line of a robots.txt that is a broken rule, a User-agent line of its group, or a rule near it": [
        column("robots_digest", "sha256:hex", "which version of a robots.txt holds it"),
        line_number("line", "where it stands there"),
        column("field", "user-agent, allow, disallow", "what kind of line it is"),
        column("value", "product token, `*` or path pattern", "its value as written in the file"),
        count("requests", "requests that broke it, of crawlers that are not spoofed; empty where none did"),
    ];

    /// Who read robots.txt, and what was asked for before.
    ROBOTS_FETCHES = "robots-fetches.csv", "each origin, crawler and identity": [
        ORIGIN, WHO, ROBOTS_TXT_REQUESTS,
        count("successful_fetches", "those that were a GET answered 200 or 304"),
        STATUSES,
        time("first_fetch_utc", "first request for robots.txt in these logs"),
        time("last_fetch_utc", "last request for robots.txt in these logs"),
        time("first_successful_fetch_utc", "first of them in these logs; empty where there is none"),
        time("last_successful_fetch_utc", "last of them in these logs"),
        count("other_requests", "requests for anything but robots.txt"),
        count("requests_before_first_fetch", "those made in minutes before that of the first successful fetch; all, where there is none in these logs"),
        VIOLATIONS, PRIOR_FETCHES,
    ];

    /// How fast crawlers asked that are asked for a delay.
    CRAWL_DELAY = "crawl-delay.csv", "each origin, crawler, identity and version of a robots.txt that asks this crawler for a Crawl-delay": [
        ORIGIN, WHO,
        column("robots_digest", "sha256:hex", "which version of a robots.txt asks"),
        line_number("delay_line", "line of the Crawl-delay; the shortest, where several bind the crawler"),
        column("delay", "text", "its value as written"),
        column("delay_seconds", "seconds, 3 decimals", "what it comes to; empty where the value is no number"),
        column("group", "product token or `*`", "the token by which it is meant for the crawler"),
        column("honours_delay", "honoured, ignored, unknown", "whether the crawler is documented to honour Crawl-delay"),
        count("requests", "requests of this row, but for those of robots.txt and those without a path"),
        count("allowed_per_hour", "the most requests in an hour that can keep the delay; empty where it sets no limit"),
        count("over_hourly", "requests beyond that, of all hours of the clock: at least so many did not keep the delay"),
        count("hours_over", "hours with such requests"),
        count("allowed_per_day", "the most requests in a day of UTC that can keep the delay"),
        count("over_daily", "requests beyond that, of all days"),
        count("days_over", "days with such requests"),
        time("busiest_hour_utc", "beginning of the hour with most requests, the first of equal ones; empty where times were given up"),
        count("busiest_hour_requests", "requests in that hour"),
        NOT_BOUND_REASON,
    ];

    /// Requests by day.
    DAILY = "daily.csv", "each day, origin, crawler and identity": [
        DAY, ORIGIN, WHO, SUMS,
    ];

    /// Requests by hour.
    HOURLY = "hourly.csv", "each hour, crawler and identity, at all origins together; of the last 1,488 hours with requests": [
        DAY,
        column("hour", "0 to 23", "hour that clocks show there; one that they show twice is one"),
        WHO, REQUESTS, ALLOWED, VIOLATIONS, VIOLATION_RATE, BYTES,
    ];

    /// User agents that look automated and are in no row of the registry.
    UNKNOWN_CRAWLERS = "unknown-crawlers.csv", "each user agent that looks automated and is no known crawler's; at most 10,000, the rest is `(others)`": [
        column("user_agent", "text", "the header, cut to 1,024 bytes"),
        REQUESTS, ROBOTS_TXT_REQUESTS,
        count("star_allowed", "requests that the `*` groups would have allowed"),
        count("star_disallowed", "requests that the `*` groups would have disallowed"),
        UNKNOWN,
        count("no_path", "requests without a path, or whose line could not be read past the user agent"),
        BYTES, SEEN,
        column("token", "product token", "the name that it gives itself, as robots.txt would name it; empty where none was found"),
        count("robots_txt_naming", "robots.txt files looked at in this run that name that token; empty where there is none. What their groups for it say is not in `star_allowed`, `star_disallowed`"),
        count("star_grace", "requests that the `*` groups would have disallowed, but an earlier version that could still be held allowed"),
        UNREACHABLE,
    ];

    /// Why lines were no records.
    REJECTS = "rejects.csv", "each input and reason for which lines were no records": [
        column("file", "path", "the input"),
        column("reason", "text", "why the lines are no records"),
        count("lines", "how many lines"),
        line_number("example_line", "the first of them"),
        column("example", "text", "its beginning, cut to 512 bytes"),
    ];

    /// What a draft of a robots.txt would change, where one is given.
    WHAT_IF = "what-if.csv", "each origin, crawler, identity, change, deciding rule of the draft and rule that decided": [
        ORIGIN, WHO,
        column("change", "newly-disallowed, newly-allowed", "what the draft would do to requests that the rules in force allowed or disallowed"),
        line_number("draft_line", "line of the rule of the draft that would decide; empty where none would, which allows"),
        column("draft_directive", "allow, disallow", "kind of that rule"),
        column("draft_pattern", "path pattern", "that rule as written in the draft"),
        column("draft_group", "product token or `*`", "the token that would bind the crawler to that rule's group"),
        column("present_digest", "sha256:hex", "which version of a robots.txt decided; empty where no rule did, which allowed"),
        line_number("present_line", "line of the rule that decided, in it"),
        column("present_directive", "allow, disallow", "kind of the rule that decided"),
        column("present_pattern", "path pattern", "the rule that decided as written in the file"),
        column("present_group", "product token or `*`", "the token that bound the crawler to the group of the rule that decided"),
        REQUESTS, SEEN, EXAMPLE,
    ];

    /// Every violating request: the evidence behind an accusation.
    REQUESTS_EVIDENCE = "--evidence FILE", "each violating request, by file and line": [
        column("file", "path", "the input that holds the request"),
        line_number("line", "its line there"),
        time("time_utc", "when it was made"),
        ORIGIN, WHO,
        column("method", "text", "HTTP method"),
        column("target", "request target", "what it asked for, as logged"),
        column("status", "HTTP status", "how it was answered"),
        column("bytes", "bytes", "bytes sent in answer, as logged"),
        column("user_agent", "text", "the header"),
        RULE,
        column("client", "text", "who made it, as `--ip` says: nothing, a network, a hash or the address"),
        time("snapshot_fetched_utc", "when the snapshot was fetched that decided; empty where robots.txt came from no archive"),
        column("snapshot_age_seconds", "seconds", "how old it was when the request was made; below 0 where it was fetched later and none is known from before"),
    ];

    /// What crawlers did, by day.
    TREND = "trend.csv", "each site, day, crawler and identity, over all days that are remembered and over": [
        SITE, SITE_DAY, WHO, SUMS,
    ];

    /// What was new, by day.
    EVENTS = "events.csv", "each thing that was new on a day, the last day first": [
        SITE, SITE_DAY,
        column("event", "first-violation, rate-doubled, stopped-fetching, robots-changed, robots-failing", "what kind of thing it is"),
        column("crawler", "text", "the crawler that it is about, if it is about one"),
        column("identity", "verified, spoofed, unverified", "the identity of that crawler"),
        column("source", "text", "the origin or file of the robots.txt, if it is about one"),
        column("before", "text", "how it was before: a rate, a day, a digest or an outcome"),
        column("now", "text", "how it is now: a count, a rate, a digest or an outcome"),
        column("message", "text", "the same in a sentence"),
    ];
}
