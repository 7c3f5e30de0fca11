//! Nights: `trend.csv` and `events.csv`, the tables over all days, and the summary of a night as plain text for a mail.

use std::collections::{BTreeMap, BTreeSet};
use std::{cmp::Reverse, io};

use crate::audit::{coverage::Coverage, model::ReportModel};
use crate::crawlers::{identity::Identity, registry::Registry};
use crate::measures::sums::Sums;
use crate::merge::{Merge, sum};
use crate::numbers::{counted, grouped};
use crate::table::{csv::CsvTable, escape::visible};
use crate::time::Day;

use super::tables::{EVENTS, TREND};
use super::{metrics::DayMetrics, summary::violations_words, threshold::MetCondition};

/// The requests of one crawler on one day at one site.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct TrendRow<'a> {
    /// The site.
    pub site: &'a str,
    /// The day.
    pub day: Day,
    /// The crawler's name.
    pub crawler: &'a str,
    /// The name of its identity.
    pub identity: &'a str,
    /// The sums over all origins.
    pub sums: Sums,
}

/// An event of a day.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct EventRow {
    /// The site.
    pub site: String,
    /// The day.
    pub day: Day,
    /// The kind of event.
    pub kind: &'static str,
    /// Name and identity of the crawler, if the event concerns one.
    pub crawler: Option<(String, String)>,
    /// The robots.txt, if the event concerns one; otherwise empty.
    pub source: String,
    /// The old value.
    pub before: String,
    /// The new value.
    pub now: String,
    /// The event as a sentence.
    pub message: String,
}

/// The text of `trend.csv`; `registry_of` returns the crawlers of a site.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn trend_csv<'a>(
    rows: &[TrendRow<'_>],
    registry_of: impl Fn(&str) -> Option<&'a Registry>,
) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut csv = CsvTable::with_header(&mut text, &TREND)?;
    for TrendRow { site, day, crawler, identity, sums } in rows {
        let known =
            registry_of(site).and_then(|registry| Some((registry, registry.find(crawler)?)));
        let Some((registry, id)) = known else { continue };
        let word = |known: &Identity| known.as_str() == *identity;
        let identity = Identity::ALL.into_iter().find(word).unwrap_or(Identity::Unverified);
        csv.row(|row| {
            row.text(site).day(*day).crawler(registry.crawler(id), identity).sums(sums);
        })?;
    }
    csv.finish()?;
    Ok(text)
}

/// The text of `events.csv`.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn events_csv(rows: &[EventRow]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut csv = CsvTable::with_header(&mut text, &EVENTS)?;
    csv.rows(rows, |row, event| {
        let (crawler, identity) =
            event.crawler.as_ref().map_or(("", ""), |(name, word)| (name, word));
        row.text(&event.site).day(event.day).word(event.kind).text(crawler).text(identity);
        row.text(&event.source).text(&event.before).text(&event.now).text(&event.message);
    })?;
    csv.finish()?;
    Ok(text)
}

/// The start of each summary, by which botaudit recognises its own files.
pub(crate) const HEADLINE_START: &str = "botaudit: ";

/// The most conditions, events, notices and days of sites printed: together a page.
const CONDITIONS_MAX: usize = 6;
const EVENTS_MAX: usize = 10;
const NOTICES_MAX: usize = 3;
const DAYS_MAX: usize = 10;

/// The most days of sites whose reports are named. Those of others are on the page of all sites.
const REPORTS_MAX: usize = 5;

/// The most crawlers named for each day of a site.
const CRAWLERS_MAX: usize = 3;

/// The result of one site.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteNight {
    /// Its name.
    pub site: String,
    /// The requested day.
    pub day: Option<Day>,
    /// The requested day and all others whose counts changed since the last run, the last one first; empty if the site
    /// could not be audited.
    pub days: Vec<DayResult>,
    /// Damage and mistakes, one line each.
    pub notices: Vec<String>,
    /// The metrics of the requested day.
    pub metrics: Option<DayMetrics>,
}

/// The result of one day of a site.
#[derive(Clone, Debug)]
pub(crate) struct DayResult {
    /// The day.
    pub day: Day,
    /// The path of its report.
    pub report: String,
    /// The sums of all crawlers that are not spoofed.
    pub sums: Sums,
    /// Whether requests were judged.
    pub coverage: Coverage,
    /// The crawlers with violations that are not spoofed, most violations first.
    pub violators: Vec<Violator>,
    /// The conditions that rows of the day meet.
    pub met: Vec<MetCondition>,
}

/// A crawler with violations on a day.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Violator {
    /// Its name.
    pub crawler: String,
    /// Its identity.
    pub identity: Identity,
    /// Its requests at all origins.
    pub sums: Sums,
}

impl DayResult {
    /// The result of `day`, whose `report` is about `audit`.
    pub(crate) fn of(
        day: Day,
        report: String,
        audit: &ReportModel,
        met: Vec<MetCondition>,
    ) -> DayResult {
        let (sums, coverage) = (audit.total_of_crawlers(), audit.coverage.clone());
        DayResult { day, report, sums, coverage, violators: violators(audit), met }
    }
}

