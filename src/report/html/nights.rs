//! The pages of nightly reports: `index.html` with all sites, the worst first, and one for each site with its days.

use std::{cmp::Ordering, collections::BTreeMap};

use maud::{Markup, html};

use crate::measures::sums::Sums;
use crate::merge::Merge;
use crate::numbers::{counted, grouped, percent};
use crate::report::nights::{EventRow, TrendRow};
use crate::report::page_model::{action::command, of_judged, text, totals::Heaviest};
use crate::report::tables::{EVENTS, TREND};
use crate::time::Day;

use super::chart::{ChartColumn, LegendEntry, Mark, days, timeline};
use super::shell::document;
use super::table::{HtmlTable, Kind};
use super::{crawlers::when, markup::strong, periods::calendar};

/// The name of the page.
pub(crate) const INDEX: &str = "index.html";

/// The days shown: the last ones.
const DAYS_MAX: usize = 90;

/// The most crawlers and events of a site.
const CRAWLERS_MAX: usize = 30;
const EVENTS_MAX: usize = 60;

const REQUESTS: [LegendEntry; 3] = [
    ("violation", "violation"),
    ("allowed", "allowed"),
    ("unjudged", "not judged, or for robots.txt"),
];

/// At the top of the chart, above most columns.
const CHANGE_HEIGHT: f64 = 0.06;

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

/// The page of all sites, the worst first. Equal nights give equal bytes.
pub(crate) fn nights_page(sites: &[SiteNights<'_>]) -> String {
    let last = sites.iter().filter_map(last_day).max();
    let header = html! {
        p class="kind" { "Crawlers and robots.txt, every night" }
        h1 { (counted(sites.len() as u64, "site")) @if let Some(last) = last { " up to " (last) } } "\n"
        p class="fine" {
            "Each site has a page with its last " (DAYS_MAX) " days. Tables of all days: "
            a href={ "./" (TREND.file) } { (TREND.file) } ", "
            a href={ "./" (EVENTS.file) } { (EVENTS.file) } "."
        }
    };
    let mut rows: Vec<LastNight<'_>> = sites.iter().map(LastNight::of).collect();
    rows.sort_by(LastNight::worse_first);
    let table = HtmlTable::whole("sites", "Sites, new violations first", TREND.file, rows)
        .column("Site", Kind::Text, |of| of.link())
        .text("Last night", |of| of.day.map_or_else(|| "none".to_owned(), |day| day.to_string()))
        .text("State", |of| of.state.to_owned())
        .number("Violations", |of| of.sums.violations)
        .share("Of judged", |of| of_judged(&of.sums))
        .column("", Kind::Drawing, |of| days("violation", &of.violations))
        .number("Requests", |of| of.sums.requests)
        .number("Events", |of| of.events)
        .main();
    document("botaudit: every night", &header, &[("all", "Sites", "Sites", table)])
}

/// The page of one site.
pub(crate) fn site_page(site: &SiteNights<'_>) -> String {
    let header = html! {
        p class="kind" { "Crawlers and robots.txt, every night" }
        h1 { (text(site.name)) @if let Some(last) = last_day(site) { " up to " (last) } } "\n"
        p class="fine" {
            "The last " (DAYS_MAX) " days."
            @if site.is_beside { " " a href={ "../" (INDEX) } { "All sites" } }
        }
    };
    document(
        &format!("botaudit: {}", site.name),
        &header,
        &[("days", "Days", site.name, section("site", site))],
    )
}

/// What the page of all sites says of one.
struct LastNight<'a> {
    site: &'a SiteNights<'a>,
    day: Option<Day>,
    /// In a few words.
    state: &'static str,
    /// Whether crawlers do what they did not do before.
    is_new: bool,
    sums: Sums,
    /// By day, on the last [`DAYS_MAX`] days.
    violations: Vec<u64>,
    /// On that day.
    events: u64,
}

/// The states of a site by the kind of an event on its last day, the worst first.
const STATES: [(&str, &str); 8] = [
    ("first-violation", "new violations"),
    ("violations-tripled", "far more violations"),
    ("rate-doubled", "a higher violation rate"),
    ("log-silent", "log silent"),
    ("robots-failing", "robots.txt fails"),
    ("nothing-judged", "nothing judged"),
    ("stopped-fetching", "robots.txt not fetched"),
    ("robots-changed", "robots.txt changed"),
];

/// How many of them are new violations.
const NEW_VIOLATIONS: usize = 3;

