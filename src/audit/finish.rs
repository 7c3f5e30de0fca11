//! A finished audit: the merged tally, checked, and put in the order of reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::crawlers::identity::Identity;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::chunks::{Chunks, Ending};
use crate::input::source::{FileId, Source};
use crate::judge::Judge;
use crate::judge::robots::Robots;
use crate::judge::timeline::BeforeFirst;
use crate::logs::detect::Detection;
use crate::logs::limitation::Limitation;
use crate::logs::reject::{Reject, Skip};
use crate::time::Day;

use super::awareness::Readers;
use super::file::{FileTally, RejectTally};
use super::hours::{HOURS_MAX, Hours};
use super::nothing_judged::nothing_judged;
use super::place::Place;
use super::places::TIME_BUCKETS_MAX;
use super::row::{ActorRow, Broken, Delayed};
use super::simulate::Simulation;
use super::snapshots::Snapshots;
use super::sums::Sums;
use super::tally::{Actor, CrawlerTally, Example, Tally, Times, UserAgentTally};
use super::unknown::{self, UnknownCrawler};
use super::warnings::warnings;
use super::witness::LogEvidence;
use crate::merge::Merge;

/// Everything that a report says.
#[derive(Debug)]
pub struct Audit {
    /// In the order of their names.
    pub inputs: Vec<Input>,
    /// The robots.txt files that the log made us look at, by name.
    pub robots: Vec<(String, Arc<Robots>)>,
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
    pub log_evidence: Option<LogEvidence>,
    /// What the user should know before acting on the report; no line of a log makes one each.
    pub warnings: Vec<String>,
    /// What the user should know to read the report rightly, though nothing is wrong.
    pub notes: Vec<String>,
    /// Why nothing could be judged, though there should have been something to judge; the last of
    /// the warnings, too.
    pub nothing_judged: Option<String>,
    /// What a draft would change, where one is given.
    pub simulation: Option<Simulation>,
    rows: Vec<ActorRow>,
    /// robots.txt files that could not be read.
    robots_failures: usize,
}

/// What became of one input.
#[derive(Debug)]
pub struct Input {
    /// As the user would write it.
    pub name: String,
    /// Bytes read, as they lie on disk.
    pub size_bytes: u64,
    /// Bytes after decompression.
    pub decompressed_bytes: u64,
    /// The log format; `None` where there was no line to tell it from.
    pub format: Option<FormatUsed>,
    /// Lines from which the format was to be told.
    pub lines_tried: usize,
    /// Why its rest could not be read.
    pub damage: Option<String>,
    /// Its lines.
    pub tally: FileTally,
}

/// A log format, as reports tell it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FormatUsed {
    /// Its name, or how it was given.
    pub name: String,
    /// What it cannot tell.
    pub caveats: Vec<Limitation>,
}

/// The robots.txt files that an audit was judged by.
#[derive(Debug)]
pub enum InForce {
    /// Those that its judge looked at.
    OfJudge,
    /// Those that were kept with its sums.
    Kept {
        /// By name.
        robots: Vec<(String, Arc<Robots>)>,
        /// Where they have a history.
        snapshots: Snapshots,
        /// Those that could not be read, each in a sentence.
        failures: Vec<String>,
    },
}

impl Input {
    /// Whether not even its first byte could be read.
    pub fn is_unopened(&self) -> bool {
        self.damage.is_some() && self.size_bytes == 0
    }

    /// Reasons for which lines were no records, and how many.
    pub fn rejects(&self) -> impl Iterator<Item = (Reject, &RejectTally)> {
        Reject::ALL.iter().copied().zip(&self.tally.rejected).filter(|(_, reject)| reject.lines > 0)
    }

    /// Reasons for which lines were passed over, and how many.
    pub fn skips(&self) -> impl Iterator<Item = (Skip, u64)> {
        Skip::ALL.iter().copied().zip(self.tally.skipped).filter(|&(_, lines)| lines > 0)
    }
}

