//! A finished audit: the merged tally, checked, and put in the order of reports.

mod build;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::config::amounts::Money;
use crate::crawlers::identity::{Actor, Identity, Proof};
use crate::crawlers::{crawler::CrawlerId, registry::Registry};
use crate::input::source::FileId;
use crate::judge::timeline::BeforeFirst;
use crate::measures::sums::Sums;
use crate::measures::{
    clients::ClientTally, crawler_tally::CrawlerTally, signatures::SignatureRow,
};
use crate::merge::{Merge, sum};
use crate::time::Day;

use super::conduct::{Conduct, ConductLimits};
use super::crawler_row::{ActorRow, Broken, Delayed};
use super::draft::{WhatIf, WhatIfSums};
use super::path_rows::{PathRows, SectionRows};
use super::quotes::{UsageRow, UsedRobots};
use super::tally::{counts::UserAgentTally, header::ReportedOptions};
use super::{coverage::Coverage, hours::Hours, input_tally::Input, log_outages::OutageEvidence};
use super::{parse_rate::UnreadLogs, reaction_rows::ReactionRow, referral_rows::ReferralRows};
use super::{sessions::SessionTally, snapshots::Snapshots, unknown::UnknownCrawler};

/// Everything that a report says.
#[derive(Debug)]
pub struct ReportModel {
    /// Ordered by name.
    pub inputs: Vec<Input>,
    /// The robots.txt files that were used, by name.
    pub robots: Vec<(String, UsedRobots)>,
    /// The snapshots that were in force, if robots.txt files have a history.
    pub snapshots: Snapshots,
    /// How requests before the first snapshot of a robots.txt were judged.
    pub before_first: BeforeFirst,
    /// Requests of crawlers by hour.
    pub hours: Hours,
    /// Requests of crawlers by section, if they were counted.
    pub sections: SectionRows,
    /// The same by path; `None` if paths were not counted.
    pub paths: Option<BTreeMap<Actor, PathRows>>,
    /// Visits that products sent, beside the requests of their operators' crawlers.
    pub referrals: ReferralRows,
    /// The price of 10^9 bytes, if it is given.
    pub price: Option<Money>,
    /// From which share of violations on a crawler has a conduct.
    pub conduct_limits: ConductLimits,
    /// By user agent.
    pub unknown_crawlers: Vec<UnknownCrawler>,
    /// What did not fit in `unknown_crawlers`.
    pub other_unknown_crawlers: Option<UserAgentTally>,
    /// Requests of clients that the registry does not name.
    pub clients: ClientTally,
    /// The outages from logs that were used, if requested.
    pub log_evidence: Option<OutageEvidence>,
    /// Warnings to read before acting on the report. Their number does not grow with the lines of a
    /// log.
    pub warnings: Vec<String>,
    /// Notes that help to read the report correctly.
    pub notes: Vec<String>,
    /// Signed requests.
    pub(crate) signatures: Vec<SignatureRow>,
    /// Sessions of clients by crawler and identity, if they are counted.
    pub sessions: Vec<(Actor, SessionTally)>,
    /// Whether requests were judged. If the audit failed to, why is also the last warning.
    pub coverage: Coverage,
    /// Whether robots.txt files that the run wanted to fetch are missing; the warnings say why.
    pub lacks_fetched: bool,
    /// The changes by a draft, if one is given.
    pub simulation: Option<WhatIf>,
    /// The nights of which it is the report together; empty if it is of anything else.
    pub(crate) nights: BTreeSet<Day>,
    /// The options of the user.
    pub options: ReportedOptions,
    /// The crawlers with rows, by their numbers here.
    pub registry: Registry,
    /// The number of crawlers in the registry that was used.
    pub crawlers_known: usize,
    rows: Vec<ActorRow>,
    /// Logs of which more than half could not be read.
    pub unread: Option<UnreadLogs>,
    /// robots.txt files that could not be read.
    robots_failures: usize,
    /// Logs that were not read because others have all their lines up to a damage.
    damaged_copies: usize,
}

impl ReportModel {
    /// Each origin, crawler and identity, ordered by name.
    pub(crate) fn actors(&self) -> impl Iterator<Item = (&str, Actor, &CrawlerTally)> {
        self.rows.iter().map(|row| (row.origin.as_str(), row.actor, &row.tally))
    }

    /// Each origin, crawler and identity with all data, ordered by name.
    pub(crate) fn rows(&self) -> &[ActorRow] {
        &self.rows
    }

    /// Each Crawl-delay of a crawler, with its requests.
    pub(crate) fn delays(&self) -> impl Iterator<Item = (&str, Actor, &Delayed)> {
        self.rows.iter().flat_map(|row| {
            row.delayed.iter().map(|delayed| (row.origin.as_str(), row.actor, delayed))
        })
    }

    /// What each crawler did after each change of robots.txt.
    pub(crate) fn reactions(&self) -> impl Iterator<Item = (&str, Actor, &ReactionRow)> {
        self.rows.iter().flat_map(|row| {
            row.reactions.iter().map(|reaction| (row.origin.as_str(), row.actor, reaction))
        })
    }

