//! The share of requests that kept a directive, by crawler, operator, purpose and origin, and before and since a day or
//! a change of robots.txt.
//!
//! A request is bound by the restriction in force for its crawler, and keeps it if it is allowed.
//! Requests whose verdict is uncertain (grace period, unreachable, unknown) and those of crawlers
//! that robots.txt does not bind are left out, as are spoofed requests and tools.

use std::collections::BTreeMap;

use botaudit_robots::named_enum;

use crate::crawlers::crawler::{CrawlerId, Obligation};
use crate::crawlers::identity::Actor;
use crate::measures::delay_kept::Excess;
use crate::measures::sums::{Compliance, Sums};
use crate::merge::{Merge, sum};
use crate::robots::model::StarGroups;
use crate::time::Day;

use super::conduct::{Conduct, ConductSums};
use super::crawler_row::{ActorRow, Delayed};
use super::{model::ReportModel, reaction_rows::ReactionRow};

named_enum! {
    /// What a row sums up.
    #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub(crate) enum Scope {
        /// The requests of one crawler.
        Crawler = "crawler",
        /// Those of all crawlers of one operator; `unknown` and `library` are none.
        Operator = "operator",
        /// Those of all crawlers with one purpose.
        Purpose = "purpose",
        /// Those to one origin.
        Origin = "origin",
    }
}

/// What a row of the table is about: the scope, its name, the directive, and whether a group that
/// names the crawler holds it.
pub(crate) type ComplianceKey<'a> = (Scope, &'a str, &'static str, bool);

/// The compliance of one crawler with one kind of directive at one origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OriginCompliance<'a> {
    /// The origin.
    pub(crate) origin: &'a str,
    /// The crawler.
    pub(crate) crawler: CrawlerId,
    /// The kind of directive.
    pub(crate) directive: &'static str,
    /// Whether a group that names the crawler holds it.
    pub(crate) is_specific: bool,
    /// The requests that it bound.
    pub(crate) sums: Compliance,
}

/// The compliance of crawlers with each kind of directive, by what a row sums up.
pub(crate) fn compliance(audit: &ReportModel) -> BTreeMap<ComplianceKey<'_>, Compliance> {
    let mut rows: BTreeMap<ComplianceKey<'_>, Compliance> = BTreeMap::new();
    // A crawler has a row at each origin: its names are compared once for all of them.
    let mut crawlers: BTreeMap<(CrawlerId, &'static str, bool), Compliance> = BTreeMap::new();
    for of in compliance_at_origins(audit) {
        let origin = (Scope::Origin, of.origin, of.directive, of.is_specific);
        rows.entry(origin).or_default().absorb(of.sums);
        let crawler = (of.crawler, of.directive, of.is_specific);
        crawlers.entry(crawler).or_default().absorb(of.sums);
    }
    for ((crawler, directive, is_specific), compliance) in crawlers {
        let crawler = audit.registry.crawler(crawler);
        let operator = Some(&*crawler.operator).filter(|_| crawler.has_one_operator());
        let scopes = [
            (Scope::Crawler, Some(&*crawler.name)),
            (Scope::Operator, operator),
            (Scope::Purpose, Some(&*crawler.purpose)),
        ];
        for (scope, name) in scopes {
            let Some(name) = name else { continue };
            rows.entry((scope, name, directive, is_specific)).or_default().absorb(compliance);
        }
    }
    rows
}

/// The compliance of each crawler at each origin, ordered by origin, name and directive.
pub(crate) fn compliance_at_origins(
    audit: &ReportModel,
) -> impl Iterator<Item = OriginCompliance<'_>> {
    // Rows are ordered by origin and name, so those of the identities of a crawler are neighbours.
    let identities = |one: &ActorRow, other: &ActorRow| {
        one.actor.0 == other.actor.0 && one.origin == other.origin
    };
    audit.rows().chunk_by(identities).flat_map(|rows| {
        let mut all: BTreeMap<(&'static str, bool), Compliance> = BTreeMap::new();
        for (directive, is_specific, sums) in rows.iter().flat_map(|row| bound(audit, row)) {
            all.entry((directive, is_specific)).or_default().absorb(sums);
        }
        let (origin, crawler) = (&*rows[0].origin, rows[0].actor.0);
        all.into_iter().map(move |((directive, is_specific), sums)| OriginCompliance {
            origin,
            crawler,
            directive,
            is_specific,
            sums,
        })
    })
}

