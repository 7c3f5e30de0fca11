//! Events: what was new on a day, compared with earlier days.
//!
//! Events are computed from the sums of days, so late lines of a day change its events, too.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::file::NewsLimits;
use crate::measures::sums::Sums;
use crate::merge::{Merge, sum};
use crate::numbers::{counted, percent};
use crate::report::nights::{EventRow, TrendRow};
use crate::time::Day;

use super::actor_day::{OfDay, SiteActor, VIOLATIONS_MIN, about};
use super::state::rows::{ActorDay, LATE_LINES, LOG_SILENT, LineDay, RuledDay};
use super::volume::volume_events;

/// The number of earlier days that a rate is compared with.
const RATE_DAYS: i32 = 7;

/// The least judged requests, on the day and before it, for the event of a doubled rate.
const RATE_REQUESTS_MIN: u64 = 100;

/// Days without a successful fetch of robots.txt for the event that a crawler stopped fetching.
const UNREAD_DAYS: i32 = 7;

/// The least requests since the last successful fetch for that event.
const UNREAD_REQUESTS_MIN: u64 = 100;

/// What the state has of the days of all sites.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownDays<'a> {
    /// The sums of crawlers.
    pub actors: &'a [ActorDay],
    /// The robots.txt files in force.
    pub ruled: &'a [RuledDay],
    /// The lines of all clients, ordered by site and day.
    pub lines: &'a [LineDay],
}

/// The sums of crawlers over all origins, ordered by site, day, name and identity.
pub(crate) fn trend(actors: &[ActorDay]) -> Vec<TrendRow<'_>> {
    let mut rows: BTreeMap<(&str, Day, &str, &str), Sums> = BTreeMap::new();
    for actor in actors {
        let key = (actor.site.as_str(), actor.day, actor.crawler.as_str(), actor.identity.as_str());
        rows.entry(key).or_default().absorb(actor.sums);
    }
    let row =
        |((site, day, crawler, identity), sums)| TrendRow { site, day, crawler, identity, sums };
    rows.into_iter().map(row).collect()
}

/// The events, the last day first. Actors that are not `is_crawler` have none: tools, and clients that only use a
/// crawler's name. A site is silent if it has no line on a day until `last_day`.
pub(crate) fn events(
    KnownDays { actors, ruled, lines }: KnownDays<'_>,
    is_crawler: impl Fn(&ActorDay) -> bool,
    last_day: impl Fn(&str) -> Option<Day>,
    limits: NewsLimits,
) -> Vec<EventRow> {
    let mut days_of: BTreeMap<&str, BTreeSet<Day>> = BTreeMap::new();
    let mut by_crawler: BTreeMap<SiteActor<'_>, BTreeMap<Day, OfDay>> = BTreeMap::new();
    for actor in actors {
        days_of.entry(&actor.site).or_default().insert(actor.day);
        if !is_crawler(actor) {
            continue;
        }
        let site_actor = (actor.site.as_str(), actor.crawler.as_str(), actor.identity.as_str());
        let of_day = OfDay { sums: actor.sums, successful_fetches: actor.successful_fetches };
        by_crawler.entry(site_actor).or_default().entry(actor.day).or_default().absorb(of_day);
    }
    let mut events = nothing_judged(&by_crawler);
    if limits.silent_lines > 0 {
        events.extend(fallen_silent(lines, last_day, limits.silent_lines));
    }
    for (&site_actor, days) in &by_crawler {
        let known = &days_of[site_actor.0];
        let (Some(&first), Some(&last)) = (known.first(), known.last()) else { continue };
        events.extend(first_violation(site_actor, days, first));
        events.extend(days.keys().filter_map(|&day| doubled(site_actor, days, day)));
        events.extend(stopped_fetching(site_actor, days, last));
        events.extend(volume_events(site_actor, days, known, limits));
    }
    for of_source in
        ruled.chunk_by(|left, right| (&left.site, &left.source) == (&right.site, &right.source))
    {
        events.extend(about_robots(of_source));
    }
    sort(&mut events);
    events
}

