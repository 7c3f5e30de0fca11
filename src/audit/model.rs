//! A finished audit: the merged tally, checked, and put in the order of reports.

mod build;

use std::collections::BTreeMap;

use crate::crawlers::{identity::Identity, registry::Registry};
use crate::input::source::FileId;
use crate::judge::timeline::BeforeFirst;
use crate::merge::sum;
use crate::time::Day;

use super::crawler_row::{ActorRow, Broken, Delayed};
use super::tally::crawler_tally::{Actor, CrawlerTally};
use super::tally::{header::ReportedOptions, user_agents::UserAgentTally};
use super::{hours::Hours, input_tally::Input, log_outages::OutageEvidence, quotes::UsedRobots};
use super::{snapshots::Snapshots, sums::Sums, unknown::UnknownCrawler, what_if_rows::WhatIf};

/// Everything that a report says.
#[derive(Debug)]
pub struct ReportModel {
    /// In the order of their names.
    pub inputs: Vec<Input>,
    /// The robots.txt files that the log made us look at, by name.
    pub robots: Vec<(String, UsedRobots)>,
    /// Where robots.txt files have a history: what was in force.
    pub snapshots: Snapshots,
    /// What was made of requests from before the first snapshot of a robots.txt.
    pub before_first: BeforeFirst,
    /// Requests of crawlers by hour.
    pub hours: Hours,
    /// By user agent.
    pub unknown_crawlers: Vec<UnknownCrawler>,
    /// What did not fit in `unknown_crawlers`.
    pub other_unknown_crawlers: Option<UserAgentTally>,
    /// What was heeded of what the logs themselves show, where that was asked for.
    pub log_evidence: Option<OutageEvidence>,
    /// What the user should know before acting on the report; no line of a log makes one each.
    pub warnings: Vec<String>,
    /// What the user should know to read the report rightly, though nothing is wrong.
    pub notes: Vec<String>,
    /// Why nothing could be judged, though there should have been something to judge; the last of
    /// the warnings, too.
    pub nothing_judged: Option<String>,
    /// What a draft would change, where one is given.
    pub simulation: Option<WhatIf>,
    /// What the user asked for.
    pub options: ReportedOptions,
    /// The crawlers that have rows, by the numbers that these have here.
    pub registry: Registry,
    /// Crawlers in the registry by which user agents were identified.
    pub crawlers_known: usize,
    rows: Vec<ActorRow>,
    /// robots.txt files that could not be read.
    robots_failures: usize,
}

impl ReportModel {
    /// Each origin, crawler and identity, by the names of these.
    pub fn actors(&self) -> impl Iterator<Item = (&str, Actor, &CrawlerTally)> {
        self.rows.iter().map(|row| (row.origin.as_str(), row.actor, &row.tally))
    }

    /// Each origin, crawler and identity with all that is known, by the names of these.
    pub fn rows(&self) -> &[ActorRow] {
        &self.rows
    }

    /// Each delay that a crawler was asked to keep, with its requests.
    pub fn delays(&self) -> impl Iterator<Item = (&str, Actor, &Delayed)> {
        self.rows.iter().flat_map(|row| {
            row.delayed.iter().map(|delayed| (row.origin.as_str(), row.actor, delayed))
        })
    }

    /// Each rule that was broken, by whom.
    pub fn broken_rules(&self) -> impl Iterator<Item = (&str, Actor, &Broken)> {
        self.rows.iter().flat_map(|row| {
            row.broken.iter().map(|broken| (row.origin.as_str(), row.actor, broken))
        })
    }

    /// Each day of each origin, crawler and identity, by day.
    pub fn days(&self) -> impl Iterator<Item = (Day, &str, Actor, &Sums)> {
        let mut by_day: BTreeMap<Day, Vec<_>> = BTreeMap::new();
        for row in &self.rows {
            for (&day, sums) in &row.tally.days {
                by_day.entry(day).or_default().push((row.origin.as_str(), row.actor, sums));
            }
        }
        by_day.into_iter().flat_map(|(day, rows)| {
            rows.into_iter().map(move |(origin, actor, sums)| (day, origin, actor, sums))
        })
    }

    /// Sums over all crawlers.
    pub fn total(&self) -> Sums {
        sum(self.rows.iter().map(|row| row.tally.total()))
    }

    /// Sums over all crawlers whose identity is `identity`.
    pub fn total_of(&self, identity: Identity) -> Sums {
        let of_it = self.rows.iter().filter(|row| row.actor.1 == identity);
        sum(of_it.map(|row| row.tally.total()))
    }

    /// Sums over all crawlers that are not spoofed: what a named crawler can be held to.
    pub fn total_not_spoofed(&self) -> Sums {
        let own = self.rows.iter().filter(|row| row.actor.1 != Identity::Spoofed);
        sum(own.map(|row| row.tally.total()))
    }

    /// Whether a crawler that is not spoofed broke a rule.
    pub fn has_violations(&self) -> bool {
        self.total_not_spoofed().violations > 0
    }

    /// Requests from before the first snapshot of the robots.txt that they were to be judged by.
    pub fn requests_before_first(&self) -> u64 {
        self.rows.iter().map(|row| row.tally.before_first).sum()
    }

    /// The name of the input that `file` is.
    pub fn input_name(&self, file: FileId) -> &str {
        &self.inputs[file.index()].summary.name
    }

    /// Whether all that was named could be read to its end.
    pub fn is_complete(&self) -> bool {
        self.robots_failures == 0 && self.inputs.iter().all(|input| input.summary.damage.is_none())
    }
}
