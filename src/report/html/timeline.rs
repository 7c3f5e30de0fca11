//! Requests and violations by day and hour.

use serde_json::Value;

use crate::time::Day;

use super::super::facts::{Facts, Judged, judged_of};
use super::chart::columns;
use super::crawlers::{DRAWN, IDENTITIES};
use super::hours::hours;
use super::markup::{cut, escape};
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

/// The section, as HTML.
pub fn timeline(facts: &Facts) -> String {
    if facts.days.is_empty() {
        return "<p>There was no request of a known crawler.</p>\n".to_owned();
    }
    let drawn = calendar(facts.days.keys().map(String::as_str), DAYS_MAX);
    let columns_drawn: Vec<_> = drawn
        .iter()
        .map(|day| {
            let of = facts.days.get(day);
            let violations =
                |identity| of.and_then(|of| of.get(&identity)).map_or(0, |sums| sums.violations);
            (day.clone(), DRAWN.map(violations).to_vec())
        })
        .collect();
    let names: Vec<&str> = drawn.iter().map(String::as_str).collect();
    let first = drawn.first().cloned().unwrap_or_default();
    let rows = facts.days.range(first..).map(|(day, of)| {
        let Judged { own, judged, spoofed } = judged_of(of);
        vec![
            Cell::Text(day.clone()),
            Cell::Number(own.violations),
            Cell::Number(own.allowed),
            Cell::Share(own.violations, judged),
            Cell::Number(own.requests.saturating_sub(judged)),
            Cell::Number(own.requests),
            Cell::Number(spoofed.requests),
        ]
    });
    let (id, caption, file) = ("by-day", "Requests of known crawlers by day", "daily.csv");
    let (rows, total) = (rows.collect(), facts.days.len() as u64);
    zone(facts)
        + &columns("days", "Violations by day", &IDENTITIES, &columns_drawn, &names)
        + &Table { id, caption, columns: COLUMNS, rows, total, file }.html()
        + &hours(facts)
}

/// Whose midnights part the days.
fn zone(facts: &Facts) -> String {
    let zone = facts.run.options.get("timezone").and_then(Value::as_str).unwrap_or("UTC");
    format!("<p>Days and hours are those of {}.</p>\n", escape(&cut(zone)))
}

/// The last `days_max` of `days`, which are in order and may repeat; with the days between them,
/// where these are not too many.
pub fn calendar<'a>(days: impl Iterator<Item = &'a str>, days_max: usize) -> Vec<String> {
    let mut known: Vec<&str> = days.collect();
    known.dedup();
    known.drain(..known.len().saturating_sub(days_max));
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return Vec::new() };
    if let (Some(first), Some(last)) = (Day::parse(first), Day::parse(last)) {
        let days = std::iter::successors(Some(first), |day| Some(day.plus(1)));
        let days: Vec<Day> = days.take_while(|day| *day <= last).take(days_max + 1).collect();
        if days.len() <= days_max {
            return days.iter().map(Day::to_string).collect();
        }
    }
    known.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_requests_are_drawn_where_there_are_few() {
        let check = |days: &[&str], days_max, expected: &[&str]| {
            assert_eq!(calendar(days.iter().copied(), days_max), expected);
        };
        check(&[], 5, &[]);
        check(
            &["2026-02-27", "2026-02-27", "2026-03-01"],
            3,
            &["2026-02-27", "2026-02-28", "2026-03-01"],
        );
        check(&["2026-02-27", "2026-03-01"], 2, &["2026-02-27", "2026-03-01"]);
        check(&["1970-01-01", "2026-03-01", "2099-01-01"], 2, &["2026-03-01", "2099-01-01"]);
        check(&["<b>", "a"], 9, &["<b>", "a"]);
    }
}
