//! Fetches of robots.txt before a violation, and their ages.
//!
//! For each violation, fetches of the crawler itself are checked first, then those of the other
//! crawlers of its operator, which may share copies. Only successful fetches of the same origin by
//! the same identity class count. Times are compared by the minute, after everything is merged;
//! within one minute the fetch counts as earlier.

use botaudit_robots::named_enum;

use crate::crawlers::crawler::{Crawler, CrawlerId};
use crate::crawlers::identity::{Actor, Identity};
use crate::measures::crawler_tally::{CrawlerTally, Times};
use crate::measures::robots_fetches::FetchTally;
use crate::measures::sums::{Compliance, Span};
use crate::measures::time_buckets::{TimeBuckets, last_second};
use crate::merge::{Merge, merge_fields, sum};
use crate::time::UtcTime;

/// Requests are kept by the minute only if they are longer than this after a fetch.
const FRESH_HOURS: u32 = 24;

/// Violations by earlier fetches of robots.txt: each is one of the first four.
#[derive(Clone, Debug, Default)]
pub struct PriorFetchCounts {
    /// The crawler itself had fetched it.
    pub prior_fetch_own: u64,
    /// Another crawler of its operator had fetched it.
    pub prior_fetch_operator: u64,
    /// No such fetch is in these logs.
    pub prior_fetch_none: u64,
    /// Unknown, because the times of requests were not kept.
    pub prior_fetch_unknown: u64,
    /// Part of `prior_fetch_none`: the crawler had requested robots.txt without success.
    pub prior_fetch_failed: u64,
    /// Part of the violations after a fetch: the last successful fetch had the answer 200.
    pub last_fetch_200: u64,
    /// Part of the violations after a fetch: the last successful fetch had the answer 304.
    pub last_fetch_304: u64,
    /// The times of such fetches that were made on days before these logs.
    pub earlier: Option<Span>,
    /// Violations by the age of that successful fetch in minutes.
    ages: TimeBuckets,
}

/// How old the last successful fetch before a violation was, in minutes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Ages {
    /// The shortest time from a successful fetch to a violation.
    pub min: u64,
    /// The median.
    pub median: u64,
    /// The longest time from a successful fetch to a violation.
    pub max: u64,
}

impl PriorFetchCounts {
    /// All violations.
    pub(crate) fn total(&self) -> u64 {
        let others = [self.prior_fetch_none, self.prior_fetch_unknown];
        others.into_iter().fold(self.after_fetch(), u64::saturating_add)
    }

    /// Violations after a fetch by the crawler or another one of its operator.
    pub(crate) fn after_fetch(&self) -> u64 {
        self.prior_fetch_own.saturating_add(self.prior_fetch_operator)
    }

    /// Whether the parts agree.
    pub(crate) fn holds(&self) -> bool {
        let read = self.after_fetch();
        self.last_fetch_200.saturating_add(self.last_fetch_304) == read
            && self.ages.total() == read
            && self.prior_fetch_failed <= self.prior_fetch_none
    }

    /// The ages of successful fetches; `None` if there were none.
    pub(crate) fn ages(&self) -> Option<Ages> {
        let percentile = |percent| Some(self.ages.percentile(percent)?.unsigned_abs());
        Some(Ages { min: percentile(0)?, median: percentile(50)?, max: percentile(100)? })
    }

    fn count_fetch(&mut self, fetch: SuccessfulFetch, violations: u64) {
        match fetch.answer {
            Answer::Ok => self.last_fetch_200.absorb(violations),
            Answer::NotModified => self.last_fetch_304.absorb(violations),
        }
        if !fetch.is_in_logs {
            let time = UtcTime::from_unix_seconds(fetch.minute.saturating_mul(60));
            self.earlier.absorb(time.map(Span::at));
        }
    }
}

