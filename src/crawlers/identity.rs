//! Whether a request came from the crawler that its user agent names.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::{DAY_SECONDS, UtcTime};
use botaudit_robots::named_enum;

use super::crawler::CrawlerId;

/// A crawler and the class of its identity.
pub type Actor = (CrawlerId, Identity);

/// How many days before or after a request a list, or an answer of DNS, may be to contradict its
/// address. Operators add addresses every few weeks, so an older or newer list lacks some that were
/// theirs at the time of the request.
pub(crate) const CONTRADICTING_DAYS: i64 = 14;

named_enum! {
    /// Whether the address of a request confirms its user agent.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Identity {
        /// The operator's ranges or DNS rule contain the address.
        Verified = "verified",
        /// They were loaded completely, are of that time, and contradict it.
        Spoofed = "spoofed",
        /// Nothing is known that would decide.
        Unverified = "unverified",
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The times at which a source of addresses can contradict the address of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ContradictingTimes {
    /// In seconds since the epoch; the first is after the last if there are none.
    first: i64,
    last: i64,
}

impl ContradictingTimes {
    /// Those near the time that the source is of.
    pub(crate) fn near(time: UtcTime) -> ContradictingTimes {
        let (time, distance) = (time.unix_seconds(), CONTRADICTING_DAYS * DAY_SECONDS);
        ContradictingTimes { first: time - distance, last: time + distance }
    }

    /// Those at which each of `sources` can contradict: an address that one list lacks may be on
    /// the others. A source without a time never can.
    pub(crate) fn of_all(sources: impl Iterator<Item = Option<UtcTime>>) -> ContradictingTimes {
        let all = ContradictingTimes { first: i64::MIN, last: i64::MAX };
        let never = ContradictingTimes { first: i64::MAX, last: i64::MIN };
        sources.fold(all, |all, source| {
            let of_source = source.map_or(never, ContradictingTimes::near);
            ContradictingTimes {
                first: all.first.max(of_source.first),
                last: all.last.min(of_source.last),
            }
        })
    }

    /// Whether `time` is one of them.
    pub(crate) fn contain(self, time: UtcTime) -> bool {
        (self.first..=self.last).contains(&time.unix_seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_contradicts_near_its_own_time() {
        let at = |days: i64, seconds: i64| {
            UtcTime::from_unix_seconds(days * DAY_SECONDS + seconds).unwrap()
        };
        let times =
            |sources: &[Option<UtcTime>]| ContradictingTimes::of_all(sources.iter().copied());
        let one = times(&[Some(at(100, 7))]);
        for (time, expected) in [
            (at(86, 6), false),
            (at(86, 7), true),
            (at(100, 0), true),
            (at(114, 7), true),
            (at(114, 8), false),
        ] {
            assert_eq!(one.contain(time), expected, "{time}");
        }
        let two = times(&[Some(at(100, 0)), Some(at(110, 0))]);
        let days: Vec<i64> = (80..140).filter(|&day| two.contain(at(day, 0))).collect();
        assert_eq!((days.first(), days.last()), (Some(&96), Some(&114)));
        let apart = times(&[Some(at(100, 0)), Some(at(129, 0))]);
        assert!((80..150).all(|day| !apart.contain(at(day, 0))));
        assert!((80..150).all(|day| !times(&[Some(at(100, 0)), None]).contain(at(day, 0))));
    }
}