/// The last day first, then by site and kind.
pub(crate) fn sort(events: &mut [EventRow]) {
    events.sort_by(|left, right| {
        let key =
            |row: &EventRow| (row.site.clone(), row.kind, row.crawler.clone(), row.source.clone());
        right.day.cmp(&left.day).then_with(|| key(left).cmp(&key(right)))
    });
}

/// An event of a site.
pub(crate) fn of_site(
    site: &str,
    day: Day,
    kind: &'static str,
    (before, now): (String, String),
    message: String,
) -> EventRow {
    let (site, source) = (site.to_owned(), String::new());
    EventRow { site, day, kind, crawler: None, source, before, now, message }
}

/// Days without a line, each after one with at least `silent_lines`.
fn fallen_silent(
    lines: &[LineDay],
    last_day: impl Fn(&str) -> Option<Day>,
    silent_lines: u64,
) -> Vec<EventRow> {
    let of_day = |site: &str, day: Day| {
        let found = lines.binary_search_by(|of| (&*of.site, of.day).cmp(&(site, day)));
        found.map_or(0, |at| lines[at].lines)
    };
    let silent = lines.iter().filter_map(|LineDay { site, day, lines }| {
        let next = day.plus(1);
        let is_over = last_day(site).is_some_and(|last| next <= last);
        if *lines < silent_lines || !is_over || of_day(site, next) > 0 {
            return None;
        }
        let message = format!(
            "the logs have no line of this day, after {} on {day}",
            counted(*lines, "line")
        );
        Some(of_site(site, next, LOG_SILENT, (lines.to_string(), "0".to_owned()), message))
    });
    silent.collect()
}

/// Silent days of earlier nights whose lines came late, of `remembered` events: they were silent when they were
/// reported.
pub(crate) fn no_longer_silent(remembered: &[EventRow], lines: &[LineDay]) -> Vec<EventRow> {
    let has_lines = |event: &EventRow| {
        let found = lines.iter().find(|of| of.site == event.site && of.day == event.day);
        found.is_some_and(|of| of.lines > 0)
    };
    let silent = remembered.iter().filter(|event| event.kind == LOG_SILENT && has_lines(event));
    let is_late_for = |late: &EventRow, event: &EventRow| {
        late.kind == LATE_LINES && late.site == event.site && late.source == event.day.to_string()
    };
    let now = silent.map(|event| {
        let late = remembered.iter().find(|late| is_late_for(late, event));
        let came = late.map_or_else(
            || "lines came late".to_owned(),
            |late| format!("{} came late, on {}", late.now, late.day),
        );
        EventRow { message: format!("{}; {came}", event.message), ..event.clone() }
    });
    now.collect()
}

/// Days with requests of crawlers of which none was judged, each after a day with judged ones.
fn nothing_judged(by_crawler: &BTreeMap<SiteActor<'_>, BTreeMap<Day, OfDay>>) -> Vec<EventRow> {
    let mut sums: BTreeMap<(&str, Day), Sums> = BTreeMap::new();
    for (&(site, ..), days) in by_crawler {
        for (&day, of_day) in days.iter().filter(|(_, of_day)| of_day.sums.requests > 0) {
            sums.entry((site, day)).or_default().absorb(of_day.sums);
        }
    }
    // In a grace period, it is known what robots.txt says.
    let judged = |sums: &Sums| sums.allowed + sums.violations + sums.grace;
    let mut events = Vec::new();
    let mut before: Option<(&str, u64)> = None;
    for ((site, day), of_day) in sums {
        let was_judged = before.take().filter(|(known, _)| *known == site).map_or(0, |(_, of)| of);
        if judged(&of_day) == 0 && was_judged > 0 {
            let message = format!(
                "none of {} of crawlers could be judged",
                counted(of_day.requests, "request")
            );
            let counts = (was_judged.to_string(), "0".to_owned());
            events.push(of_site(site, day, "nothing-judged", counts, message));
        }
        before = Some((site, judged(&of_day)));
    }
    events
}

/// On the first day of a site every crawler would be new.
fn first_violation(
    site_actor: SiteActor<'_>,
    days: &BTreeMap<Day, OfDay>,
    first_day: Day,
) -> Option<EventRow> {
    let (&day, of_day) = days.iter().find(|(_, of_day)| of_day.sums.violations > 0)?;
    let violations = of_day.sums.violations;
    let message = format!("first violations by {} ({}): {violations}", site_actor.1, site_actor.2);
    let counts = ("0".to_owned(), violations.to_string());
    let event = about(site_actor, day, "first-violation", counts, message);
    (day > first_day).then_some(event)
}

