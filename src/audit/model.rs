//! A finished audit: the merged tally, checked, and put in the order of reports.

use std::collections::BTreeMap;

use crate::crawlers::identity::Identity;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::FileId;
use crate::judge::failure_message;
use crate::judge::robots::RobotsId;
use crate::judge::timeline::BeforeFirst;
use crate::logs::reject::{Reject, Skip};
use crate::merge::Merge;
use crate::robots::model::{ProductToken, RobotsTxt};
use crate::time::Day;

use super::crawler_row::{ActorRow, Broken, Delayed};
use super::hours::{HOURS_MAX, Hours};
use super::identity_warnings::{identity_note, identity_warnings};
use super::input_tally::{InputTally, RejectTally};
use super::log_outages::OutageEvidence;
use super::nothing_judged::nothing_judged;
use super::origin_key::OriginKey;
use super::prior_fetches::Readers;
use super::quotes::Quotes;
use super::snapshots::Snapshots;
use super::sums::Sums;
use super::tally::header::{FormatUsed, Header, InputSummary, ReportedOptions, RobotsVersion};
use super::tally::rows::{OriginRows, TIME_BUCKETS_MAX};
use super::tally::{Actor, CrawlerTally, Tally, Times, UserAgentTally};
use super::unknown::{self, UnknownCrawler};
use super::warnings::warnings;
use super::what_if::WhatIf;

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
    pub tally: InputTally,
}

impl Input {
    /// Reasons for which lines were no records, and how many.
    pub fn rejects(&self) -> impl Iterator<Item = (Reject, &RejectTally)> {
        Reject::ALL.iter().copied().zip(&self.tally.rejected).filter(|(_, reject)| reject.lines > 0)
    }

    /// Reasons for which lines were passed over, and how many.
    pub fn skips(&self) -> impl Iterator<Item = (Skip, u64)> {
        Skip::ALL.iter().copied().zip(self.tally.skipped).filter(|&(_, lines)| lines > 0)
    }
}

impl ReportModel {
    /// Checks the sums of `tally` and puts everything in the order of reports.
    ///
    /// # Errors
    /// Where sums that must hold do not, or the tally is damaged.
    pub fn new(tally: Tally) -> Result<ReportModel> {
        let inputs = inputs_of(&tally);
        let Tally { header, counts } = tally;
        let quotes = Quotes::new(&header);
        let (mut robots, mut snapshots) = (files_of(&header, &quotes)?, Snapshots::default());
        let mut rows = Vec::new();
        for OriginRows { place, rows: of_place, .. } in counts.origins {
            snapshots.add(&place, &of_place, &quotes, &mut robots)?;
            let readers = Readers::new(&of_place, &header.crawlers);
            for (actor, tally) in of_place {
                let knowledge = readers.knowledge(actor);
                rows.push(ActorRow::new(place.to_string(), actor, tally, &knowledge, &quotes)?);
            }
        }
        // Crawlers are numbered in the order of their names.
        rows.sort_by(|left, right| {
            left.origin.cmp(&right.origin).then_with(|| left.actor.cmp(&right.actor))
        });
        let unknown_crawlers = unknown::unknown_crawlers(counts.unknown_crawlers, &robots);
        let failures = header.rulings.failures.values();
        let mut failures: Vec<String> = failures.map(|why| failure_message(why)).collect();
        failures.sort();
        let mut audit = ReportModel {
            inputs,
            robots,
            snapshots,
            before_first: header.rulings.before_first(),
            hours: counts.hours,
            unknown_crawlers,
            other_unknown_crawlers: counts.other_unknown_crawlers,
            robots_failures: failures.len(),
            log_evidence: header.outages.map(OutageEvidence::of),
            warnings: Vec::new(),
            notes: Vec::new(),
            nothing_judged: None,
            simulation: None,
            options: header.options.clone(),
            registry: Registry::of_crawlers(header.crawlers.clone()),
            crawlers_known: header.registry.crawlers,
            rows,
        };
        audit.check_requests()?;
        audit.tell_log_evidence();
        audit.warnings = warnings(&audit, &header.rulings, failures);
        audit.warnings.extend(audit.times_given_up());
        audit.notes.extend(audit.hours_given_up());
        if let Some(draft) = &header.draft {
            audit.simulation = Some(WhatIf::new(&mut audit, draft, &quotes)?);
        }
        audit.warnings.extend(identity_warnings(&audit, &header.identities));
        audit.notes.extend(identity_note(&header.identities));
        audit.nothing_judged = nothing_judged(&audit, &header);
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
            row.tally.times == Times::GivenUp && row.origin != OriginKey::Others.to_string()
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

/// A version of a robots.txt that was looked at, and what is kept of its text.
#[derive(Clone, Debug)]
pub struct UsedRobots {
    /// Its number in the tally.
    pub id: RobotsId,
    /// Its digest and sizes, and what it says, where rows name lines of it.
    pub version: RobotsVersion,
}

impl UsedRobots {
    /// What it says, where rows name lines of it.
    pub fn text(&self) -> Option<&RobotsTxt> {
        self.version.body.as_ref().map(|body| &**body.text())
    }

    /// The values of its User-agent lines, as far as they are kept.
    pub fn product_tokens(&self) -> impl Iterator<Item = ProductToken> {
        let of_text = self.text().into_iter().flat_map(|text| &text.groups);
        let of_text = of_text.flat_map(|group| &group.product_tokens).cloned();
        let kept = self.version.product_tokens.iter();
        of_text.chain(kept.map(|token| ProductToken { written: token.to_vec().into(), line: 0 }))
    }
}

/// The files of a single robots.txt or a directory, by name.
fn files_of(header: &Header, quotes: &Quotes<'_>) -> Result<Vec<(String, UsedRobots)>> {
    let files = header.rulings.files.iter();
    files.map(|(source, digest)| Ok((source.clone(), quotes.used(*digest)?))).collect()
}

/// The inputs of a tally, with their lines.
pub fn inputs_of(tally: &Tally) -> Vec<Input> {
    let inputs = tally.header.inputs.iter().zip(&tally.counts.inputs).map(|(summary, tally)| {
        let InputSummary { name, size_bytes, decompressed_bytes, format, lines_tried, damage } =
            summary.clone();
        let tally = tally.clone();
        Input { name, size_bytes, decompressed_bytes, format, lines_tried, damage, tally }
    });
    inputs.collect()
}