/// How one input ended, as its reader saw it.
#[derive(Clone, Debug)]
pub struct InputEnd {
    /// The log format; `None` where there was no line to tell it from.
    pub format: Option<FormatUsed>,
    /// Why its rest could not be read.
    pub failure: Option<String>,
    /// How its bytes ended.
    pub ending: Ending,
    lines_tried: usize,
}

impl InputEnd {
    /// Of an input that was read.
    pub fn new(detected: &Detection, chunks: &Chunks) -> InputEnd {
        let lines_tried = detected.lines_tried;
        let format = detected.format.as_ref().map(|format| FormatUsed {
            name: format.name().to_owned(),
            caveats: format.limitations().to_vec(),
        });
        let ending = chunks.ending();
        let failure = ending.damage.map(|damage| damage.to_string());
        InputEnd { format, lines_tried, failure, ending }
    }

    /// Of an input that could not be opened.
    pub fn unopened(err: &Error) -> InputEnd {
        let failure = Some(err.to_string());
        InputEnd { format: None, lines_tried: 0, failure, ending: Ending::default() }
    }

    /// Of the lines of one day of an input, which were added up before.
    pub fn kept(format: Option<FormatUsed>, damage: Option<String>, tally: &FileTally) -> InputEnd {
        let (lines, bytes) = (tally.lines(), tally.bytes);
        let ending = Ending { lines, bytes, size_bytes: bytes, ..Ending::default() };
        InputEnd { format, lines_tried: 0, failure: damage, ending }
    }
}

impl Audit {
    /// Checks the sums and puts everything in order.
    ///
    /// # Errors
    /// Where sums that must hold do not.
    pub fn new(
        sources: &[Source],
        ends: Vec<InputEnd>,
        mut tally: Tally,
        (judge, before_first): (&Judge, BeforeFirst),
        registry: &Registry,
        in_force: InForce,
    ) -> Result<Audit> {
        let mut inputs = Vec::with_capacity(sources.len());
        for (index, (source, end)) in sources.iter().zip(ends).enumerate() {
            let mut tally = tally.files.remove(&FileId::from_index(index)).unwrap_or_default();
            check_lines(&source.name, &tally, end.ending.lines)?;
            if end.ending.partial_line {
                tally.skip(Skip::Partial);
            }
            inputs.push(Input {
                name: source.name.clone(),
                size_bytes: end.ending.size_bytes,
                decompressed_bytes: end.ending.bytes,
                format: end.format,
                lines_tried: end.lines_tried,
                damage: end.failure,
                tally,
            });
        }
        let (unknown_crawlers, other_unknown_crawlers) = tally.unknown_crawlers.into_parts();
        let of_judge = matches!(in_force, InForce::OfJudge);
        let (mut robots, mut snapshots, failures) = match in_force {
            InForce::OfJudge => (judge.sources(), Snapshots::default(), judge.failures()),
            InForce::Kept { robots, snapshots, failures } => (robots, snapshots, failures),
        };
        let mut rows = Vec::new();
        for (place, actors) in tally.places.into_map() {
            if of_judge {
                snapshots.add(&place, &actors, (judge, before_first), &mut robots);
            }
            let readers = Readers::new(&actors, registry);
            for (actor, tally) in actors {
                let knowledge = readers.knowledge(actor);
                rows.push(ActorRow::new(place.to_string(), actor, tally, &knowledge, judge));
            }
        }
        rows.sort_by(|left, right| {
            let key = |row: &ActorRow| (registry.crawler(row.actor.0).name.clone(), row.actor.1);
            left.origin.cmp(&right.origin).then_with(|| key(left).cmp(&key(right)))
        });
        let unknown_crawlers = unknown::unknown_crawlers(unknown_crawlers, &robots);
        let mut audit = Audit {
            inputs,
            robots,
            snapshots,
            before_first,
            hours: tally.hours,
            unknown_crawlers,
            other_unknown_crawlers,
            robots_failures: failures.len(),
            log_evidence: judge.known_outages().map(LogEvidence::of),
            warnings: Vec::new(),
            notes: Vec::new(),
            nothing_judged: None,
            simulation: None,
            rows,
        };
        audit.check_requests()?;
        audit.tell_log_evidence();
        audit.warnings = warnings(&audit, judge, failures);
        audit.warnings.extend(audit.times_given_up());
        audit.notes.extend(audit.hours_given_up());
        audit.nothing_judged = nothing_judged(&audit, judge, !of_judge);
        audit.warnings.extend(audit.nothing_judged.clone());
        Ok(audit)
    }