merge_fields!(PriorFetchCounts {
    prior_fetch_own,
    prior_fetch_operator,
    prior_fetch_none,
    prior_fetch_unknown,
    prior_fetch_failed,
    last_fetch_200,
    last_fetch_304,
    earlier,
    ages,
});

/// The fetches of the robots.txt of one origin, by crawler.
#[derive(Debug)]
pub(crate) struct OriginFetches<'a> {
    crawlers: &'a [Crawler],
    actors: Vec<ActorFetches>,
}

#[derive(Debug)]
struct ActorFetches {
    actor: Actor,
    /// The times of successful fetches, ascending.
    fetches: Vec<SuccessfulFetch>,
    /// Those of other crawlers of its operator on days before these logs.
    earlier_of_operator: Vec<SuccessfulFetch>,
    /// The first request for robots.txt, with any answer.
    first_asked: Option<i64>,
    times: Times,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct SuccessfulFetch {
    minute: i64,
    /// Within one minute, 200 counts as the last.
    answer: Answer,
    /// Whether it is in these logs, and not of a day before.
    is_in_logs: bool,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Answer {
    NotModified,
    Ok,
}

named_enum! {
    /// Who made a fetch.
    #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
    pub enum FetchedBy {
        /// The crawler itself.
        Own = "own",
        /// Another crawler of its operator.
        Operator = "operator",
    }
}

/// The fetches that one crawler could know.
#[derive(Debug)]
pub(crate) struct KnownFetches<'a> {
    own: &'a ActorFetches,
    /// For how long its operator promises to keep a copy at most, in hours.
    copy_hours: Option<u32>,
    /// Fetches of the other crawlers of its operator, ascending.
    operator: Vec<SuccessfulFetch>,
    /// Whether all of those crawlers' successful fetches are known.
    operator_times: Times,
}

impl<'a> OriginFetches<'a> {
    /// The fetches of the robots.txt of an origin with these rows.
    pub(crate) fn new(
        rows: &[(Actor, CrawlerTally)],
        crawlers: &'a [Crawler],
    ) -> OriginFetches<'a> {
        let actor_fetches = |(actor, tally): &(Actor, CrawlerTally)| ActorFetches {
            actor: *actor,
            fetches: fetches(tally),
            earlier_of_operator: tally.earlier_fetches.as_ref().map_or_else(Vec::new, |of| {
                successful((&of.operator.read_200, &of.operator.read_304), false)
            }),
            first_asked: tally.robots_fetches.fetched.map(|span| span.first.unix_minute()),
            times: tally.times,
        };
        OriginFetches { crawlers, actors: rows.iter().map(actor_fetches).collect() }
    }

    /// The fetches that `actor` could know.
    pub(crate) fn known_fetches(&self, actor: Actor) -> KnownFetches<'_> {
        let own = self.actors.iter().find(|actor_fetches| actor_fetches.actor == actor);
        let own = own.expect("only those who were given are asked for");
        let others = || {
            self.actors.iter().filter(|actor_fetches| self.may_share(actor_fetches.actor, actor))
        };
        let mut operator: Vec<SuccessfulFetch> =
            others().flat_map(|actor_fetches| actor_fetches.fetches.iter().copied()).collect();
        operator.extend(&own.earlier_of_operator);
        operator.sort_unstable();
        let is_known = others().all(|actor_fetches| actor_fetches.times == Times::Kept);
        let operator_times = if is_known { Times::Kept } else { Times::GivenUp };
        let copy_hours = self.crawlers[actor.0.index()].robots_cache_hours;
        KnownFetches { own, copy_hours, operator, operator_times }
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

impl KnownFetches<'_> {
    /// The earlier fetches for `requests` violations in `minutes`.
    pub(crate) fn before(&self, minutes: &TimeBuckets, requests: u64) -> PriorFetchCounts {
        let mut prior_fetches = PriorFetchCounts::default();
        if self.own.times == Times::GivenUp {
            prior_fetches.prior_fetch_unknown = requests;
            return prior_fetches;
        }
        let mut ages = Vec::new();
        let (mut own, mut operator) =
            (LastFetch::of(&self.own.fetches), LastFetch::of(&self.operator));
        for (minute, violations) in minutes.buckets() {
            if let Some(fetch) = own.by(minute) {
                prior_fetches.prior_fetch_own.absorb(violations);
                prior_fetches.count_fetch(fetch, violations);
                ages.push((minute.saturating_sub(fetch.minute), violations));
            } else if self.operator_times == Times::GivenUp {
                prior_fetches.prior_fetch_unknown.absorb(violations);
            } else if let Some(fetch) = operator.by(minute) {
                prior_fetches.prior_fetch_operator.absorb(violations);
                prior_fetches.count_fetch(fetch, violations);
                ages.push((minute.saturating_sub(fetch.minute), violations));
            } else {
                prior_fetches.prior_fetch_none.absorb(violations);
                if self.own.first_asked.is_some_and(|asked| asked <= minute) {
                    prior_fetches.prior_fetch_failed.absorb(violations);
                }
            }
        }
        prior_fetches.ages = TimeBuckets::of(ages);
        prior_fetches
    }
}

