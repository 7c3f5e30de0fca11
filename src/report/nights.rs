//! Nights: `trend.csv` and `events.csv`, the tables over all days, and the summary of a night as plain text for a mail.

use std::io;

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

/// The result of one site.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteNight {
    /// Its name.
    pub site: String,
    /// The day of the report.
    pub day: Option<Day>,
    /// The path of the report.
    pub report: String,
    /// The sums of all crawlers that are not spoofed; `None` if the site could not be audited.
    pub sums: Option<Sums>,
    /// Whether requests were judged.
    pub coverage: Coverage,
    /// Name, violations and judged requests of the crawlers with violations that are not spoofed.
    pub violators: Vec<(String, u64, u64)>,
    /// Damage and mistakes, one line each.
    pub notices: Vec<String>,
    /// The conditions that rows of the day meet.
    pub met: Vec<MetCondition>,
    /// The metrics of the day.
    pub metrics: Option<DayMetrics>,
}

impl SiteNight {
    /// Whether it could not be audited, or has something to act upon.
    pub(crate) fn is_news(&self) -> bool {
        self.sums.is_none() || !self.notices.is_empty() || !self.met.is_empty()
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
    let mut judged = sites.iter().filter(|night| night.coverage.judged() > 0).peekable();
    let is_any_judged = judged.peek().is_some();
    let violations: u64 = sum(judged.filter_map(|night| night.sums).map(|sums| sums.violations));
    let notices: usize = sites.iter().map(|night| night.notices.len() + night.met.len()).sum();
    let mut headline = match is_any_judged {
        true => format!("{HEADLINE_START}{}", counted(violations, "violation")),
        false => format!("{HEADLINE_START}nothing judged"),
    };
    if notices > 0 {
        headline += &format!(", {}", counted(notices as u64, "problem"));
    }
    if !events.is_empty() {
        headline += &format!(", {}", counted(events.len() as u64, "event"));
    }
    headline + "\n"
}

fn site_text(night: &SiteNight) -> String {
    let SiteNight { site, day, report, sums, coverage, violators, notices, met, metrics: _ } =
        night;
    let day = day.map_or_else(String::new, |day| format!(" on {day}"));
    let mut text = format!("\n{site}{day}\n");
    match sums {
        None => text += "  could not be audited\n",
        Some(sums) => {
            let outcome = match coverage {
                Coverage::Nothing(_) => "no request could be judged".to_owned(),
                Coverage::NoRequest => "none judged".to_owned(),
                Coverage::NoneBound => "none that robots.txt can bind".to_owned(),
                Coverage::TooLittle { .. } | Coverage::Enough { .. } => violations_words(sums),
            };
            text += &format!(
                "  {} of known crawlers, {outcome}\n  {}\n",
                counted(sums.requests, "request"),
                visible(report.as_bytes())
            );
        }
    }
    for (crawler, violations, judged) in violators.iter().take(CRAWLERS_MAX) {
        let rate = percent(*violations, *judged);
        text += &format!(
            "  {:>10}  {rate:>7}  {}\n",
            grouped(*violations),
            visible(crawler.as_bytes())
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
    for what in notices.iter().take(NOTICES_MAX) {
        text += &format!("  ! {}\n", visible(what.as_bytes()));
    }
    if notices.len() > NOTICES_MAX {
        text += &format!("  ... and {} more\n", notices.len() - NOTICES_MAX);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_fits_on_a_page() {
        let sums = Sums { requests: 2_000, allowed: 900, violations: 100, ..Sums::default() };
        let shop = SiteNight {
            site: "shop".to_owned(),
            day: Day::parse("2026-11-20"),
            report: "reports/shop/2026-11-20".to_owned(),
            sums: Some(sums),
            coverage: Coverage::Enough { judged: 1_000 },
            violators: (1..=9).map(|n| (format!("bot {n}"), 10, 20)).collect(),
            notices: vec!["a\u{7}b".to_owned()],
            met: vec![MetCondition { message: "m".to_owned(), rows: vec!["r".to_owned()] }],
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
        assert_eq!(lines[0], "botaudit: 100 violations, 2 problems, 30 events");
        assert!(text.contains("\nshop on 2026-11-20\n  2,000 requests of known crawlers, 100 violations (10.0 % of those judged)\n"), "{text}");
        assert!(text.contains("  ... and 4 more, see summary.csv\n"), "{text}");
        assert!(text.contains("\nblog\n  could not be audited\n"), "{text}");
        assert!(text.contains("  shop on 2026-11-20: the robots.txt of x changed\n"), "{text}");
        assert!(text.contains("  ... and 10 more, see events.csv\n") && lines.len() < 60, "{text}");
        assert!(text.contains("  ! m\n      r\n  ! a"), "{text}");
        assert!(!text.contains('\u{7}'));
    }
}
