//! The sections of each origin: directories with at least a hundredth of its requests, and `/` for
//! all others.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};

use super::tally::section_counts::{SectionCounts, SectionTally, first_level, origin_and_path};
use super::{crawler_row::ActorRow, tally::section_counts::SectionTallies};
use crate::crawlers::identity::Actor;
use crate::measures::crawler_tally::CrawlerTally;
use crate::merge::Merge;

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

    #[test]
    fn a_hundredth_of_the_requests_is_a_section() {
        assert!(is_large(1, 100) && is_large(2, 101));
        assert!(!is_large(1, 101) && !is_large(0, 1));
    }
}
