//! What a worker adds up.

use std::collections::BTreeMap;

use crate::crawlers::crawler::CrawlerId;
use crate::crawlers::identity::Identity;
use crate::input::source::FileId;
use crate::judge::robots::RobotsId;
use crate::judge::verdict::RuleRef;
use crate::time::{Day, UtcTime};

use super::file::FileTally;
use super::hours::Hours;
use super::pace::PaceTally;
use super::places::Places;
use super::readings::ReadingTally;
use super::series::Series;
use super::simulate::SimulatedTally;
use super::sums::{Span, Statuses, Sums};
use super::suspects::{Requests, SUSPECTS_MAX, Suspect};
use super::witness::Witness;
use crate::bounded::Bounded;
use crate::merge::Merge;

/// User agents of unknown crawlers that are told apart; the rest is `(others)`.
pub const UNKNOWN_CRAWLERS_MAX: usize = 10_000;

/// Everything that is known of the lines seen.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By input.
    pub files: BTreeMap<FileId, FileTally>,
    /// Requests of crawlers, by where they were addressed.
    pub places: Places,
    /// The same, by hour.
    pub hours: Hours,
    /// Requests of user agents that look automated and are no known crawler's.
    pub unknown_crawlers: Bounded<Vec<u8>, UserAgentTally>,
    /// Addresses to be looked up, where these are collected.
    pub suspects: Bounded<Suspect, Requests>,
    /// How requests for robots.txt were answered, where that is collected.
    pub witness: Witness,
}

impl Default for Tally {
    fn default() -> Tally {
        let unknown_crawlers = Bounded::new(UNKNOWN_CRAWLERS_MAX);
        Tally {
            files: BTreeMap::new(),
            places: Places::default(),
            hours: Hours::default(),
            unknown_crawlers,
            suspects: Bounded::new(SUSPECTS_MAX),
            witness: Witness::default(),
        }
    }
}

impl Merge for Tally {
    fn absorb(&mut self, other: Tally) {
        self.files.absorb(other.files);
        self.places.absorb(other.places);
        self.hours.absorb(other.hours);
        self.unknown_crawlers.absorb(other.unknown_crawlers);
        self.suspects.absorb(other.suspects);
        self.witness.absorb(other.witness);
    }
}

/// Requests of one user agent that is no known crawler's.
#[derive(Clone, Copy, Debug, Default)]
pub struct UserAgentTally {
    /// By what the `*` groups would have said.
    pub sums: Sums,
    /// `None` while no request had a time that could be read.
    pub span: Option<Span>,
}

impl Merge for UserAgentTally {
    fn absorb(&mut self, other: UserAgentTally) {
        self.sums.absorb(other.sums);
        self.span.absorb(other.span);
    }
}

/// Requests of one crawler at one place, of one identity.
#[derive(Clone, Debug, Default)]
pub struct CrawlerTally {
    /// By day.
    pub days: BTreeMap<Day, Sums>,
    /// Of all requests.
    pub span: Option<Span>,
    /// By deciding rule.
    pub violations: BTreeMap<RuleRef, ViolationTally>,
    /// Of robots.txt.
    pub readings: ReadingTally,
    /// By the version of a robots.txt that asks this crawler for a Crawl-delay.
    pub paces: BTreeMap<RobotsId, PaceTally>,
    /// Requests from before the first snapshot of robots.txt.
    pub before_first: u64,
    /// Requests that are unreachable by what the logs themselves show.
    pub unreachable_by_logs: u64,
    /// Whether minutes and hours are known.
    pub times: Times,
    /// What a draft would change, where one is given.
    pub simulated: SimulatedTally,
}

/// Whether the minutes and hours of a crawler's requests are known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Times {
    /// They are.
    #[default]
    Kept,
    /// They took too much memory, or those of several origins would be mixed.
    GivenUp,
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
        self.violations.values_mut().for_each(|sum| sum.minutes = Series::default());
        self.paces.values_mut().for_each(|pace| pace.hours = Series::default());
        self.readings.read_200 = Series::default();
        self.readings.read_304 = Series::default();
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
#[derive(Clone, Debug)]
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
    pub minutes: Series,
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
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Example {
    /// When it was made.
    pub time: UtcTime,
    /// The input that holds it.
    pub file: FileId,
    /// Line in that file, 1-based.
    pub line: u64,
    /// What it asked for, as logged, cut to a sensible length.
    pub target: Box<[u8]>,
    /// When the snapshot was fetched that decided; `None` where robots.txt was given by hand.
    pub snapshot: Option<UtcTime>,
}
