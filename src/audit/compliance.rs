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
use super::crawler_row::Delayed;
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

/// The compliance of crawlers with each kind of directive.
pub(crate) fn compliance(audit: &ReportModel) -> BTreeMap<ComplianceKey<'_>, Compliance> {
    let mut rows: BTreeMap<ComplianceKey<'_>, Compliance> = BTreeMap::new();
    // A crawler has a row at each origin: its names are compared once for all of them.
    let mut crawlers: BTreeMap<(CrawlerId, &'static str, bool), Compliance> = BTreeMap::new();
    for row in audit.rows().iter().filter(|row| audit.is_own_crawler(row.actor)) {
        let crawler = audit.registry.crawler(row.actor.0);
        // With --include-unbound they have violations, but no directive binds them.
        if crawler.obligation() != Obligation::Bound {
            continue;
        }
        let restrictions = row.tally.restrictions.iter();
        let restrictions = restrictions
            .map(|(of, compliance)| (of.kind.as_str(), of.is_specific, *compliance))
            .filter(|(_, is_specific, compliance)| {
                let is_directive = *is_specific || crawler.star == StarGroups::Honoured;
                is_directive && compliance.requests > 0
            });
        let delays = row.delayed.iter().flat_map(|delayed| {
            let of = |directive, compliance| (directive, &*delayed.asked.group != b"*", compliance);
            let gaps = Some(delayed.gaps).filter(|gaps| gaps.requests > 0);
            let pace = at_most_kept(delayed).map(|pace| of("crawl-delay-pace", pace));
            pace.into_iter().chain(gaps.map(|gaps| of("crawl-delay-gaps", gaps)))
        });
        for (directive, is_specific, compliance) in restrictions.chain(delays) {
            let origin = (Scope::Origin, &*row.origin, directive, is_specific);
            rows.entry(origin).or_default().absorb(compliance);
            let crawler = (row.actor.0, directive, is_specific);
            crawlers.entry(crawler).or_default().absorb(compliance);
        }
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
