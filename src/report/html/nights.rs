//! `index.html` of nightly reports: the days of all sites on one page.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::measures::sums::Sums;
use crate::merge::Merge;
use crate::numbers::{counted, grouped, percent};
use crate::report::nights::{EventRow, TrendRow};
use crate::report::page_model::{action::command, of_judged, text, totals::Heaviest};
use crate::report::tables::{EVENTS, TREND};
use crate::time::Day;

use super::chart::{ChartColumn, LegendEntry, Mark, days, timeline};
use super::shell::{Section, document};
use super::table::{HtmlTable, Kind};
use super::{crawlers::when, markup::strong, periods::calendar};

/// The name of the page.
pub(crate) const INDEX: &str = "index.html";

/// The days shown: the last ones.
const DAYS_MAX: usize = 90;

/// The most sites, crawlers of a site, and events of a site.
const SITES_MAX: usize = 20;
const CRAWLERS_MAX: usize = 30;
const EVENTS_MAX: usize = 60;

const REQUESTS: [LegendEntry; 3] = [
    ("violation", "violation"),
    ("allowed", "allowed"),
    ("unjudged", "not judged, or for robots.txt"),
];

const CHANGE: LegendEntry = ("change", "robots.txt changed");

/// The nights of one site.
pub(crate) struct SiteNights<'a> {
    /// Its name, which is plain text.
    pub name: &'a str,
    /// The directory of its reports, for commands.
    pub directory: String,
    /// Whether that is the directory of its name beside the page, so that links lead there.
    pub is_beside: bool,
    /// The days with a report, in order.
    pub reports: Vec<Day>,
    /// The requests of its crawlers that are not spoofed, by day.
    pub trend: Vec<&'a TrendRow<'a>>,
    /// Its events, the last day first.
    pub events: Vec<&'a EventRow>,
}

