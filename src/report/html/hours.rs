//! Requests and violations by hour: a bar chart for a few days, otherwise a heat map.

use maud::{Markup, Render, html};

use crate::audit::sums::Sums;
use crate::time::{Day, Hour};

use super::super::page_model::{JudgedSums, PageModel, judged_sums};
use super::chart::{ChartColumn, columns};
use super::crawlers::{IDENTITIES, drawn};
use super::heat::{DayColumn, Heat};
use super::table::HtmlTable;

/// The most days that are drawn as a bar chart.
const DAYS_IN_A_ROW_MAX: usize = 4;

/// The most days of a heat map: the last ones.
const DAYS_MAX: usize = 62;

const HOURS: usize = 24;

const HOUR_NAMES: [&str; HOURS] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16",
    "17", "18", "19", "20", "21", "22", "23",
];

/// The hours section; empty if hours are not known.
pub fn hours(model: &PageModel<'_>) -> Markup {
    let days = calendar(model.hours.keys().map(|hour| hour.day), DAYS_MAX);
    let Some(first) = days.first() else { return html! {} };
    let has_violations = model.violations.total > 0;
    let all = model.hours.keys().filter(|hour| hour.day >= *first).count();
    html! {
        h3 { "By hour" } "\n"
        @if days.len() <= DAYS_IN_A_ROW_MAX {
            (in_a_row(model, &days, has_violations))
            (table(model))
        } @else {
            @if model.hours.len() > all {
                p { "The last " (days.len()) " days; " code { "hourly.csv" } " has more." } "\n"
            }
            (calendars(model, &days))
        }
    }
}

fn in_a_row(model: &PageModel<'_>, days: &[Day], has_violations: bool) -> Markup {
    let names: Vec<String> = days.iter().map(Day::to_string).collect();
    let hours = days.iter().flat_map(|&day| (0..HOURS as u8).map(move |hour| Hour { day, hour }));
    let chart = |id, title, number: fn(&Sums) -> u64| {
        let column = |hour| (hour_name(hour), drawn(model.hours.get(&hour), number));
        let drawn: Vec<ChartColumn> = hours.clone().map(column).collect();
        columns(id, title, &IDENTITIES, &drawn, &names)
    };
    html! {
        @if has_violations {
            (chart("hours-violations", "Violations by hour", |sums| sums.violations))
        }
        (chart("hours-requests", "Requests by hour", |sums| sums.requests))
    }
}

fn table(model: &PageModel<'_>) -> Markup {
    let rows = model.hours.iter().map(|(hour, of)| (hour_name(*hour), judged_sums(of)));
    let caption = "Requests of known crawlers by hour";
    let table = HtmlTable::new("by-hour", caption, "hourly.csv", rows.collect());
    outcomes(table.text("Hour", name))
}

/// The name of a period.
pub fn name((name, _): &(String, JudgedSums)) -> String {
    name.clone()
}

/// Adds the columns of requests by verdict to `table`.
pub fn outcomes(table: HtmlTable<'_, (String, JudgedSums)>) -> Markup {
    table
        .number("Violations", |(_, of)| of.own.violations)
        .number("Allowed", |(_, of)| of.own.allowed)
        .share("Of judged", |(_, of)| (of.own.violations, of.judged))
        .number("Not judged", |(_, of)| of.own.requests.saturating_sub(of.judged))
        .number("Requests", |(_, of)| of.own.requests)
        .number("Spoofed", |(_, of)| of.spoofed.requests)
        .render()
}

fn calendars(model: &PageModel<'_>, days: &[Day]) -> Markup {
    let drawn = |title, class, what: &str, number: fn(&Sums) -> u64| {
        let of = |day: Day, hour: usize| {
            let of = model.hours.get(&Hour { day, hour: hour as u8 });
            of.map_or(0, |of| number(&judged_sums(of).own))
        };
        let column = |&day: &Day| (day.to_string(), std::array::from_fn(|hour| of(day, hour)));
        let days: Vec<DayColumn> = days.iter().map(column).collect();
        calendar_table(Heat { id: &format!("calendar-{what}"), title, class, what }, &days)
    };
    html! {
        @if model.not_spoofed().violations > 0 {
            (drawn("Violations by day and hour", "hot", "violations", |sums| sums.violations))
        }
        (drawn("Requests by day and hour", "cold", "requests", |sums| sums.requests))
    }
}

/// The heat map, and its numbers as a table.
fn calendar_table(heat: Heat<'_>, days: &[DayColumn]) -> Markup {
    let (id, caption) =
        (format!("{}-by-hour", heat.what), format!("{} (spoofed left out)", heat.title));
    let held = days.iter().filter(|(_, hours)| hours.iter().any(|&n| n > 0)).collect();
    let table = HtmlTable::new(&id, &caption, "hourly.csv", held)
        .text("Day", |(day, _)| day.clone())
        .numbers(HOUR_NAMES, |(_, hours)| *hours);
    html! { (heat.html(days)) (table) }
}

/// `2026-01-31 23:00`.
fn hour_name(hour: Hour) -> String {
    format!("{hour}:00")
}

/// The last `days_max` of `days`, which are sorted and may repeat. Missing days in between are
/// included if they are not too many.
pub fn calendar(days: impl Iterator<Item = Day>, days_max: usize) -> Vec<Day> {
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
