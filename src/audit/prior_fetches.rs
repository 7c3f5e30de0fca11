//! Who had read robots.txt before a violation, and how long before.
//!
//! For each violation the question is asked of the crawler itself first, then
//! of the other crawlers of its operator, who may share copies. Only readings of
//! the same origin and of the same identity class count: a spoofed crawler knows
//! nothing of what its namesake has read, and nobody shares with it. All is
//! resolved by the minute, after everything is merged; within one minute the
//! reading counts as earlier.

use crate::crawlers::crawler::{Crawler, CrawlerId};
use crate::crawlers::identity::Identity;

use super::tally::crawler_tally::{Actor, CrawlerTally, Times};
use super::{robots_fetches::FetchTally, time_buckets::TimeBuckets};
use crate::merge::merge_fields;

/// Violations by who had read robots.txt before: each is one of the first four.
#[derive(Clone, Debug, Default)]
pub struct Awareness {
    /// The crawler itself had.
    pub read_by_itself: u64,
    /// It had not, but another crawler of its operator had.
    pub read_by_operator: u64,
    /// Neither had, as far as these logs show.
    pub not_read_in_logs: u64,
    /// The times of requests were given up, so that nobody can say.
    pub reading_unknown: u64,
    /// Of `not_read_in_logs`: the crawler had asked for robots.txt, but that was no reading.
    pub asked_without_reading: u64,
    /// Of those that were read: the last reading before was answered 200.
    pub last_reading_200: u64,
    /// Of those that were read: the last reading before was answered 304.
    pub last_reading_304: u64,
    /// Violations by the age of that reading in minutes.
    ages: TimeBuckets,
}

/// How old the last reading before a violation was, in minutes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ages {
    /// Of the violation soonest after a reading.
    pub min: u64,
    /// No more than this for at least half of the violations.
    pub median: u64,
    /// Of the violation longest after a reading.
    pub max: u64,
}

impl Awareness {
    /// All violations.
    pub fn total(&self) -> u64 {
        self.read_by_itself + self.read_by_operator + self.not_read_in_logs + self.reading_unknown
    }

    /// Whether the parts agree.
    pub fn holds(&self) -> bool {
        let read = self.read_by_itself + self.read_by_operator;
        self.last_reading_200 + self.last_reading_304 == read
            && self.ages.total() == read
            && self.asked_without_reading <= self.not_read_in_logs
    }

    /// The ages of readings; `None` where nothing had been read.
    pub fn ages(&self) -> Option<Ages> {
        let ages = self.ages.buckets();
        let minutes = |&(age, _): &(i64, u64)| age.unsigned_abs();
        let half = self.ages.total().div_ceil(2);
        let mut sum = 0;
        let median = ages.iter().find(|(_, count)| {
            sum += count;
            sum >= half
        });
        Some(Ages {
            min: minutes(ages.first()?),
            median: minutes(median?),
            max: minutes(ages.last()?),
        })
    }

    fn count_read(&mut self, reading: Reading, violations: u64) {
        match reading.answer {
            Answer::Ok => self.last_reading_200 += violations,
            Answer::NotModified => self.last_reading_304 += violations,
        }
    }
}

merge_fields!(Awareness {
    read_by_itself,
    read_by_operator,
    not_read_in_logs,
    reading_unknown,
    asked_without_reading,
    last_reading_200,
    last_reading_304,
    ages,
});

/// Who read the robots.txt of one place, and when.
#[derive(Debug)]
pub struct Readers<'a> {
    crawlers: &'a [Crawler],
    actors: Vec<Reader>,
}

