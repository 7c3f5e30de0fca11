//! Events about how much a crawler does: it is new, makes far more requests or violations than in its own two weeks
//! before, or no longer breaks rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::file::NewsLimits;
use crate::numbers::{counted, grouped};
use crate::report::nights::EventRow;
use crate::time::Day;

use super::actor_day::{OfDay, SiteActor, VIOLATIONS_MIN, about};

/// The days before a day with which it is compared.
const USUAL_DAYS: i32 = 14;

/// The least days among them on which the site had requests of crawlers.
const USUAL_DAYS_MIN: usize = 7;

/// A crawler is not new in the first days of a site: all would be.
const FIRST_DAYS: i32 = 7;

/// How many times as far above the median as the 90th percentile a value must lie.
const SPREADS: u64 = 2;

/// Days without a violation for the event that a crawler stopped breaking rules.
const CLEAN_DAYS: i32 = 7;

/// The least judged requests on those days for that event.
const CLEAN_REQUESTS_MIN: u64 = 100;

/// What is compared.
#[derive(Clone, Copy)]
struct Volume {
    kind: &'static str,
    noun: &'static str,
    of: fn(&OfDay) -> u64,
    least: u64,
}

/// The events about the volume of a crawler; `known` are the days on which the site had requests of crawlers.
pub(super) fn volume_events(
    site_actor: SiteActor<'_>,
    days: &BTreeMap<Day, OfDay>,
    known: &BTreeSet<Day>,
    limits: NewsLimits,
) -> Vec<EventRow> {
    let volumes = [
        Volume {
            kind: "requests-tripled",
            noun: "request",
            of: |of_day| of_day.sums.requests,
            least: limits.volume_requests,
        },
        Volume {
            kind: "violations-tripled",
            noun: "violation",
            of: |of_day| of_day.sums.violations,
            least: VIOLATIONS_MIN,
        },
    ];
    let mut events: Vec<EventRow> = new_crawler(site_actor, days, known).into_iter().collect();
    if limits.volume_times > 0 {
        for volume in volumes {
            events.extend(multiplied(site_actor, days, known, volume, limits.volume_times));
        }
    }
    events.extend(stopped_breaking(site_actor, days, known));
    events
}

fn new_crawler(
    site_actor: SiteActor<'_>,
    days: &BTreeMap<Day, OfDay>,
    known: &BTreeSet<Day>,
) -> Option<EventRow> {
    let (&day, of_day) = days.iter().find(|(_, of_day)| of_day.sums.requests > 0)?;
    let first = *known.first()?;
    let requests = of_day.sums.requests;
    let message =
        format!("{} ({}) is new: {}", site_actor.1, site_actor.2, counted(requests, "request"));
    let counts = ("0".to_owned(), requests.to_string());
    let event = about(site_actor, day, "new-crawler", counts, message);
    (day >= first.plus(FIRST_DAYS)).then_some(event)
}

/// On the first of consecutive days on which the volume is so large.
fn multiplied(
    site_actor: SiteActor<'_>,
    days: &BTreeMap<Day, OfDay>,
    known: &BTreeSet<Day>,
    Volume { kind, noun, of, least }: Volume,
    times: u64,
) -> Vec<EventRow> {
    let value = |day: &Day| days.get(day).map_or(0, of);
    let exceeded = |day: Day| -> Option<u64> {
        let before = known.range(day.plus(-USUAL_DAYS)..day).map(value).collect();
        let usual = Usual::of(before)?;
        let value = value(&day);
        (value >= least.max(1) && usual.is_exceeded(value, times)).then_some(usual.median)
    };
    let mut events = Vec::new();
    let mut was_exceeded = false;
    for &day in known {
        let median = exceeded(day);
        if let Some(median) = median.filter(|_| !was_exceeded) {
            let now = value(&day);
            let message = format!(
                "{} ({}): {}, at least {times} times as many as the median of {} a day in the {USUAL_DAYS} days before",
                site_actor.1,
                site_actor.2,
                counted(now, noun),
                grouped(median),
            );
            let counts = (median.to_string(), now.to_string());
            events.push(about(site_actor, day, kind, counts, message));
        }
        was_exceeded = median.is_some();
    }
    events
}

/// The usual volume of a day.
struct Usual {
    median: u64,
    /// The distance of the 90th percentile from the median.
    spread: u64,
}

impl Usual {
    /// Of the values of earlier days; `None` if there are too few.
    fn of(mut values: Vec<u64>) -> Option<Usual> {
        if values.len() < USUAL_DAYS_MIN {
            return None;
        }
        values.sort_unstable();
        let median = values[values.len() / 2];
        Some(Usual { median, spread: values[values.len() * 9 / 10] - median })
    }

    fn is_exceeded(&self, value: u64, times: u64) -> bool {
        value >= times.saturating_mul(self.median.max(1))
            && value > self.median.saturating_add(SPREADS.saturating_mul(self.spread))
    }
}

