//! What the tables of a report directory come to, for pages and summaries.
//!
//! Read from the CSV files alone, so that a page can be made again without the
//! logs, and shows what the tables say. Of tables of any length only sums and
//! the rows that weigh most are kept.

pub mod crawler;
pub mod line;
pub mod rule;
pub mod run;
pub mod simulation;
pub mod top;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::audit::sums::Sums;
use crate::crawlers::identity::Identity;
use crate::error::Result;
use crate::merge::Merge;

use super::columns::{
    crawl_delay::CRAWL_DELAY, daily::DAILY, hourly::HOURLY, rejects::REJECTS,
    robots_fetches::ROBOTS_FETCHES, robots_rules::ROBOTS_RULES, simulation::SIMULATION,
    summary::SUMMARY, unknown_crawlers::UNKNOWN_CRAWLERS, violations::VIOLATION,
};

use crawler::{CrawlerFacts, Knowledge};
use line::{KeptLine, Line, each_line};
use rule::{RobotsLine, RuleFacts, RuleKey};
use run::RunFacts;
use simulation::ChangeFacts;
use top::Top;

/// Rows of a table that are kept.
pub const ROWS_MAX: usize = 1_000;

/// Rules that are shown among the lines of their robots.txt.
pub const RULES_SHOWN: usize = 10;

/// Rows of the short table of a summary.
pub const OFFENDERS_SHOWN: usize = 10;

/// A crawler, and the class of its identity.
pub type Who = (String, Identity);

/// Everything that a page tells.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The run.
    pub run: RunFacts,
    /// Requests of known crawlers.
    pub identities: BTreeMap<Identity, Sums>,
    /// By crawler and identity, over all origins.
    pub crawlers: BTreeMap<Who, CrawlerFacts>,
    /// Origins that were asked.
    pub origins: usize,
    /// One of them, where it is the only one.
    pub only_origin: Option<String>,
    /// Time of the first and the last request of a known crawler, as written.
    pub period: (String, String),
    /// By day as written, and identity.
    pub days: BTreeMap<String, BTreeMap<Identity, Sums>>,
    /// By day as written and hour of the day, and identity.
    pub hours: BTreeMap<(String, u64), BTreeMap<Identity, Sums>>,
    /// The rules broken most often by crawlers that are not spoofed.
    pub rules: Vec<(RuleKey, RuleFacts)>,
    /// Rules that were broken by them.
    pub rules_broken: usize,
    /// Lines near `rules`, by digest, in the order of the file.
    pub robots_lines: BTreeMap<String, Vec<RobotsLine>>,
    /// Rows of `summary.csv` with most violations, of crawlers that are not spoofed, with what was
    /// known before these.
    pub offenders: Vec<(KeptLine, Knowledge)>,
    /// Rows from which these were taken.
    pub offenders_total: u64,
    /// Rows of `summary.csv`.
    pub summary: Kept,
    /// Rows of `violations.csv`.
    pub violations: Kept,
    /// Rows of `crawl-delay.csv`.
    pub delays: Kept,
    /// Rows of `unknown-crawlers.csv`.
    pub unknown_crawlers: Kept,
    /// Rows of `rejects.csv`.
    pub rejects: Kept,
    /// Rows of `simulation.csv`.
    pub changes: ChangeFacts,
}

/// The rows of a table that weigh most.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The heaviest first.
    pub rows: Vec<KeptLine>,
    /// Of all rows.
    pub total: u64,
}

impl Facts {
    /// Reads the report in `directory`.
    ///
    /// # Errors
    /// Where it is none, or its files cannot be read.
    pub fn read(directory: &Path) -> Result<Facts> {
        let mut facts = Facts { run: RunFacts::read(directory)?, ..Facts::default() };
        facts.read_summary(directory)?;
        each_line(directory, ROBOTS_FETCHES.file, |line| {
            facts.crawler(line).add_fetches(line);
            let same = facts.offenders.iter_mut().find(|(kept, _)| is_same_row(kept.line(), line));
            if let Some((_, knowledge)) = same {
                *knowledge = Knowledge::of(line);
            }
        })?;
        each_line(directory, DAILY.file, |line| {
            let day = facts.days.entry(line.raw("day").to_owned()).or_default();
            day.entry(line.identity()).or_default().absorb(line.sums());
        })?;
        each_line(directory, HOURLY.file, |line| {
            let hour = (line.raw("day").to_owned(), line.count("hour"));
            let of_it = facts.hours.entry(hour).or_default();
            of_it.entry(line.identity()).or_default().absorb(line.sums());
        })?;
        facts.read_violations(directory)?;
        let kept = |file: &str, column: &'static str| kept(directory, file, column);
        facts.delays = kept(CRAWL_DELAY.file, "over_hourly")?;
        facts.unknown_crawlers = kept(UNKNOWN_CRAWLERS.file, "requests")?;
        facts.rejects = kept(REJECTS.file, "lines")?;
        facts.changes.kept = kept(SIMULATION.file, "requests")?;
        each_line(directory, SIMULATION.file, |line| facts.changes.add(line))?;
        facts.read_robots_lines(directory)?;
        Ok(facts)
    }