fn doubled(site_actor: SiteActor<'_>, days: &BTreeMap<Day, OfDay>, day: Day) -> Option<EventRow> {
    let now = days[&day].sums;
    let before = sum(days.range(day.plus(-RATE_DAYS)..day).map(|(_, of_day)| of_day.sums));
    let judged = |sums: &Sums| sums.allowed + sums.violations;
    let is_enough = judged(&now).min(judged(&before)) >= RATE_REQUESTS_MIN
        && now.violations >= VIOLATIONS_MIN
        // The first violations are an event of their own.
        && days.range(..day).any(|(_, of_day)| of_day.sums.violations > 0);
    let times = |left: u64, right: u64| u128::from(left) * u128::from(right);
    let is_doubled =
        times(now.violations, judged(&before)) >= 2 * times(before.violations, judged(&now));
    if !is_enough || !is_doubled {
        return None;
    }
    let rate = |sums: &Sums| percent(sums.violations, judged(sums));
    let (was, is) = (rate(&before), rate(&now));
    let message = format!(
        "{} ({}): {is} of its requests are violations, after {was} in the {RATE_DAYS} days before",
        site_actor.1, site_actor.2
    );
    Some(about(site_actor, day, "rate-doubled", (was, is), message))
}

/// On the day on which both the time without a fetch and the requests since are enough, also where
/// the crawler made none on that day; `last_day` is the last one that is known of the site.
fn stopped_fetching(
    site_actor: SiteActor<'_>,
    days: &BTreeMap<Day, OfDay>,
    last_day: Day,
) -> Vec<EventRow> {
    let mut events = Vec::new();
    let fetches: Vec<Day> =
        days.iter().filter(|(_, of)| of.successful_fetches > 0).map(|(day, _)| *day).collect();
    for (at, &last) in fetches.iter().enumerate() {
        let until = fetches.get(at + 1).map_or(last_day, |next| next.plus(-1));
        let since = days.range(last.plus(1)..).take_while(|(day, _)| **day <= until);
        let mut requests = 0;
        let mut event: Option<(Day, u64)> = None;
        for (&day, of_day) in since {
            requests += of_day.sums.requests;
            let day = day.max(last.plus(UNREAD_DAYS));
            // More requests before the time is over are part of the same event.
            if requests >= UNREAD_REQUESTS_MIN && event.is_none_or(|(known, _)| known == day) {
                event = Some((day, requests));
            }
        }
        let Some((day, requests)) = event.filter(|(day, _)| *day <= until) else { continue };
        let message = format!(
            "{} ({}) has not fetched robots.txt since {last}, and made {}",
            site_actor.1,
            site_actor.2,
            counted(requests, "request")
        );
        let state = (last.to_string(), requests.to_string());
        events.push(about(site_actor, day, "stopped-fetching", state, message));
    }
    events
}

/// The states of one robots.txt, by day.
fn about_robots(of_source: &[RuledDay]) -> Vec<EventRow> {
    let mut events = Vec::new();
    let mut before: Option<(BTreeSet<&str>, bool)> = None;
    for of_day in of_source.chunk_by(|left, right| left.day == right.day) {
        let RuledDay { site, source, day, .. } = &of_day[0];
        let digests: BTreeSet<&str> = of_day
            .iter()
            .map(|ruled| ruled.digest.as_str())
            .filter(|text| !text.is_empty())
            .collect();
        let failure = of_day.iter().find(|ruled| is_failure(&ruled.outcome));
        let row = |kind, before: &str, now: &str, message| EventRow {
            site: site.clone(),
            day: *day,
            kind,
            crawler: None,
            source: source.clone(),
            before: before.to_owned(),
            now: now.to_owned(),
            message,
        };
        // The name of a file says what it is.
        let what = match source.contains("://") {
            true => format!("the robots.txt of {source}"),
            false => format!("the file {source}"),
        };
        if let Some((known, has_failed)) = &before {
            let new = digests.iter().find(|digest| !known.contains(*digest));
            if let (Some(new), Some(old)) = (new, known.last()) {
                let message = format!("{what} changed");
                events.push(row("robots-changed", old, new, message));
            }
            if let Some(failure) = failure.filter(|_| !has_failed) {
                let outcome = &failure.outcome;
                let message = format!("{what} cannot be fetched any more: {outcome}");
                events.push(row("robots-failing", known.last().unwrap_or(&""), outcome, message));
            }
        }
        // A day without a robots.txt is not compared.
        let known = match (digests.is_empty(), before) {
            (true, Some((known, _))) => known,
            _ => digests,
        };
        before = Some((known, failure.is_some()));
    }
    events
}

