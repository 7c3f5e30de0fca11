//! The share of requests that kept a directive, by crawler, operator, purpose and origin.
//!
//! A request is bound by the restriction in force for its crawler, and keeps it if it is allowed.
//! Requests whose verdict is uncertain (grace period, unreachable, unknown) and those of crawlers
//! that robots.txt does not bind are left out, as are spoofed requests and tools.

use std::collections::BTreeMap;

use crate::crawlers::crawler::{CrawlerId, Obligation};
use crate::merge::Merge;
use crate::robots::model::StarGroups;
use botaudit_robots::named_enum;

use super::conduct::{Conduct, ConductSums};
use super::crawler_row::{ActorRow, Delayed};
use super::model::ReportModel;
use crate::measures::delay_kept::Excess;
use crate::measures::sums::Compliance;

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