impl<'a> LastNight<'a> {
    fn of(site: &'a SiteNights<'a>) -> LastNight<'a> {
        let day = last_day(site);
        let events: Vec<&EventRow> =
            site.events.iter().copied().filter(|event| Some(event.day) == day).collect();
        let by_day = by_day(&site.trend);
        let sums = day.map(|day| of_day(&by_day, day)).unwrap_or_default();
        let found =
            STATES.iter().position(|(kind, _)| events.iter().any(|event| event.kind == *kind));
        let (violations, judged) = of_judged(&sums);
        let state = match found {
            Some(at) => STATES[at].1,
            None if violations > 0 => "violations",
            None if judged > 0 => "no violations",
            None => "no judged requests",
        };
        let calendar = calendar(by_day.keys().copied(), DAYS_MAX);
        LastNight {
            site,
            day,
            state,
            is_new: found.is_some_and(|at| at < NEW_VIOLATIONS),
            sums,
            violations: calendar.iter().map(|day| of_day(&by_day, *day).violations).collect(),
            events: events.len() as u64,
        }
    }

    /// New violations first, then the highest rate, most violations, and the name.
    fn worse_first(&self, other: &LastNight<'_>) -> Ordering {
        let key = |of: &LastNight<'_>| (of.is_new, of.sums.violations);
        // The rates as fractions, without a division.
        let ((broken, judged), (others, of)) = (of_judged(&self.sums), of_judged(&other.sums));
        let product = |left: u64, right: u64| u128::from(left) * u128::from(right.max(1));
        let rate = product(others, judged).cmp(&product(broken, of));
        let by_news = key(other).0.cmp(&key(self).0);
        by_news
            .then(rate)
            .then(key(other).1.cmp(&key(self).1))
            .then(self.site.name.cmp(other.site.name))
    }

    fn link(&self) -> Markup {
        html! {
            @if self.site.is_beside {
                a href={ "./" (self.site.name) "/" (INDEX) } { (text(self.site.name)) }
            } @else { (text(self.site.name)) " " span class="fine" { (text(&self.site.directory)) } }
        }
    }
}

fn by_day(rows: &[&TrendRow<'_>]) -> BTreeMap<Day, Sums> {
    let mut by_day: BTreeMap<Day, Sums> = BTreeMap::new();
    rows.iter().for_each(|row| by_day.entry(row.day).or_default().absorb(row.sums));
    by_day
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
    let by_day = by_day(rows);
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
        Some(Mark { legend: CHANGE, from: at, to: at + 1.0, height: CHANGE_HEIGHT, title })
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
        // Older reports may have been removed.
        let first = site.reports.iter().find(|day| **day >= last.plus(-6)).unwrap_or(last);
        let days = ["--from".to_owned(), first.to_string(), "--to".to_owned(), last.to_string()];
        let output = ["-o".to_owned(), format!("week-of-{}", site.name)];
        command(&["report", &site.directory], &[&days[..], &output].concat())
    });
    html! {
        h3 { "Reports" } "\n"
        ul class="files" {
            @for day in shown { li { a href={ "./" (day) "/report.html" } { (day) } } }
        } "\n"
        @if let Some(week) = week {
            p { "One report of the last week:" } "\n"
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
        let site = SiteNights {
            name: "shop",
            directory: "reports/my shop".to_owned(),
            is_beside: true,
            reports: (0..200).map(day).collect(),
            trend: rows.iter().collect(),
            events: vec![&event; 500],
        };
        let page = site_page(&site);
        assert!(page.len() < 500_000, "{}", page.len());
        for part in [
            "<h1>shop up to 2026-07-19</h1>",
            "href=\"./2026-07-19/report.html\"",
            "href=\"../index.html\"",
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
        let some_removed = SiteNights { reports: vec![day(197), day(199)], ..site };
        let page = site_page(&some_removed);
        assert!(page.contains("--from 2026-07-17 --to 2026-07-19"), "days that still exist");
        let nothing = SiteNights { reports: Vec::new(), trend: Vec::new(), ..some_removed };
        assert!(site_page(&nothing).contains("No day is over yet."));
    }

    #[test]
    fn all_sites_are_on_the_page_and_the_worst_is_first() {
        let day = Day::parse("2026-03-01").unwrap();
        let names: Vec<String> = (0..300).map(|number| format!("site{number:03}")).collect();
        // The last ones have higher rates, and one has new violations.
        let sums = |number: u64| Sums {
            requests: 400,
            allowed: 400 - number,
            violations: number,
            ..Sums::default()
        };
        let rows: Vec<TrendRow<'_>> = names
            .iter()
            .zip(0..)
            .map(|(site, number)| TrendRow {
                site,
                day,
                crawler: "GPTBot",
                identity: "verified",
                sums: sums(number),
            })
            .collect();
        let event = EventRow {
            site: "site007".to_owned(),
            day,
            kind: "first-violation",
            crawler: None,
            source: String::new(),
            before: String::new(),
            now: String::new(),
            message: String::new(),
        };
        let sites: Vec<SiteNights<'_>> = names
            .iter()
            .zip(&rows)
            .map(|(name, row)| SiteNights {
                name,
                directory: format!("reports/{name}"),
                is_beside: name != "site299",
                reports: vec![day],
                trend: vec![row],
                events: if name == "site007" { vec![&event] } else { Vec::new() },
            })
            .collect();
        let page = nights_page(&sites);
        let at = |name: &str| page.find(&format!(">{name}<")).or(page.find(&format!("{name} <")));
        let places = ["site007", "site299", "site298", "site001", "site000"].map(at);
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
        assert!(names.iter().all(|name| at(name).is_some()));
        assert!(page.contains("href=\"./site298/index.html\"") && !page.contains("./site299/"));
        assert!(page.contains("<td>new violations</td>") && page.contains("reports/site299"));
    }
}
