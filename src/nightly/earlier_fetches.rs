//! What the report of a day knows of fetches on earlier days: who read robots.txt at 23:30 has read it at 01:00.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::tally::Tally;
use crate::crawlers::{crawler::Crawler, identity::Identity, registry::Registry};
use crate::measures::earlier_fetches::EarlierFetches;
use crate::time::Day;

use super::state::fetches::DayFetch;
use super::state::rows::ActorDay;

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
                match fetched_by(crawler, identity.as_str(), *by, &fetch.crawler) {
                    Some(By::Itself) => earlier.own.add(fetch.minute, fetch.is_304),
                    Some(By::ItsOperator) => earlier.operator.add(fetch.minute, fetch.is_304),
                    None => {}
                }
            }
            row.earlier_fetches = (earlier != EarlierFetches::default()).then(|| Box::new(earlier));
        }
    }
}

/// Who fetched for a crawler.
enum By {
    Itself,
    /// Another crawler of its operator.
    ItsOperator,
}

/// Who fetched for `crawler`, if the crawler `by` with this `name` fetched; `None` if that is another operator's.
fn fetched_by(crawler: &Crawler, identity: &str, by: Option<&Crawler>, name: &str) -> Option<By> {
    if name == crawler.name {
        return Some(By::Itself);
    }
    let is_of_operator = identity != Identity::Spoofed.as_str()
        && crawler.has_one_operator()
        && by.is_some_and(|by| by.operator == crawler.operator);
    is_of_operator.then_some(By::ItsOperator)
}

/// The days of `actors` whose reports know of any of `fetches`.
pub(crate) fn days_that_know(
    fetches: &[&DayFetch],
    actors: &[ActorDay],
    registry: &Registry,
) -> BTreeSet<Day> {
    let knows = |actor: &ActorDay, fetch: &DayFetch| {
        if (&fetch.origin, &fetch.identity) != (&actor.origin, &actor.identity) {
            return false;
        }
        let by = registry.by_name(&fetch.crawler);
        let crawler = registry.by_name(&actor.crawler);
        crawler.is_some_and(|of| fetched_by(of, &actor.identity, by, &fetch.crawler).is_some())
    };
    let knowing = actors.iter().filter(|actor| fetches.iter().any(|fetch| knows(actor, fetch)));
    knowing.map(|actor| actor.day).collect()
}
