//! Tables by a line of a robots.txt: broken rules, changed rules, statements about use, rules of a
//! draft.

use crate::audit::draft::{ChangedVerdict, WhatIf};
use crate::audit::reaction_rows::ReactionRow;
use crate::audit::{crawler_row::Broken, model::ReportModel, quotes::UsageRow};
use crate::digest::Digest;
use crate::report::robots_rules::{NearLine, robots_rules};
use crate::report::table::table;
use crate::table::columns::{
    BYTES, CHANGE_DIRECTION, CHANGE_TIMES, CRAWLER, EXAMPLE, NOT_BOUND_REASON, ORIGIN,
    PRIOR_FETCHES, REQUESTS, RULE, SEEN, STATUSES, WHO,
};
use crate::table::csv::Row;
use crate::table::schema::{column, count, line_number, time};

table! {
    /// A row for each broken rule and crawler.
    pub(crate) const VIOLATION = "violations.csv", "each origin, crawler, identity and deciding rule of one version of a robots.txt";
    rows of => of.audit.broken_rules();
    (origin, actor, broken) => {
        let Broken { rule, tally, prior_fetches } = broken;
        let ages = prior_fetches.ages();
        let example = &tally.example;
    }
    cells row => {
        ORIGIN => row.text(origin),
        WHO => row.known_crawler(&of.audit.registry, actor),
        RULE => row.violated_rule(rule),
        REQUESTS => row.counts([tally.requests]),
        STATUSES => row.statuses(&tally.statuses),
        BYTES => row.counts([tally.bytes]),
        SEEN => row.span(Some(tally.span)),
        EXAMPLE => row.example(example, of.audit),
        PRIOR_FETCHES => row.prior_fetches(prior_fetches),
        column("fetch_age_minutes_min", "minutes", "least time from the last successful fetch to a violation, by the minute; empty if there was no fetch") => row.maybe_counts(ages.map(|ages| [ages.min])),
        column("fetch_age_minutes_median", "minutes", "median of that time, by the nearest rank") => row.maybe_counts(ages.map(|ages| [ages.median])),
        column("fetch_age_minutes_max", "minutes", "greatest value of that time") => row.maybe_counts(ages.map(|ages| [ages.max])),
        column("not_bound_reason", "user-triggered, declined, reported-not-following, ignores-star", "with `--include-unbound`: why the rule does not bind the crawler; empty if it does") => row.rule_not_bound_reason(of.audit.registry.crawler(actor.0), rule),
        time("snapshot_fetched_utc", "fetch time of the snapshot by which the earliest request was judged; empty without an archive") => row.maybe(example.snapshot, 1, Row::time),
        column("snapshot_age_seconds", "seconds", "age of the snapshot at the time of the request; negative if the snapshot is later and no earlier one is known") => row.snapshot_age(example.snapshot, example.time),
        count("signed", "requests with a valid signature of an agent: see signatures.csv") => row.counts([tally.signed]),
    }
}

table! {
    /// The broken rules with the lines around them.
    pub(crate) const ROBOTS_RULES = "robots-rules.csv", "each broken rule of a robots.txt, the first 20 User-agent lines of its group, and the three rules of the group before it and after it";
    rows of => quoted_lines(of.audit);
    (digest, line, near) => {
    }
    cells row => {
        column("robots_digest", "sha256:hex", "digest of the robots.txt version that holds the line") => row.digest(&digest),
        line_number("line", "line number in that version") => row.counts([u64::from(line)]),
        column("field", "user-agent, allow, disallow", "kind of line") => row.word(near.field),
        column("value", "product token, `*` or path pattern", "value of the line, as written in the file") => row.bytes(near.value),
        count("requests", "requests that broke this rule, without spoofed crawlers and tools; empty if there are none") => row.maybe_counts(near.requests.map(|requests| [requests])),
    }
}

fn quoted_lines(audit: &ReportModel) -> impl Iterator<Item = (Digest, u32, NearLine<'_>)> {
    robots_rules(audit, |_| true)
        .into_iter()
        .flat_map(|(digest, lines)| lines.into_iter().map(move |(line, near)| (digest, line, near)))
}

