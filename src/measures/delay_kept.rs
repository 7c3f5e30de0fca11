//! The pace of a crawler's requests, compared with its Crawl-delay.
//!
//! Requests are counted by the hour, so that the order of lines cannot matter. The result is a
//! lower bound: a crawler that waits `d` seconds between requests can make at most `3600 / d` in an
//! hour, rounded up. Requests beyond that certainly broke the delay.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::judge::robots::RobotsId;
use crate::merge::{Merge, merge_fields, sum};
use crate::time::UtcTime;

use super::request::{JudgedRequest, Measure};
use super::sums::{Compliance, is_default};
use super::{renumbering::Renumbering, short_map::ShortMap, time_buckets::TimeBuckets};

const HOUR_SECONDS: i64 = 3600;
const DAY_HOURS: i64 = 24;

/// The requests of one crawler under a version of a robots.txt with a Crawl-delay for it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct DelayTally {
    /// The number, without requests for robots.txt and those without a path.
    pub requests: u64,
    /// The requests by hour since the epoch.
    pub hours: TimeBuckets,
    /// Times between requests of one client, if sessions are counted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gaps: Compliance,
}

impl DelayTally {
    /// Counts one request.
    pub(crate) fn count(&mut self, time: UtcTime) {
        self.requests += 1;
        self.hours.add(time.unix_seconds().div_euclid(HOUR_SECONDS), 1);
    }
}

merge_fields!(DelayTally { requests, hours, gaps });

/// By the version of a robots.txt with a Crawl-delay for the crawler.
pub(crate) type Paces = ShortMap<RobotsId, DelayTally>;

impl Measure for Paces {
    #[inline]
    fn count(&mut self, request: &JudgedRequest<'_>) {
        if let Some(robots) = request.robots().filter(|_| request.has_delay) {
            self.entry(robots.id).count(request.record.time);
        }
    }

    fn quoted_robots(&self, quote: &mut dyn FnMut(RobotsId)) {
        self.iter().for_each(|(robots, _)| quote(*robots));
    }

    fn renumbered(self, numbers: &Renumbering) -> Result<Paces> {
        let paces = self.into_iter();
        paces.map(|(robots, pace)| Ok((numbers.version(robots)?, pace))).collect()
    }
}

/// How requests compare with a delay.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DelayKept {
    /// The comparison by hour; `None` if the delay sets no limit.
    pub hourly: Option<Excess>,
    /// The comparison by day, in UTC.
    pub daily: Option<Excess>,
    /// The hour with the most requests, the earliest of equal ones; `None` without requests.
    pub busiest: Option<Busiest>,
}

/// Requests beyond what a delay allows.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Excess {
    /// The most requests that keep the delay, in one hour or day.
    pub allowed: u64,
    /// Requests beyond that, of all hours or days.
    pub requests_over: u64,
    /// Hours or days that have such requests.
    pub periods_over: u64,
}

/// The hour with most requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Busiest {
    /// Its start; `None` if a calendar cannot express it.
    pub start: Option<UtcTime>,
    /// How many requests it had.
    pub requests: u64,
}

impl DelayKept {
    /// Compares requests by `hours` with a delay. `None` and 0 set no limit.
    pub(crate) fn new(hours: &TimeBuckets, delay_milliseconds: Option<u64>) -> DelayKept {
        let hours: Vec<(i64, u64)> = hours.buckets().collect();
        let busiest = hours.iter().copied().rev().max_by_key(|&(_, requests)| requests);
        let excess = |period_hours: i64| {
            let delay = delay_milliseconds.filter(|&delay| delay > 0)?;
            let milliseconds = (period_hours * HOUR_SECONDS).unsigned_abs() * 1000;
            let mut excess = Excess { allowed: milliseconds.div_ceil(delay), ..Excess::default() };
            for period in hours.chunk_by(|left, right| {
                left.0.div_euclid(period_hours) == right.0.div_euclid(period_hours)
            }) {
                let requests: u64 = sum(period.iter().map(|&(_, requests)| requests));
                let over = requests.saturating_sub(excess.allowed);
                excess.requests_over.absorb(over);
                excess.periods_over += u64::from(over > 0);
            }
            Some(excess)
        };
        DelayKept {
            hourly: excess(1),
            daily: excess(DAY_HOURS),
            busiest: busiest.map(|(hour, requests)| Busiest {
                start: UtcTime::from_unix_seconds(hour.saturating_mul(HOUR_SECONDS)),
                requests,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::Merge;

    fn excess(allowed: u64, requests_over: u64, periods_over: u64) -> Option<Excess> {
        Some(Excess { allowed, requests_over, periods_over })
    }

    /// `requests` at seconds; counted in both orders and in two parts.
    #[track_caller]
    fn check(
        seconds: &[i64],
        delay: Option<u64>,
        hourly: Option<Excess>,
        daily: Option<Excess>,
        busiest: Option<(i64, u64)>,
    ) {
        let time = |second: i64| UtcTime::from_unix_seconds(second).unwrap();
        let tally = |seconds: &mut dyn Iterator<Item = &i64>| {
            let mut tally = DelayTally::default();
            seconds.for_each(|&second| tally.count(time(second)));
            tally
        };
        let (left, right) = seconds.split_at(seconds.len() / 3);
        let mut parts = tally(&mut right.iter().rev());
        parts.absorb(tally(&mut left.iter()));
        assert_eq!(parts.requests, seconds.len() as u64);
        let busiest =
            busiest.map(|(start, requests)| Busiest { start: Some(time(start)), requests });
        let expected = DelayKept { hourly, daily, busiest };
        for tally in [tally(&mut seconds.iter()), tally(&mut seconds.iter().rev()), parts] {
            assert_eq!(DelayKept::new(&tally.hours, delay), expected);
        }
    }

    #[test]
    fn only_what_cannot_have_kept_the_delay_is_over() {
        // Every ten seconds for an hour is 360 requests, and all of them keep it.
        let steady: Vec<i64> = (0..360).map(|at| 7_200 + at * 10).collect();
        check(&steady, Some(10_000), excess(360, 0, 0), excess(8_640, 0, 0), Some((7_200, 360)));
        check(&steady, Some(20_000), excess(180, 180, 1), excess(4_320, 0, 0), Some((7_200, 360)));
        // 3600 / 7 is 514.3: the first request of an hour may come immediately.
        check(&steady, Some(7_000), excess(515, 0, 0), excess(12_343, 0, 0), Some((7_200, 360)));
        check(&steady, Some(500), excess(7_200, 0, 0), excess(172_800, 0, 0), Some((7_200, 360)));
    }

    #[test]
    fn hours_and_days_are_distinguished_also_before_the_epoch() {
        let seconds = [-1, -2, -3, 0, 1, 3_600, 86_400];
        let busiest = Some((-3_600, 3));
        check(&seconds, Some(3_600_000), excess(1, 3, 2), excess(24, 0, 0), busiest);
        check(&seconds, Some(86_400_000), excess(1, 3, 2), excess(1, 4, 2), busiest);
        check(&seconds, Some(u64::MAX), excess(1, 3, 2), excess(1, 4, 2), busiest);
    }

    #[test]
    fn no_limit_and_no_requests() {
        check(&[5, 6], None, None, None, Some((0, 2)));
        check(&[5, 3_700], Some(0), None, None, Some((0, 1)));
        check(&[], Some(1_000), excess(3_600, 0, 0), excess(86_400, 0, 0), None);
    }
}
