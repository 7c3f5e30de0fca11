//! Requests and violations by day.

use crate::audit::sums::Sums;
use crate::merge::Merge;

use super::super::facts::{Facts, is_itself};
use super::chart::columns;
use super::crawlers::{DRAWN, IDENTITIES};
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
    let first = facts.days.len().saturating_sub(DAYS_MAX);
    let days = || facts.days.iter().skip(first);
    let columns_drawn: Vec<_> = days()
        .map(|(day, of)| {
            let violations = |identity| of.get(&identity).map_or(0, |sums: &Sums| sums.violations);
            (day.clone(), DRAWN.map(violations).to_vec())
        })
        .collect();
    let rows = days().map(|(day, of)| {
        let (mut own, mut spoofed) = (Sums::default(), Sums::default());
        for (identity, sums) in of {
            if is_itself(*identity) { own.absorb(*sums) } else { spoofed.absorb(*sums) }
        }
        let judged = own.allowed + own.violations;
        vec![
            Cell::Text(day.clone()),
            Cell::Number(own.violations),
            Cell::Number(own.allowed),
            Cell::Share(own.violations, judged),
            Cell::Number(own.requests - judged.min(own.requests)),
            Cell::Number(own.requests),
            Cell::Number(spoofed.requests),
        ]
    });
    let (id, caption, file) = ("by-day", "Requests of known crawlers by day", "daily.csv");
    let (rows, total) = (rows.collect(), facts.days.len() as u64);
    columns("days", "Violations by day", &IDENTITIES, &columns_drawn)
        + &Table { id, caption, columns: COLUMNS, rows, total, file }.html()
}