/// On the day on which the days without a violation and the judged requests on them are enough.
fn stopped_breaking(
    site_actor: SiteActor<'_>,
    days: &BTreeMap<Day, OfDay>,
    known: &BTreeSet<Day>,
) -> Vec<EventRow> {
    let broke = |of_day: &OfDay| of_day.sums.violations > 0;
    let breaks: Vec<Day> = days.iter().filter(|(_, of)| broke(of)).map(|(day, _)| *day).collect();
    let mut events = Vec::new();
    for (at, &last) in breaks.iter().enumerate() {
        let before = days.range(last.plus(-USUAL_DAYS)..=last);
        let violations: u64 = before.map(|(_, of)| of.sums.violations).sum();
        let until = breaks.get(at + 1).copied();
        let mut judged = 0;
        for &day in
            known.range(last.plus(1)..).take_while(|day| until.is_none_or(|end| **day < end))
        {
            judged += days.get(&day).map_or(0, |of| of.sums.allowed);
            if day < last.plus(CLEAN_DAYS) || judged < CLEAN_REQUESTS_MIN {
                continue;
            }
            if violations >= VIOLATIONS_MIN {
                let message = format!(
                    "{} ({}) has not broken a rule since {last}, in {}; {} in the {USUAL_DAYS} days before",
                    site_actor.1,
                    site_actor.2,
                    counted(judged, "judged request"),
                    counted(violations, "violation")
                );
                let state = (violations.to_string(), "0".to_owned());
                events.push(about(site_actor, day, "stopped-breaking", state, message));
            }
            break;
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::sums::Sums;

    const LIMITS: NewsLimits = NewsLimits {
        silent_lines: 0,
        late_lines: 0,
        lists_days: 0,
        volume_times: 3,
        volume_requests: 100,
    };

    fn day(number: i32) -> Day {
        Day::parse("2026-03-01").unwrap().plus(number)
    }

    /// The events of a crawler with these allowed requests and violations by day, at a site with requests of others on
    /// `all` days.
    #[track_caller]
    fn check(
        did: &[(i32, u64, u64)],
        all: i32,
        limits: NewsLimits,
        expected: &[(i32, &str, &str)],
    ) {
        let of_day = |&(number, allowed, violations)| {
            let sums =
                Sums { requests: allowed + violations, allowed, violations, ..Sums::default() };
            (day(number), OfDay { sums, successful_fetches: 0 })
        };
        let days: BTreeMap<Day, OfDay> = did.iter().map(of_day).collect();
        let known: BTreeSet<Day> = (0..all).map(day).chain(days.keys().copied()).collect();
        let events = volume_events(("shop", "GPTBot", "verified"), &days, &known, limits);
        let found: Vec<(Day, &str, &str)> =
            events.iter().map(|event| (event.day, event.kind, event.before.as_str())).collect();
        let expected: Vec<(Day, &str, &str)> =
            expected.iter().map(|&(number, kind, before)| (day(number), kind, before)).collect();
        assert_eq!(found, expected);
    }

    /// `count` days with the same requests.
    fn steady(count: i32, allowed: u64, violations: u64) -> Vec<(i32, u64, u64)> {
        (0..count).map(|number| (number, allowed, violations)).collect()
    }

    #[test]
    fn far_more_than_usual_is_said_once() {
        let with = |more: &[(i32, u64, u64)]| [&steady(10, 50, 0), more].concat();
        let tripled = |number| (number, "requests-tripled", "50");
        check(&with(&[(10, 150, 0)]), 11, LIMITS, &[tripled(10)]);
        check(&with(&[(10, 149, 0)]), 11, LIMITS, &[]);
        check(&with(&[(10, 400, 0), (11, 400, 0), (12, 50, 0)]), 13, LIMITS, &[tripled(10)]);
        check(
            &with(&[(10, 400, 0), (11, 50, 0), (12, 400, 0)]),
            13,
            LIMITS,
            &[tripled(10), tripled(12)],
        );
        check(&with(&[(10, 150, 0)]), 11, NewsLimits { volume_times: 0, ..LIMITS }, &[]);
        check(&with(&[(10, 150, 0)]), 11, NewsLimits { volume_requests: 151, ..LIMITS }, &[]);
        // Too few days to know what is usual.
        check(&[&steady(6, 50, 0)[..], &[(6, 900, 0)]].concat(), 7, LIMITS, &[]);
        // A crawler whose days differ much.
        let wild: Vec<(i32, u64, u64)> =
            (0..14).map(|number| (number, if number % 2 == 0 { 10 } else { 300 }, 0)).collect();
        check(&[&wild[..], &[(14, 899, 0)]].concat(), 15, LIMITS, &[]);
        check(&with(&[(10, 50, 20)]), 11, LIMITS, &[(10, "violations-tripled", "0")]);
    }

    #[test]
    fn a_crawler_is_new_after_the_first_days_of_a_site() {
        check(&[(7, 1, 0)], 9, LIMITS, &[(7, "new-crawler", "0")]);
        check(&[(6, 1, 0)], 9, LIMITS, &[]);
        check(&[(3, 1, 0), (8, 1, 0)], 9, LIMITS, &[]);
    }

    #[test]
    fn a_crawler_stops_breaking_rules_and_it_is_said_once() {
        let quiet = NewsLimits { volume_times: 0, ..LIMITS };
        let broke = steady(3, 10, 7);
        let clean = |count: i32| (3..3 + count).map(|number| (number, 20, 0)).collect::<Vec<_>>();
        let stopped = (9, "stopped-breaking", "21");
        check(&[broke.clone(), clean(9)].concat(), 12, quiet, &[stopped]);
        check(&[broke.clone(), clean(6)].concat(), 9, quiet, &[]);
        // It is gone, so it stopped nothing.
        check(&broke, 20, quiet, &[]);
        check(&[steady(3, 10, 6), clean(9)].concat(), 12, quiet, &[]);
        let again = [broke, clean(9), vec![(12, 0, 1)]].concat();
        check(&again, 13, quiet, &[stopped]);
    }
}