/// Crawlers that broke rules, most violations first, without spoofed requests and tools. What another identity did
/// under the same name is a row of its own.
fn violators(audit: &ReportModel) -> Vec<Violator> {
    let mut all: BTreeMap<(&str, Identity), Sums> = BTreeMap::new();
    for (_, actor, tally) in audit.actors() {
        if audit.is_own_crawler(actor) {
            let name = audit.registry.crawler(actor.0).name.as_str();
            all.entry((name, actor.1)).or_default().absorb(tally.total());
        }
    }
    let broke = all.into_iter().filter(|(_, sums)| sums.violations > 0);
    let mut violators: Vec<Violator> = broke
        .map(|((name, identity), sums)| Violator { crawler: name.to_owned(), identity, sums })
        .collect();
    violators.sort_by_key(|violator| Reverse(violator.sums.violations));
    violators
}

impl SiteNight {
    /// Whether it could not be audited, or has something to act upon.
    pub(crate) fn is_news(&self) -> bool {
        let is_met = || self.days.iter().any(|day| !day.met.is_empty());
        self.days.is_empty() || !self.notices.is_empty() || is_met()
    }
}

/// The summary on a page: the conditions that were met, the events, damage, and the days with most violations; `events`
/// are those to be mailed, and `index` is the page with all sites.
pub(crate) fn night_text(sites: &[SiteNight], events: &[EventRow], index: &str) -> String {
    let mut text = headline(sites, events);
    text += &conditions(sites);
    let told = |row: &EventRow| {
        format!("  {} on {}: {}\n", row.site, row.day, visible(row.message.as_bytes()))
    };
    text += &listed("Events", events.iter().map(told), EVENTS_MAX, "see events.csv");
    let notices = sites.iter().flat_map(|night| {
        let failed = night.days.is_empty().then(|| "could not be audited".to_owned());
        let notices = failed.into_iter().chain(night.notices.iter().cloned());
        notices.map(|what| format!("  {}: {}\n", night.site, visible(what.as_bytes())))
    });
    text += &listed("Problems", notices, NOTICES_MAX, "see the output of the run");
    text += &worst_days(sites);
    text + &format!("\nall sites: {}\n", visible(index.as_bytes()))
}

/// A part of the page with at most `most` of `lines`; empty if there are none.
fn listed(heading: &str, lines: impl Iterator<Item = String>, most: usize, rest: &str) -> String {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{heading}\n{}", lines[..lines.len().min(most)].concat());
    if lines.len() > most {
        text += &format!("  ... and {} more, {rest}\n", lines.len() - most);
    }
    text
}

/// The conditions that rows meet, with these rows, or one of them if there are many conditions.
fn conditions(sites: &[SiteNight]) -> String {
    let met = sites.iter().flat_map(|night| {
        night.days.iter().flat_map(move |of| of.met.iter().map(move |met| (night, of.day, met)))
    });
    let met: Vec<_> = met.collect();
    let rows_max = if met.len() > 1 { 1 } else { usize::MAX };
    let lines = met.into_iter().map(|(night, day, MetCondition { message, rows })| {
        let mut text = format!("  {} on {day}: {}\n", night.site, visible(message.as_bytes()));
        for row in rows.iter().take(rows_max) {
            text += &format!("      {}\n", visible(row.as_bytes()));
        }
        text
    });
    listed("Conditions that were met", lines, CONDITIONS_MAX, "see the output of the run")
}

/// The days of sites with most violations.
fn worst_days(sites: &[SiteNight]) -> String {
    let days = sites.iter().flat_map(|night| night.days.iter().map(move |of| (night, of)));
    let mut days: Vec<(&SiteNight, &DayResult)> = days.collect();
    days.sort_by_key(|(_, of)| Reverse((of.sums.violations, of.sums.requests)));
    let has_reports = days.len() <= REPORTS_MAX;
    let lines = days.iter().take(DAYS_MAX).map(|(night, of)| match has_reports {
        true => day_text(night, of) + &format!("      {}\n", visible(of.report.as_bytes())),
        false => day_text(night, of),
    });
    let mut text = listed("Sites, most violations first", lines, DAYS_MAX, "");
    if let Some(rest) = days.get(DAYS_MAX..).filter(|rest| !rest.is_empty()) {
        let violations: u64 = sum(rest.iter().map(|(_, of)| of.sums.violations));
        let names: BTreeSet<&str> = rest.iter().map(|(night, _)| &*night.site).collect();
        text += &format!(
            "  ... and {} of {}, {}\n",
            counted(rest.len() as u64, "day"),
            counted(names.len() as u64, "site"),
            counted(violations, "violation")
        );
    }
    text
}

