//! The violations of one rule of one robots.txt version.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::crawler_row::Broken;
use crate::audit::model::ReportModel;
use crate::crawlers::identity::Actor;
use crate::explain::words::field_name;
use crate::judge::robots::DecidingRule;
use crate::measures::example::Example;
use crate::measures::sums::Statuses;
use crate::merge::Merge;
use crate::table::escape::visible;

/// The most origins kept for one rule.
const ORIGINS_MAX: usize = 100;

/// Origin, crawler and counts of a broken rule.
pub(crate) type BrokenBy<'a> = (&'a str, Actor, &'a Broken);

/// Sums over origins and crawlers.
#[derive(Clone, Debug)]
pub struct RuleTotals<'a> {
    /// The rule.
    pub rule: &'a DecidingRule,
    /// Violating requests by crawlers that are not spoofed.
    pub requests: u64,
    /// The statuses of their answers.
    pub statuses: Statuses,
    /// Those with a valid signature.
    pub signed: u64,
    /// Violating requests by crawler.
    pub by: BTreeMap<Actor, u64>,
    /// The origins, up to a limit.
    pub origins: BTreeSet<&'a str>,
    /// The line of another field over which the group of a crawler continues, if there is one.
    pub continued_over: Option<u32>,
    /// The earliest of these requests.
    pub example: &'a Example,
}

impl<'a> RuleTotals<'a> {
    /// The totals of `all`, which broke one rule; `None` if `all` is empty.
    pub(crate) fn of(all: &[BrokenBy<'a>], audit: &ReportModel) -> Option<RuleTotals<'a>> {
        let (_, _, first) = all.first()?;
        let (mut requests, mut signed, mut statuses) = (0, 0, Statuses::default());
        let (mut by, mut origins) = (BTreeMap::new(), BTreeSet::new());
        for &(origin, actor, Broken { tally, .. }) in all {
            requests += tally.requests;
            signed += tally.signed;
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
        let continued_over = all.iter().find_map(|(_, _, broken)| broken.rule.continued_over);
        let rule = &first.rule;
        Some(RuleTotals { rule, requests, statuses, signed, by, origins, continued_over, example })
    }
}

/// A line in its usual spelling.
pub(crate) fn rule_text(field: &str, value: &[u8]) -> String {
    format!("{}: {}", field_name(field), visible(value))
}
