//! What crawlers did after changes of robots.txt.

use crate::audit::reaction_rows::ReactionRow;
use crate::report::table::table;
use crate::table::columns::{CHANGE_DIRECTION, CHANGE_TIMES, CRAWLER, NOT_BOUND_REASON, ORIGIN};
use crate::table::csv::Row;
use crate::table::schema::{column, count, time};

table! {
    /// What crawlers did after changes of robots.txt.
    pub(crate) const REACTIONS = "reactions.csv", "each origin, crawler, identity, change of the rules for this crawler, and direction; only with an archive: see [reactions](#reactions-to-changes)";
    rows of => of.audit.reactions();
    (origin, (id, identity), reaction) => {
        let ReactionRow { times, tally, around_fetch, .. } = reaction;
        let crawler = of.crawlers.registry.crawler(id);
        let promised = crawler.reaction_hours;
    }
    cells row => {
        ORIGIN => row.text(origin),
        CRAWLER => row.crawler_and_identity(crawler, identity),
        CHANGE_TIMES => row.time(times.after).time(times.before),
        column("old_digest", "sha256:hex", "digest of the version with the old rules; empty if there was no robots.txt") => row.maybe(reaction.old_digest.as_ref(), 1, Row::digest),
        column("new_digest", "sha256:hex", "digest of the version with the new rules; empty if there was no robots.txt") => row.maybe(reaction.new_digest.as_ref(), 1, Row::digest),
        CHANGE_DIRECTION => row.word(reaction.direction.as_str()),
        column("rule_lines", "line numbers from 1", "lines of the rules that disallow these requests, in the version that disallows them; the first 16, then `+`") => row.text(&reaction.lines()),
        column("days_before", "days, 6 decimals", "time in these logs before `changed_after_utc` from which requests count") => row.fraction(reaction.seconds_before.unsigned_abs(), 86_400),
        count("requests_before", "requests in that time for paths with this change") => row.counts([tally.before]),
        count("requests_uncertain", "such requests between the two fetches") => row.counts([tally.uncertain]),
        time("first_fetch_utc", "minute of the first successful fetch of robots.txt from `changed_before_utc` on") => row.maybe(reaction.first_fetch, 1, |row, (time, _)| row.time(time)),
        column("fetched_by", "own, operator", "who made that fetch: the crawler, or another crawler of its operator") => row.maybe(reaction.first_fetch, 1, |row, (_, by)| row.word(by.as_str())),
        count("requests_until_fetch", "requests for these paths from `changed_before_utc` to the minute before that fetch, or to the end without a fetch; empty if not known") => row.maybe_counts(around_fetch.map(|(until, _)| [until])),
        count("requests_after_fetch", "requests for these paths from the minute of that fetch to the end; empty if not known") => row.maybe_counts(around_fetch.map(|(_, after)| [after])),
        column("promised_hours", "hours", "how soon a change takes effect, as the operator promises; empty if it promises no time") => row.maybe_counts(promised.map(|hours| [u64::from(hours)])),
        count("requests_after_promise", "requests for these paths from that time after `changed_before_utc` on") => row.maybe_counts(promised.map(|_| [tally.after_promise])),
        time("last_request_utc", "time of the last request for these paths, in all these times") => row.maybe(tally.last, 1, Row::time),
        count("other_requests_after", "all other requests from the minute of that fetch to the end, robots.txt included but for that fetch; empty if not known") => row.maybe_counts(reaction.others_after.map(|others| [others])),
        column("reaction", "obeyed-at-once, obeyed-late, still-requesting, never-fetched, gone, too-few-requests, found, not-found, unknown", "what the crawler did") => row.word(reaction.reaction.as_str()),
        column("reaction_hours_min", "hours, 6 decimals", "least time from the change to the last request before the crawler obeyed, or to the first request for newly allowed paths") => row.maybe(reaction.seconds, 1, |row, (min, _)| row.fraction(min.unsigned_abs(), 3600)),
        column("reaction_hours_max", "hours, 6 decimals", "greatest value of that time") => row.maybe(reaction.seconds, 1, |row, (_, max)| row.fraction(max.unsigned_abs(), 3600)),
        NOT_BOUND_REASON => row.not_bound_reason(crawler),
    }
}
