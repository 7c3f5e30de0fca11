//! What the report of a day knows of fetches on earlier days: who read robots.txt at 23:30 has read it at 01:00.

use std::collections::BTreeMap;

use crate::audit::tally::Tally;
use crate::crawlers::{crawler::Crawler, identity::Identity, registry::Registry};
use crate::measures::earlier_fetches::EarlierFetches;

use super::state::fetches::DayFetch;

/// How many days a fetch of robots.txt is remembered.
pub(crate) const REMEMBERED_DAYS: i32 = 30;

/// Adds `fetches` of earlier days to the rows of `tally`: to those of the same crawler, and of others of its operator,
/// with the same identity at the same origin.
pub(crate) fn remember(tally: &mut Tally, fetches: &[DayFetch], registry: &Registry) {
    let mut by_origin: BTreeMap<&str, Vec<(&DayFetch, Option<&Crawler>)>> = BTreeMap::new();
    for fetch in fetches {
        let known = (fetch, registry.by_name(&fetch.crawler));
        by_origin.entry(&fetch.origin).or_default().push(known);
    }
    let crawlers = &tally.header.crawlers;
    for origin in &mut tally.counts.origins {
        let key = origin.origin_key.to_string();
        let Some(fetches) = by_origin.get(&*key) else { continue };
        for ((crawler, identity), row) in &mut origin.rows {
            let crawler = &crawlers[crawler.index()];
            let mut earlier = EarlierFetches::default();
            for (fetch, by) in fetches.iter().filter(|(of, _)| of.identity == identity.as_str()) {
                if fetch.crawler == crawler.name {
                    earlier.own.add(fetch.minute, fetch.is_304);
                } else if *identity != Identity::Spoofed
                    && crawler.has_one_operator()
                    && by.is_some_and(|by| by.operator == crawler.operator)
                {
                    earlier.operator.add(fetch.minute, fetch.is_304);
                }
            }
            row.earlier_fetches = (earlier != EarlierFetches::default()).then(|| Box::new(earlier));
        }
    }
}
