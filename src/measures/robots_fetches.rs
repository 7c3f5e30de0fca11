//! Whether a crawler fetched robots.txt before other requests, and within the 24 hours before them.
//!
//! Lines come in any order, so requests are kept by the minute and resolved at
//! the end; within one minute the successful fetch counts as the earlier. A request that a fetch
//! precedes by at most 24 hours is forgotten: more fetches cannot change that.

use serde::{Deserialize, Serialize};

use crate::judge::answer_size::SizeClass;
use crate::merge::{Merge, merge_fields, sum};
use crate::time::UtcTime;

use super::request::{AllRequests, JudgedRequest, Measure};
use super::sums::{Span, Statuses, is_default};
use super::{fetch_answer::FetchAnswer, short_map::ShortMap, time_buckets::TimeBuckets};

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
    /// GET requests with an answer that is not robots.txt, but a challenge: status 202, or a size that no
    /// copy of that time has.
    #[serde(skip_serializing_if = "is_default")]
    pub altered: u64,
    /// GET requests with a temporary redirect.
    #[serde(skip_serializing_if = "is_default")]
    pub redirected: u64,
    /// Fetches with the answer 200 whose size the known file cannot have, which may be of another time.
    #[serde(skip_serializing_if = "ShortMap::is_empty")]
    pub(crate) unlike: UnlikeBySize,
    /// Other requests by minute, without a successful fetch in the 24 hours before that is known so
    /// far: at most 1,440 minutes per day. Without times, only those before the first fetch.
    #[serde(alias = "waiting", skip_serializing_if = "TimeBuckets::is_empty")]
    pub stale: TimeBuckets,
}

/// Fetches that may have been successful, by the size of the answer: at most 64 entries.
pub(crate) type UnlikeBySize = ShortMap<SizeClass, UnlikeFetches>;

/// Fetches that may have been successful.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct UnlikeFetches {
    /// How many there are.
    pub count: u64,
    /// When they were made.
    pub span: Option<Span>,
    /// Their minutes.
    pub minutes: TimeBuckets,
}

merge_fields!(UnlikeFetches { count, span, minutes });

/// How old a copy of robots.txt may be, in minutes (RFC 9309 section 2.4).
const FRESH_MINUTES: i64 = 24 * 60;

impl FetchTally {
    /// Counts a request for robots.txt.
    pub(crate) fn count_fetch(&mut self, time: UtcTime, status: u16, answer: FetchAnswer) {
        let (at, minute) = (Some(Span::at(time)), time.unix_minute());
        self.statuses.count(status);
        self.fetched.absorb(at);
        match answer {
            FetchAnswer::Read => {
                let answered = if status == 200 { &mut self.read_200 } else { &mut self.read_304 };
                answered.add(minute, 1);
                self.successful_fetches += 1;
                self.read.absorb(at);
            }
            FetchAnswer::Altered => self.altered += 1,
            FetchAnswer::Redirected => self.redirected += 1,
            FetchAnswer::Unlike(size) => {
                let unlike = self.unlike.entry(size);
                unlike.count += 1;
                unlike.span.absorb(at);
                unlike.minutes.add(minute, 1);
            }
            FetchAnswer::Failed => {}
        }
    }

    /// Counts another request.
    #[inline]
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
        self.unlike.values_mut().for_each(|unlike| unlike.minutes = TimeBuckets::default());
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

    /// Takes fetches with an answer unlike the known file, but near the `usual` size, for successful ones,
    /// because that file is of another time.
    fn accept_unlike(&mut self, usual: SizeClass, has_times: bool) {
        for (size, unlike) in std::mem::take(&mut self.unlike) {
            let UnlikeFetches { count, span, minutes } = unlike;
            if size.is_near(usual) {
                self.successful_fetches.absorb(count);
                self.read.absorb(span);
                self.read_200.absorb(minutes);
            } else {
                self.altered.absorb(count);
            }
        }
        match self.read {
            Some(_) if has_times => self.settle(),
            Some(read) => self.stale.forget_from(read.first.unix_minute()),
            None => {}
        }
    }

    /// Fetches with an answer unlike the known file.
    fn unlike_total(&self) -> u64 {
        sum(self.unlike.iter().map(|(_, unlike)| unlike.count))
    }

    /// Whether the parts agree, for this number of other requests.
    fn agrees(&self, other_requests: u64, has_times: bool) -> bool {
        let total = |of: &TimeBuckets| {
            of.buckets().try_fold(0u64, |total, (_, count)| total.checked_add(count))
        };
        let read = total(&self.read_200).zip(total(&self.read_304));
        let read = read.and_then(|(full, unchanged)| full.checked_add(unchanged));
        let unlike = self.unlike_total();
        let others = [unlike, self.altered, self.redirected].into_iter();
        let unlike_agree = self.unlike.iter().all(|(_, UnlikeFetches { count, span, minutes })| {
            *count > 0 && span.is_some() && (!has_times || total(minutes) == Some(*count))
        });
        let answered = others.fold(self.successful_fetches, u64::saturating_add);
        total(&self.stale).is_some_and(|stale| stale <= other_requests)
            && (!has_times || read == Some(self.successful_fetches))
            && unlike_agree
            && answered <= self.statuses.total()
            && self.read.is_some() == (self.successful_fetches > 0)
    }
}

