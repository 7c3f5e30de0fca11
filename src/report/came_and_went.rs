//! Crawlers that came and that went: with requests in only one of two parts of a report.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::audit::shares::{compared_day, comparison};
use crate::crawlers::crawler::CrawlerId;
use crate::merge::Merge;
use crate::numbers::grouped;
use crate::table::escape::shown;
use crate::time::Day;

use super::page_model::PageModel;

/// The most crawlers named for each direction.
const NAMED_MAX: usize = 5;

/// A crawler, with its requests before a day and since then.
type Counted = (CrawlerId, [u64; 2]);

/// `since 2026-11-20: came GPTBot 0 → 270; went meta-externalagent 150 → 0`, about the day of `--compare-at`, or the middle
/// of several nights; `None` if no crawler did.
pub(super) fn came_and_went(model: &PageModel<'_>) -> Option<String> {
    let day = compared_day(model.audit).or_else(|| middle(model))?;
    let mut by_crawler: BTreeMap<CrawlerId, [u64; 2]> = BTreeMap::new();
    for (actor, parts) in comparison(model.audit, day) {
        if model.audit.is_own_crawler(actor) {
            let sums = by_crawler.entry(actor.0).or_default();
            sums.iter_mut().zip(parts).for_each(|(sum, part)| sum.absorb(part.requests));
        }
    }
    let all = by_crawler.iter().map(|(crawler, parts)| (*crawler, *parts));
    let is_compared = |part: usize| by_crawler.values().any(|parts| parts[part] > 0);
    if !is_compared(0) || !is_compared(1) {
        return None;
    }
    let came = named(model, "came", all.clone().filter(|(_, parts)| parts[0] == 0));
    let went = named(model, "went", all.filter(|(_, parts)| parts[1] == 0));
    let both: Vec<String> = [came, went].into_iter().flatten().collect();
    (!both.is_empty()).then(|| format!("since {day}: {}", both.join("; ")))
}

/// The day in the middle of several nights.
fn middle(model: &PageModel<'_>) -> Option<Day> {
    let nights = &model.audit.nights;
    nights.iter().nth(nights.len() / 2).copied().filter(|_| nights.len() > 1)
}

/// `came GPTBot 0 → 270, Bytespider 0 → 12 and 3 more`, most requests first.
fn named(model: &PageModel<'_>, word: &str, all: impl Iterator<Item = Counted>) -> Option<String> {
    let mut all: Vec<Counted> = all.filter(|(_, parts)| *parts != [0, 0]).collect();
    all.sort_by_key(|(crawler, parts)| (Reverse(parts[0].max(parts[1])), *crawler));
    let names = all.iter().take(NAMED_MAX).map(|(crawler, [before, since])| {
        format!(
            "{} {} \u{2192} {}",
            shown(&model.name(*crawler)),
            grouped(*before),
            grouped(*since)
        )
    });
    let names = names.collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED_MAX) {
        0 if all.is_empty() => None,
        0 => Some(format!("{word} {names}")),
        more => Some(format!("{word} {names} and {more} more")),
    }
}
