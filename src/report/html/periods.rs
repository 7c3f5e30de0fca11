//! Requests by day and by hour, as charts with their numbers.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::measures::sums::Sums;
use crate::merge::Merge;
use crate::report::page_model::{JudgedSums, PageModel, judged_sums, of_judged, totals::Heaviest};
use crate::time::{Day, Hour};

use super::chart::{ChartColumn, LegendEntry, columns};
use super::{markup::cut, table::HtmlTable};

/// The most days of a chart by day: the last ones.
pub(crate) const DAYS_MAX: usize = 370;

/// The most days of a chart by hour: the last ones.
const DAYS_BY_HOUR_MAX: usize = 186;

/// The most columns of a chart by hour. More hours than these share columns.
const HOUR_COLUMNS_MAX: usize = 372;

/// The hours of one column, from few to many.
const COLUMN_HOURS: [u8; 7] = [1, 2, 3, 4, 6, 8, 12];

const VERDICTS: [LegendEntry; 4] = [
    ("violation", "violation"),
    ("allowed", "allowed"),
    ("unjudged", "not judged"),
    ("fetch", "robots.txt"),
];

/// A day or some hours, and the requests.
type Period = (String, JudgedSums);

/// Requests by day and verdict, or by hour if there is only one day; empty without requests.
pub(crate) fn days(model: &PageModel<'_>) -> Markup {
    let by_hour = (model.days.len() == 1).then(|| by_hour(model)).flatten();
    by_hour.or_else(|| by_day(model)).unwrap_or_default()
}

/// Requests by hour and verdict; `None` if hours are not known, or are in the summary.
pub(crate) fn hours(model: &PageModel<'_>) -> Option<Markup> {
    (model.days.len() > 1).then(|| by_hour(model)).flatten()
}

fn by_day(model: &PageModel<'_>) -> Option<Markup> {
    let days = calendar(model.days.keys().copied(), DAYS_MAX);
    let left_out = model.days.range(..days.first()?).count();
    let sums = |day: &Day| model.days.get(day).map(judged_sums).unwrap_or_default();
    let shown = days.iter().map(|day| (day.to_string(), sums(day))).collect();
    Some(Chart { id: "days", table: "by-day", period: "day", shown, days, left_out }.drawn(model))
}

/// The chart of all hours; more hours than fit share columns.
fn by_hour(model: &PageModel<'_>) -> Option<Markup> {
    let days = calendar(model.hours.keys().map(|hour| hour.day), DAYS_BY_HOUR_MAX);
    let first = Hour { day: *days.first()?, hour: 0 };
    let columns = |hours: &u8| days.len() * usize::from(24 / hours);
    let hours = COLUMN_HOURS.into_iter().find(|hours| columns(hours) <= HOUR_COLUMNS_MAX)?;
    let sums = |start: Hour| {
        let mut identities = BTreeMap::new();
        let range = start..=Hour { hour: start.hour + (hours - 1), ..start };
        model.hours.range(range).for_each(|(_, of_hour)| identities.absorb(of_hour.clone()));
        judged_sums(&identities)
    };
    let starts = |&day: &Day| (0..24).step_by(hours.into()).map(move |hour| Hour { day, hour });
    let starts = days.iter().flat_map(starts);
    let shown = starts.map(|start| (format!("{start}:00"), sums(start))).collect();
    let left_out = model.hours.range(..first).count();
    let period = if hours == 1 { "hour" } else { &format!("{hours} hours") };
    Some(Chart { id: "hours", table: "by-hour", period, shown, days, left_out }.drawn(model))
}

/// A chart, with its numbers as a table.
struct Chart<'a> {
    id: &'a str,
    /// The id of the table, which is the file that has all periods, too.
    table: &'a str,
    /// What a column is.
    period: &'a str,
    shown: Vec<Period>,
    /// The days of `shown`.
    days: Vec<Day>,
    /// Earlier days or hours, which are not shown.
    left_out: usize,
}

impl Chart<'_> {
    fn drawn(self, model: &PageModel<'_>) -> Markup {
        let Chart { id, table, period, shown, days, left_out } = self;
        let is_by_day = table == "by-day";
        // By hour, requests for robots.txt have no count of their own.
        let not_judged = if is_by_day { "Not judged" } else { "Not judged, or for robots.txt" };
        let mut legend = VERDICTS;
        legend[2].1 = if is_by_day { "not judged" } else { "not judged, or for robots.txt" };
        let column = |(name, of): &Period| -> ChartColumn {
            let Sums { violations, allowed, robots_txt_requests, .. } = of.own;
            (name.clone(), vec![violations, allowed, of.not_judged(), robots_txt_requests])
        };
        let columns_drawn: Vec<ChartColumn> = shown.iter().map(column).collect();
        let names: Vec<String> = days.iter().map(Day::to_string).collect();
        let zone = cut(model.audit.options.get("timezone").as_str().unwrap_or("UTC"));
        let last = if left_out > 0 { ", only the last days" } else { "" };
        let title = format!("Requests of crawlers by {period} ({zone}){last}");
        let is_seen = |(_, of): &Period| of.own.requests + of.spoofed.requests > 0;
        let rows: Vec<Period> = shown.into_iter().filter(is_seen).collect();
        let total = (rows.len() + left_out) as u64;
        let file = if is_by_day { "daily.csv" } else { "hourly.csv" };
        let mut numbers = HtmlTable::cut(table, &title, file, Heaviest { rows, total })
            .text("Time", |(name, _)| name.clone())
            .number("Violations", |(_, of)| of.own.violations)
            .number("Allowed", |(_, of)| of.own.allowed)
            .share("Of judged", |(_, of)| of_judged(&of.own))
            .number(not_judged, |(_, of)| of.not_judged());
        if is_by_day {
            numbers = numbers.number("robots.txt", |(_, of)| of.own.robots_txt_requests);
        }
        let numbers = numbers
            .number("Requests", |(_, of)| of.own.requests)
            .number("Spoofed", |(_, of)| of.spoofed.requests);
        html! { div {
            (columns(id, &title, &legend, &columns_drawn, &names))
            (numbers.numbers_of_drawing())
        } }
    }
}

/// The last `days_max` of `days`, which are sorted and may repeat. Missing days in between are
/// included if they are not too many.
pub(crate) fn calendar(days: impl Iterator<Item = Day>, days_max: usize) -> Vec<Day> {
    let mut known: Vec<Day> = days.collect();
    known.dedup();
    known.drain(..known.len().saturating_sub(days_max));
    let (Some(&first), Some(&last)) = (known.first(), known.last()) else { return Vec::new() };
    let days = std::iter::successors(Some(first), |day| Some(day.plus(1)));
    let days: Vec<Day> = days.take_while(|day| *day <= last).take(days_max + 1).collect();
    if days.len() <= days_max { days } else { known }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_requests_are_drawn_where_there_are_few() {
        let check = |days: &[&str], days_max, expected: &[&str]| {
            let day = |day: &&str| Day::parse(day).unwrap();
            let found = calendar(days.iter().map(day), days_max);
            assert_eq!(found, expected.iter().map(day).collect::<Vec<_>>());
        };
        check(&[], 5, &[]);
        check(
            &["2026-02-27", "2026-02-27", "2026-03-01"],
            3,
            &["2026-02-27", "2026-02-28", "2026-03-01"],
        );
        check(&["2026-02-27", "2026-03-01"], 2, &["2026-02-27", "2026-03-01"]);
        check(&["1970-01-01", "2026-03-01", "2099-01-01"], 2, &["2026-03-01", "2099-01-01"]);
    }
}
