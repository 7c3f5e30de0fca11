//! A row of a tally: the counts of one crawler of one identity at one origin.

use serde::{Deserialize, Serialize};

use crate::crawlers::crawler::CrawlerId;
use crate::crawlers::identity::Identity;
use crate::judge::policy_files::PolicyFile;
use crate::judge::restriction::Restriction;
use crate::judge::robots::RobotsId;
use crate::judge::usage::StatedPreference;
use crate::judge::verdict::RuleRef;
use crate::merge::{Merge, merge_fields, sum};
use crate::time::Day;

use super::answer_tally::AnswerTally;
use super::delay_kept::DelayTally;
use super::example::Example;
use super::reactions::ReactionTally;
use super::robots_fetches::FetchTally;
use super::short_map::ShortMap;
use super::statuses::StatusCode;
use super::sums::{Answered, Compliance, Span, Statuses, Sums, is_default};
use super::time_buckets::TimeBuckets;
use super::what_if::WhatIfTally;

/// The requests of one crawler of one identity at one origin.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct CrawlerTally {
    /// Counts by day.
    pub days: ShortMap<Day, Sums>,
    /// Counts of all requests.
    pub span: Option<Span>,
    /// All requests by the status of their answer; none in tallies that did not count them.
    #[serde(skip_serializing_if = "ShortMap::is_empty")]
    pub statuses: ShortMap<StatusCode, Answered>,
    /// Violations by deciding rule.
    #[serde(skip_serializing_if = "ShortMap::is_empty")]
    pub violations: ShortMap<RuleRef, ViolationTally>,
    /// Of robots.txt.
    #[serde(skip_serializing_if = "is_default")]
    pub robots_fetches: FetchTally,
    /// By the version of a robots.txt with a Crawl-delay for this crawler.
    #[serde(skip_serializing_if = "ShortMap::is_empty")]
    pub paces: ShortMap<RobotsId, DelayTally>,
    /// Requests from before the first snapshot of robots.txt.
    #[serde(skip_serializing_if = "is_default")]
    pub before_first: u64,
    /// Requests that are unreachable by what the logs themselves show.
    #[serde(skip_serializing_if = "is_default")]
    pub unreachable_by_logs: u64,
    /// Unverified requests whose address a list or DNS contradicts, but at another time.
    #[serde(skip_serializing_if = "is_default")]
    pub of_other_time: u64,
    /// Whether minutes and hours are known.
    #[serde(skip_serializing_if = "Times::are_kept")]
    pub times: Times,
    /// The changes by a draft, if one is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Box<WhatIfTally>>,
    /// Requests for paths with a preference about their use.
    #[serde(skip_serializing_if = "ShortMap::is_empty")]
    pub usage: ShortMap<StatedPreference, AnswerTally>,
    /// Allowed requests and violations by the restriction in force.
    #[serde(skip_serializing_if = "ShortMap::is_empty")]
    pub restrictions: ShortMap<Restriction, Compliance>,
    /// Requests for files such as llms.txt.
    #[serde(skip_serializing_if = "ShortMap::is_empty")]
    pub policy_files: ShortMap<PolicyFile, AnswerTally>,
    /// Requests around changes of the rules, if robots.txt has a history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reactions: Option<Box<ReactionTally>>,
}

/// Whether the minutes and hours of a crawler's requests are known.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum Times {
    /// They are.
    #[default]
    Kept,
    /// They were dropped: they took too much memory, or belong to several origins.
    GivenUp,
}

impl Times {
    fn are_kept(&self) -> bool {
        *self == Times::Kept
    }
}

impl CrawlerTally {
    /// The number of time buckets. It never decreases when counts are added; requests before the
    /// first successful fetch, which may decrease, are not included.
    pub fn time_buckets(&mut self) -> usize {
        let violations: usize = self.violations.values_mut().map(|sum| sum.minutes.len()).sum();
        let paces: usize = self.paces.values_mut().map(|pace| pace.hours.len()).sum();
        let changes = self.reactions.as_ref().map_or(0, |reactions| reactions.time_buckets());
        let fetches = &mut self.robots_fetches;
        violations + paces + changes + fetches.read_200.len() + fetches.read_304.len()
    }

    /// Drops the buckets that `time_buckets` counts, and reactions, which need the times of fetches;
    /// everything else stays.
    pub fn give_up_times(&mut self) {
        self.times = Times::GivenUp;
        self.violations.values_mut().for_each(|sum| sum.minutes = TimeBuckets::default());
        self.paces.values_mut().for_each(|pace| pace.hours = TimeBuckets::default());
        self.robots_fetches.give_up_times();
        self.reactions = None;
    }

    /// The requests that are kept as examples.
    pub fn examples_mut(&mut self) -> impl Iterator<Item = &mut Example> {
        let broken = self.violations.values_mut().map(|violation| &mut violation.example);
        let changes =
            self.simulated.iter_mut().flat_map(|simulated| simulated.changes.values_mut());
        broken.chain(changes.map(|change| &mut change.example))
    }

    /// Requests of all statuses; `None` if their sum cannot be.
    pub fn answers(&self) -> Option<u64> {
        self.statuses.values().try_fold(0u64, |sum, of| sum.checked_add(of.requests))
    }

    /// The sums of all days.
    pub fn total(&self) -> Sums {
        sum(self.days.values().copied())
    }
}

impl Merge for CrawlerTally {
    fn absorb(&mut self, other: CrawlerTally) {
        let CrawlerTally {
            days,
            span,
            statuses,
            violations,
            robots_fetches,
            paces,
            before_first,
            unreachable_by_logs,
            of_other_time,
            simulated,
            usage,
            restrictions,
            policy_files,
            mut reactions,
            times,
        } = other;
        // The reactions of one part lack requests of the other that were judged without a history.
        let lacks = |reactions: &Option<_>, span: &Option<_>| reactions.is_none() && span.is_some();
        if lacks(&self.reactions, &self.span) || lacks(&reactions, &span) {
            let both = [&mut self.reactions, &mut reactions].into_iter().flatten();
            both.for_each(|reactions| reactions.mark_partial());
        }
        self.days.absorb(days);
        self.span.absorb(span);
        self.statuses.absorb(statuses);
        self.violations.absorb(violations);
        self.robots_fetches.absorb(robots_fetches);
        self.paces.absorb(paces);
        self.before_first.absorb(before_first);
        self.unreachable_by_logs.absorb(unreachable_by_logs);
        self.of_other_time.absorb(of_other_time);
        self.simulated.absorb(simulated);
        self.usage.absorb(usage);
        self.restrictions.absorb(restrictions);
        self.policy_files.absorb(policy_files);
        self.reactions.absorb(reactions);
        if times == Times::GivenUp {
            self.give_up_times();
        }
    }
}

/// A crawler and the class of its identity.
pub type Actor = (CrawlerId, Identity);

/// Requests that one rule disallowed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ViolationTally {
    /// The number of requests.
    pub requests: u64,
    /// The statuses of the answers.
    pub statuses: Statuses,
    /// The bytes of the answers.
    pub bytes: u64,
    /// When.
    pub span: Span,
    /// Requests by minute.
    pub minutes: TimeBuckets,
    /// The earliest request.
    pub example: Example,
}

merge_fields!(ViolationTally { requests, statuses, bytes, span, minutes, example });
