//! The lines of a summary about `--compare-at`.

use std::collections::BTreeMap;

use crate::audit::comparison::{
    CHANGES, compared_changes, compared_day, comparison, has_compared_changes,
};
use crate::crawlers::crawler::CrawlerId;
use crate::measures::draft_effect::WhatIfChange;
use crate::numbers::{counted, percent};
use crate::statistics::two_proportions;

use super::page_model::PageModel;

/// The most crawlers named.
const CRAWLERS_SHOWN: usize = 3;

/// Differences with a smaller p value are named.
const P_MAX: f64 = 0.05;

/// A part and the whole, before and since.
type Shares = [(u64, u64); 2];

/// The shares before and since a day or changes, without tools and spoofed requests; empty if
/// nothing is compared.
pub(super) fn comparison_lines(model: &PageModel<'_>) -> String {
    let audit = model.audit;
    if let Some(day) = compared_day(audit) {
        let own =
            comparison(audit, day).into_iter().filter(|(actor, _)| audit.is_own_crawler(*actor));
        let rows = own.map(|((crawler, _), parts)| {
            (crawler, parts.map(|of| (of.violations, of.allowed + of.violations)))
        });
        let rows: Vec<(CrawlerId, Shares)> = rows.collect();
        return format!(
            "  since {day}: {} of judged requests were violations, {} before{}; see comparison.csv\n",
            share(&rows, 1),
            share(&rows, 0),
            differing(model, &rows),
        );
    }
    if !has_compared_changes(audit) {
        return String::new();
    }
    let lines = WhatIfChange::ALL.map(|direction| {
        let rows = compared_changes(audit).filter(|(_, actor, row, _)| {
            row.direction == direction && audit.is_own_crawler(*actor)
        });
        let rows: Vec<(CrawlerId, Shares)> =
            rows.map(|(_, (crawler, _), _, parts)| (crawler, parts)).collect();
        if rows.is_empty() {
            return String::new();
        }
        format!(
            "  since changes of robots.txt: {} of requests were for {} paths, {} before{}; see \
             change-comparison.csv\n",
            share(&rows, 1),
            direction.as_str().replace('-', " "),
            share(&rows, 0),
            differing(model, &rows),
        )
    });
    match lines.concat() {
        none if none.is_empty() => format!(
            "  --compare-at {CHANGES}: no change of robots.txt has counted requests before and since\n"
        ),
        lines => lines,
    }
}

/// `12.0 %` of the requests of all crawlers in one part.
fn share(rows: &[(CrawlerId, Shares)], part: usize) -> String {
    let sums: (u64, u64) = rows
        .iter()
        .fold((0, 0), |sums, (_, parts)| (sums.0 + parts[part].0, sums.1 + parts[part].1));
    percent(sums.0, sums.1)
}

/// ` (differs for 2 crawlers: GPTBot from 10.0 % to 0.0 %, …)`, the most certain differences first.
fn differing(model: &PageModel<'_>, rows: &[(CrawlerId, Shares)]) -> String {
    let mut by_crawler: BTreeMap<CrawlerId, Shares> = BTreeMap::new();
    for (crawler, parts) in rows {
        let sums = by_crawler.entry(*crawler).or_default();
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum = (sum.0 + part.0, sum.1 + part.1);
        }
    }
    let tested = by_crawler.into_iter().filter_map(|(crawler, [before, since])| {
        let (_, p) = two_proportions(before, since)?;
        (p < P_MAX).then_some((p, crawler, [before, since]))
    });
    let mut tested: Vec<(f64, CrawlerId, Shares)> = tested.collect();
    tested.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    if tested.is_empty() {
        return String::new();
    }
    let named = tested.iter().take(CRAWLERS_SHOWN).map(|(_, crawler, [before, since])| {
        let [before, since] = [before, since].map(|(part, whole)| percent(*part, *whole));
        format!("{} from {before} to {since}", model.name(*crawler))
    });
    let more = if tested.len() > CRAWLERS_SHOWN { " and others" } else { "" };
    let crawlers = counted(tested.len() as u64, "crawler");
    format!(" (differs for {crawlers}: {}{more})", named.collect::<Vec<_>>().join(", "))
}