    /// Requests of crawlers that are not spoofed.
    pub fn not_spoofed(&self) -> Sums {
        let mut sums = Sums::default();
        let others = self.identities.iter().filter(|(identity, _)| is_itself(**identity));
        others.for_each(|(_, of_it)| sums.absorb(*of_it));
        sums
    }

    /// Requests of crawlers whose identity is `identity`.
    pub fn of(&self, identity: Identity) -> Sums {
        self.identities.get(&identity).copied().unwrap_or_default()
    }

    /// Whether anybody's address was checked.
    pub fn is_identity_known(&self) -> bool {
        self.of(Identity::Verified).requests + self.of(Identity::Spoofed).requests > 0
    }

    /// Crawlers and identities by violations, most first.
    pub fn offenders(&self) -> Vec<(&Who, &CrawlerFacts)> {
        let mut all: Vec<_> = self.crawlers.iter().collect();
        all.sort_by_key(|(_, crawler)| std::cmp::Reverse(crawler.sums.violations));
        all.retain(|(_, crawler)| crawler.sums.violations > 0);
        all
    }

    fn crawler(&mut self, line: Line<'_>) -> &mut CrawlerFacts {
        self.crawlers.entry((line.text("crawler"), line.identity())).or_default()
    }

    fn read_summary(&mut self, directory: &Path) -> Result<()> {
        let mut origins = BTreeSet::new();
        let (mut top, mut offenders) = (Top::new(ROWS_MAX), Top::new(OFFENDERS_SHOWN));
        each_line(directory, SUMMARY.file, |line| {
            let (sums, (first, last)) = (line.sums(), &mut self.period);
            top.offer(sums.violations, || line.keep());
            if is_itself(line.identity()) && sums.violations > 0 {
                offenders.offer(sums.violations, || (line.keep(), Knowledge::default()));
            }
            origins.insert(line.text("origin"));
            let (from, to) = (line.raw("first_seen_utc"), line.raw("last_seen_utc"));
            if !from.is_empty() && (first.is_empty() || *from < **first) {
                *first = from.to_owned();
            }
            if *to > **last {
                *last = to.to_owned();
            }
            self.identities.entry(line.identity()).or_default().absorb(sums);
            self.crawler(line).add_summary(line);
        })?;
        self.summary = Kept::of(top);
        self.offenders_total = offenders.offered;
        self.offenders = offenders.into_rows();
        self.origins = origins.len();
        self.only_origin = if origins.len() == 1 { origins.pop_first() } else { None };
        Ok(())
    }

    fn read_violations(&mut self, directory: &Path) -> Result<()> {
        let mut top = Top::new(ROWS_MAX);
        let mut rules: BTreeMap<RuleKey, RuleFacts> = BTreeMap::new();
        each_line(directory, VIOLATION.file, |line| {
            top.offer(line.count("requests"), || line.keep());
            self.crawler(line).statuses.absorb(line.statuses());
            if is_itself(line.identity()) {
                let key = (line.text("robots_digest"), line.count("rule_line"));
                rules.entry(key).or_default().add(line);
            }
        })?;
        self.violations = Kept::of(top);
        self.rules_broken = rules.len();
        let mut most = Top::new(RULES_SHOWN);
        for rule in rules {
            most.offer(rule.1.requests, || rule);
        }
        self.rules = most.into_rows();
        Ok(())
    }

    fn read_robots_lines(&mut self, directory: &Path) -> Result<()> {
        let digests: BTreeSet<String> =
            self.rules.iter().map(|((digest, _), _)| digest.clone()).collect();
        each_line(directory, ROBOTS_RULES.file, |line| {
            let digest = line.text("robots_digest");
            if digests.contains(&digest) {
                self.robots_lines.entry(digest).or_default().push(RobotsLine {
                    line: line.count("line"),
                    field: line.text("field"),
                    value: line.text("value"),
                });
            }
        })
    }
}

impl Kept {
    fn of(top: Top<KeptLine>) -> Kept {
        Kept { total: top.offered, rows: top.into_rows() }
    }
}

/// Requests of one stretch of time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Judged {
    /// Of crawlers that are not spoofed.
    pub own: Sums,
    /// Those of them that could be judged.
    pub judged: u64,
    /// Of others, in their name.
    pub spoofed: Sums,
}

/// What the requests of each identity come to.
pub fn judged_of(identities: &BTreeMap<Identity, Sums>) -> Judged {
    let mut all = Judged::default();
    for (identity, sums) in identities {
        if is_itself(*identity) { all.own.absorb(*sums) } else { all.spoofed.absorb(*sums) }
    }
    all.judged = all.own.allowed + all.own.violations;
    all
}

/// What a crawler of that identity did may be held against it.
pub fn is_itself(identity: Identity) -> bool {
    identity != Identity::Spoofed
}

/// Whether both rows are of the same origin, crawler and identity.
fn is_same_row(left: Line<'_>, right: Line<'_>) -> bool {
    ["origin", "crawler", "identity"].iter().all(|name| left.raw(name) == right.raw(name))
}

fn kept(directory: &Path, file: &str, column: &'static str) -> Result<Kept> {
    let mut top = Top::new(ROWS_MAX);
    each_line(directory, file, |line| top.offer(line.count(column), || line.keep()))?;
    Ok(Kept::of(top))
}
