//! Requests of clients that the registry does not name, by day.
//!
//! Known crawlers and tools have rows of their own. These are all the others, so that both together
//! are all lines that were read. Paths of browsers, and of clients without a user agent, are judged
//! on a sample, which their lines alone choose: neither order, threads nor merging matter.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::crawlers::identity::Proof;
use crate::judge::verdict::Verdict;
use crate::merge::{Merge, merge_fields, sum};
use crate::time::Day;

use super::sums::{Sums, is_default};
use super::{days::ByDay, request::Measure, request_kind::RequestsOfKind, short_map::ShortMap};

/// The most days that are kept, ten years; requests of earlier days are undated.
const DAYS_MAX: usize = 3_660;

/// Clients that the registry does not name.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct ClientTally {
    /// Automated clients, without the next ones.
    #[serde(skip_serializing_if = "is_default")]
    pub automated: ByLastDays<Sampled>,
    /// Clients without a user agent.
    #[serde(skip_serializing_if = "is_default")]
    pub no_user_agent: ByLastDays<Sampled>,
    /// Browsers and apps, without the next ones.
    #[serde(skip_serializing_if = "is_default")]
    pub browsers: ByLastDays<Sampled>,
    /// User agents of browsers, or none, from addresses on a list of this operator's crawlers.
    #[serde(skip_serializing_if = "is_default")]
    pub disguised: BTreeMap<String, ByLastDays<Sampled>>,
    /// User agents of browsers, or none, with a valid signature of this operator's agent.
    #[serde(skip_serializing_if = "is_default")]
    pub signed: BTreeMap<String, ByLastDays<Sampled>>,
}

merge_fields!(ClientTally { automated, no_user_agent, browsers, disguised, signed });

impl ClientTally {
    /// All requests.
    pub(crate) fn requests(&self) -> u64 {
        sum(self.parts().map(|days| days.total().requests))
    }

    fn parts(&self) -> impl Iterator<Item = &ByLastDays<Sampled>> {
        let ClientTally { automated, no_user_agent, browsers, disguised, signed } = self;
        let of_operators = disguised.values().chain(signed.values());
        [automated, no_user_agent, browsers].into_iter().chain(of_operators)
    }

    /// Whether its counts can be. The file may come from a stranger.
    pub(crate) fn holds(&self) -> bool {
        self.parts().all(|days| days.parts().all(|(_, sampled)| sampled.holds()))
    }
}

/// Requests of a known crawler with a valid signature of its own agent, by day.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SignedDays(ShortMap<Day, Sums>);

impl SignedDays {
    /// Those of `day`.
    pub(crate) fn of(&self, day: Day) -> Sums {
        self.0.get(&day).copied().unwrap_or_default()
    }

    /// Whether all of them are among the requests of `days`.
    pub(crate) fn are_of(&self, days: &ByDay) -> bool {
        self.0.iter().all(|(day, signed)| {
            let all = days.get(day).copied().unwrap_or_default();
            signed.hold() && signed.counts().iter().zip(all.counts()).all(|(of, all)| *of <= all)
        })
    }
}

impl Merge for SignedDays {
    fn absorb(&mut self, other: SignedDays) {
        self.0.absorb(other.0);
    }
}

impl Measure for SignedDays {
    fn add(&mut self, of_kind: &RequestsOfKind) {
        let RequestsOfKind { kind, requests, bytes, .. } = *of_kind;
        if kind.answer.proof == Some(Proof::Signature) {
            self.0.entry(kind.day).add(kind.verdict, requests, bytes);
        }
    }
}

/// Requests, of which some were judged.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Sampled {
    /// All of them.
    pub requests: u64,
    /// Those that were judged, by the decision of the groups of their declared name, or else of the `*` groups.
    #[serde(default, skip_serializing_if = "is_default")]
    pub judged: Sums,
}

merge_fields!(Sampled { requests, judged });

impl Sampled {
    /// One request that was judged.
    pub(crate) fn of_judged(verdict: Verdict, bytes: u64) -> Sampled {
        let mut judged = Sums::default();
        judged.count(verdict, bytes);
        Sampled { requests: 1, judged }
    }

    fn holds(&self) -> bool {
        self.judged.hold() && self.judged.requests <= self.requests
    }
}

/// Requests for paths that robots.txt allows or disallows, of a sample of the browsers at one origin.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct SampledPaths {
    /// All of them.
    pub requests: u64,
    /// Those that the `*` groups disallow.
    pub disallowed: u64,
}

merge_fields!(SampledPaths { requests, disallowed });

impl SampledPaths {
    /// Counts one request.
    pub(crate) fn count(&mut self, verdict: Verdict) {
        let is_disallowed = matches!(verdict, Verdict::Violation(_));
        let is_allowed = matches!(verdict, Verdict::Allowed(_) | Verdict::AllowedIgnoringStar(_));
        self.requests += u64::from(is_allowed || is_disallowed);
        self.disallowed += u64::from(is_disallowed);
    }

    /// Whether the counts can be.
    pub(crate) fn holds(self) -> bool {
        self.disallowed <= self.requests
    }
}

/// Sums of the last days, and of all requests that have no such day.
///
/// The set of days alone decides which ones stay, so that two of them merge exactly: a day that one
/// of them dropped has enough later ones after it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct ByLastDays<T> {
    days: BTreeMap<Day, T>,
    undated: T,
}

impl<T: Default> Default for ByLastDays<T> {
    fn default() -> ByLastDays<T> {
        ByLastDays { days: BTreeMap::new(), undated: T::default() }
    }
}

