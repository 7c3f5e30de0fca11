//! The paths that each crawler requested most, and its distinct URLs; and the sections of each origin: directories with
//! at least a hundredth of its requests, and `/` for all others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::crawlers::identity::Actor;
use crate::error::{Error, Result};
use crate::measures::{answer_tally::AnswerTally, crawler_tally::CrawlerTally, sums::Span};
use crate::merge::{Merge, sum};

use super::crawler_row::ActorRow;
use super::tally::counts::{PathCounts, PathTally};
use super::tally::urls::{
    SectionCounts, SectionTallies, SectionTally, Urls, first_level, origin_and_path,
};

/// The most paths that are shown for each crawler and identity.
const PATHS_SHOWN: usize = 100;

/// What one crawler requested at all origins.
#[derive(Debug, Default)]
pub struct PathRows {
    /// Origin, path and requests, most first.
    pub paths: Vec<(String, Vec<u8>, AnswerTally)>,
    /// Requests for other paths; `None` if there were none.
    pub others: Option<AnswerTally>,
    /// All requests with a path.
    pub requests: u64,
    /// Requests for known paths with many URLs.
    pub many_urls_requests: u64,
    /// The distinct URLs.
    pub urls: Urls,
}

/// What each crawler of `rows`, whose sums were checked, requested.
///
/// # Errors
/// If the sums do not fit `rows`.
pub(crate) fn path_rows(
    rows: &[ActorRow],
    counts: PathCounts,
) -> Result<BTreeMap<Actor, PathRows>> {
    let mut all: BTreeMap<Actor, (u64, Option<Span>)> = BTreeMap::new();
    for row in rows {
        let (requests, span) = all.entry(row.actor).or_default();
        requests.absorb(row.tally.total().requests);
        span.absorb(row.tally.span);
    }
    let mut found: BTreeMap<Actor, PathRows> = BTreeMap::new();
    let damaged = || Error::inconsistent("the tally is damaged: it has an impossible path");
    let mut add = |actor: Actor, path: Option<(&str, &[u8])>, tally: PathTally| {
        let (all, span) = all.get(&actor)?;
        let rows = found.entry(actor).or_default();
        let requests = tally.answers.requests;
        rows.requests = rows.requests.checked_add(requests).filter(|sum| sum <= all)?;
        tally.answers.holds(*span).then_some(())?;
        let Some((origin, path)) = path else {
            rows.others.absorb(Some(tally.answers));
            return Some(());
        };
        rows.many_urls_requests.absorb(if tally.has_many_urls() { requests } else { 0 });
        rows.paths.push((origin.to_owned(), path.to_vec(), tally.answers));
        Some(())
    };
    for (key, tallies) in counts.paths {
        let path = origin_and_path(&key).ok_or_else(damaged)?;
        for (actor, tally) in tallies {
            add(actor, Some(path), tally).ok_or_else(damaged)?;
        }
    }
    for (actor, tally) in counts.others {
        add(actor, None, tally).ok_or_else(damaged)?;
    }
    for (actor, urls) in counts.urls {
        found.get_mut(&actor).ok_or_else(damaged)?.urls = urls;
    }
    found.values_mut().for_each(PathRows::order);
    Ok(found)
}

impl PathRows {
    /// Most requests first; what is not shown is counted for the others.
    fn order(&mut self) {
        self.paths.sort_by(|left, right| {
            let key = |row: &(String, Vec<u8>, AnswerTally)| Reverse(row.2.requests);
            key(left).cmp(&key(right)).then_with(|| (&left.0, &left.1).cmp(&(&right.0, &right.1)))
        });
        let rest = self.paths.drain(self.paths.len().min(PATHS_SHOWN)..);
        let rest = sum(rest.map(|(_, _, answers)| Some(answers)));
        self.others.absorb(rest);
    }
}

/// A directory is shown if it has at least one request of so many to its origin.
const SHARE: u64 = 100;

/// Requests by origin, section and crawler.
pub(crate) type SectionRows = BTreeMap<(String, Vec<u8>, Actor), SectionTally>;

