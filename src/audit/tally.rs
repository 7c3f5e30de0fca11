//! The one tally: what is known of some log lines.
//!
//! While lines are read it is dense ([`counter`], [`rows`]); at the end it is put in order by names
//! ([`build`]), and that is what is written ([`mod@file`]), merged ([`merge`]) and reported.

pub mod build;
pub mod counter;
pub mod counts;
pub mod file;
pub mod header;
pub mod identity_sources;
pub mod made_by;
pub mod merge;
pub mod rows;
pub mod rulings;
pub mod short_map;
pub mod user_agents;

use serde::{Deserialize, Serialize};

use crate::crawlers::crawler::CrawlerId;
use crate::crawlers::identity::Identity;
use crate::input::source::FileId;
use crate::judge::robots::RobotsId;
use crate::judge::snapshot_history::SnapshotInForce;
use crate::judge::verdict::RuleRef;
use crate::time::{Day, UtcTime};

use super::delay_kept::DelayTally;
use super::robots_fetches::FetchTally;
use super::sums::{Span, Statuses, Sums, is_zero};
use super::time_buckets::TimeBuckets;
use super::what_if::WhatIfTally;
use crate::merge::Merge;

use short_map::ShortMap;

/// All that is known of some log lines, in order and by names: what is merged, kept and reported.
///
/// Merging is associative and commutative, so that neither the number of threads or machines nor
/// the order of files can show in a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// Which program made it, by which options and rules, of which inputs.
    pub header: header::Header,
    /// The counts, by numbers that the header explains.
    pub counts: counts::Counts,
}

impl Tally {
    /// Of each origin that has a history and rows: the snapshots that were in force between its first
    /// and its last request.
    pub fn snapshots_in_force(&self) -> Vec<(String, Vec<SnapshotInForce>)> {
        let rulings = &self.header.rulings;
        let in_force = self.counts.origins.iter().filter_map(|of| {
            let origin = of.place.to_string();
            let history = rulings.histories.get(&origin)?;
            let span = of.span()?;
            let snapshots = history.between(span.first, span.last, rulings.before_first());
            Some((origin, snapshots))
        });
        in_force.collect()
    }
}

/// Requests of one user agent that is no known crawler's.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct UserAgentTally {
    /// By what the `*` groups would have said.
    pub sums: Sums,
    /// `None` while no request had a time that could be read.
    pub span: Option<Span>,
}

impl<T: Merge> Merge for Box<T> {
    fn absorb(&mut self, other: Box<T>) {
        (**self).absorb(*other);
    }
}

impl Merge for UserAgentTally {
    fn absorb(&mut self, other: UserAgentTally) {
        self.sums.absorb(other.sums);
        self.span.absorb(other.span);
    }
}

/// Requests of one crawler at one place, of one identity.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct CrawlerTally {
    /// By day.
    pub days: ShortMap<Day, Sums>,
    /// Of all requests.
    pub span: Option<Span>,
    /// By deciding rule.
    #[serde(skip_serializing_if = "ShortMap::is_empty")]
    pub violations: ShortMap<RuleRef, ViolationTally>,
    /// Of robots.txt.
    pub readings: FetchTally,
    /// By the version of a robots.txt that asks this crawler for a Crawl-delay.
    #[serde(skip_serializing_if = "ShortMap::is_empty")]
    pub paces: ShortMap<RobotsId, DelayTally>,
    /// Requests from before the first snapshot of robots.txt.
    #[serde(skip_serializing_if = "is_zero")]
    pub before_first: u64,
    /// Requests that are unreachable by what the logs themselves show.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreachable_by_logs: u64,
    /// Whether minutes and hours are known.
    #[serde(skip_serializing_if = "Times::are_kept")]
    pub times: Times,
    /// What a draft would change, where one is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Box<WhatIfTally>>,
}

/// Whether the minutes and hours of a crawler's requests are known.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum Times {
    /// They are.
    #[default]
    Kept,
    /// They took too much memory, or those of several origins would be mixed.
    GivenUp,
}

impl Times {
    fn are_kept(&self) -> bool {
        *self == Times::Kept
    }
}

impl CrawlerTally {
    /// Buckets of time that are kept. Adding to the tally never makes them fewer; but those of
    /// requests before the first reading, which it does, are not among them.
    pub fn time_buckets(&mut self) -> usize {
        let violations: usize = self.violations.values_mut().map(|sum| sum.minutes.len()).sum();
        let paces: usize = self.paces.values_mut().map(|pace| pace.hours.len()).sum();
        violations + paces + self.readings.read_200.len() + self.readings.read_304.len()
    }

    /// Gives up what `time_buckets` counts; everything else stays.
    pub fn give_up_times(&mut self) {
        self.times = Times::GivenUp;
        self.violations.values_mut().for_each(|sum| sum.minutes = TimeBuckets::default());
        self.paces.values_mut().for_each(|pace| pace.hours = TimeBuckets::default());
        self.readings.read_200 = TimeBuckets::default();
        self.readings.read_304 = TimeBuckets::default();
    }

    /// The requests that are kept as examples.
    pub fn examples_mut(&mut self) -> impl Iterator<Item = &mut Example> {
        let broken = self.violations.values_mut().map(|violation| &mut violation.example);
        let changes =
            self.simulated.iter_mut().flat_map(|simulated| simulated.changes.values_mut());
        broken.chain(changes.map(|change| &mut change.example))
    }

    /// The sums of all days.
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        self.days.values().for_each(|sums| total.absorb(*sums));
        total
    }
}

impl Merge for CrawlerTally {
    fn absorb(&mut self, other: CrawlerTally) {
        self.days.absorb(other.days);
        self.span.absorb(other.span);
        self.violations.absorb(other.violations);
        self.readings.absorb(other.readings);
        self.paces.absorb(other.paces);
        self.before_first += other.before_first;
        self.unreachable_by_logs += other.unreachable_by_logs;
        self.simulated.absorb(other.simulated);
        if other.times == Times::GivenUp {
            self.give_up_times();
        }
    }
}

/// A crawler and the class of its identity.
pub type Actor = (CrawlerId, Identity);

/// Requests that one rule disallowed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ViolationTally {
    /// How many.
    pub requests: u64,
    /// How they were answered.
    pub statuses: Statuses,
    /// Bytes that were answered.
    pub bytes: u64,
    /// When.
    pub span: Span,
    /// By minute.
    pub minutes: TimeBuckets,
    /// The earliest of them.
    pub example: Example,
}

impl Merge for ViolationTally {
    fn absorb(&mut self, other: ViolationTally) {
        self.requests += other.requests;
        self.statuses.absorb(other.statuses);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.span.absorb(other.span);
        self.minutes.absorb(other.minutes);
        if other.example < self.example {
            self.example = other.example;
        }
    }
}

/// One request, to be looked up: the earliest by time, then file, then line.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Example {
    /// When it was made.
    pub time: UtcTime,
    /// The input that holds it.
    pub file: FileId,
    /// Line in that file, 1-based.
    pub line: u64,
    /// What it asked for, as logged, cut to a sensible length.
    #[serde(with = "serde_bytes")]
    pub target: Box<[u8]>,
    /// When the snapshot was fetched that decided; `None` where robots.txt was given by hand.
    pub snapshot: Option<UtcTime>,
}
