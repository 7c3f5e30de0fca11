//! Whether a crawler fetched robots.txt before other requests.
//!
//! Lines come in any order, so requests are kept by the minute and resolved at
//! the end; within one minute the successful fetch counts as the earlier.

use serde::{Deserialize, Serialize};

use crate::time::UtcTime;

use super::sums::{Span, Statuses, is_default};
use super::time_buckets::TimeBuckets;
use crate::merge::{Merge, merge_fields};

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
    /// Other requests by minute, before the first successful fetch known so far: at most 1,440
    /// minutes per day.
    #[serde(skip_serializing_if = "TimeBuckets::is_empty")]
    pub waiting: TimeBuckets,
}

/// Whether a request for robots.txt was successful.
pub fn is_successful_fetch(method: &[u8], status: u16) -> bool {
    method == b"GET" && matches!(status, 200 | 304)
}

impl FetchTally {
    /// Counts a request for robots.txt.
    pub fn count_fetch(&mut self, time: UtcTime, method: &[u8], status: u16) {
        self.statuses.count(status);
        self.fetched.absorb(Some(Span::at(time)));
        if !is_successful_fetch(method, status) {
            return;
        }
        let answered = if status == 200 { &mut self.read_200 } else { &mut self.read_304 };
        answered.add(time.unix_minute(), 1);
        self.successful_fetches += 1;
        let is_first = self.is_before_first_fetch(time.unix_minute());
        self.read.absorb(Some(Span::at(time)));
        if is_first {
            self.forget_later_requests();
        }
    }

    /// Counts another request.
    pub fn count_other(&mut self, time: UtcTime) {
        if self.is_before_first_fetch(time.unix_minute()) {
            self.waiting.add(time.unix_minute(), 1);
        }
    }

    /// Other requests in minutes before the first successful fetch; all of them if there was none.
    pub fn requests_before_first_fetch(&self) -> u64 {
        self.waiting.total()
    }

    fn is_before_first_fetch(&self, minute: i64) -> bool {
        self.read.is_none_or(|read| minute < read.first.unix_minute())
    }

    /// Another worker's earlier successful fetch can only take more away, so nothing is lost.
    fn forget_later_requests(&mut self) {
        if let Some(read) = self.read {
            self.waiting.forget_from(read.first.unix_minute());
        }
    }
}

merge_fields!(
    FetchTally { statuses, fetched, successful_fetches, read, read_200, read_304, waiting },
    forget_later_requests
);

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
