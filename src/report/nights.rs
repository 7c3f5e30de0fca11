//! Nights: `trend.csv` and `events.csv`, the tables over all days, and the summary of a night as plain text for a mail.

use std::{collections::BTreeSet, io};

use crate::audit::coverage::Coverage;
use crate::crawlers::{identity::Identity, registry::Registry};
use crate::measures::sums::Sums;
use crate::merge::sum;
use crate::numbers::{counted, grouped, percent};
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

/// The most crawlers named for each site.
const CRAWLERS_MAX: usize = 5;

/// The most notices printed for each site.
const NOTICES_MAX: usize = 8;

/// The most events printed.
const EVENTS_MAX: usize = 20;

/// The most earlier days printed for each site: those that changed, the last ones first.
const EARLIER_DAYS_MAX: usize = 3;

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

impl SiteNight {
    /// Whether it could not be audited, or has something to act upon.
    pub(crate) fn is_news(&self) -> bool {
        let is_met = || self.days.iter().any(|day| !day.met.is_empty());
        self.days.is_empty() || !self.notices.is_empty() || is_met()
    }
}

/// The summary; `events` are those of the reported days.
pub(crate) fn night_text(sites: &[SiteNight], events: &[EventRow]) -> String {
    let mut text = headline(sites, events);
    for night in sites {
        text += &site_text(night);
    }
    if !events.is_empty() {
        text += "\nEvents\n";
    }
    for row in events.iter().take(EVENTS_MAX) {
        text += &format!("  {} on {}: {}\n", row.site, row.day, visible(row.message.as_bytes()));
    }
    if events.len() > EVENTS_MAX {
        text += &format!("  ... and {} more, see events.csv\n", events.len() - EVENTS_MAX);
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

fn site_text(night: &SiteNight) -> String {
    let SiteNight { site, day, days, notices, metrics: _ } = night;
    let mut text = match (days.is_empty(), day) {
        (true, Some(day)) => format!("\n{site} on {day}\n  could not be audited\n"),
        (true, None) => format!("\n{site}\n  could not be audited\n"),
        (false, _) => String::new(),
    };
    let is_requested = |of: &&DayResult| Some(of.day) == *day;
    let earlier: Vec<&DayResult> = days.iter().filter(|of| !is_requested(of)).collect();
    for of in days.iter().filter(is_requested) {
        text += &format!("\n{site} on {}\n{}", of.day, day_text(of));
    }
    for of in earlier.iter().take(EARLIER_DAYS_MAX) {
        text +=
            &format!("\n{site} on {}, which changed since the last run\n{}", of.day, day_text(of));
    }
    if let Some(rest) = earlier.get(EARLIER_DAYS_MAX..).filter(|rest| !rest.is_empty()) {
        let violations: u64 = sum(rest.iter().map(|of| of.sums.violations));
        let met: usize = rest.iter().map(|of| of.met.len()).sum();
        let (first, last) = (rest[rest.len() - 1].day, rest[0].day);
        text += &format!(
            "\n{site} on {} between {first} and {last}, which changed since the last run\n  {}\n",
            counted(rest.len() as u64, "other day"),
            counted(violations, "violation")
        );
        if met > 0 {
            text += &format!("  ! {} met on these days\n", counted(met as u64, "condition"));
        }
    }
    for what in notices.iter().take(NOTICES_MAX) {
        text += &format!("  ! {}\n", visible(what.as_bytes()));
    }
    if notices.len() > NOTICES_MAX {
        text += &format!("  ... and {} more\n", notices.len() - NOTICES_MAX);
    }
    text
}

/// The result of a day, without a heading.
fn day_text(of: &DayResult) -> String {
    let DayResult { day: _, report, sums, coverage, violators, met } = of;
    let outcome = match coverage {
        Coverage::Nothing(_) => "no request could be judged".to_owned(),
        Coverage::NoRequest => "none judged".to_owned(),
        Coverage::NoneBound => "none that robots.txt can bind".to_owned(),
        Coverage::TooLittle { .. } | Coverage::Enough { .. } => violations_words(sums),
    };
    let mut text = format!(
        "  {} of known crawlers, {outcome}\n  {}\n",
        counted(sums.requests, "request"),
        visible(report.as_bytes())
    );
    for Violator { crawler, identity, sums } in violators.iter().take(CRAWLERS_MAX) {
        let rate = percent(sums.violations, sums.allowed + sums.violations);
        text += &format!(
            "  {:>10}  {rate:>7}  {} ({})\n",
            grouped(sums.violations),
            visible(crawler.as_bytes()),
            identity.as_str()
        );
    }
    if violators.len() > CRAWLERS_MAX {
        text += &format!("  ... and {} more, see summary.csv\n", violators.len() - CRAWLERS_MAX);
    }
    for condition in met {
        text += &format!("  ! {}\n", visible(condition.message.as_bytes()));
        for row in &condition.rows {
            text += &format!("      {}\n", visible(row.as_bytes()));
        }
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
        let text = night_text(&[shop, blog], &vec![row; 30]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "botaudit: 900 violations on 9 days, 10 problems, 30 events");
        assert!(text.contains("\nshop on 2026-11-20\n  2,000 requests of known crawlers, 100 violations (10.0 % of those judged)\n"), "{text}");
        assert!(text.contains("  ... and 4 more, see summary.csv\n"), "{text}");
        assert!(text.contains("\nblog\n  could not be audited\n"), "{text}");
        assert!(text.contains("  shop on 2026-11-20: the robots.txt of x changed\n"), "{text}");
        assert!(text.contains("  ... and 10 more, see events.csv\n") && lines.len() < 90, "{text}");
        assert!(text.contains("  ! m\n      r\n"), "{text}");
        assert!(text.contains("  ! a"), "{text}");
        assert!(text.contains("        10   50.0 %  bot 1 (verified)\n"), "{text}");
        assert!(
            text.contains("\nshop on 2026-11-19, which changed since the last run\n"),
            "{text}"
        );
        let rest = "\nshop on 5 other days between 2026-11-12 and 2026-11-16, which changed since the last run\n  500 violations\n  ! 5 conditions met on these days\n";
        assert!(text.contains(rest), "{text}");
        assert!(!text.contains('\u{7}'));
    }
}