    /// The requests of each crawler for paths with a preference about their use.
    pub(crate) fn usage(&self) -> impl Iterator<Item = (&str, Actor, &UsageRow)> {
        self.rows
            .iter()
            .flat_map(|row| row.usage.iter().map(|usage| (row.origin.as_str(), row.actor, usage)))
    }

    /// Each broken rule of each crawler.
    pub(crate) fn broken_rules(&self) -> impl Iterator<Item = (&str, Actor, &Broken)> {
        self.rows.iter().flat_map(|row| {
            row.broken.iter().map(|broken| (row.origin.as_str(), row.actor, broken))
        })
    }

    /// Each day of each origin, crawler and identity, by day.
    pub(crate) fn days(&self) -> impl Iterator<Item = (Day, &str, Actor, &Sums)> {
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

    /// Each crawler and identity that is neither spoofed nor a tool, at all origins, most bytes first.
    pub(crate) fn by_bytes(&self) -> Vec<(Actor, Sums)> {
        let mut sums: BTreeMap<Actor, Sums> = BTreeMap::new();
        let own = self.rows.iter().filter(|row| self.is_own_crawler(row.actor));
        own.for_each(|row| sums.entry(row.actor).or_default().absorb(row.tally.total()));
        let mut sums = Vec::from_iter(sums);
        sums.sort_by_key(|(_, sums)| Reverse((sums.bytes, sums.requests)));
        sums
    }

    /// Sums over all crawlers.
    pub fn total(&self) -> Sums {
        sum(self.rows.iter().map(|row| row.tally.total()))
    }

    /// Sums over all crawlers whose identity is `identity`.
    pub(crate) fn total_of(&self, identity: Identity) -> Sums {
        let of_it = self.rows.iter().filter(|row| row.actor.1 == identity);
        sum(of_it.map(|row| row.tally.total()))
    }

    /// Whether `crawler` is a tool.
    pub(crate) fn is_tool(&self, crawler: CrawlerId) -> bool {
        self.registry.crawler(crawler).is_tool()
    }

    /// Whether it is neither spoofed nor a tool: headlines and thresholds are about these.
    pub(crate) fn is_own_crawler(&self, (crawler, identity): Actor) -> bool {
        identity != Identity::Spoofed && !self.is_tool(crawler)
    }

    /// The conduct of the crawler of `row` at its origin.
    pub(crate) fn conduct(&self, row: &ActorRow) -> Conduct {
        self.conduct_limits.of_row(row)
    }

    /// Sums over all crawlers that are not spoofed, without tools.
    pub(crate) fn total_of_crawlers(&self) -> Sums {
        let own = self.rows.iter().filter(|row| self.is_own_crawler(row.actor));
        sum(own.map(|row| row.tally.total()))
    }

    /// The effect of the draft on them; zeros without a draft.
    pub(crate) fn what_if_of_crawlers(&self) -> WhatIfSums {
        let of_draft = self.simulation.as_ref();
        of_draft
            .map(|draft| draft.total_where(|actor| self.is_own_crawler(actor)))
            .unwrap_or_default()
    }

    /// Sums over all tools.
    pub(crate) fn total_of_tools(&self) -> Sums {
        let tools = self.rows.iter().filter(|row| self.is_tool(row.actor.0));
        sum(tools.map(|row| row.tally.total()))
    }

    /// Whether a crawler that is neither spoofed nor a tool broke a rule.
    pub(crate) fn has_violations(&self) -> bool {
        self.total_of_crawlers().violations > 0
    }

    /// Requests before the first snapshot of their robots.txt.
    pub(crate) fn requests_before_first(&self) -> u64 {
        sum(self.rows.iter().map(|row| row.tally.before_first))
    }

    /// Unverified requests whose addresses are contradicted, but at another time.
    pub(crate) fn requests_of_other_time(&self) -> u64 {
        let of_rows = self.rows.iter().map(|row| row.tally.of_other_time);
        of_rows.fold(0, u64::saturating_add)
    }

    /// Requests of crawlers and tools by what says whether it was the crawler; none if identities were
    /// not verified.
    pub(crate) fn requests_by_proof(&self) -> BTreeMap<Proof, u64> {
        let mut by_proof: BTreeMap<Proof, u64> = BTreeMap::new();
        for (proof, requests) in self.rows.iter().flat_map(|row| row.tally.verification.iter()) {
            let sum = by_proof.entry(*proof).or_default();
            *sum = sum.saturating_add(*requests);
        }
        by_proof
    }

    /// The name of the input that `file` is.
    pub(crate) fn input_name(&self, file: FileId) -> &str {
        &self.inputs[file.index()].summary.name
    }

    /// Whether all inputs could be read: to their ends, and most of each.
    pub(crate) fn is_complete(&self) -> bool {
        self.robots_failures == 0
            && self.damaged_copies == 0
            && self.unread.is_none()
            && self.inputs.iter().all(|input| input.summary.damage.is_none())
    }

    /// Whether all was read and enough was judged, or the user accepts that too little was judged.
    pub(crate) fn is_sufficient(&self) -> bool {
        let is_judged = self.coverage.failure().is_none() && !self.lacks_fetched;
        let is_accepted = self.options.get("allow_unjudged").as_bool() == Some(true);
        self.is_complete() && (is_judged || is_accepted)
    }
}

#[cfg(test)]
mod tests;
