//! Whether a crawler fetched robots.txt before other requests, and within the 24 hours before them.
//!
//! Lines come in any order, so requests are kept by the minute and resolved at
//! the end; within one minute the successful fetch counts as the earlier. A request that a fetch
//! precedes by at most 24 hours is forgotten: more fetches cannot change that.

use serde::{Deserialize, Serialize};

use crate::judge::verdict::Verdict;
use crate::time::UtcTime;

use super::request::{AllRequests, JudgedRequest, Measure};
use super::sums::{Span, Statuses, is_default};
use super::time_buckets::TimeBuckets;
use crate::merge::{Merge, merge_fields, sum};

/// The robots.txt fetches of a crawler, and its earlier requests.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct FetchTally {
    /// How its requests for robots.txt were answered.
    #[serde(skip_serializing_if = "is_default")]
    pub statuses: Statuses,
    /// When it asked for robots.txt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched: Option<Span>,
    /// Successful fetches: each a GET that was answered 200 or 304.
    #[serde(skip_serializing_if = "is_default")]
    pub successful_fetches: u64,
    /// When it read robots.txt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Span>,
    /// Fetches with the answer 200, by minute.
    #[serde(skip_serializing_if = "TimeBuckets::is_empty")]
    pub read_200: TimeBuckets,
    /// Fetches with the answer 304, by minute.
    #[serde(skip_serializing_if = "TimeBuckets::is_empty")]
    pub read_304: TimeBuckets,
    /// Other requests by minute, without a successful fetch in the 24 hours before that is known so
    /// far: at most 1,440 minutes per day. Without times, only those before the first fetch.
    #[serde(alias = "waiting", skip_serializing_if = "TimeBuckets::is_empty")]
    pub stale: TimeBuckets,
}

/// How old a copy of robots.txt may be, in minutes (RFC 9309 section 2.4).
const FRESH_MINUTES: i64 = 24 * 60;

/// Whether a request for robots.txt was successful.
pub(crate) fn is_successful_fetch(method: &[u8], status: u16) -> bool {
    method == b"GET" && matches!(status, 200 | 304)
}

impl FetchTally {
    /// Counts a request for robots.txt.
    pub(crate) fn count_fetch(&mut self, time: UtcTime, method: &[u8], status: u16) {
        self.statuses.count(status);
        self.fetched.absorb(Some(Span::at(time)));
        if !is_successful_fetch(method, status) {
            return;
        }
        let answered = if status == 200 { &mut self.read_200 } else { &mut self.read_304 };
        answered.add(time.unix_minute(), 1);
        self.successful_fetches += 1;
        self.read.absorb(Some(Span::at(time)));
    }

    /// Counts another request.
    pub(crate) fn count_other(&mut self, time: UtcTime) {
        let minute = time.unix_minute();
        // Most logs are in order, so that this is the last fetch before.
        let is_fresh =
            |read: Span| (0..=FRESH_MINUTES).contains(&(minute - read.last.unix_minute()));
        if !self.read.is_some_and(is_fresh) {
            self.stale.add(minute, 1);
        }
    }

    /// Other requests in minutes before the first successful fetch; all of them if there was none.
    pub(crate) fn requests_before_first_fetch(&self) -> u64 {
        let is_before =
            |minute: i64| self.read.is_none_or(|read| minute < read.first.unix_minute());
        sum(self.stale.buckets().take_while(|(minute, _)| is_before(*minute)).map(|of| of.1))
    }

    /// Other requests whose last successful fetch was more than 24 hours before.
    pub(crate) fn requests_on_old_copy(&self) -> u64 {
        self.stale.total().saturating_sub(self.requests_before_first_fetch())
    }

    /// Successful fetches by minute.
    pub(crate) fn fetches(&self) -> TimeBuckets {
        let mut fetches = self.read_200.clone();
        fetches.absorb(self.read_304.clone());
        fetches
    }