impl KnownFetches<'_> {
    /// Whether there is any.
    pub(crate) fn are_there(&self) -> bool {
        !self.own.fetches.is_empty() || !self.operator.is_empty()
    }

    /// Whether all of them are known.
    pub(crate) fn are_complete(&self) -> bool {
        self.own.times == Times::Kept && self.operator_times == Times::Kept
    }

    /// Requests since its first fetch, and those on a copy that is not older than promised; `None` if
    /// that is not known. `fetches` has the minutes of those without a fetch in the 24 hours before.
    pub(crate) fn on_promised_copy(&self, fetches: &FetchTally, others: u64) -> Option<Compliance> {
        let hours = self.copy_hours.filter(|hours| *hours >= FRESH_HOURS)?;
        let first = self.own.fetches.first().filter(|_| self.are_complete())?;
        let before_first = match first.is_in_logs {
            true => fetches.requests_before_first_fetch(),
            false => 0,
        };
        let requests = others.saturating_sub(before_first);
        let mut fetched = [&self.own.fetches, &self.operator].map(|fetches| LastFetch::of(fetches));
        let mut is_old = |minute: i64| {
            let last = fetched.iter_mut().filter_map(|fetches| fetches.by(minute));
            let last = last.map(|fetch| fetch.minute).max();
            last.is_some_and(|last| minute.saturating_sub(last) > i64::from(hours) * 60)
        };
        let old = fetches.stale.buckets();
        let old = old.filter(|(minute, _)| *minute >= first.minute && is_old(*minute));
        let old: u64 = sum(old.map(|(_, requests)| requests));
        Some(Compliance { requests, kept: requests.saturating_sub(old) })
    }

    /// The minute of the first fetch in a minute that lies between `from` and `until`, in seconds.
    pub(crate) fn first_between(&self, from: i64, until: i64) -> Option<(i64, FetchedBy)> {
        let first = |(fetches, by): (&[SuccessfulFetch], FetchedBy)| {
            let is_earlier = |fetch: &SuccessfulFetch| fetch.minute.saturating_mul(60) < from;
            let fetch = fetches.get(fetches.partition_point(is_earlier))?;
            (last_second(fetch.minute) <= until).then_some((fetch.minute, by))
        };
        let all = [(&*self.own.fetches, FetchedBy::Own), (&*self.operator, FetchedBy::Operator)];
        all.into_iter().filter_map(first).min()
    }
}

