//! The measures of one crawler of one identity at one origin: a row of a tally.
//!
//! This is the list of measures. Each has a field here, and all else in a file of its own.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::judge::robots::RobotsId;
use crate::merge::{Merge, sum};

use super::answers::Answers;
use super::earlier_fetches::EarlierFetches;
use super::reactions::{ReactionTally, TimedRequest};
use super::request::{AllRequests, JudgedRequest, Measure};
use super::sums::{Span, Sums, is_default};
use super::{clients::SignedDays, days::ByDay, delay_kept::Paces, example::Example};
use super::{fetch_answer::FetchAnswer, methods::ByMethod, policy_files::ByPolicyFile};
use super::{renumbering::Renumbering, request_kind::RequestsOfKind, restrictions::Restrictions};
use super::{robots_fetches::FetchTally, statuses::ByStatus, time_buckets::TimeBuckets};
use super::{usage::UsedPreferences, verification::ByProof, violation_networks::ViolationNetworks};
use super::{violations::BrokenRules, what_if::WhatIfTally};

/// Declares the fields of a row. A `measure` does all by itself; a `plain` field only merges.
macro_rules! row {
    {
        $(#[$meta:meta])*
        pub(crate) struct $name:ident {
            $( $(#[$of:meta])* $kind:ident $field:ident: $type:ty, )*
        }
    } => {
        $(#[$meta])*
        pub struct $name {
            $( $(#[$of])* pub $field: $type, )*
        }

        impl $name {
            #[inline]
            fn count_measures(&mut self, request: &JudgedRequest<'_>) {
                $( row!(@$kind (), Measure::count(&mut self.$field, request)); )*
            }

            fn add_to_measures(&mut self, requests: &RequestsOfKind) {
                $( row!(@$kind (), Measure::add(&mut self.$field, requests)); )*
            }

            fn absorb_each(&mut self, other: $name) {
                let $name { $($field),* } = other;
                $( self.$field.absorb($field); )*
            }

            /// Gives the versions of robots.txt that its tables quote to `quote`.
            pub(crate) fn quoted_robots(&self, quote: &mut dyn FnMut(RobotsId)) {
                $( row!(@$kind (), Measure::quoted_robots(&self.$field, quote)); )*
            }

            /// The same with the numbers of another tally.
            ///
            /// # Errors
            /// If the tally is damaged and lacks a number.
            pub(crate) fn renumbered(self, numbers: &Renumbering) -> Result<$name> {
                let $name { $($field),* } = self;
                Ok($name {
                    $( $field: row!(@$kind $field, Measure::renumbered($field, numbers)?), )*
                })
            }

            fn measures_hold(&self, all: &AllRequests) -> bool {
                true $( && row!(@$kind true, Measure::holds(&self.$field, all)) )*
            }
        }
    };
    (@measure $plain:expr, $measure:expr) => { $measure };
    (@plain $plain:expr, $measure:expr) => { $plain };
}

row! {
    /// The requests of one crawler of one identity at one origin.
    #[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
    #[serde(default)]
    pub(crate) struct CrawlerTally {
        /// Requests by day.
        measure days: ByDay,
        /// When they were made.
        measure span: Option<Span>,
        /// Requests by the status of their answer.
        #[serde(skip_serializing_if = "is_default")]
        measure statuses: ByStatus,
        /// Violations by rule.
        #[serde(skip_serializing_if = "is_default")]
        measure violations: BrokenRules,
        /// Requests for robots.txt, and those on an old copy of it.
        #[serde(skip_serializing_if = "is_default")]
        measure robots_fetches: FetchTally,
        /// Requests by version of a robots.txt with a Crawl-delay.
        #[serde(skip_serializing_if = "is_default")]
        measure paces: Paces,
        /// Requests from before the first snapshot of robots.txt.
        #[serde(skip_serializing_if = "is_default")]
        plain before_first: u64,
        /// Requests that are unreachable by what the logs themselves show.
        #[serde(skip_serializing_if = "is_default")]
        plain unreachable_by_logs: u64,
        /// Unverified requests whose address a list or DNS contradicts, but at another time.
        #[serde(skip_serializing_if = "is_default")]
        plain of_other_time: u64,
        /// Whether minutes and hours are known.
        #[serde(skip_serializing_if = "is_default")]
        plain times: Times,
        /// The changes by a draft, if one is given.
        #[serde(skip_serializing_if = "is_default")]
        measure simulated: Option<Box<WhatIfTally>>,
        /// Requests for paths with a preference about their use.
        #[serde(skip_serializing_if = "is_default")]
        measure usage: UsedPreferences,
        /// Allowed requests and violations by the restriction in force.
        #[serde(skip_serializing_if = "is_default")]
        measure restrictions: Restrictions,
        /// Requests for files such as llms.txt.
        #[serde(skip_serializing_if = "is_default")]
        measure policy_files: ByPolicyFile,
        /// Requests around changes of the rules, if robots.txt has a history.
        #[serde(skip_serializing_if = "is_default")]
        plain reactions: Option<Box<ReactionTally>>,
        /// Requests by HTTP method.
        #[serde(skip_serializing_if = "is_default")]
        measure methods: ByMethod,
        /// Requests by verdict and answer.
        #[serde(skip_serializing_if = "is_default")]
        measure answers: Answers,
        /// Requests by what says whether it was the crawler.
        #[serde(skip_serializing_if = "is_default")]
        measure verification: ByProof,
        /// Violations by network.
        #[serde(skip_serializing_if = "is_default")]
        measure violation_networks: ViolationNetworks,
        /// Requests with a valid signature of the crawler's own agent.
        #[serde(skip_serializing_if = "is_default")]
        measure signed_days: SignedDays,
        /// Fetches of robots.txt on earlier days, in the report of a night.
        #[serde(skip_serializing_if = "is_default")]
        plain earlier_fetches: Option<Box<EarlierFetches>>,
    }
}

/// Whether the minutes and hours of a crawler's requests are known.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Times {
    /// They are.
    #[default]
    Kept,
    /// They were dropped: they took too much memory, or belong to several origins.
    GivenUp,
}

impl Merge for Times {
    fn absorb(&mut self, other: Times) {
        *self = (*self).max(other);
    }
}

impl CrawlerTally {
    /// Adds requests that [`CrawlerTally::count`] took one by one.
    pub(crate) fn add(&mut self, requests: &RequestsOfKind) {
        self.add_to_measures(requests);
        let RequestsOfKind { kind, requests, .. } = *requests;
        let if_so = |is_so: bool| if is_so { requests } else { 0 };
        self.before_first.absorb(if_so(kind.is_before_first));
        self.unreachable_by_logs.absorb(if_so(kind.is_unreachable_by_logs));
        self.of_other_time.absorb(if_so(kind.answer.is_of_other_time));
    }

    /// Counts what is not the same for all requests of a kind. [`CrawlerTally::add`] counts the rest.
    pub(crate) fn count(&mut self, request: &JudgedRequest<'_>) {
        self.count_measures(request);
        if self.times == Times::Kept && request.changes.is_some() {
            self.count_reactions(request);
        }
    }

    fn count_reactions(&mut self, request: &JudgedRequest<'_>) {
        let reactions = self.reactions.get_or_insert_default();
        let Some((changes, limits)) = request.changes else { return };
        if changes.is_empty() {
            return;
        }
        let record = request.record;
        let is_fetch = request.fetch == Some(FetchAnswer::Read);
        let is_robots_txt = request.fetch.is_some();
        let request = TimedRequest {
            time: record.time,
            path: request.path.as_ref().filter(|_| !is_robots_txt).map(|path| path.as_bytes()),
            is_fetch,
        };
        reactions.count(changes, request, limits);
    }

    /// Whether its counts agree. The file may come from a stranger.
    pub(crate) fn holds(&self) -> bool {
        let (total, span) = (self.total(), self.span);
        let all = AllRequests { total, span, has_times: self.times == Times::Kept };
        total.hold()
            && self.measures_hold(&all)
            && self.signed_days.are_of(&self.days)
            && self.of_other_time <= total.requests
            && self.reactions.as_ref().is_none_or(|reactions| reactions.is_within(total.requests))
    }

    /// The number of time buckets. It never decreases when counts are added; requests before the
    /// first successful fetch, which may decrease, are not included.
    pub(crate) fn time_buckets(&mut self) -> usize {
        let violations: usize = self.violations.values_mut().map(|sum| sum.minutes.len()).sum();
        let paces: usize = self.paces.values_mut().map(|pace| pace.hours.len()).sum();
        let changes = self.reactions.as_ref().map_or(0, |reactions| reactions.time_buckets());
        let fetches = &mut self.robots_fetches;
        let FetchTally { read_200, read_304, unlike, .. } = fetches;
        let fetches = read_200.len()
            + read_304.len()
            + unlike.values_mut().map(|unlike| unlike.minutes.len()).sum::<usize>();
        violations + paces + changes + fetches
    }

    /// Drops the buckets that `time_buckets` counts, and reactions, which need the times of fetches;
    /// everything else stays.
    pub(crate) fn give_up_times(&mut self) {
        self.times = Times::GivenUp;
        self.violations.values_mut().for_each(|sum| sum.minutes = TimeBuckets::default());
        self.paces.values_mut().for_each(|pace| pace.hours = TimeBuckets::default());
        self.robots_fetches.give_up_times();
        self.reactions = None;
    }

    /// The requests that are kept as examples.
    pub(crate) fn examples_mut(&mut self) -> impl Iterator<Item = &mut Example> {
        let broken = self.violations.values_mut().map(|violation| &mut violation.example);
        let changes =
            self.simulated.iter_mut().flat_map(|simulated| simulated.changes.values_mut());
        broken.chain(changes.map(|change| &mut change.example))
    }

    /// The sums of all days.
    pub(crate) fn total(&self) -> Sums {
        sum(self.days.values().copied())
    }

    /// Marks the reactions as partial, if only one of both has some: the other one has requests
    /// that were judged without a history.
    fn mark_partial_reactions(&mut self, other: &mut CrawlerTally) {
        let lacks = |tally: &CrawlerTally| tally.reactions.is_none() && tally.span.is_some();
        if lacks(self) || lacks(other) {
            let both = [&mut self.reactions, &mut other.reactions].into_iter().flatten();
            both.for_each(|reactions| reactions.mark_partial());
        }
    }
}

impl Merge for CrawlerTally {
    fn absorb(&mut self, mut other: CrawlerTally) {
        self.mark_partial_reactions(&mut other);
        self.absorb_each(other);
        // Of either part: what is left of the other one is not all.
        if self.times == Times::GivenUp {
            self.give_up_times();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::source::FileId;
    use crate::judge::verdict::RuleRef;
    use crate::measures::delay_kept::DelayTally;
    use crate::measures::reactions::{ChangeTimes, ReactionTally, RuleChangeTally};
    use crate::measures::sums::Statuses;
    use crate::measures::time_buckets::TimeBuckets;
    use crate::measures::violations::ViolationTally;
    use crate::time::UtcTime;

    /// A crawler that broke one rule in the minutes 5 and 6, under a delay.
    fn tally() -> CrawlerTally {
        let target = Box::from(&b"/a"[..]);
        let file = FileId::from_index(0);
        let example = Example { time: UtcTime::EPOCH, file, line: 1, target, snapshot: None };
        let violation = ViolationTally {
            requests: 2,
            statuses: Statuses::default(),
            bytes: 0,
            span: Span::at(UtcTime::EPOCH),
            minutes: TimeBuckets::of(vec![(5, 1), (6, 1)]),
            example,
            signed: 0,
        };
        let rule = RuleRef { robots: RobotsId(0), line: 2 };
        let hours = TimeBuckets::of(vec![(1, 2)]);
        let pace = DelayTally { requests: 2, hours, ..DelayTally::default() };
        CrawlerTally {
            violations: [(rule, Box::new(violation))].into_iter().collect(),
            paces: [(RobotsId(0), pace)].into_iter().collect(),
            reactions: Some(Box::default()),
            ..CrawlerTally::default()
        }
    }

    #[test]
    fn times_are_given_up_for_good_and_requests_stay() {
        let mut given_up = tally();
        assert_eq!(given_up.time_buckets(), 3);
        given_up.give_up_times();
        assert_eq!(given_up.time_buckets(), 0);
        for order in [[given_up.clone(), tally()], [tally(), given_up]] {
            let mut sum = CrawlerTally::default();
            order.into_iter().for_each(|part| sum.absorb(part));
            assert_eq!((sum.times, sum.time_buckets()), (Times::GivenUp, 0));
            assert!(sum.reactions.is_none());
            let requests: Vec<u64> = sum.violations.values().map(|of| of.requests).collect();
            assert_eq!(requests, [4]);
        }
    }

    /// Requests that were judged without a history may have been before or after a change.
    #[test]
    fn reactions_are_partial_if_other_requests_had_none() {
        let change = RuleChangeTally {
            counted_from: UtcTime::EPOCH,
            until: None,
            is_partial: false,
            fetched: None,
            disallows: true,
            allows: false,
            all_before: 0,
            all: None,
            last: None,
            disallowed: None,
            allowed: None,
        };
        let times = ChangeTimes { after: UtcTime::EPOCH, before: UtcTime::EPOCH };
        let changes = [(times, change)].into_iter().collect();
        let with = CrawlerTally {
            span: Some(Span::at(UtcTime::EPOCH)),
            reactions: Some(Box::new(ReactionTally { changes })),
            ..CrawlerTally::default()
        };
        let without = CrawlerTally { reactions: None, ..with.clone() };
        let nothing = CrawlerTally::default();
        for (other, expected) in [(&without, true), (&nothing, false), (&with, false)] {
            for order in [[&with, other], [other, &with]] {
                let mut sum = order[0].clone();
                sum.absorb(order[1].clone());
                let changes = sum.reactions.unwrap().changes;
                assert_eq!(
                    changes.values().map(|of| of.is_partial).collect::<Vec<_>>(),
                    [expected]
                );
            }
        }
    }
}