/// The requests of `row` that each kind of directive bound, and whether a group that names the
/// crawler holds it; none of spoofed requests and tools.
fn bound<'a>(
    audit: &ReportModel,
    row: &'a ActorRow,
) -> impl Iterator<Item = (&'static str, bool, Compliance)> + 'a {
    let crawler = audit.registry.crawler(row.actor.0);
    // With --include-unbound, crawlers have violations that no directive binds.
    let is_bound = audit.is_own_crawler(row.actor) && crawler.obligation() == Obligation::Bound;
    let honours_star = crawler.star == StarGroups::Honoured;
    let restrictions = row.tally.restrictions.iter();
    let restrictions = restrictions
        .map(|(of, compliance)| (of.kind.as_str(), of.is_specific, *compliance))
        .filter(move |(_, is_specific, compliance)| {
            (*is_specific || honours_star) && compliance.requests > 0
        });
    let delays = row.delayed.iter().flat_map(|delayed| {
        let of = |directive, compliance| (directive, &*delayed.asked.group != b"*", compliance);
        let gaps = Some(delayed.gaps).filter(|gaps| gaps.requests > 0);
        let pace = at_most_kept(delayed).map(|pace| of("crawl-delay-pace", pace));
        pace.into_iter().chain(gaps.map(|gaps| of("crawl-delay-gaps", gaps)))
    });
    is_bound.then(|| restrictions.chain(delays)).into_iter().flatten()
}

/// The conduct of each crawler at all origins, in whatever identity it is not spoofed.
pub(crate) fn conducts(audit: &ReportModel) -> BTreeMap<&str, Conduct> {
    let limits = audit.conduct_limits;
    let mut all: BTreeMap<&str, ConductSums> = BTreeMap::new();
    for row in audit.rows().iter().filter(|row| audit.is_own_crawler(row.actor)) {
        let name = &*audit.registry.crawler(row.actor.0).name;
        all.entry(name).or_default().add(limits, row, row.tally.total());
    }
    all.into_iter().map(|(name, of)| (name, of.conduct(limits))).collect()
}

/// All requests but those that certainly came too early; `None` if the delay sets no limit.
fn at_most_kept(delayed: &Delayed) -> Option<Compliance> {
    let pace = delayed.pace?;
    let over = |excess: Option<Excess>| excess.map(|excess| excess.requests_over);
    let requests = delayed.requests;
    let over = over(pace.hourly).max(over(pace.daily))?;
    Some(Compliance { requests, kept: requests.saturating_sub(over) })
}

/// The option with the day, or [`CHANGES`].
pub(crate) const COMPARE_AT: &str = "compare_at";

/// The value for changes of robots.txt.
pub(crate) const CHANGES: &str = "changes";

/// The day with which `audit` compares; `None` if it does not compare.
pub(crate) fn compared_day(audit: &ReportModel) -> Option<Day> {
    Day::parse(audit.options.get(COMPARE_AT).as_str()?)
}

/// The sums before `day` and since then, of each crawler at all origins.
pub(crate) fn comparison(audit: &ReportModel, day: Day) -> BTreeMap<Actor, [Sums; 2]> {
    let mut rows: BTreeMap<Actor, [Sums; 2]> = BTreeMap::new();
    for (_, actor, tally) in audit.actors() {
        let part = |is_since: bool| {
            let days = tally.days.iter().filter(|(of, _)| (**of >= day) == is_since);
            sum(days.map(|(_, sums)| *sums))
        };
        rows.entry(actor).or_default().absorb([part(false), part(true)]);
    }
    rows
}

/// Whether `audit` compares requests before and since changes.
pub(crate) fn has_compared_changes(audit: &ReportModel) -> bool {
    audit.options.get(COMPARE_AT).as_str() == Some(CHANGES)
}

/// The changes around which all requests were counted, with those for touched paths and all
/// requests, before and since.
pub(crate) fn compared_changes(
    audit: &ReportModel,
) -> impl Iterator<Item = (&str, Actor, &ReactionRow, [(u64, u64); 2])> {
    let known = audit.reactions().filter(|(_, _, row)| has_all_requests(row));
    known.map(|(origin, actor, row)| {
        let touched = [row.tally.before, row.tally.since.requests];
        (origin, actor, row, [0, 1].map(|part| (touched[part], row.all[part])))
    })
}

/// Whether all requests around a change are known. Older tallies lack those before it.
fn has_all_requests(row: &ReactionRow) -> bool {
    !row.is_partial && row.tally.before <= row.all[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::reaction_rows::Reaction;
    use crate::measures::draft_effect::WhatIfChange;
    use crate::measures::reactions::{ChangeTimes, TouchedTally};
    use crate::time::UtcTime;

    #[test]
    fn only_changes_around_which_all_requests_are_known_are_compared() {
        let is_compared = |is_partial, before, all_before| {
            let row = ReactionRow {
                times: ChangeTimes { after: UtcTime::EPOCH, before: UtcTime::EPOCH },
                old_digest: None,
                new_digest: None,
                direction: WhatIfChange::NewlyDisallowed,
                is_partial,
                tally: TouchedTally { before, ..TouchedTally::default() },
                all: [all_before, 9],
                seconds_before: 0,
                seconds_since: 0,
                first_fetch: None,
                around_fetch: None,
                others_after: None,
                reaction: Reaction::Unknown,
                seconds: None,
            };
            has_all_requests(&row)
        };
        assert!(is_compared(false, 2, 2) && is_compared(false, 0, 0));
        assert!(!is_compared(true, 2, 2), "some logs were read without the change");
        assert!(!is_compared(false, 2, 1), "not all requests were counted");
    }
}