    /// Forgets the minutes of fetches, and what cannot be known without them.
    pub(crate) fn give_up_times(&mut self) {
        self.read_200 = TimeBuckets::default();
        self.read_304 = TimeBuckets::default();
        self.read.iter().for_each(|read| self.stale.forget_from(read.first.unix_minute()));
    }

    /// Forgets requests with a fetch in the 24 hours before.
    pub(crate) fn settle(&mut self) {
        let fetches = self.fetches();
        let mut fetches = fetches.buckets().map(|(minute, _)| minute).peekable();
        let mut last = None;
        let is_stale = |(minute, _): &(i64, u64)| {
            while let Some(fetched) = fetches.next_if(|fetched| fetched <= minute) {
                last = Some(fetched);
            }
            last.is_none_or(|last| minute.saturating_sub(last) > FRESH_MINUTES)
        };
        let stale = self.stale.buckets().filter(is_stale).collect();
        self.stale = TimeBuckets::of(stale);
    }

    /// Whether the parts agree, for this number of other requests.
    fn agrees(&self, other_requests: u64, has_times: bool) -> bool {
        let total = |of: &TimeBuckets| {
            of.buckets().try_fold(0u64, |total, (_, count)| total.checked_add(count))
        };
        let read = total(&self.read_200).zip(total(&self.read_304));
        let read = read.and_then(|(full, unchanged)| full.checked_add(unchanged));
        total(&self.stale).is_some_and(|stale| stale <= other_requests)
            && (!has_times || read == Some(self.successful_fetches))
            && self.successful_fetches <= self.statuses.total()
            && self.read.is_some() == (self.successful_fetches > 0)
    }
}

merge_fields!(
    FetchTally { statuses, fetched, successful_fetches, read, read_200, read_304, stale },
    settle
);

impl Measure for FetchTally {
    fn count(&mut self, request: &JudgedRequest<'_>) {
        let record = request.record;
        match request.dated.verdict {
            Verdict::RobotsTxt => self.count_fetch(record.time, record.method, record.status),
            _ => self.count_other(record.time),
        }
    }

    fn holds(&self, all: &AllRequests) -> bool {
        let fetches = all.total.robots_txt_requests;
        self.statuses.total() == fetches && self.agrees(all.total.requests - fetches, all.has_times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64, second: i64) -> UtcTime {
        UtcTime::from_unix_seconds(minute * 60 + second).unwrap()
    }

    /// `r` is a fetch and `x` another request, each in its minute; a cut splits them between
    /// workers.
    #[track_caller]
    fn check(events: &[(char, i64)], expected_before: u64) {
        for cut in 0..=events.len() {
            let mut tallies = [&events[..cut], &events[cut..]].map(|events| {
                let mut tally = FetchTally::default();
                for &(kind, minute) in events {
                    match kind {
                        'r' => tally.count_fetch(at(minute, 30), b"GET", 200),
                        _ => tally.count_other(at(minute, 10)),
                    }
                }
                tally
            });
            let [left, right] = &mut tallies;
            left.absorb(std::mem::take(right));
            assert_eq!(
                left.requests_before_first_fetch(),
                expected_before,
                "{events:?} cut at {cut}"
            );
        }
    }

    #[test]
    fn requests_before_the_first_fetch_are_found_in_any_order() {
        check(&[('x', 1), ('x', 2), ('r', 3), ('x', 3), ('x', 4)], 2);
        check(&[('x', 4), ('r', 3), ('x', 2), ('r', 9), ('x', 1)], 2);
        check(&[('r', 9), ('x', 4), ('r', 3), ('x', 3)], 0);
        check(&[('x', 4), ('x', 5)], 2);
    }

    #[test]
    fn only_an_answered_get_is_a_successful_fetch() {
        let mut tally = FetchTally::default();
        tally.count_fetch(at(1, 0), b"HEAD", 200);
        tally.count_fetch(at(1, 0), b"GET", 404);
        assert_eq!((tally.successful_fetches, tally.statuses.total()), (0, 2));
        tally.count_fetch(at(2, 0), b"GET", 304);
        assert_eq!((tally.successful_fetches, tally.read), (1, Some(Span::at(at(2, 0)))));
    }
}
