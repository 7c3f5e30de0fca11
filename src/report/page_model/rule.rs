//! Who broke one rule of one version of a robots.txt.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::crawler_row::Broken;
use crate::audit::model::ReportModel;
use crate::audit::sums::Statuses;
use crate::audit::tally::crawler_tally::Actor;
use crate::audit::tally::example::Example;
use crate::judge::robots::DecidingRule;
use crate::merge::Merge;

/// Origins of one rule that are kept.
const ORIGINS_MAX: usize = 100;

/// Where a rule was broken, by whom, and how.
pub type BrokenBy<'a> = (&'a str, Actor, &'a Broken);

/// Added up over origins and crawlers.
#[derive(Clone, Debug)]
pub struct RuleTotals<'a> {
    /// The rule.
    pub rule: &'a DecidingRule,
    /// Requests that broke it, by those who are not spoofed.
    pub requests: u64,
    /// How these were answered.
    pub statuses: Statuses,
    /// Who they are.
    pub by: BTreeMap<Actor, u64>,
    /// Where; not more than can be shown.
    pub origins: BTreeSet<&'a str>,
    /// The earliest of these requests.
    pub example: &'a Example,
}

impl<'a> RuleTotals<'a> {
    /// Of all who broke one rule; `None` where nobody did.
    pub fn of(all: &[BrokenBy<'a>], audit: &ReportModel) -> Option<RuleTotals<'a>> {
        let (_, _, first) = all.first()?;
        let (mut requests, mut statuses) = (0, Statuses::default());
        let (mut by, mut origins) = (BTreeMap::new(), BTreeSet::new());
        for &(origin, actor, Broken { tally, .. }) in all {
            requests += tally.requests;
            statuses.absorb(tally.statuses);
            *by.entry(actor).or_default() += tally.requests;
            if origins.len() < ORIGINS_MAX {
                origins.insert(origin);
            }
        }
        let examples = all.iter().map(|(_, _, broken)| &broken.tally.example);
        let example = examples.min_by_key(|example| {
            (example.time, audit.input_name(example.file), example.line, &example.target)
        })?;
        Some(RuleTotals { rule: &first.rule, requests, statuses, by, origins, example })
    }
}