#[derive(Debug)]
struct Reader {
    actor: Actor,
    /// When it read, ascending.
    readings: Vec<Reading>,
    /// When it first asked for robots.txt, whatever the answer.
    first_asked: Option<i64>,
    times: Times,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Reading {
    minute: i64,
    /// Within one minute, 200 counts as the last.
    answer: Answer,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Answer {
    NotModified,
    Ok,
}

/// All that one crawler could know.
#[derive(Debug)]
pub struct Knowledge<'a> {
    own: &'a Reader,
    /// Of the other crawlers of its operator, ascending.
    operator: Vec<Reading>,
    /// Whether all of those crawlers' readings are known.
    operator_times: Times,
}

impl<'a> Readers<'a> {
    /// Who read the robots.txt of an origin, of which these are the rows.
    pub fn new(rows: &[(Actor, CrawlerTally)], crawlers: &'a [Crawler]) -> Readers<'a> {
        let reader = |(actor, tally): &(Actor, CrawlerTally)| Reader {
            actor: *actor,
            readings: readings(&tally.readings),
            first_asked: tally.readings.fetched.map(|span| span.first.unix_minute()),
            times: tally.times,
        };
        Readers { crawlers, actors: rows.iter().map(reader).collect() }
    }

    /// What `actor`, who is one of them, could know.
    pub fn knowledge(&self, actor: Actor) -> Knowledge<'_> {
        let own = self.actors.iter().find(|reader| reader.actor == actor);
        let own = own.expect("only those who were given are asked for");
        let others = || self.actors.iter().filter(|reader| self.may_share(reader.actor, actor));
        let mut operator: Vec<Reading> =
            others().flat_map(|reader| reader.readings.iter().copied()).collect();
        operator.sort_unstable();
        let is_known = others().all(|reader| reader.times == Times::Kept);
        let operator_times = if is_known { Times::Kept } else { Times::GivenUp };
        Knowledge { own, operator, operator_times }
    }

    /// Whether two different crawlers may have shared a copy.
    fn may_share(&self, left: Actor, right: Actor) -> bool {
        let of = |crawler: CrawlerId| &self.crawlers[crawler.index()];
        left.0 != right.0
            && left.1 == right.1
            && left.1 != Identity::Spoofed
            && of(left.0).operator == of(right.0).operator
            && of(left.0).has_one_operator()
    }
}

impl Knowledge<'_> {
    /// Who had read before the violations of `minutes`, of which there are `requests`.
    pub fn before(&self, minutes: &TimeBuckets, requests: u64) -> Awareness {
        let mut awareness = Awareness::default();
        if self.own.times == Times::GivenUp {
            awareness.reading_unknown = requests;
            return awareness;
        }
        let mut ages = Vec::new();
        for (minute, violations) in minutes.buckets() {
            if let Some(reading) = last_by(&self.own.readings, minute) {
                awareness.read_by_itself += violations;
                awareness.count_read(reading, violations);
                ages.push((minute - reading.minute, violations));
            } else if self.operator_times == Times::GivenUp {
                awareness.reading_unknown += violations;
            } else if let Some(reading) = last_by(&self.operator, minute) {
                awareness.read_by_operator += violations;
                awareness.count_read(reading, violations);
                ages.push((minute - reading.minute, violations));
            } else {
                awareness.not_read_in_logs += violations;
                if self.own.first_asked.is_some_and(|asked| asked <= minute) {
                    awareness.asked_without_reading += violations;
                }
            }
        }
        awareness.ages = TimeBuckets::of(ages);
        awareness
    }
}

fn readings(tally: &FetchTally) -> Vec<Reading> {
    let of = |series: &TimeBuckets, answer| {
        series.buckets().into_iter().map(move |(minute, _)| Reading { minute, answer })
    };
    let mut readings: Vec<Reading> =
        of(&tally.read_200, Answer::Ok).chain(of(&tally.read_304, Answer::NotModified)).collect();
    readings.sort_unstable();
    readings
}

/// The last of `readings` in `minute` or before.
fn last_by(readings: &[Reading], minute: i64) -> Option<Reading> {
    let count = readings.partition_point(|reading| reading.minute <= minute);
    Some(readings[count.checked_sub(1)?])
}

#[cfg(test)]
mod oracle;