    /// Each origin, crawler and identity, by the names of these.
    pub fn actors(&self) -> impl Iterator<Item = (&str, Actor, &CrawlerTally)> {
        self.rows.iter().map(|row| (row.origin.as_str(), row.actor, &row.tally))
    }

    /// Each origin, crawler and identity with all that is known, by the names of these.
    pub fn rows(&self) -> &[ActorRow] {
        &self.rows
    }

    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = &mut ActorRow> {
        self.rows.iter_mut()
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

    /// The examples of broken and of simulated rules, for whoever must shorten them.
    pub fn examples_mut(&mut self) -> impl Iterator<Item = &mut Example> {
        let broken = self.rows.iter_mut().flat_map(|row| &mut row.broken);
        let simulated = self.simulation.iter_mut().flat_map(Simulation::examples_mut);
        broken.map(|broken| &mut broken.tally.example).chain(simulated)
    }

    /// Sums over all crawlers.
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        self.rows.iter().for_each(|row| total.absorb(row.tally.total()));
        total
    }

    /// Sums over all crawlers whose identity is `identity`.
    pub fn total_of(&self, identity: Identity) -> Sums {
        let mut total = Sums::default();
        let of_it = self.rows.iter().filter(|row| row.actor.1 == identity);
        of_it.for_each(|row| total.absorb(row.tally.total()));
        total
    }

    /// Sums over all crawlers that are not spoofed: what a named crawler can be held to.
    pub fn total_not_spoofed(&self) -> Sums {
        let mut total = self.total_of(Identity::Verified);
        total.absorb(self.total_of(Identity::Unverified));
        total
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
        &self.inputs[file.index()].name
    }

    /// Whether all that was named could be read to its end.
    pub fn is_complete(&self) -> bool {
        self.robots_failures == 0 && self.inputs.iter().all(|input| input.damage.is_none())
    }

    /// At `(others)` times are never kept, which its name says; anywhere else it must be told.
    fn times_given_up(&self) -> Option<String> {
        let is_given_up = |row: &&ActorRow| {
            row.tally.times == Times::GivenUp && row.origin != Place::Others.to_string()
        };
        let crawlers = self.rows.iter().filter(is_given_up).count();
        (crawlers > 0).then(|| {
            format!(
                "the minutes of more than {TIME_BUCKETS_MAX} requests would have to be kept; of \
                 {crawlers} crawlers at some origin it is not told whether they had read \
                 robots.txt; audit fewer days or origins at once"
            )
        })
    }

    fn hours_given_up(&self) -> Option<String> {
        let earlier = self.hours.earlier().requests;
        (earlier > 0).then(|| {
            format!(
                "only the last {HOURS_MAX} hours with requests are told apart; {earlier} requests \
                 before them are counted by day alone"
            )
        })
    }

    /// Nothing may be lost between the lines and the rows.
    fn check_requests(&self) -> Result<()> {
        self.rows.iter().try_for_each(ActorRow::check)?;
        let lines: u64 = self.inputs.iter().map(|input| input.tally.crawler).sum();
        let (total, hours) = (self.total(), self.hours.total());
        let requests = total.requests;
        let of_hours = (hours.requests, hours.allowed, hours.violations);
        if lines == requests && of_hours == (requests, total.allowed, total.violations) {
            Ok(())
        } else {
            Err(Error::inconsistent(format!(
                "{lines} lines of crawlers, but {requests} requests; by hour {hours:?}"
            )))
        }
    }
}

/// Lines are counted by who reads them and again by who looks at them.
fn check_lines(name: &str, tally: &FileTally, lines_read: u64) -> Result<()> {
    if tally.lines() == lines_read {
        return Ok(());
    }
    Err(Error::inconsistent(format!(
        "{name}: {lines_read} lines read, {} accounted for",
        tally.lines()
    )))
}