table! {
    /// What crawlers did after changes of robots.txt.
    pub(crate) const REACTIONS = "reactions.csv", "each origin, crawler, identity, change of the rules for this crawler, and direction; only with an archive: see [reactions](#reactions-to-changes)";
    rows of => of.audit.reactions();
    (origin, (id, identity), reaction) => {
        let ReactionRow { times, tally, around_fetch, .. } = reaction;
        let crawler = &of.audit.registry.crawler(id);
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

table! {
    /// What crawlers fetched of paths about whose use robots.txt states a preference.
    pub(crate) const USAGE = "usage.csv", "each origin, crawler, identity, and line of a robots.txt that states a preference about the purpose of the crawler: see [use](#statements-about-use)";
    rows of => of.audit.usage();
    (origin, (id, identity), usage) => {
        let UsageRow { digest, stated, tally } = usage;
    }
    cells row => {
        ORIGIN => row.text(origin),
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(id), identity),
        column("signal", "content-usage, content-signal, product-token", "form of the statement") => row.word(stated.signal.as_str()),
        column("category", "train-ai, search, ai-train, ai-input, use, ai-training", "kind of use, in the words of that form; for a product token the purpose of its row in the registry") => row.word(stated.category.as_str()),
        column("preference", "reserved, permitted, immediate, reference, full, changed-recently", "preference in force; `changed-recently` if an earlier copy of robots.txt that the crawler may still have had does not state the same") => row.word(stated.preference.as_str()),
        line_number("line", "line that states it") => row.counts([u64::from(stated.line)]),
        column("robots_digest", "sha256:hex", "digest of the robots.txt version in force") => row.digest(digest),
        REQUESTS => row.counts([tally.requests]),
        count("status_2xx", "requests answered with a status of 200 to 299") => row.counts([tally.statuses.status_2xx]),
        BYTES => row.counts([tally.bytes]),
        SEEN => row.span(tally.span),
    }
}

table! {
    /// What a draft of a robots.txt would change, if a draft is given.
    pub(crate) const WHAT_IF = "what-if.csv", "each origin, crawler, identity, change, rule of the draft and rule in force";
    only "audit --what-if FILE", |audit| audit.simulation.is_some();
    rows of => of.audit.simulation.iter().flat_map(WhatIf::changes);
    (origin, actor, changed) => {
        let ChangedVerdict { change, draft, present, tally } = changed;
        let (draft, present) = (draft.as_ref(), present.as_ref());
    }
    cells row => {
        ORIGIN => row.text(origin),
        WHO => row.known_crawler(&of.audit.registry, actor),
        column("change", "newly-disallowed, newly-allowed", "effect of the draft on these requests") => row.word(change.as_str()),
        line_number("draft_line", "line of the deciding rule of the draft; empty if no rule matches, which allows") => row.maybe(draft, 1, |row, rule| row.counts([u64::from(rule.line)])),
        column("draft_directive", "allow, disallow", "kind of that rule") => row.maybe(draft, 1, |row, rule| row.word(rule.directive)),
        column("draft_pattern", "path pattern", "pattern of that rule, as written in the draft") => row.maybe(draft, 1, |row, rule| row.bytes(&rule.pattern)),
        column("draft_group", "product token or `*`", "User-agent token through which that rule applies to the crawler") => row.maybe(draft, 1, |row, rule| row.bytes(&rule.group)),
        column("present_digest", "sha256:hex", "digest of the robots.txt version in force; empty if no rule of it matched, which allowed") => row.maybe(present, 1, |row, rule| row.digest(&rule.digest)),
        line_number("present_line", "line of the rule in force in that version") => row.maybe(present, 1, |row, rule| row.counts([u64::from(rule.line)])),
        column("present_directive", "allow, disallow", "kind of the rule in force") => row.maybe(present, 1, |row, rule| row.word(rule.directive)),
        column("present_pattern", "path pattern", "pattern of the rule in force, as written in the file") => row.maybe(present, 1, |row, rule| row.bytes(&rule.pattern)),
        column("present_group", "product token or `*`", "User-agent token through which the rule in force applies to the crawler") => row.maybe(present, 1, |row, rule| row.bytes(&rule.group)),
        REQUESTS => row.counts([tally.requests]),
        SEEN => row.span(Some(tally.span)),
        EXAMPLE => row.example(&tally.example, of.audit),
    }
}
