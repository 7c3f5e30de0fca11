//! Requests and violations by hour: hour after hour where there are few days, else a calendar.

use crate::audit::sums::Sums;

use super::super::facts::{Facts, Judged, judged_of};
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

/// The part of the section, as HTML; empty where hours are not known.
pub fn hours(facts: &Facts) -> String {
    let days = calendar(facts.hours.keys().map(|(day, _)| day.as_str()), DAYS_MAX);
    let Some(first) = days.first() else { return String::new() };
    let has_violations = facts.violations.total > 0;
    let heading = "<h3>By hour</h3>\n".to_owned();
    let all = facts.hours.keys().map(|(day, _)| day).filter(|day| *day >= first).count();
    let cut = match facts.hours.len() - all {
        0 => String::new(),
        _ => format!("<p>The last {} days; <code>hourly.csv</code> has more.</p>\n", days.len()),
    };
    if days.len() <= DAYS_IN_A_ROW_MAX {
        heading + &in_a_row(facts, &days, has_violations) + &table(facts)
    } else {
        heading + &cut + &calendars(facts, &days)
    }
}

fn in_a_row(facts: &Facts, days: &[String], has_violations: bool) -> String {
    let drawn = |number: fn(&Sums) -> u64| -> Vec<Column> {
        let hours = days.iter().flat_map(|day| (0..HOURS as u64).map(move |hour| (day, hour)));
        hours
            .map(|(day, hour)| {
                let of = facts.hours.get(&(day.clone(), hour));
                let of_it = |identity| of.and_then(|of| of.get(&identity)).map_or(0, number);
                (name(day, hour), DRAWN.map(of_it).to_vec())
            })
            .collect()
    };
    let requests = drawn(|sums| sums.requests);
    let names: Vec<&str> = days.iter().map(String::as_str).collect();
    let chart = |id, title, drawn: &[Column]| columns(id, title, &IDENTITIES, drawn, &names);
    let requests = chart("hours-requests", "Requests by hour", &requests);
    if !has_violations {
        return requests;
    }
    let violations = drawn(|sums| sums.violations);
    chart("hours-violations", "Violations by hour", &violations) + &requests
}

fn table(facts: &Facts) -> String {
    let rows = facts.hours.iter().map(|((day, hour), of)| {
        let Judged { own, judged, spoofed } = judged_of(of);
        vec![
            Cell::Text(name(day, *hour)),
            Cell::Number(own.violations),
            Cell::Number(own.allowed),
            Cell::Share(own.violations, judged),
            Cell::Number(own.requests.saturating_sub(judged)),
            Cell::Number(own.requests),
            Cell::Number(spoofed.requests),
        ]
    });
    let (rows, total) = (rows.collect(), facts.hours.len() as u64);
    let caption = "Requests of known crawlers by hour";
    Table { id: "by-hour", caption, columns: COLUMNS, rows, total, file: "hourly.csv" }.html()
}

fn calendars(facts: &Facts, days: &[String]) -> String {
    let counted = |number: fn(&Sums) -> u64| -> Vec<DayColumn> {
        let of = |day: &String, hour: usize| {
            let of = facts.hours.get(&(day.clone(), hour as u64));
            of.map_or(0, |of| number(&judged_of(of).own))
        };
        days.iter().map(|day| (day.clone(), std::array::from_fn(|hour| of(day, hour)))).collect()
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
    let mut html = String::new();
    if facts.not_spoofed().violations > 0 {
        html += &calendar_html(violations, "violations-by-hour", &counted(|sums| sums.violations));
    }
    html + &calendar_html(requests, "requests-by-hour", &counted(|sums| sums.requests))
}

fn calendar_html(heat: Heat<'_>, id: &str, days: &[DayColumn]) -> String {
    let caption = format!("{} (spoofed left out)", heat.title);
    let held: Vec<_> = days.iter().filter(|(_, hours)| hours.iter().any(|&n| n > 0)).collect();
    let rows = held.iter().map(|(day, hours)| {
        let cells = hours.iter().map(|&number| Cell::Number(number));
        std::iter::once(Cell::Text(day.clone())).chain(cells).collect()
    });
    let (rows, total) = (rows.collect(), held.len() as u64);
    let (caption, columns, file) = (caption.as_str(), CALENDAR_COLUMNS, "hourly.csv");
    heat.html(days) + &Table { id, caption, columns, rows, total, file }.html()
}

/// `2026-01-31 23:00`.
fn name(day: &str, hour: u64) -> String {
    format!("{day} {hour:02}:00")
}