/// The page. Equal nights give equal bytes.
pub(crate) fn nights_page(sites: &[SiteNights<'_>]) -> String {
    let shown = &sites[..sites.len().min(SITES_MAX)];
    let anchors: Vec<String> = (1..=shown.len()).map(|number| format!("site-{number}")).collect();
    let parts = anchors.iter().zip(shown);
    let sections: Vec<Section<'_>> =
        parts.map(|(id, site)| (&**id, site.name, site.name, section(id, site))).collect();
    let last = sites.iter().filter_map(|site| last_day(site)).max();
    let header = html! {
        p class="kind" { "Crawlers and robots.txt, every night" }
        h1 { (counted(sites.len() as u64, "site")) @if let Some(last) = last { " up to " (last) } } "\n"
        p class="fine" {
            "The last " (DAYS_MAX) " days. Tables of all days: "
            a href={ "./" (TREND.file) } { (TREND.file) } ", "
            a href={ "./" (EVENTS.file) } { (EVENTS.file) } "."
            @if sites.len() > SITES_MAX { " Only the first " (SITES_MAX) " sites are shown." }
        }
    };
    document("botaudit: every night", &header, &sections)
}

fn last_day(site: &SiteNights<'_>) -> Option<Day> {
    site.reports.last().copied().max(site.trend.iter().map(|row| row.day).max())
}

fn section(id: &str, site: &SiteNights<'_>) -> Markup {
    let mut known: Vec<Day> = site.trend.iter().map(|row| row.day).collect();
    known.extend(&site.reports);
    known.sort_unstable();
    let days = calendar(known.into_iter(), DAYS_MAX);
    let Some(first) = days.first() else { return html! { p { "No day is over yet." } } };
    let rows: Vec<&TrendRow<'_>> =
        site.trend.iter().copied().filter(|row| row.day >= *first).collect();
    let events: Vec<&EventRow> =
        site.events.iter().copied().filter(|event| event.day >= *first).collect();
    html! {
        (result(&rows, &days))
        (chart(id, &rows, &events, &days))
        (crawlers(id, &rows, &days))
        (event_table(id, &events))
        (reports(site, &days))
    }
}

/// The last day in one sentence.
fn result(rows: &[&TrendRow<'_>], days: &[Day]) -> Markup {
    let Some(last) = days.last() else { return html! {} };
    let mut sums = Sums::default();
    rows.iter().filter(|row| row.day == *last).for_each(|row| sums.absorb(row.sums));
    let (violations, judged) = of_judged(&sums);
    html! {
        p class="headline" {
            "On " (last) ", crawlers made " (strong(sums.requests)) " requests. "
            @if judged == 0 { "None could be judged." } @else {
                (strong(violations)) " of " (grouped(judged)) " judged ones ("
                (percent(violations, judged)) ") were disallowed."
            }
        } "\n"
    }
}

fn chart(id: &str, rows: &[&TrendRow<'_>], events: &[&EventRow], days: &[Day]) -> Markup {
    let mut by_day: BTreeMap<Day, Sums> = BTreeMap::new();
    rows.iter().for_each(|row| by_day.entry(row.day).or_default().absorb(row.sums));
    let column = |day: &Day| -> ChartColumn {
        let Sums { requests, allowed, violations, .. } = of_day(&by_day, *day);
        let rest = requests.saturating_sub(allowed.saturating_add(violations));
        (day.to_string(), vec![violations, allowed, rest])
    };
    let columns: Vec<ChartColumn> = days.iter().map(column).collect();
    let changes = events.iter().filter(|event| event.kind == "robots-changed");
    let marks = changes.filter_map(|event| {
        let at = days.binary_search(&event.day).ok()? as f64;
        let title = format!("{}: {}", event.day, text(&event.message));
        Some(Mark { legend: CHANGE, from: at, to: at + 1.0, height: 1.0, title })
    });
    let marks: Vec<Mark> = marks.collect();
    let names: Vec<String> = days.iter().map(Day::to_string).collect();
    let title = "Requests of crawlers by day";
    let shown: Vec<(Day, Sums)> = by_day.into_iter().collect();
    html! { div {
        (timeline((&format!("{id}-days"), title), &REQUESTS, &columns, &marks, &names))
        (HtmlTable::new(&format!("{id}-by-day"), title, TREND.file, shown)
            .text("Day", |(day, _)| day.to_string())
            .number("Violations", |(_, sums)| sums.violations)
            .number("Allowed", |(_, sums)| sums.allowed)
            .share("Of judged", |(_, sums)| of_judged(sums))
            .number("Requests", |(_, sums)| sums.requests)
            .numbers_of_drawing())
    } }
}

fn of_day(by_day: &BTreeMap<Day, Sums>, day: Day) -> Sums {
    by_day.get(&day).copied().unwrap_or_default()
}

fn crawlers(id: &str, rows: &[&TrendRow<'_>], calendar: &[Day]) -> Markup {
    let mut by_crawler: BTreeMap<(&str, &str), BTreeMap<Day, Sums>> = BTreeMap::new();
    for row in rows {
        let of_crawler = by_crawler.entry((row.crawler, row.identity)).or_default();
        of_crawler.entry(row.day).or_default().absorb(row.sums);
    }
    let all = by_crawler.into_iter().map(|(who, by_day)| {
        let mut sums = Sums::default();
        by_day.values().for_each(|of_day| sums.absorb(*of_day));
        (who, by_day, sums)
    });
    let weight =
        |(_, _, sums): &(_, _, Sums)| sums.violations.saturating_mul(1 << 32) | sums.requests;
    let rows = Heaviest::of(all, CRAWLERS_MAX, weight);
    let caption = "Crawlers in these days";
    HtmlTable::cut(&format!("{id}-crawlers"), caption, TREND.file, rows)
        .text("Crawler", |((name, _), ..)| text(name))
        .text("Identity", |((_, identity), ..)| (*identity).to_owned())
        .number("Violations", |(.., sums)| sums.violations)
        .share("Of judged", |(.., sums)| of_judged(sums))
        .column("When", Kind::Text, |(_, by_day, _)| {
            let broken = by_day.iter().filter(|(_, sums)| sums.violations > 0);
            when(&broken.map(|(day, sums)| (*day, sums.violations)).collect(), calendar)
        })
        .number("Requests", |(.., sums)| sums.requests)
        .column("", Kind::Drawing, |(_, by_day, _)| {
            let requests = calendar.iter().map(|day| of_day(by_day, *day).requests);
            days("allowed", &requests.collect::<Vec<_>>())
        })
        .megabytes("MB", |(.., sums)| sums.bytes)
        .main()
}

fn event_table(id: &str, events: &[&EventRow]) -> Markup {
    let rows =
        Heaviest { rows: events.iter().take(EVENTS_MAX).collect(), total: events.len() as u64 };
    html! {
        @if !events.is_empty() {
            (HtmlTable::cut(&format!("{id}-events"), "Events", EVENTS.file, rows)
                .text("Day", |event| event.day.to_string())
                .text("Event", |event| event.kind.to_owned())
                .text("What", |event| text(&event.message))
                .main())
        }
    }
}

/// Links to the reports of the days, and the command that makes one of a week.
fn reports(site: &SiteNights<'_>, days: &[Day]) -> Markup {
    let shown = site.reports.iter().rev().filter(|day| Some(*day) >= days.first());
    let week = site.reports.last().map(|last| {
        let days =
            ["--from".to_owned(), last.plus(-6).to_string(), "--to".to_owned(), last.to_string()];
        let output = ["-o".to_owned(), format!("week-of-{}", site.name)];
        command(&["report", &site.directory], &[&days[..], &output].concat())
    });
    html! {
        h3 { "Reports" } "\n"
        @if site.is_beside {
            ul class="files" {
                @for day in shown { li { a href={ "./" (site.name) "/" (day) "/report.html" } { (day) } } }
            } "\n"
        } @else { p { "They are in " code { (text(&site.directory)) } "." } "\n" }
        @if let Some(week) = week {
            p { "One report of the last seven days:" } "\n"
            pre tabindex="0" { code { (week) } } "\n"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_sites_and_days_fit_into_a_page() {
        let day = |number: i32| Day::parse("2026-01-01").unwrap().plus(number);
        let names: Vec<String> = (0..60).map(|number| format!("crawler<{number}>")).collect();
        let sums = Sums { requests: 9, allowed: 5, violations: 2, ..Sums::default() };
        let rows: Vec<TrendRow<'_>> = (0..200)
            .flat_map(|number| {
                names.iter().map(move |crawler| TrendRow {
                    site: "shop",
                    day: day(number),
                    crawler,
                    identity: "unverified",
                    sums,
                })
            })
            .collect();
        let event = EventRow {
            site: "shop".to_owned(),
            day: day(199),
            kind: "robots-changed",
            crawler: None,
            source: String::new(),
            before: String::new(),
            now: String::new(),
            message: "<b>\u{202e}".to_owned(),
        };
        let site = |_| SiteNights {
            name: "shop",
            directory: "reports/my shop".to_owned(),
            is_beside: true,
            reports: (0..200).map(day).collect(),
            trend: rows.iter().collect(),
            events: vec![&event; 500],
        };
        let sites: Vec<_> = (0..30).map(site).collect();
        let page = nights_page(&sites);
        assert!(page.len() < 2_500_000, "{}", page.len());
        for part in [
            "<h1>30 sites up to 2026-07-19</h1>",
            "Only the first 20 sites are shown.",
            "href=\"./shop/2026-07-19/report.html\"",
            "botaudit report 'reports/my shop' --from 2026-07-13 --to 2026-07-19 -o week-of-shop",
            "crawler&lt;1&gt;",
            "30 of 60 rows; <a href=\"./trend.csv\">",
            "robots.txt changed",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(
            !page.contains("2026-04-20<") && !page.contains('\u{202e}') && !page.contains("<b>")
        );
        let nothing = SiteNights { reports: Vec::new(), trend: Vec::new(), ..site(0) };
        assert!(nights_page(&[nothing]).contains("No day is over yet."));
    }
}