/// No answer, or a server error.
fn is_failure(outcome: &str) -> bool {
    !matches!(outcome.parse::<u16>(), Ok(status) if status < 500 && status != 429)
        && outcome != "unfollowed"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: i32) -> Day {
        Day::parse("2026-03-01").unwrap().plus(number)
    }

    /// The sums of GPTBot on a day: allowed requests, violations and successful fetches.
    fn did((number, allowed, violations, successful_fetches): (i32, u64, u64, u64)) -> ActorDay {
        ActorDay {
            site: "shop".to_owned(),
            day: day(number),
            origin: "-".to_owned(),
            crawler: "GPTBot".to_owned(),
            identity: "verified".to_owned(),
            sums: Sums { requests: allowed + violations, allowed, violations, ..Sums::default() },
            successful_fetches,
        }
    }

    #[track_caller]
    fn check(days: &[(i32, u64, u64, u64)], expected: &[(i32, &str, &str, &str)]) {
        check_beside(days, days[0].0, expected);
    }

    /// Another crawler makes a request on day `other`.
    #[track_caller]
    fn check_beside(
        days: &[(i32, u64, u64, u64)],
        other: i32,
        expected: &[(i32, &str, &str, &str)],
    ) {
        let other = ActorDay { crawler: "CCBot".to_owned(), ..did((other, 1, 0, 0)) };
        let actors: Vec<ActorDay> = days.iter().copied().map(did).chain([other]).collect();
        let known = KnownDays { actors: &actors, ruled: &[], lines: &[] };
        assert_eq!(events(known, |_| false, |_| None, NewsLimits::default()).len(), 0);
        let found =
            events(known, |actor| actor.crawler == "GPTBot", |_| None, NewsLimits::default());
        let is_of_volume = |row: &&EventRow| matches!(row.kind, "new-crawler" | "stopped-breaking");
        let found: Vec<_> = found
            .iter()
            .filter(|row| !is_of_volume(row))
            .map(|row| (row.day, row.kind, row.before.as_str(), row.now.as_str()))
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|&(number, kind, was, is)| (day(number), kind, was, is)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_crawler_that_never_broke_a_rule_does() {
        check(&[(0, 5, 3, 1)], &[]);
        check(&[(0, 5, 0, 1), (3, 5, 2, 1), (4, 5, 2, 1)], &[(3, "first-violation", "0", "2")]);
    }

    #[test]
    fn a_rate_doubles_where_there_are_enough_requests() {
        check(&[(0, 90, 10, 1), (1, 80, 20, 1)], &[(1, "rate-doubled", "10.0 %", "20.0 %")]);
        check(&[(0, 90, 10, 1), (1, 81, 19, 1)], &[]);
        check(&[(0, 90, 10, 1), (1, 101, 24, 1)], &[]);
        check(&[(0, 80, 10, 1), (1, 80, 20, 1)], &[]);
        // A rate that rises again after a time without violations.
        let risen = (9, "rate-doubled", "0.0 %", "20.0 %");
        check(&[(0, 90, 10, 1), (8, 100, 0, 1), (9, 80, 20, 1)], &[risen]);
        check(&[(0, 90, 10, 1), (8, 80, 20, 1)], &[]);
    }

    #[test]
    fn a_crawler_stops_fetching_and_it_is_said_once() {
        let stopped = (7, "stopped-fetching", "2026-03-01", "120");
        check(&[(0, 9, 0, 1), (3, 60, 0, 0), (7, 60, 0, 0), (8, 60, 0, 0)], &[stopped]);
        check(&[(0, 9, 0, 1), (3, 60, 0, 0), (6, 60, 0, 0)], &[]);
        // It falls silent, but the logs go on.
        check_beside(&[(0, 9, 0, 1), (3, 60, 0, 0), (6, 60, 0, 0)], 7, &[stopped]);
        check_beside(&[(0, 9, 0, 1), (3, 60, 0, 0), (6, 60, 0, 0)], 6, &[]);
        check_beside(&[(0, 9, 0, 1), (3, 60, 0, 0)], 9, &[]);
        check(&[(0, 9, 0, 0), (3, 60, 0, 0), (9, 60, 0, 0)], &[]);
        check(&[(0, 9, 0, 1), (3, 60, 0, 1), (9, 60, 0, 0), (10, 30, 0, 0)], &[]);
    }

    #[test]
    fn a_robots_txt_changes_or_begins_to_fail() {
        let ruled = |number, outcome: &str, digest: &str| RuledDay {
            site: "shop".to_owned(),
            source: "robots.txt".to_owned(),
            day: day(number),
            at: 0,
            outcome: outcome.to_owned(),
            digest: digest.to_owned(),
        };
        let days = [
            ruled(0, "200", "a"),
            ruled(1, "200", "a"),
            ruled(2, "200", "a"),
            ruled(2, "200", "b"),
            ruled(3, "200", "b"),
            ruled(4, "unreadable", ""),
            ruled(5, "503", ""),
            ruled(6, "200", "b"),
            ruled(7, "404", ""),
        ];
        let known = KnownDays { actors: &[], ruled: &days, lines: &[] };
        let found = events(known, |_| true, |_| None, NewsLimits::default());
        let found: Vec<_> = found
            .iter()
            .map(|row| (row.day, row.kind, row.before.as_str(), row.now.as_str()))
            .collect();
        let changed = (day(2), "robots-changed", "a", "b");
        assert_eq!(found, [(day(4), "robots-failing", "b", "unreadable"), changed]);
    }

    #[test]
    fn a_log_falls_silent_on_the_first_day_without_a_line() {
        let of = |number, lines| LineDay { site: "shop".to_owned(), day: day(number), lines };
        let check = |lines: &[LineDay], last, least, expected: &[i32]| {
            let known = KnownDays { actors: &[], ruled: &[], lines };
            let found = events(
                known,
                |_| true,
                |_| Some(day(last)),
                NewsLimits { silent_lines: least, ..NewsLimits::default() },
            );
            assert!(found.iter().all(|row| row.kind == "log-silent" && row.now == "0"));
            let days: Vec<Day> = found.iter().map(|row| row.day).collect();
            assert_eq!(days, expected.iter().map(|&number| day(number)).collect::<Vec<_>>());
        };
        check(&[of(0, 290)], 1, 100, &[1]);
        check(&[of(0, 290)], 5, 100, &[1]);
        check(&[of(0, 290)], 0, 100, &[]);
        check(&[of(0, 99)], 1, 100, &[]);
        check(&[of(0, 290)], 1, 0, &[]);
        check(&[of(0, 290), of(1, 0), of(2, 290), of(4, 5)], 9, 100, &[3, 1]);
    }

    #[test]
    fn nothing_is_judged_any_more() {
        let of = |number, allowed| {
            let sums = Sums { requests: 9, allowed, unknown: 9 - allowed, ..Sums::default() };
            ActorDay { sums, ..did((number, 0, 0, 0)) }
        };
        let check = |actors: &[ActorDay], expected: &[i32]| {
            let known = KnownDays { actors, ruled: &[], lines: &[] };
            let found = events(known, |_| true, |_| None, NewsLimits::default());
            let days: Vec<Day> = found.iter().map(|row| row.day).collect();
            assert_eq!(days, expected.iter().map(|&number| day(number)).collect::<Vec<_>>());
        };
        check(&[of(0, 9), of(1, 0), of(2, 0), of(3, 1), of(5, 0)], &[5, 1]);
        // The first night says so itself.
        check(&[of(0, 0)], &[]);
        let blog = ActorDay { site: "blog".to_owned(), ..of(0, 9) };
        check(&[blog, of(1, 0)], &[]);
    }
}
