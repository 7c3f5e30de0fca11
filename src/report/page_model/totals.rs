//! Sums over the rows of a report: by crawler, by rule, and over all inputs; and the heaviest rows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::audit::conduct::{Conduct, ConductLimits, ConductSums};
use crate::audit::crawler_row::{ActorRow, Broken};
use crate::audit::{input_tally::Input, model::ReportModel, prior_fetches::PriorFetchCounts};
use crate::crawlers::identity::Actor;
use crate::explain::words::field_name;
use crate::judge::robots::DecidingRule;
use crate::measures::sums::{Span, Statuses, Sums};
use crate::measures::{example::Example, violation_networks::ViolationNetworks};
use crate::merge::{Merge, sum};
use crate::table::escape::visible;
use crate::time::Day;

/// Sums over all origins.
#[derive(Clone, Debug, Default)]
pub struct CrawlerTotals {
    /// Its requests.
    pub sums: Sums,
    /// The statuses of the answers to its violations.
    pub statuses: Statuses,
    /// Its violations with a valid signature.
    pub signed: u64,
    /// The fetches of robots.txt before its violations.
    pub prior_fetches: PriorFetchCounts,
    /// Its violations by day, for days with any.
    pub days: BTreeMap<Day, u64>,
    /// The networks of its violations.
    pub networks: ViolationNetworks,
    /// What its conduct follows from.
    pub for_conduct: ConductSums,
    /// Its fetches of robots.txt.
    pub fetches: FetchTotals,
}

/// Fetches of robots.txt by one or more crawlers.
#[derive(Clone, Debug, Default)]
pub struct FetchTotals {
    /// Requests for robots.txt.
    pub requests: u64,
    /// GET requests answered with 200 or 304.
    pub successful: u64,
    /// Origins with requests.
    pub origins: u64,
    /// Origins with a request for robots.txt.
    pub origins_fetched: u64,
    /// Requests for anything else.
    pub other_requests: u64,
    /// Other requests in minutes before the first successful fetch from the same origin.
    pub before_first: u64,
    /// The times of the first and the last successful fetch.
    pub span: Option<Span>,
    /// Those of fetches on days before these logs, by it or another crawler of its operator.
    pub earlier: Option<Span>,
}

impl CrawlerTotals {
    /// Its conduct over all origins.
    pub(crate) fn conduct(&self, limits: ConductLimits) -> Conduct {
        self.for_conduct.conduct(limits)
    }

    /// Adds the row of one origin; `sums` are its requests.
    pub(crate) fn add(&mut self, limits: ConductLimits, row: &ActorRow, sums: Sums) {
        self.sums.absorb(sums);
        row.broken.iter().for_each(|broken| self.statuses.absorb(broken.tally.statuses));
        self.signed.absorb(sum(row.broken.iter().map(|broken| broken.tally.signed)));
        for (day, of_day) in row.tally.days.iter().filter(|(_, of_day)| of_day.violations > 0) {
            *self.days.entry(*day).or_default() += of_day.violations;
        }
        self.networks.absorb(row.tally.violation_networks.clone());
        self.prior_fetches.absorb(row.prior_fetches.clone());
        self.for_conduct.add(limits, row, sums);
        let (fetches, fetched) = (&mut self.fetches, &row.tally.robots_fetches);
        fetches.requests += sums.robots_txt_requests;
        fetches.successful += fetched.successful_fetches;
        fetches.origins += 1;
        fetches.origins_fetched += u64::from(fetched.successful_fetches > 0);
        fetches.other_requests += sums.requests - sums.robots_txt_requests;
        fetches.before_first += fetched.requests_before_first_fetch();
        fetches.span.absorb(fetched.read);
        fetches.earlier.absorb(row.tally.earlier_fetches.as_ref().and_then(|of| of.span()));
    }
}

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
    /// The origins.
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
            origins.insert(origin);
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

/// The heaviest rows of a table.
#[derive(Clone, Debug)]
pub struct Heaviest<T> {
    /// The heaviest first; rows of equal weight stay in their order.
    pub rows: Vec<T>,
    /// The number of all rows.
    pub total: u64,
}

impl<T> Heaviest<T> {
    /// At most `rows_max` rows of `all`.
    pub(crate) fn of(
        all: impl Iterator<Item = T>,
        rows_max: usize,
        weight: impl Fn(&T) -> u64,
    ) -> Heaviest<T> {
        let mut rows: Vec<T> = all.collect();
        let total = rows.len() as u64;
        rows.sort_by_cached_key(|row| Reverse(weight(row)));
        rows.truncate(rows_max);
        Heaviest { rows, total }
    }
}

/// `lines = crawler + other + rejected + skipped`, as in `run.json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LineTotals {
    pub lines: u64,
    pub crawler: u64,
    pub other: u64,
    pub rejected: u64,
    pub rejected_by_reason: BTreeMap<&'static str, u64>,
    pub skipped: u64,
    pub skipped_by_reason: BTreeMap<&'static str, u64>,
}

impl LineTotals {
    /// The sums over `inputs`.
    pub(crate) fn of(inputs: &[Input]) -> LineTotals {
        let mut totals = LineTotals::default();
        for input in inputs {
            totals.lines += input.tally.lines();
            totals.crawler += input.tally.crawler;
            totals.other += input.tally.other;
            totals.rejected += input.tally.rejected_lines();
            totals.skipped += input.tally.skipped_lines();
            for (reason, reject) in input.rejects() {
                *totals.rejected_by_reason.entry(reason.as_str()).or_default() += reject.lines;
            }
            for (reason, lines) in input.skips() {
                *totals.skipped_by_reason.entry(reason.as_str()).or_default() += lines;
            }
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_stay_and_equal_ones_in_order() {
        let weights = [5, 1, 9, 5, 7, 5, 0, 9, 9, 8, 7, 9];
        for rows_max in 1..=weights.len() {
            let heaviest = Heaviest::of(0..weights.len(), rows_max, |&at| weights[at]);
            let mut expected: Vec<usize> = (0..weights.len()).collect();
            expected.sort_by_key(|&at| Reverse(weights[at]));
            assert_eq!(heaviest.total, weights.len() as u64);
            assert_eq!(heaviest.rows, expected[..rows_max], "{rows_max}");
        }
    }
}
