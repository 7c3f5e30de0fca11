//! The shares of requests that kept a directive, and of those before and since a change.

use crate::audit::model::ReportModel;
use crate::audit::shares::{
    OriginCompliance, Scope, compared_changes, compared_day, comparison, compliance,
    compliance_at_origins, conducts, has_compared_changes,
};
use crate::crawlers::identity::Actor;
use crate::measures::sums::Compliance;
use crate::report::table::table;
use crate::statistics::two_proportions;
use crate::table::columns::{
    CHANGE_DIRECTION, CHANGE_TIMES, CRAWLER, NAMES, ORIGIN, SHARE_INTERVAL, SHARE_TEST,
};
use crate::table::csv::Row;
use crate::table::schema::{column, count};
use crate::time::Day;

table! {
    /// The share of requests that kept a directive.
    pub(crate) const COMPLIANCE = "compliance.csv", "each crawler, operator, purpose and origin, directive, and kind of group: see [compliance](#compliance)";
    rows of => {
        let conducts = conducts(of.audit);
        compliance(of.audit).into_iter().map(move |row| {
            let (scope, name, ..) = row.0;
            (row, (scope == Scope::Crawler).then(|| conducts.get(name).copied()).flatten())
        })
    };
    (((scope, name, directive, is_specific), sums), conduct) => {
        let Compliance { requests, kept } = sums;
    }
    cells row => {
        column("scope", "crawler, operator, purpose, origin", "what the row sums up; spoofed requests and tools are left out; rows of operators do not contain crawlers of unknown operators, or programs that anyone can run") => row.word(scope.as_str()),
        column("name", "text", "name of that crawler, operator, purpose or origin") => row.text(name),
        column("directive", "disallow, allow-list, disallow-all, crawl-delay-pace, crawl-delay-gaps", "what binds the requests") => row.word(directive),
        column("group", "specific, *", "whether a group of robots.txt names the crawler") => row.word(if is_specific { "specific" } else { "*" }),
        count("requests", "requests that the directive bound; for `crawl-delay-gaps` times between requests") => row.counts([requests]),
        count("kept", "those that kept it; for `crawl-delay-pace` an upper bound") => row.counts([kept]),
        column("share", "fraction, 6 decimals", "kept / requests") => row.fraction(kept, requests),
        SHARE_INTERVAL => row.share_interval(kept, requests),
        column("conduct", "ignores, breaks-some, rarely, not-read, obeys, not-judged", "what a crawler does about the robots.txt of all origins: see [conduct](#conduct); empty for other scopes") => row.maybe(conduct, 1, |row, conduct| row.word(conduct.as_str())),
    }
}

table! {
    /// The same for each crawler at each origin, such as for intervals over origins.
    pub(crate) const ORIGIN_COMPLIANCE = "origin-compliance.csv", "each origin, crawler, directive, and kind of group, as in [compliance.csv](#compliancecsv)";
    rows of => compliance_at_origins(of.audit);
    OriginCompliance { origin, crawler, directive, is_specific, sums } => {
        let Compliance { requests, kept } = sums;
    }
    cells row => {
        ORIGIN => row.text(origin),
        NAMES => row.crawler_names(of.audit.registry.crawler(crawler)),
        column("directive", "disallow, allow-list, disallow-all, crawl-delay-pace, crawl-delay-gaps", "what binds the requests, as in `compliance.csv`") => row.word(directive),
        column("group", "specific, *", "whether a group of the robots.txt of the origin names the crawler") => row.word(if is_specific { "specific" } else { "*" }),
        count("requests", "requests that the directive bound, as in `compliance.csv`") => row.counts([requests]),
        count("kept", "those that kept it, as in `compliance.csv`") => row.counts([kept]),
        column("share", "fraction, 6 decimals", "kept / requests of this row") => row.fraction(kept, requests),
        SHARE_INTERVAL => row.share_interval(kept, requests),
    }
}

table! {
    /// Disallowed requests before and since a day.
    pub(crate) const COMPARISON = "comparison.csv", "each crawler and identity, for all origins together; only with `report --compare-at DAY`";
    only "report --compare-at DAY", |audit| compared_day(audit).is_some();
    rows of => compared_sums(of.audit);
    (day, (id, identity), [before, since]) => {
    }
    cells row => {
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(id), identity),
        column("compared_at", "YYYY-MM-DD", "first day of the later part, in the zone of the days") => row.day(day),
        count("requests_before", "allowed requests and violations before that day") => row.counts([before.1]),
        count("violations_before", "violations among them") => row.counts([before.0]),
        column("share_before", "fraction, 6 decimals", "violations_before / requests_before") => row.fraction(before.0, before.1),
        count("requests_since", "allowed requests and violations since that day") => row.counts([since.1]),
        count("violations_since", "violations among them") => row.counts([since.0]),
        column("share_since", "fraction, 6 decimals", "violations_since / requests_since") => row.fraction(since.0, since.1),
        SHARE_TEST => share_test(before, since, row),
    }
}

table! {
    /// Requests for touched paths before and since a change.
    pub(crate) const CHANGE_COMPARISON = "change-comparison.csv", "each origin, crawler, identity, change and direction, as in `reactions.csv`; only with `report --compare-at changes`";
    only "report --compare-at changes", has_compared_changes;
    rows of => compared_changes(of.audit);
    (origin, (id, identity), change, [before, since]) => {
    }
    cells row => {
        ORIGIN => row.text(origin),
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(id), identity),
        CHANGE_TIMES => row.time(change.times.after).time(change.times.before),
        CHANGE_DIRECTION => row.word(change.direction.as_str()),
        count("requests_before", "requests of any kind from the previous change, at most 28 days (`--reaction-days`), to `changed_after_utc`") => row.counts([before.1]),
        count("touched_before", "requests among them for paths with this change") => row.counts([before.0]),
        column("share_before", "fraction, 6 decimals", "touched_before / requests_before") => row.fraction(before.0, before.1),
        count("requests_since", "requests of any kind from `changed_before_utc` to the last fetch before the next change, or to the end of the logs") => row.counts([since.1]),
        count("touched_since", "requests among them for paths with this change") => row.counts([since.0]),
        column("share_since", "fraction, 6 decimals", "touched_since / requests_since") => row.fraction(since.0, since.1),
        SHARE_TEST => share_test(before, since, row),
    }
}

/// A part and the whole.
type Share = (u64, u64);

/// The compared day, and the violations among judged requests before and since then.
fn compared_sums(audit: &ReportModel) -> impl Iterator<Item = (Day, Actor, [Share; 2])> {
    compared_day(audit).into_iter().flat_map(move |day| {
        comparison(audit, day).into_iter().map(move |(actor, parts)| {
            (day, actor, parts.map(|of| (of.violations, of.allowed + of.violations)))
        })
    })
}

fn share_test(before: Share, since: Share, row: &mut Row) -> &mut Row {
    row.maybe(two_proportions(before, since), 2, |row, (z, p)| row.decimal(z).decimal(p))
}