/// Decides what the doubtful answers were to all who asked for the robots.txt of one origin; each tally comes
/// with whether its times are known. If the known file has not the size of most answers, it is of another time,
/// and the most usual size is that of the file. Where most answers are robots.txt, temporary redirects lead elsewhere.
pub(crate) fn settle_answers(tallies: &mut [(&mut FetchTally, bool)]) {
    let all = |of: fn(&FetchTally) -> u64| sum(tallies.iter().map(|(tally, _)| of(tally)));
    let (read, unlike) = (all(|of| of.successful_fetches), all(FetchTally::unlike_total));
    let redirected = all(|of| of.redirected);
    let usual = most_usual(tallies.iter().map(|(tally, _)| &**tally)).filter(|_| unlike > read);
    for (tally, has_times) in tallies {
        if let Some(usual) = usual {
            tally.accept_unlike(usual, *has_times);
        }
        tally.altered.absorb(tally.unlike_total());
        tally.unlike = ShortMap::default();
        if read.saturating_add(unlike) > redirected {
            tally.altered.absorb(std::mem::take(&mut tally.redirected));
        }
    }
}

/// The size of most answers unlike the known file; of sizes that are equally usual the smaller one, because
/// pages of gates are mostly larger than robots.txt.
fn most_usual<'a>(tallies: impl Iterator<Item = &'a FetchTally>) -> Option<SizeClass> {
    let mut counts: ShortMap<SizeClass, u64> = ShortMap::default();
    for (size, unlike) in tallies.flat_map(|tally| tally.unlike.iter()) {
        counts.entry(*size).absorb(unlike.count);
    }
    let largest = counts.iter().rev().max_by_key(|(_, count)| **count);
    largest.map(|(size, _)| *size)
}

merge_fields!(
    FetchTally {
        statuses,
        fetched,
        successful_fetches,
        read,
        read_200,
        read_304,
        altered,
        redirected,
        unlike,
        stale,
    },
    settle
);

impl Measure for FetchTally {
    #[inline]
    fn count(&mut self, request: &JudgedRequest<'_>) {
        let record = request.record;
        match request.fetch {
            Some(answer) => self.count_fetch(record.time, record.status, answer),
            None => self.count_other(record.time),
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
    use crate::judge::answer_size::SizeComparison;

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
                        'r' => tally.count_fetch(at(minute, 30), 200, FetchAnswer::Read),
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

    /// A copy may be used for 24 hours, and not a minute longer, in whatever order the lines come.
    #[test]
    fn a_copy_of_24_hours_is_not_old() {
        for (minute, expected) in [(1_441, 0), (1_442, 1)] {
            for is_fetch_first in [true, false] {
                let mut tally = FetchTally::default();
                let fetch = |tally: &mut FetchTally| {
                    tally.count_fetch(at(1, 0), 200, FetchAnswer::Read);
                };
                if is_fetch_first {
                    fetch(&mut tally);
                    tally.count_other(at(minute, 0));
                } else {
                    tally.count_other(at(minute, 0));
                    fetch(&mut tally);
                }
                tally.settle();
                assert_eq!(tally.requests_on_old_copy(), expected, "{minute} {is_fetch_first}");
            }
        }
    }

    /// The file may come from a stranger.
    #[test]
    fn fetches_unlike_the_file_have_a_number_and_times() {
        let mut tally = FetchTally::default();
        let size = SizeClass::of(9);
        for minute in [1, 2] {
            tally.count_fetch(at(minute, 0), 200, FetchAnswer::Unlike(size));
        }
        assert!(tally.agrees(0, true));
        type Damage = fn(&mut UnlikeFetches);
        let damages: [Damage; 4] = [
            |unlike| *unlike = UnlikeFetches { span: unlike.span, ..UnlikeFetches::default() },
            |unlike| unlike.span = None,
            |unlike| unlike.count = 1,
            |unlike| unlike.minutes = TimeBuckets::default(),
        ];
        for (number, damage) in damages.iter().enumerate() {
            let mut damaged = tally.clone();
            damage(damaged.unlike.entry(size));
            assert!(!damaged.agrees(0, true), "{number}");
        }
        tally.give_up_times();
        assert!(tally.agrees(0, false));
    }

    #[test]
    fn only_an_answered_get_is_a_successful_fetch() {
        let mut tally = FetchTally::default();
        let fits = || SizeComparison::Fits;
        let mut count = |minute, method, status| {
            tally.count_fetch(at(minute, 0), status, FetchAnswer::of(method, status, fits));
        };
        count(1, b"HEAD", 200);
        count(1, b"GET", 404);
        count(2, b"GET", 304);
        assert_eq!((tally.successful_fetches, tally.statuses.total()), (1, 3));
        assert_eq!(tally.read, Some(Span::at(at(2, 0))));
    }
}
