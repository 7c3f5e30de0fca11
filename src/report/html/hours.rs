//! Requests and violations by hour: hour after hour where there are few days, else a calendar.

use maud::{Markup, html};

use crate::audit::sums::Sums;
use crate::time::{Day, Hour};

use super::super::page_model::{JudgedSums, PageModel, judged_sums};
use super::chart::{Column, columns};
use super::crawlers::{DRAWN, IDENTITIES};
use super::heat::{DayColumn, Heat};
use super::table::{Cell, Kind, Table};
use super::timeline::calendar;

/// Days that are drawn hour after hour.
const DAYS_IN_A_ROW_MAX: usize = 4;

/// Days of a calendar: the last ones.
const DAYS_MAX: usize = 62;

const HOURS: usize = 24;

const COLUMNS: &[(&str, Kind)] = &[
    ("Hour", Kind::Text),
    ("Violations", Kind::Number),
    ("Allowed", Kind::Number),
    ("Of judged", Kind::Number),
    ("Not judged", Kind::Number),
    ("Requests", Kind::Number),
    ("Spoofed", Kind::Number),
];

const CALENDAR_COLUMNS: &[(&str, Kind)] = &{
    const NAMES: [&str; HOURS] = [
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16",
        "17", "18", "19", "20", "21", "22", "23",
    ];
    let mut columns = [("Day", Kind::Text); HOURS + 1];
    let mut hour = 0;
    while hour < HOURS {
        columns[hour + 1] = (NAMES[hour], Kind::Number);
        hour += 1;
    }
    columns
};

/// The part of the section; empty where hours are not known.
pub fn hours(model: &PageModel) -> Markup {
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

fn in_a_row(model: &PageModel, days: &[Day], has_violations: bool) -> Markup {
    let drawn = |number: fn(&Sums) -> u64| -> Vec<Column> {
        let hours =
            days.iter().flat_map(|day| (0..HOURS as u8).map(move |hour| Hour { day: *day, hour }));
        hours
            .map(|hour| {
                let of = model.hours.get(&hour);
                let of_it = |identity| of.and_then(|of| of.get(&identity)).map_or(0, number);
                (name(hour), DRAWN.map(of_it).to_vec())
            })
            .collect()
    };
    let requests = drawn(|sums| sums.requests);
    let names: Vec<String> = days.iter().map(Day::to_string).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let chart = |id, title, drawn: &[Column]| columns(id, title, &IDENTITIES, drawn, &names);
    let requests = chart("hours-requests", "Requests by hour", &requests);
    if !has_violations {
        return requests;
    }
    let violations = drawn(|sums| sums.violations);
    html! { (chart("hours-violations", "Violations by hour", &violations)) (requests) }
}

fn table(model: &PageModel) -> Markup {
    let rows = model.hours.iter().map(|(hour, of)| {
        let JudgedSums { own, judged, spoofed } = judged_sums(of);
        vec![
            Cell::Text(name(*hour)),
            Cell::Number(own.violations),
            Cell::Number(own.allowed),
            Cell::Share(own.violations, judged),
            Cell::Number(own.requests.saturating_sub(judged)),
            Cell::Number(own.requests),
            Cell::Number(spoofed.requests),
        ]
    });
    let (rows, total) = (rows.collect(), model.hours.len() as u64);
    let caption = "Requests of known crawlers by hour";
    html! { (Table { id: "by-hour", caption, columns: COLUMNS, rows, total, file: "hourly.csv" }) }
}

fn calendars(model: &PageModel, days: &[Day]) -> Markup {
    let counted = |number: fn(&Sums) -> u64| -> Vec<DayColumn> {
        let of = |day: Day, hour: usize| {
            let of = model.hours.get(&Hour { day, hour: hour as u8 });
            of.map_or(0, |of| number(&judged_sums(of).own))
        };
        days.iter()
            .map(|&day| (day.to_string(), std::array::from_fn(|hour| of(day, hour))))
            .collect()
    };
    let violations = Heat {
        id: "calendar-violations",
        title: "Violations by day and hour",
        class: "hot",
        what: "violations",
    };
    let requests = Heat {
        id: "calendar-requests",
        title: "Requests by day and hour",
        class: "cold",
        what: "requests",
    };
    html! {
        @if model.not_spoofed().violations > 0 {
            (calendar_table(violations, "violations-by-hour", &counted(|sums| sums.violations)))
        }
        (calendar_table(requests, "requests-by-hour", &counted(|sums| sums.requests)))
    }
}

/// The calendar, and its numbers as a table.
fn calendar_table(heat: Heat<'_>, id: &str, days: &[DayColumn]) -> Markup {
    let caption = format!("{} (spoofed left out)", heat.title);
    let held: Vec<_> = days.iter().filter(|(_, hours)| hours.iter().any(|&n| n > 0)).collect();
    let rows = held.iter().map(|(day, hours)| {
        let cells = hours.iter().map(|&number| Cell::Number(number));
        std::iter::once(Cell::Text(day.clone())).chain(cells).collect()
    });
    let (rows, total) = (rows.collect(), held.len() as u64);
    let (caption, columns, file) = (caption.as_str(), CALENDAR_COLUMNS, "hourly.csv");
    html! { (heat.html(days)) (Table { id, caption, columns, rows, total, file }) }
}

/// `2026-01-31 23:00`.
fn name(hour: Hour) -> String {
    format!("{hour}:00")
}
