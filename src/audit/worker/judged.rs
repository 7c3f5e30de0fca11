//! What is said of one request, and what is kept of it where it broke a rule.

use std::sync::Arc;

use crate::crawlers::crawler::Obligation;
use crate::judge::dated::Dated;
use crate::judge::robots::Robots;
use crate::judge::timeline::Standing;
use crate::logs::record::Record;
use crate::merge::Merge;
use crate::time::UtcTime;

use super::super::series::Series;
use super::super::sums::{Outcome, Span, Statuses};
use super::super::tally::{CrawlerTally, Example, RuleKey, ViolationTally};
use super::{EXAMPLE_BYTES_MAX, Position};

/// What is said of a request, and by what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruled<'a> {
    pub judged: Judged,
    /// The version of robots.txt that was in force, if one was.
    pub robots: Option<&'a Arc<Robots>>,
    /// When the snapshot that decided was fetched; `None` for a file given by hand.
    pub snapshot: Option<UtcTime>,
    /// The request was made before the first snapshot.
    pub is_before_first: bool,
    /// No snapshot decided, but what the logs themselves show.
    pub is_by_logs: bool,
}

impl<'a> Ruled<'a> {
    pub fn not_judged(judged: Judged) -> Ruled<'a> {
        Ruled { judged, robots: None, snapshot: None, is_before_first: false, is_by_logs: false }
    }

    pub fn new(
        judged: Judged,
        known: &Dated,
        robots: Option<&'a Arc<Robots>>,
        standing: Standing,
    ) -> Ruled<'a> {
        let snapshot = known.seen(&standing).map(|seen| seen.fetched_at);
        let is_before_first = standing.age_seconds.is_some_and(|age| age < 0);
        let is_by_logs = standing.is_by_logs();
        Ruled { judged, robots, snapshot, is_before_first, is_by_logs }
    }
}

/// What the rules say of a request, whoever made it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Judged {
    NoPath,
    RobotsTxt,
    Unknown,
    Allowed,
    /// Allowed only because the crawler is documented to ignore `*`.
    GoesFree,
    Disallowed(RuleKey),
    /// Disallowed, but a crawler may still have held a robots.txt that allows it.
    Grace,
    Unreachable,
}

impl Judged {
    /// What that makes of the request of a crawler. One that is not bound is never accused.
    pub fn outcome(self, binding: Obligation) -> Outcome {
        match (self, binding) {
            (Judged::NoPath, _) => Outcome::NoPath,
            (Judged::RobotsTxt, _) => Outcome::RobotsTxt,
            (Judged::Unknown, Obligation::Bound) => Outcome::Unknown,
            (Judged::Allowed, Obligation::Bound) => Outcome::Allowed,
            (Judged::GoesFree, Obligation::Bound) => Outcome::GoesFree,
            (Judged::Disallowed(_), Obligation::Bound) => Outcome::Violation,
            (Judged::Grace, Obligation::Bound) => Outcome::Grace,
            (Judged::Unreachable, Obligation::Bound) => Outcome::Unreachable,
            (Judged::Disallowed(_), _) => Outcome::NotBound { is_disallowed: true },
            (_, _) => Outcome::NotBound { is_disallowed: false },
        }
    }
}

/// Adds a request that the rule of `key` disallowed.
pub(super) fn add_violation(
    key: RuleKey,
    record: &Record<'_>,
    position: Position,
    snapshot: Option<UtcTime>,
    tally: &mut CrawlerTally,
) {
    let mut statuses = Statuses::default();
    statuses.count(record.status);
    let Position { file, line } = position;
    let is_earliest =
        |example: &Example| (record.time, file, line) < (example.time, example.file, example.line);
    let example = || example(record, position, snapshot);
    match tally.violations.get_mut(&key) {
        Some(sum) => {
            sum.requests += 1;
            sum.statuses.absorb(statuses);
            sum.bytes = sum.bytes.saturating_add(record.bytes);
            sum.span.absorb(Span::at(record.time));
            sum.minutes.add(record.time.unix_minute(), 1);
            if is_earliest(&sum.example) {
                sum.example = example();
            }
        }
        None => {
            let (bytes, span) = (record.bytes, Span::at(record.time));
            let mut minutes = Series::default();
            minutes.add(record.time.unix_minute(), 1);
            let example = example();
            let first = ViolationTally { requests: 1, statuses, bytes, span, minutes, example };
            tally.violations.insert(key, first);
        }
    }
}

/// The request as a report shows it.
pub(super) fn example(
    record: &Record<'_>,
    position: Position,
    snapshot: Option<UtcTime>,
) -> Example {
    let Position { file, line } = position;
    let target = record.target.unwrap_or_default();
    let target = target[..target.len().min(EXAMPLE_BYTES_MAX)].into();
    Example { time: record.time, file, line, target, snapshot }
}