/// The sections of `rows`, whose sums were checked.
///
/// # Errors
/// If a directory has more requests than the one above.
pub(crate) fn section_rows(rows: &[ActorRow], counts: SectionCounts) -> Result<SectionRows> {
    let mut sections: SectionRows = BTreeMap::new();
    let mut requests: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows {
        let all = all_sections(&row.tally);
        requests.entry(&row.origin).or_default().absorb(all.statuses.total());
        sections.insert((row.origin.clone(), b"/".to_vec(), row.actor), all);
    }
    let mut shown: BTreeSet<Vec<u8>> = BTreeSet::new();
    for (key, tallies) in counts.into_iter().flatten() {
        let damaged = || Error::inconsistent("the tally is damaged: it has an impossible section");
        let (origin, directory) = origin_and_path(&key).ok_or_else(damaged)?;
        let total = requests_of(&tallies).ok_or_else(damaged)?;
        // Origins without rows are counted in `(others)`.
        if !requests.get(origin).is_some_and(|all| is_large(total, *all)) {
            continue;
        }
        let above = first_level(&key).filter(|above| shown.contains(*above));
        let above = above.and_then(origin_and_path).map_or(&b"/"[..], |above| above.1);
        for (actor, tally) in tallies {
            let above = sections.get_mut(&(origin.to_owned(), above.to_vec(), actor));
            let above = above.ok_or_else(damaged)?;
            *above = above.without(&tally).ok_or_else(damaged)?;
            let key = (origin.to_owned(), directory.to_vec(), actor);
            sections.entry(key).or_default().absorb(tally);
        }
        shown.insert(key.into_vec());
    }
    sections.retain(|_, tally| tally.statuses.total() > 0);
    Ok(sections)
}

/// Whether a directory with `requests` of `all` requests of its origin is a section.
fn is_large(requests: u64, all: u64) -> bool {
    requests.saturating_mul(SHARE) >= all
}

/// Requests for everything.
fn all_sections(tally: &CrawlerTally) -> SectionTally {
    let mut all = SectionTally::default();
    for (code, answered) in &tally.statuses {
        all.statuses.of(code.status()).absorb(answered.requests);
        all.bytes = all.bytes.saturating_add(answered.bytes);
    }
    all
}

/// `None` if the sum cannot be.
fn requests_of(tallies: &SectionTallies) -> Option<u64> {
    let mut all = tallies.values();
    all.try_fold(0u64, |sum, tally| sum.checked_add(tally.statuses.checked_total()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::prior_fetches::PriorFetchCounts;
    use crate::crawlers::{crawler::CrawlerId, identity::Identity};
    use crate::measures::crawler_tally::CrawlerTally;
    use crate::measures::sums::{Statuses, Sums};
    use crate::time::{Day, UtcTime};

    /// The file may come from a stranger.
    #[test]
    fn requests_of_a_path_lie_in_the_time_of_their_crawler() {
        let actor = (CrawlerId(0), Identity::Unverified);
        let at = |seconds| UtcTime::from_unix_seconds(seconds).unwrap();
        let span = |first, last| Some(Span { first: at(first), last: at(last) });
        let sums = Sums { requests: 2, allowed: 2, ..Sums::default() };
        let tally = CrawlerTally {
            days: [(Day::parse("1970-01-01").unwrap(), sums)].into_iter().collect(),
            span: span(5, 9),
            ..CrawlerTally::default()
        };
        let row = ActorRow {
            origin: "https://a.example".to_owned(),
            actor,
            tally,
            broken: Vec::new(),
            prior_fetches: PriorFetchCounts::default(),
            has_read: false,
            delayed: Vec::new(),
            usage: Vec::new(),
            reactions: Vec::new(),
            on_promised_copy: None,
            browsers: Default::default(),
        };
        let is_read = |requests, first, last| {
            let statuses = Statuses { status_2xx: requests, ..Statuses::default() };
            let answers = AnswerTally { requests, statuses, bytes: 0, span: span(first, last) };
            let others =
                [(actor, PathTally { answers, ..PathTally::default() })].into_iter().collect();
            path_rows(std::slice::from_ref(&row), PathCounts { others, ..PathCounts::default() })
                .is_ok()
        };
        assert!(is_read(2, 5, 9) && is_read(1, 6, 6));
        assert!(!is_read(2, 4, 9) && !is_read(2, 5, 10) && !is_read(3, 5, 9));
    }

    #[test]
    fn a_hundredth_of_the_requests_is_a_section() {
        assert!(is_large(1, 100) && is_large(2, 101));
        assert!(!is_large(1, 101) && !is_large(0, 1));
    }
}