/// One line, usable as the subject of a mail.
fn headline(sites: &[SiteNight], events: &[EventRow]) -> String {
    let days = || sites.iter().flat_map(|night| &night.days);
    let judged = || days().filter(|of| of.coverage.judged() > 0);
    let violations: u64 = sum(judged().map(|of| of.sums.violations));
    let notices: usize = sites.iter().map(|night| night.notices.len()).sum();
    let problems = notices + days().map(|of| of.met.len()).sum::<usize>();
    let mut headline = match judged().next().is_some() {
        true => format!("{HEADLINE_START}{}", counted(violations, "violation")),
        false => format!("{HEADLINE_START}nothing judged"),
    };
    let distinct: BTreeSet<Day> = days().map(|of| of.day).collect();
    if distinct.len() > 1 {
        headline += &format!(" on {} days", distinct.len());
    }
    if problems > 0 {
        headline += &format!(", {}", counted(problems as u64, "problem"));
    }
    if !events.is_empty() {
        headline += &format!(", {}", counted(events.len() as u64, "event"));
    }
    headline + "\n"
}

/// The result of a day, with the crawlers that broke most rules.
fn day_text(night: &SiteNight, of: &DayResult) -> String {
    let DayResult { day, report: _, sums, coverage, violators, met: _ } = of;
    let outcome = match coverage {
        Coverage::Nothing(_) => "no request could be judged".to_owned(),
        Coverage::NoRequest => "none judged".to_owned(),
        Coverage::NoneBound => "none that robots.txt can bind".to_owned(),
        Coverage::TooLittle { .. } | Coverage::Enough { .. } => violations_words(sums),
    };
    let changed = if night.day == Some(*day) { "" } else { " (changed since the last run)" };
    let mut text = format!(
        "  {} on {day}{changed}: {} of known crawlers, {outcome}\n",
        night.site,
        counted(sums.requests, "request"),
    );
    let named = violators.iter().take(CRAWLERS_MAX).map(|Violator { crawler, identity, sums }| {
        let (crawler, identity) = (visible(crawler.as_bytes()), identity.as_str());
        format!("{crawler} ({identity}) {}", grouped(sums.violations))
    });
    let mut named: Vec<String> = named.collect();
    if violators.len() > CRAWLERS_MAX {
        named.push(format!("{} more", violators.len() - CRAWLERS_MAX));
    }
    if !named.is_empty() {
        text += &format!("      {}\n", named.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The day `ago` days before `last`.
    fn of_day(last: &str, ago: i32) -> DayResult {
        let day = Day::parse(last).unwrap().plus(-ago);
        let violator = |n| Violator {
            crawler: format!("bot {n}"),
            identity: Identity::Verified,
            sums: Sums { requests: 20, allowed: 10, violations: 10, ..Sums::default() },
        };
        DayResult {
            day,
            report: format!("reports/shop/{day}"),
            sums: Sums { requests: 2_000, allowed: 900, violations: 100, ..Sums::default() },
            coverage: Coverage::Enough { judged: 1_000 },
            violators: (1..=9).map(violator).collect(),
            met: vec![MetCondition { message: "m".to_owned(), rows: vec!["r".to_owned()] }],
        }
    }

    #[test]
    fn a_night_fits_on_a_page() {
        let shop = SiteNight {
            site: "shop".to_owned(),
            day: Day::parse("2026-11-20"),
            days: (0..9).map(|ago| of_day("2026-11-20", ago)).collect(),
            notices: vec!["a\u{7}b".to_owned()],
            metrics: None,
        };
        let blog = SiteNight { site: "blog".to_owned(), ..SiteNight::default() };
        let row = EventRow {
            site: "shop".to_owned(),
            day: Day::parse("2026-11-20").unwrap(),
            kind: "robots-changed",
            crawler: None,
            source: "robots.txt".to_owned(),
            before: String::new(),
            now: String::new(),
            message: "the robots.txt of x changed".to_owned(),
        };
        let many = (0..200).map(|number| {
            let site = format!("site{number}");
            SiteNight { site, notices: Vec::new(), ..shop.clone() }
        });
        let sites: Vec<SiteNight> = [shop.clone(), blog].into_iter().chain(many).collect();
        let text = night_text(&sites, &vec![row; 30], "reports/index.html");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "botaudit: 180,900 violations on 9 days, 1,810 problems, 30 events");
        assert!(lines.len() <= 60, "{} lines: {text}", lines.len());
        assert!(!text.contains('\u{7}'));
        for part in [
            "\nConditions that were met\n  shop on 2026-11-20: m\n      r\n",
            "  ... and 1803 more, see the output of the run\n",
            "\nEvents\n  shop on 2026-11-20: the robots.txt of x changed\n",
            "  ... and 20 more, see events.csv\n",
            "\nProblems\n  shop: a",
            "\n  blog: could not be audited\n",
            "  shop on 2026-11-20: 2,000 requests of known crawlers, 100 violations (10.0 % of those judged)\n      bot 1 (verified) 10, bot 2 (verified) 10, bot 3 (verified) 10, 6 more\n",
            "  shop on 2026-11-19 (changed since the last run): ",
            "  ... and 1,799 days of 200 sites, 179,900 violations\n",
            "\nall sites: reports/index.html\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
