//! How often crawlers fetch robots.txt again, how many requests they make on an old copy, and which of them got something
//! else.
//!
//! A copy is old more than 24 hours after the last successful fetch by the same crawler, with the
//! same identity, at the same origin. Times are compared by the minute. Rows without times (past the
//! memory limit, and `(others)`) are left out.

use std::collections::BTreeMap;

use crate::crawlers::identity::Actor;
use crate::measures::crawler_tally::{CrawlerTally, Times};
use crate::measures::time_buckets::TimeBuckets;
use crate::merge::{Merge, merge_fields, sum};
use crate::numbers::{counted, grouped};

use super::model::ReportModel;

/// The successful fetches of a crawler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refetches {
    /// Their number.
    pub fetches: u64,
    /// The times from one fetch to the next at the same origin, in minutes.
    pub gaps: TimeBuckets,
    /// Other requests since the first fetch.
    pub requests: u64,
    /// Those on an old copy.
    pub on_old_copy: u64,
}

merge_fields!(Refetches { fetches, gaps, requests, on_old_copy });

impl Refetches {
    fn new(tally: &CrawlerTally) -> Option<Refetches> {
        let (total, of) = (tally.total(), &tally.robots_fetches);
        if tally.times == Times::GivenUp || of.successful_fetches == 0 {
            return None;
        }
        let mut gaps = Vec::new();
        let mut last = None;
        for (minute, fetches) in of.fetches().buckets() {
            gaps.extend(last.map(|last| (minute.saturating_sub(last), 1)));
            gaps.extend((fetches > 1).then(|| (0, fetches - 1)));
            last = Some(minute);
        }
        let other = total.requests - total.robots_txt_requests;
        Some(Refetches {
            fetches: of.successful_fetches,
            gaps: TimeBuckets::of(gaps),
            requests: other - of.requests_before_first_fetch(),
            on_old_copy: of.requests_on_old_copy(),
        })
    }
}

/// Those of each crawler at each origin, and of all origins, where the origin is `None`.
pub(crate) fn refetches(audit: &ReportModel) -> BTreeMap<(Option<&str>, Actor), Refetches> {
    let mut rows: BTreeMap<_, Refetches> = BTreeMap::new();
    for (origin, actor, tally) in audit.actors() {
        if let Some(refetches) = Refetches::new(tally) {
            rows.entry((None, actor)).or_default().absorb(refetches.clone());
            rows.insert((Some(origin), actor), refetches);
        }
    }
    rows
}

/// The most crawlers that the note names.
const NAMED_MAX: usize = 3;

impl ReportModel {
    /// Crawlers whose requests for robots.txt had an answer that is not robots.txt, and how many; most first.
    pub(crate) fn altered_answers(&self) -> Vec<(&str, u64)> {
        let mut by_crawler: Vec<(&str, u64)> = Vec::new();
        for row in self.rows() {
            let altered = row.tally.robots_fetches.altered;
            let name = &*self.registry.crawler(row.actor.0).name;
            if altered == 0 || !self.is_own_crawler(row.actor) {
                continue;
            }
            match by_crawler.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => count.absorb(altered),
                None => by_crawler.push((name, altered)),
            }
        }
        by_crawler.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
        by_crawler
    }

    /// What the server gave them, in a sentence.
    pub(super) fn altered_answers_note(&self) -> Option<String> {
        let by_crawler = self.altered_answers();
        let named = by_crawler.iter().take(NAMED_MAX);
        let mut named: Vec<String> =
            named.map(|(name, count)| format!("{name} {}", grouped(*count))).collect();
        let more = by_crawler.len().saturating_sub(NAMED_MAX);
        if more > 0 {
            named.push(format!("{more} more"));
        }
        let all = sum(by_crawler.iter().map(|(_, count)| *count));
        (all > 0).then(|| {
            format!(
                "{} for robots.txt got another answer, such as a challenge, which does not count as reading it: {}; see \
                 fetch_altered in robots-fetches.csv",
                counted(all, "request"),
                named.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::verdict::Verdict;
    use crate::measures::fetch_answer::FetchAnswer;
    use crate::time::{Day, UtcTime};

    /// Three fetches within a minute are two gaps of no minute; the fourth comes ten minutes later.
    #[test]
    fn fetches_within_a_minute_are_gaps_of_no_minute() {
        let mut tally = CrawlerTally::default();
        for seconds in [0, 20, 59, 630] {
            let time = UtcTime::from_unix_seconds(seconds).unwrap();
            tally.days.entry(Day::parse("1970-01-01").unwrap()).count(Verdict::RobotsTxt, 0);
            tally.robots_fetches.count_fetch(time, 200, FetchAnswer::Read);
        }
        let refetches = Refetches::new(&tally).unwrap();
        assert_eq!((refetches.fetches, refetches.requests), (4, 0));
        assert_eq!(refetches.gaps.buckets().collect::<Vec<_>>(), [(0, 2), (10, 1)]);
        tally.times = Times::GivenUp;
        assert!(Refetches::new(&tally).is_none());
    }
}