impl<T: Copy + Default + Merge> ByLastDays<T> {
    /// Adds `value` to the sum of `day`; without one, it is undated.
    pub(crate) fn add(&mut self, day: Option<Day>, value: T) {
        match day {
            None => self.undated.absorb(value),
            Some(day) => {
                self.days.entry(day).or_default().absorb(value);
                self.give_up_the_first();
            }
        }
    }

    /// Each day, in order, and then what is undated.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Option<Day>, T)> {
        let days = self.days.iter().map(|(day, value)| (Some(*day), *value));
        days.chain([(None, self.undated)])
    }

    /// The sum of all.
    pub(crate) fn total(&self) -> T {
        sum(self.parts().map(|(_, value)| value))
    }

    fn give_up_the_first(&mut self) {
        while self.days.len() > DAYS_MAX
            && let Some((_, value)) = self.days.pop_first()
        {
            self.undated.absorb(value);
        }
    }
}

impl<T: Copy + Default + Merge> Merge for ByLastDays<T> {
    fn absorb(&mut self, other: ByLastDays<T>) {
        let ByLastDays { days, undated } = other;
        self.days.absorb(days);
        self.undated.absorb(undated);
        self.give_up_the_first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::UtcTime;

    fn day(number: i64) -> Day {
        let time = UtcTime::from_unix_seconds(number * 86_400).unwrap();
        crate::time::Zone::UTC.day_of(time)
    }

    fn of(days: impl Iterator<Item = i64>) -> ByLastDays<u64> {
        let mut sums = ByLastDays::default();
        days.for_each(|number| sums.add(Some(day(number)), 1));
        sums
    }

    /// In whatever order and parts they come.
    #[test]
    fn the_last_days_stay_and_nothing_is_lost() {
        let max = DAYS_MAX as i64;
        let all = of(0..max + 5);
        assert_eq!((all.days.len(), all.undated, all.total()), (DAYS_MAX, 5, max as u64 + 5));
        assert_eq!(all.days.first_key_value(), Some((&day(5), &1)));
        assert_eq!(of((0..max + 5).rev()), all);
        let mut parts = [of(3..max + 5), of(0..3)];
        for _ in 0..2 {
            let [mut left, right] = parts.clone();
            left.absorb(right);
            assert_eq!(left, all);
            parts.reverse();
        }
    }

    #[test]
    fn only_paths_with_a_decision_are_a_sample() {
        let rule = crate::judge::verdict::RuleRef::on_line(1);
        let mut paths = SampledPaths::default();
        for verdict in [
            Verdict::Allowed(None),
            Verdict::Violation(rule),
            Verdict::Grace(rule),
            Verdict::RobotsTxt,
            Verdict::Unknown,
            Verdict::Unreachable,
            Verdict::NoPath,
        ] {
            paths.count(verdict);
        }
        assert_eq!(paths, SampledPaths { requests: 2, disallowed: 1 });
        assert!(paths.holds() && !SampledPaths { requests: 1, disallowed: 2 }.holds());
    }

    #[test]
    fn signed_requests_are_among_those_of_their_day() {
        let allowed = |requests| Sums { requests, allowed: requests, ..Sums::default() };
        let days: ByDay = [(day(1), allowed(2)), (day(3), allowed(1))].into_iter().collect();
        for (signed, expected) in [
            (&[][..], true),
            (&[(day(1), allowed(2))], true),
            (&[(day(1), allowed(1)), (day(3), allowed(1))], true),
            (&[(day(1), allowed(3))], false),
            (&[(day(2), allowed(1))], false),
            (&[(day(1), Sums { requests: 1, grace: 1, ..Sums::default() })], false),
            (&[(day(1), Sums { requests: 1, ..Sums::default() })], false),
        ] {
            let signed = SignedDays(signed.iter().copied().collect());
            assert_eq!(signed.are_of(&days), expected, "{signed:?}");
        }
    }

    /// The file may come from a stranger.
    #[test]
    fn sums_that_cannot_be_are_noticed() {
        let mut tally = ClientTally::default();
        tally.browsers.add(None, Sampled { requests: 64, judged: Sums::default() });
        tally
            .disguised
            .entry("Example".to_owned())
            .or_default()
            .add(Some(day(1)), Sampled::of_judged(Verdict::Allowed(None), 7));
        assert!(tally.holds());
        assert_eq!(tally.requests(), 65);
        let mut damaged = tally.clone();
        damaged.signed.insert("Example".to_owned(), ByLastDays::default());
        let signed = damaged.signed.get_mut("Example").unwrap();
        signed.add(None, Sampled::of_judged(Verdict::NoPath, 0));
        assert!(damaged.holds() && damaged.requests() == 66);
        let signed = damaged.signed.get_mut("Example").unwrap();
        signed.add(None, Sampled { judged: Sums { grace: 1, ..Sums::default() }, requests: 0 });
        assert!(!damaged.holds(), "a verdict without a request");
        let mut damaged = tally.clone();
        damaged.automated.add(
            None,
            Sampled { judged: Sums { requests: 1, allowed: 1, ..Sums::default() }, requests: 0 },
        );
        assert!(!damaged.holds(), "more were judged than there are");
        let mut damaged = tally;
        damaged
            .no_user_agent
            .add(None, Sampled { requests: 9, judged: Sums { requests: 1, ..Sums::default() } });
        assert!(!damaged.holds(), "a request without a verdict");
    }
}
