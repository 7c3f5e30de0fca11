//! The tables that a run writes.

use crate::table::columns::{
    ALLOWED, ALLOWED_IGNORING_STAR, BYTES, CHANGE_DIRECTION, CHANGE_TIMES, CRAWLER, DAY, EXAMPLE,
    NOT_BOUND_REASON, ORIGIN, PRIOR_FETCHES, REQUESTS, REQUESTS_LATE, ROBOTS_TXT_REQUESTS, RULE,
    SEEN, SESSION_SUMS, SHARE_TEST, SITE, SITE_DAY, STATUSES, SUMS, UNKNOWN, UNREACHABLE,
    VIOLATION_RATE, VIOLATIONS, WHO,
};
use crate::table::schema::{
    CsvColumn, TableSchema, column, count, joined, line_number, tables, time,
};

tables! {
    /// All tables, in the order in which they are documented.
    TABLES;

    /// A row for each origin, crawler and identity.
    SUMMARY = "summary.csv", "each origin, crawler and identity": [
        ORIGIN, WHO, SUMS, SEEN, NOT_BOUND_REASON, ALLOWED_IGNORING_STAR,
        count("violations_after_fetch", "violations after a successful fetch of robots.txt by the crawler or another one of its operator"),
    ];

    /// A row for each broken rule and crawler.
    VIOLATION = "violations.csv", "each origin, crawler, identity and deciding rule of one version of a robots.txt": [
        ORIGIN, WHO, RULE, REQUESTS, STATUSES, BYTES, SEEN, EXAMPLE, PRIOR_FETCHES,
        column("fetch_age_minutes_min", "minutes", "least time from the last successful fetch to a violation, by the minute; empty if there was no fetch"),
        column("fetch_age_minutes_median", "minutes", "median of that time, by the nearest rank"),
        column("fetch_age_minutes_max", "minutes", "greatest value of that time"),
        column("not_bound_reason", "user-triggered, declined, reported-not-following, ignores-star", "with `--include-unbound`: why the rule does not bind the crawler; empty if it does"),
        time("snapshot_fetched_utc", "fetch time of the snapshot by which the earliest request was judged; empty without an archive"),
        column("snapshot_age_seconds", "seconds", "age of the snapshot at the time of the request; negative if the snapshot is later and no earlier one is known"),
    ];

    /// Requests by status.
    STATUS = "statuses.csv", "each origin, crawler, identity and HTTP status": [
        ORIGIN, CRAWLER,
        column("status", "HTTP status", "status of the answers, 100 to 599; empty for any other, such as 000, and for requests without an answer"),
        column("status_group", "ok, not-modified, redirected, refused, not-found, other-client-error, server-error, other", "`ok`: 200 to 299; `not-modified`: 304; `redirected`: other 3xx; `refused`: 401, 402, 403, 429, 451; `not-found`: 404, 410; `other-client-error`: other 4xx; `server-error`: 5xx; `other`: the rest"),
        REQUESTS,
        column("share", "fraction, 6 decimals", "requests / all requests of this crawler and identity at this origin"),
        BYTES,
    ];

    /// Visits that products sent.
    REFERRALS = "referrals.csv", "each origin and operator, and each of its products with visits; no rows if no log has a Referer field: see [referrals](#referrals)": [
        ORIGIN,
        column("operator", "text", "company that runs the products and the crawlers"),
        column("product", "text", "product that sent the visits; `*` for all products of the operator together"),
        column("product_kind", "search, ai-assistant, social, chat, news, mail, video", "kind of the product; empty for `*`"),
        count("visits", "requests of clients that are not crawlers, by GET and answered with a status of at most 399, with a Referer of this product"),
        column("visit_bytes", "bytes", "size of their responses, as logged"),
        time("first_visit_utc", "time of the first of them; empty if there is none"),
        time("last_visit_utc", "time of the last of them"),
        count("crawler_requests", "requests of the operator's crawlers at this origin, without spoofed ones and tools; only for `*`"),
        column("crawler_bytes", "bytes", "size of their responses, as logged; only for `*`"),
        column("requests_per_visit", "number, 6 decimals", "crawler_requests / visits; empty if there are no visits"),
    ];

    /// What crawlers cost, if a price is given.
    COSTS = "costs.csv", "each crawler and identity that is neither spoofed nor a tool, for all origins together, most bytes first; only with `--cost-per-gb`": [
        CRAWLER, REQUESTS, BYTES,
        column("bytes_share", "fraction, 6 decimals", "bytes / bytes of all rows, which are those of known crawlers in the headline"),
        column("cost", "number, 6 decimals", "price of these bytes, at the price of `--cost-per-gb` for 10^9 bytes; the total in the summary is rounded once"),
        column("currency", "text", "currency of that price; empty if it is given without one"),
    ];

    /// Requests by section, if they are counted.
    SECTION = "sections.csv", "each origin, section, crawler and identity; only with `--paths`: see [sections](#sections)": [
        ORIGIN,
        column("section", "path", "directory of the first or second level; `/` for the requests of the origin in no other section"),
        CRAWLER, REQUESTS, STATUSES, BYTES,
    ];

    /// Requests by path, if they are counted.
    PATHS = "paths.csv", "each crawler and identity, and each of the 100 paths that it requested most (of equal ones, the first by origin and path); only with `--paths`": [
        CRAWLER,
        column("origin", "scheme://host[:port]", "origin that was requested; `*` for the other paths"),
        column("path", "path", "path without query, as it is compared with rules, cut to 1,024 bytes; `(others)` for the requests of this crawler for all other paths"),
        REQUESTS, STATUSES, BYTES, SEEN,
    ];

    /// Distinct URLs, if they are counted.
    URLS = "urls.csv", "each crawler and identity, for all origins together; only with `--paths`": [
        CRAWLER,
        count("requests", "requests with a path"),
        count("urls", "distinct URLs among them: origin, path and query; without queries if `--strip-query` is given"),
        column("urls_form", "exact, estimate", "whether `urls` is exact, which it is up to 4,096, or an estimate from 4,097 hashes with a standard error of 1.6 %"),
        count("many_queries_requests", "requests for paths of one origin that this crawler requested with 10 or more different queries, where no query is one of them; 0 if `--strip-query` is given; only among the paths that are kept (see [limits](limits.md))"),
        column("many_queries_share", "fraction, 6 decimals", "many_queries_requests / requests"),
    ];

    /// The broken rules with the lines around them.
    ROBOTS_RULES = "robots-rules.csv", "each broken rule of a robots.txt, the first 20 User-agent lines of its group, and the three rules of the group before it and after it": [
        column("robots_digest", "sha256:hex", "digest of the robots.txt version that holds the line"),
        line_number("line", "line number in that version"),
        column("field", "user-agent, allow, disallow", "kind of line"),
        column("value", "product token, `*` or path pattern", "value of the line, as written in the file"),
        count("requests", "requests that broke this rule, without spoofed crawlers and tools; empty if there are none"),
    ];

    /// Fetches of robots.txt by crawlers, and requests before the first fetch.
    ROBOTS_FETCHES = "robots-fetches.csv", "each origin, crawler and identity": [
        ORIGIN, WHO, ROBOTS_TXT_REQUESTS,
        count("successful_fetches", "requests for robots.txt by GET that were answered 200 or 304"),
        STATUSES,
        time("first_fetch_utc", "time of the first request for robots.txt in these logs"),
        time("last_fetch_utc", "time of the last request for robots.txt in these logs"),
        time("first_successful_fetch_utc", "time of the first successful fetch in these logs; empty if there is none"),
        time("last_successful_fetch_utc", "time of the last successful fetch in these logs; empty if there is none"),
        count("other_requests", "all other requests"),
        count("requests_before_first_fetch", "other requests in minutes before the first successful fetch; all of them if there is no fetch"),
        VIOLATIONS, PRIOR_FETCHES,
    ];

    /// How often crawlers fetch robots.txt again.
    REFETCHES = "refetches.csv", "each crawler and identity that fetched robots.txt with success, for all origins together and for each origin": [
        column("origin", "scheme://host[:port]", "origin that was requested; `*` for all origins together"),
        CRAWLER,
        count("successful_fetches", "requests for robots.txt by GET that were answered 200 or 304"),
        count("gaps", "times from one of these fetches to the next at the same origin, by the minute: 0 within one minute"),
        column("gap_minutes_median", "minutes", "median of these times, by the nearest rank"),
        column("gap_minutes_p95", "minutes", "their 95th percentile, by the nearest rank"),
        count("requests_after_first_fetch", "other requests from the minute of the first successful fetch on"),
        count("requests_on_old_copy", "those of them more than 24 hours after the last successful fetch before them, by the minute: 1,440 minutes are not more"),
        column("old_copy_share", "fraction, 6 decimals", "requests_on_old_copy / requests_after_first_fetch"),
    ];

    /// Request intervals of crawlers whose group has a Crawl-delay.
    CRAWL_DELAY = "crawl-delay.csv", "each origin, crawler, identity and version of robots.txt with a Crawl-delay for this crawler": [
        ORIGIN, WHO,
        column("robots_digest", "sha256:hex", "digest of the robots.txt version with the Crawl-delay"),
        line_number("delay_line", "line of the Crawl-delay; of the shortest one if several apply to the crawler"),
        column("delay", "text", "value of the line, as written"),
        column("delay_seconds", "seconds, 3 decimals", "the same as a number, cut off after 3 decimals; empty if the value is not a number"),
        column("group", "product token or `*`", "User-agent token through which the line applies to the crawler"),
        column("honours_delay", "honoured, ignored, unknown", "whether the crawler honours Crawl-delay, according to the registry"),
        count("requests", "requests of this row, without requests for robots.txt and requests without a path"),
        count("allowed_per_hour", "most requests in an hour that are possible with this delay: 3,600 / delay, rounded up; empty if it sets no limit"),
        count("over_hourly", "sum of the requests over that limit in all clock hours of UTC, of all clients together: at least this many came too early"),
        count("hours_over", "clock hours over the limit"),
        count("allowed_per_day", "most requests in a UTC day that are possible with this delay: 86,400 / delay, rounded up"),
        count("over_daily", "sum of the requests over that limit in all days"),
        count("days_over", "days over the limit"),
        time("busiest_hour_utc", "start of the hour with most requests, the earliest of equal ones; empty past the memory limit for times"),
        count("busiest_hour_requests", "requests in that hour"),
        NOT_BOUND_REASON,
    ];

    /// The share of requests that kept a directive.
    COMPLIANCE = "compliance.csv", "each crawler, operator, purpose and origin, directive, and kind of group: see [compliance](#compliance)": [
        column("scope", "crawler, operator, purpose, origin", "what the row sums up; spoofed requests and tools are left out; rows of operators are without crawlers whose operator is unknown or anybody"),
        column("name", "text", "name of that crawler, operator, purpose or origin"),
        column("directive", "disallow, allow-list, disallow-all, crawl-delay-pace, crawl-delay-gaps", "what binds the requests"),
        column("group", "specific, *", "whether a group of robots.txt names the crawler"),
        count("requests", "requests that the directive bound; for `crawl-delay-gaps` times between requests"),
        count("kept", "those that kept it; for `crawl-delay-pace` an upper bound"),
        column("share", "fraction, 6 decimals", "kept / requests"),
        column("share_low", "fraction, 6 decimals", "lower end of the Wilson score interval of 95 %"),
        column("share_high", "fraction, 6 decimals", "upper end of that interval"),
    ];

    /// Requests by day.
    DAILY = "daily.csv", "each day, origin, crawler and identity": [
        DAY, ORIGIN, WHO, SUMS,
    ];

    /// Requests by hour.
    HOURLY = "hourly.csv", "each hour, crawler and identity, for all origins together; the last 1,488 hours with requests": [
        DAY,
        column("hour", "0 to 23", "hour of the day in that zone; an hour that occurs twice when clocks change is one row"),
        WHO, REQUESTS, ALLOWED, VIOLATIONS, VIOLATION_RATE, BYTES,
    ];

    /// What crawlers did after changes of robots.txt.
    REACTIONS = "reactions.csv", "each origin, crawler, identity, change of the rules for this crawler, and direction; only with an archive: see [reactions](#reactions-to-changes)": [
        ORIGIN, CRAWLER,
        CHANGE_TIMES,
        column("old_digest", "sha256:hex", "digest of the version with the old rules; empty if there was no robots.txt"),
        column("new_digest", "sha256:hex", "digest of the version with the new rules; empty if there was no robots.txt"),
        CHANGE_DIRECTION,
        column("rule_lines", "line numbers from 1", "lines of the rules that disallow these requests, in the version that disallows them; the first 16, then `+`"),
        column("days_before", "days, 6 decimals", "time in these logs before `changed_after_utc` from which requests count"),
        count("requests_before", "requests in that time for paths with this change"),
        count("requests_uncertain", "such requests between the two fetches"),
        time("first_fetch_utc", "minute of the first successful fetch of robots.txt from `changed_before_utc` on"),
        column("fetched_by", "own, operator", "who made that fetch: the crawler, or another crawler of its operator"),
        count("requests_until_fetch", "requests for these paths from `changed_before_utc` to the minute before that fetch, or to the end without a fetch; empty if not known"),
        count("requests_after_fetch", "requests for these paths from the minute of that fetch to the end; empty if not known"),
        column("promised_hours", "hours", "how soon a change takes effect, as the operator promises; empty if it promises no time"),
        count("requests_after_promise", "requests for these paths from that time after `changed_before_utc` on"),
        time("last_request_utc", "time of the last request for these paths, in all these times"),
        count("other_requests_after", "all other requests from the minute of that fetch to the end, robots.txt included but for that fetch; empty if not known"),
        column("reaction", "obeyed-at-once, obeyed-late, still-requesting, never-fetched, gone, too-few-requests, found, not-found, unknown", "what the crawler did"),
        column("reaction_hours_min", "hours, 6 decimals", "least time from the change to the last request before the crawler obeyed, or to the first request for newly allowed paths"),
        column("reaction_hours_max", "hours, 6 decimals", "greatest value of that time"),
        NOT_BOUND_REASON,
    ];

    /// What crawlers fetched of paths about whose use robots.txt states a preference.
    USAGE = "usage.csv", "each origin, crawler, identity, and line of a robots.txt that states a preference about the purpose of the crawler: see [use](#statements-about-use)": [
        ORIGIN, CRAWLER,
        column("signal", "content-usage, content-signal, product-token", "form of the statement"),
        column("category", "train-ai, search, ai-train, ai-input, use, ai-training", "kind of use, in the words of that form; for a product token the purpose of its row in the registry"),
        column("preference", "reserved, permitted, immediate, reference, full, changed-recently", "preference in force; `changed-recently` if an earlier copy of robots.txt that the crawler may still have had does not state the same"),
        line_number("line", "line that states it"),
        column("robots_digest", "sha256:hex", "digest of the robots.txt version in force"),
        REQUESTS,
        count("status_2xx", "requests answered with a status of 200 to 299"),
        BYTES, SEEN,
    ];

    /// Requests for files beside robots.txt.
    POLICY_FILES = "policy-files.csv", "each origin, crawler, identity and kind of file that the crawler requested: see [files](#policy-files)": [
        ORIGIN, CRAWLER,
        column("file", "llms.txt, llms-full.txt, ai.txt, tdmrep.json, license, security.txt, ads.txt, app-ads.txt, humans.txt, sitemap", "kind of the file"),
        REQUESTS, STATUSES, BYTES, SEEN,
    ];

    /// Automated user agents that are not in the registry.
    UNKNOWN_CRAWLERS = "unknown-crawlers.csv", "each user agent that looks automated and belongs to no known crawler; at most 10,000, the rest is `(others)`": [
        column("user_agent", "text", "User-Agent header, cut to 1,024 bytes; addresses in it have the form that `--ip` selects"),
        REQUESTS, ROBOTS_TXT_REQUESTS,
        count("star_allowed", "requests that the `*` groups allow"),
        count("star_disallowed", "requests that the `*` groups disallow"),
        UNKNOWN,
        count("no_path", "requests without a path, and lines that could be read only as far as the user agent"),
        BYTES, SEEN,
        column("token", "product token", "name in the user agent that a robots.txt could use; empty if there is none"),
        count("robots_txt_naming", "robots.txt files of this run that name this token; empty if there is no token. Their groups for the token do not count in `star_allowed` and `star_disallowed`"),
        count("star_grace", "requests that the `*` groups disallow, but an earlier version allowed within the grace period"),
        UNREACHABLE,
    ];

    /// Reasons for unparsed lines.
    REJECTS = "rejects.csv", "each log file and reason why lines could not be parsed": [
        column("file", "path", "log file"),
        column("reason", "text", "why the lines could not be parsed"),
        count("lines", "number of these lines"),
        line_number("example_line", "line number of the first one"),
        column("example", "text", "beginning of that line, cut to 512 bytes"),
    ];

    /// What a draft of a robots.txt would change, if a draft is given.
    WHAT_IF = "what-if.csv", "each origin, crawler, identity, change, rule of the draft and rule in force": [
        ORIGIN, WHO,
        column("change", "newly-disallowed, newly-allowed", "effect of the draft on these requests"),
        line_number("draft_line", "line of the deciding rule of the draft; empty if no rule matches, which allows"),
        column("draft_directive", "allow, disallow", "kind of that rule"),
        column("draft_pattern", "path pattern", "pattern of that rule, as written in the draft"),
        column("draft_group", "product token or `*`", "User-agent token through which that rule applies to the crawler"),
        column("present_digest", "sha256:hex", "digest of the robots.txt version in force; empty if no rule of it matched, which allowed"),
        line_number("present_line", "line of the rule in force in that version"),
        column("present_directive", "allow, disallow", "kind of the rule in force"),
        column("present_pattern", "path pattern", "pattern of the rule in force, as written in the file"),
        column("present_group", "product token or `*`", "User-agent token through which the rule in force applies to the crawler"),
        REQUESTS, SEEN, EXAMPLE,
    ];

    /// Disallowed requests before and since a day.
    COMPARISON = "comparison.csv", "each crawler and identity, for all origins together; only with `report --compare-at DAY`": [
        CRAWLER,
        column("compared_at", "YYYY-MM-DD", "first day of the later part, in the zone of the days"),
        count("requests_before", "allowed requests and violations before that day"),
        count("violations_before", "violations among them"),
        column("share_before", "fraction, 6 decimals", "violations_before / requests_before"),
        count("requests_since", "allowed requests and violations since that day"),
        count("violations_since", "violations among them"),
        column("share_since", "fraction, 6 decimals", "violations_since / requests_since"),
        SHARE_TEST,
    ];

    /// Requests for touched paths before and since a change.
    CHANGE_COMPARISON = "change-comparison.csv", "each origin, crawler, identity, change and direction, as in `reactions.csv`; only with `report --compare-at changes`": [
        ORIGIN, CRAWLER, CHANGE_TIMES, CHANGE_DIRECTION,
        count("requests_before", "requests of any kind from the previous change, at most 28 days (`--reaction-days`), to `changed_after_utc`"),
        count("touched_before", "requests among them for paths with this change"),
        column("share_before", "fraction, 6 decimals", "touched_before / requests_before"),
        count("requests_since", "requests of any kind from `changed_before_utc` to the last fetch before the next change, or to the end of the logs"),
        count("touched_since", "requests among them for paths with this change"),
        column("share_since", "fraction, 6 decimals", "touched_since / requests_since"),
        SHARE_TEST,
    ];

    /// Sessions of clients.
    SESSIONS = "sessions.csv", "each crawler and identity, for all origins together; only with `--session-minutes`: see [sessions](#sessions)": [
        CRAWLER, SESSION_SUMS,
        count("distinct_paths", "distinct URLs, as `urls` in `urls.csv`"),
        column("paths_kind", "exact, estimate", "whether `distinct_paths` is exact, as `urls_form` in `urls.csv`"),
        REQUESTS_LATE,
    ];

    /// Sessions by network.
    NETWORKS = "networks.csv", "each crawler, identity and network of `--networks`, for all origins together: see [sessions](#sessions)": [
        CRAWLER,
        column("network", "text", "name of the smallest of these networks that has the address of the client; empty if none has it, or if the log has no address"),
        SESSION_SUMS,
        REQUESTS_LATE,
    ];

    /// All violating requests.
    REQUESTS_EVIDENCE = "--evidence FILE", "each request that is a violation, in the order of files and lines": [
        column("file", "path", "log file that holds the request"),
        line_number("line", "line number of that request in the log file"),
        time("time_utc", "time of the request"),
        ORIGIN, WHO,
        column("method", "text", "HTTP method"),
        column("target", "request target", "target of the request, as logged"),
        column("status", "HTTP status", "status of the response"),
        column("bytes", "bytes", "size of the responses, as logged"),
        column("user_agent", "text", "User-Agent header; addresses in it have the form that `--ip` selects"),
        RULE,
        column("client", "text", "client, in the form that `--ip` selects: nothing, a network, a hash or the address"),
        time("snapshot_fetched_utc", "fetch time of the snapshot that decided; empty without an archive"),
        column("snapshot_age_seconds", "seconds", "age of the snapshot at the time of the request; negative if the snapshot is later and no earlier one is known"),
    ];

    /// The requests of crawlers by day.
    TREND = "trend.csv", "each site, day, crawler and identity, for all finished days in the state file": [
        SITE, SITE_DAY, WHO, SUMS,
    ];

    /// Events by day.
    EVENTS = "events.csv", "each event of a day, the last day first": [
        SITE, SITE_DAY,
        column("event", "first-violation, rate-doubled, stopped-fetching, robots-changed, robots-failing", "kind of event"),
        column("crawler", "text", "crawler of the event, if there is one"),
        column("identity", "verified, spoofed, unverified", "identity of that crawler"),
        column("source", "text", "origin or file of the robots.txt, if the event is about one"),
        column("before", "text", "value before the event: a rate, a day, a digest or an outcome"),
        column("now", "text", "value of the event: a count, a rate, a digest or an outcome"),
        column("message", "text", "the event in a sentence"),
    ];
}
