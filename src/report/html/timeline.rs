//! Requests and violations by day and hour.

use maud::{Markup, html};
use serde_json::Value;

use crate::time::Day;

use super::super::page_model::{JudgedSums, PageModel, judged_sums};
use super::chart::columns;
use super::crawlers::{DRAWN, IDENTITIES};
use super::hours::hours;
use super::markup::cut;
use super::table::{Cell, Kind, Table};

/// Days that are drawn and listed: the last ones.
const DAYS_MAX: usize = 750;

const COLUMNS: &[(&str, Kind)] = &[
    ("Day", Kind::Text),
    ("Violations", Kind::Number),
    ("Allowed", Kind::Number),
    ("Of judged", Kind::Number),
    ("Not judged", Kind::Number),
    ("Requests", Kind::Number),
    ("Spoofed", Kind::Number),
];

/// The section.
pub fn timeline(model: &PageModel) -> Markup {
    if model.days.is_empty() {
        return html! { p { "There was no request of a known crawler." } "\n" };
    }
    let drawn = calendar(model.days.keys().copied(), DAYS_MAX);
    let columns_drawn: Vec<_> = drawn
        .iter()
        .map(|day| {
            let of = model.days.get(day);
            let violations =
                |identity| of.and_then(|of| of.get(&identity)).map_or(0, |sums| sums.violations);
            (day.to_string(), DRAWN.map(violations).to_vec())
        })
        .collect();
    let names: Vec<String> = drawn.iter().map(Day::to_string).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let first = drawn.first().copied();
    let rows = model.days.iter().filter(|(day, _)| Some(**day) >= first).map(|(day, of)| {
        let JudgedSums { own, judged, spoofed } = judged_sums(of);
        vec![
            Cell::Text(day.to_string()),
            Cell::Number(own.violations),
            Cell::Number(own.allowed),
            Cell::Share(own.violations, judged),
            Cell::Number(own.requests.saturating_sub(judged)),
            Cell::Number(own.requests),
            Cell::Number(spoofed.requests),
        ]
    });
    let (id, caption, file) = ("by-day", "Requests of known crawlers by day", "daily.csv");
    let (rows, total) = (rows.collect(), model.days.len() as u64);
    html! {
        (zone(model))
        (columns("days", "Violations by day", &IDENTITIES, &columns_drawn, &names))
        (Table { id, caption, columns: COLUMNS, rows, total, file })
        (hours(model))
    }
}

/// Whose midnights part the days.
fn zone(model: &PageModel) -> Markup {
    let zone = model.run.options.get("timezone").and_then(Value::as_str).unwrap_or("UTC");
    html! { p { "Days and hours are those of " (cut(zone)) "." } "\n" }
}

/// The last `days_max` of `days`, which are in order and may repeat; with the days between them,
/// where these are not too many.
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