/// The fetches of the crawler of `tally` itself, ascending.
fn fetches(tally: &CrawlerTally) -> Vec<SuccessfulFetch> {
    let FetchTally { read_200, read_304, .. } = &tally.robots_fetches;
    let mut fetches = successful((read_200, read_304), true);
    if let Some(earlier) = &tally.earlier_fetches {
        fetches.extend(successful((&earlier.own.read_200, &earlier.own.read_304), false));
    }
    fetches.sort_unstable();
    fetches
}

/// The fetches of these minutes, answered with 200 and with 304.
fn successful(
    (ok, not_modified): (&TimeBuckets, &TimeBuckets),
    is_in_logs: bool,
) -> Vec<SuccessfulFetch> {
    let of = |(series, answer): (&TimeBuckets, _)| {
        let minutes = series.buckets();
        let fetch = |(minute, _)| SuccessfulFetch { minute, answer, is_in_logs };
        minutes.map(fetch).collect::<Vec<_>>()
    };
    [(ok, Answer::Ok), (not_modified, Answer::NotModified)].map(of).concat()
}

/// The last of some fetches in a minute or before, for minutes in ascending order.
struct LastFetch<'a> {
    last: Option<SuccessfulFetch>,
    later: &'a [SuccessfulFetch],
}

impl<'a> LastFetch<'a> {
    fn of(fetches: &'a [SuccessfulFetch]) -> LastFetch<'a> {
        LastFetch { last: None, later: fetches }
    }

    /// The fetch for `minute`, which is not before the minute of the call before.
    fn by(&mut self, minute: i64) -> Option<SuccessfulFetch> {
        while let [next, later @ ..] = self.later
            && next.minute <= minute
        {
            (self.last, self.later) = (Some(*next), later);
        }
        self.last
    }
}

#[cfg(test)]
mod oracle;

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(minute: i64) -> SuccessfulFetch {
        SuccessfulFetch { minute, answer: Answer::Ok, is_in_logs: true }
    }

    fn of(actor: Actor, fetches: Vec<SuccessfulFetch>) -> ActorFetches {
        let (first_asked, times, earlier_of_operator) = (None, Times::Kept, Vec::new());
        ActorFetches { actor, fetches, earlier_of_operator, first_asked, times }
    }

    #[test]
    fn the_last_fetch_of_the_operator_renews_a_copy() {
        let actor = (CrawlerId(0), Identity::Verified);
        let fetches = vec![fetch(0), fetch(1), fetch(9_000)];
        let own = ActorFetches { first_asked: Some(0), ..of(actor, fetches) };
        let (copy_hours, operator_times) = (Some(24), Times::Kept);
        let operator = vec![fetch(2_000), fetch(4_000)];
        let known = KnownFetches { own: &own, copy_hours, operator, operator_times };
        // Copies of 1,000 and 1,500 minutes, both of the operator, then of 1,441 and 1,440 minutes.
        let stale = vec![(3_000, 1), (3_500, 2), (5_441, 4), (10_440, 8)];
        let tally = FetchTally {
            stale: TimeBuckets::of(stale),
            read: Some(Span::at(UtcTime::EPOCH)),
            ..FetchTally::default()
        };
        let found = known.on_promised_copy(&tally, 100).unwrap();
        assert_eq!((found.requests, found.kept), (100, 94));
    }

    #[test]
    fn a_fetch_lies_between_two_times_with_its_whole_minute() {
        let fetches = |minute| vec![fetch(minute)];
        let actor = (CrawlerId(0), Identity::Unverified);
        let own = of(actor, fetches(5));
        let operator_times = Times::Kept;
        let known =
            KnownFetches { own: &own, copy_hours: None, operator: fetches(7), operator_times };
        assert_eq!(known.first_between(300, 359), Some((5, FetchedBy::Own)));
        assert_eq!(known.first_between(0, 1_000), Some((5, FetchedBy::Own)));
        assert_eq!(known.first_between(300, 358), None);
        assert_eq!(known.first_between(301, 478), None);
        assert_eq!(known.first_between(301, 479), Some((7, FetchedBy::Operator)));
    }
}
