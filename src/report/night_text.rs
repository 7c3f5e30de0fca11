//! A night on one page, fit for a mail.

use crate::audit::sums::Sums;
use crate::time::Day;

use super::{escape::visible, nights::EventRow};
use crate::numbers::{counted, grouped, percent};

/// How each page begins, by which a page of ours is recognised.
pub const HEADLINE_START: &str = "botaudit: ";

/// Crawlers that are named of each site.
const CRAWLERS_MAX: usize = 5;

/// Lines that are told of each site besides.
const NOTICES_MAX: usize = 8;

/// News that are told.
const EVENTS_MAX: usize = 20;

/// What came of one site.
#[derive(Clone, Debug, Default)]
pub struct SiteNight {
    /// Its name.
    pub site: String,
    /// The day that the report is of.
    pub day: Option<Day>,
    /// Where the report stands.
    pub report: String,
    /// Of all crawlers that are not spoofed; `None` where it could not be audited.
    pub sums: Option<Sums>,
    /// Whether nothing could be judged, though there was something to judge.
    pub nothing_judged: bool,
    /// Name, violations and judged requests of those that broke rules, and are not spoofed.
    pub violators: Vec<(String, u64, u64)>,
    /// Thresholds that were met, damage and mistakes, a line each.
    pub notices: Vec<String>,
}

/// The page; `events` are those of the days that the reports are of.
pub fn night_text(sites: &[SiteNight], events: &[EventRow]) -> String {
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

/// Fit for the subject of a mail.
fn headline(sites: &[SiteNight], events: &[EventRow]) -> String {
    let judged: Vec<Sums> =
        sites.iter().filter(|night| !night.nothing_judged).filter_map(|night| night.sums).collect();
    let violations: u64 = judged.iter().map(|sums| sums.violations).sum();
    let is_any_judged = judged.iter().any(|sums| sums.allowed + sums.violations > 0);
    let notices: usize = sites.iter().map(|night| night.notices.len()).sum();
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
    let SiteNight { site, day, report, sums, nothing_judged, violators, notices } = night;
    let day = day.map_or_else(String::new, |day| format!(" on {day}"));
    let mut text = format!("\n{site}{day}\n");
    match sums {
        None => text += "  could not be audited\n",
        Some(sums) => {
            let outcome = match sums.allowed + sums.violations {
                _ if *nothing_judged => "no request could be judged".to_owned(),
                0 => "none judged".to_owned(),
                judged => format!(
                    "{} ({} of those judged)",
                    counted(sums.violations, "violation"),
                    percent(sums.violations, judged)
                ),
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
        text += &format!("  {:>10}  {rate:>7}  {crawler}\n", grouped(*violations));
    }
    if violators.len() > CRAWLERS_MAX {
        text += &format!("  ... and {} more, see summary.csv\n", violators.len() - CRAWLERS_MAX);
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
            nothing_judged: false,
            violators: (1..=9).map(|n| (format!("bot {n}"), 10, 20)).collect(),
            notices: vec!["a\u{7}b".to_owned()],
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
        assert_eq!(lines[0], "botaudit: 100 violations, 1 problem, 30 events");
        assert!(text.contains("\nshop on 2026-11-20\n  2,000 requests of known crawlers, 100 violations (10.0 % of those judged)\n"), "{text}");
        assert!(text.contains("  ... and 4 more, see summary.csv\n"), "{text}");
        assert!(text.contains("\nblog\n  could not be audited\n"), "{text}");
        assert!(text.contains("  shop on 2026-11-20: the robots.txt of x changed\n"), "{text}");
        assert!(text.contains("  ... and 10 more, see events.csv\n") && lines.len() < 60, "{text}");
        assert!(!text.contains('\u{7}'));
    }
}
