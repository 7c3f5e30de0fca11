//! How rows of the same table of several reports become one, column by column.
//!
//! What can be added up is; of what cannot (a median, a count of different
//! things) the cell is left empty where more than one row came together.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::mem::{replace, take};

use crate::audit::hours::HOURS_MAX;
use crate::audit::tally::UNKNOWN_CRAWLERS_MAX;
use crate::audit::worker::UNKNOWN_USER_AGENT_BYTES_MAX;
use crate::bounded::StableHash;
use crate::crawlers::identity::Identity;
use crate::logs::reject::Reject;

use super::super::columns::{Column, Table, hourly::HOURLY, unknown_crawlers::UNKNOWN_CRAWLERS};
use super::super::csv::{CsvTable, fraction};
use super::super::escape::bytes_of;
use super::super::facts::line::Line;

/// What the last row of `unknown-crawlers.csv` is called, where not all fit.
const OTHERS: &str = "(others)";

/// Columns that tell the rows of any table apart, where it has them.
const KEYS: [&str; 16] = [
    "day",
    "hour",
    "origin",
    "crawler",
    "identity",
    "user_agent",
    "file",
    "reason",
    "change",
    "robots_digest",
    "rule_line",
    "line",
    "draft_line",
    "draft_pattern",
    "present_digest",
    "present_line",
];

/// What is made of two cells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    /// Both rows have the same.
    Same,
    /// They are added up.
    Sum,
    /// The lesser that is not empty, by its text or its number.
    Least,
    /// The greater.
    Most,
    /// That of the row that was first seen earlier.
    OfFirstSeen,
    /// That of the row with the busier hour.
    OfBusier,
    /// Added up until there is a successful fetch.
    BeforeFetch,
    /// Made anew out of the sums.
    Rate,
    /// Cannot be told from the two.
    Lost,
}

fn way(column: &Column) -> Way {
    match column.name {
        name if KEYS.contains(&name) => Way::Same,
        "allowed_per_hour" | "allowed_per_day" => Way::Same,
        "busiest_hour_utc" | "busiest_hour_requests" => Way::OfBusier,
        "requests_before_first_fetch" => Way::BeforeFetch,
        "violation_rate" => Way::Rate,
        "fetch_age_minutes_min" => Way::Least,
        "fetch_age_minutes_max" => Way::Most,
        "fetch_age_minutes_median" | "robots_txt_naming" => Way::Lost,
        "snapshot_fetched_utc" | "snapshot_age_seconds" => Way::OfFirstSeen,
        name if name.starts_with("example") => Way::OfFirstSeen,
        name if name.ends_with("_utc") && name.starts_with("first_") => Way::Least,
        name if name.ends_with("_utc") && name.starts_with("last_") => Way::Most,
        _ if matches!(column.unit, "count" | "bytes") => Way::Sum,
        _ => Way::Same,
    }
}

/// What a row is told by; numbers are in the order of numbers.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum KeyPart {
    Number(u64),
    Text(Vec<u8>),
}

/// The rows of one table, as they come together.
#[derive(Debug)]
pub struct Rows {
    table: Table,
    rows: BTreeMap<Vec<KeyPart>, Vec<String>>,
}

impl Rows {
    /// No row of `table` yet.
    pub fn new(table: Table) -> Rows {
        Rows { table, rows: BTreeMap::new() }
    }

    /// Takes a row; reports are to come in the order of time.
    pub fn add(&mut self, line: Line<'_>) {
        let parts = self.table.columns.iter().filter(|column| KEYS.contains(&column.name));
        let key = parts.map(|column| key_part(column, line.raw(column.name))).collect();
        let cells = self.table.columns.iter().map(|column| line.raw(column.name).to_owned());
        self.add_cells(key, cells.collect());
    }

    /// Drops what an audit would not have told apart either; gives how many requests are counted
    /// by day alone from here on.
    pub fn bound(&mut self) -> u64 {
        if self.table.file == UNKNOWN_CRAWLERS.file {
            self.bound_unknown(UNKNOWN_CRAWLERS_MAX);
        }
        if self.table.file == HOURLY.file { self.bound_hours(HOURS_MAX) } else { 0 }
    }

    /// Writes them all.
    ///
    /// # Errors
    /// As `out` has them.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut csv = CsvTable::with_header(out, &self.table)?;
        for cells in self.rows.values() {
            csv.row(|row| {
                for cell in cells {
                    row.as_written(cell);
                }
            })?;
        }
        csv.finish().map(drop)
    }

    fn add_cells(&mut self, key: Vec<KeyPart>, cells: Vec<String>) {
        match self.rows.get_mut(&key) {
            None => {
                self.rows.insert(key, cells);
            }
            Some(row) => join(&self.table, row, &cells),
        }
    }

    fn bound_unknown(&mut self, rows_max: usize) {
        let hash = |key: &[KeyPart]| match key {
            [KeyPart::Text(bytes), ..] => bytes.as_slice().stable_hash(),
            _ => 0,
        };
        if self.rows.len() <= rows_max {
            return;
        }
        let mut hashes: Vec<u64> = self.rows.keys().map(|key| hash(key)).collect();
        hashes.sort_unstable();
        let first_gone = hashes[rows_max];
        let rows = take(&mut self.rows).into_iter();
        let (gone, kept): (BTreeMap<_, _>, _) = rows.partition(|(key, _)| hash(key) >= first_gone);
        self.rows = kept;
        for mut cells in gone.into_values() {
            for (column, cell) in self.table.columns.iter().zip(&mut cells) {
                match column.name {
                    "user_agent" => OTHERS.clone_into(cell),
                    "token" | "robots_txt_naming" => cell.clear(),
                    _ => {}
                }
            }
            self.add_cells(vec![others()], cells);
        }
    }

    fn bound_hours(&mut self, hours_max: usize) -> u64 {
        let hour = |key: &[KeyPart]| key[..2].to_vec();
        let mut hours: Vec<_> = self.rows.keys().map(|key| hour(key)).collect();
        hours.dedup();
        let Some(first) = hours.len().checked_sub(hours_max).map(|at| hours[at].clone()) else {
            return 0;
        };
        let requests = self.table.columns.iter().position(|column| column.name == "requests");
        let kept = self.rows.split_off(&first);
        let gone = replace(&mut self.rows, kept);
        gone.values().filter_map(|row| row[requests?].parse::<u64>().ok()).sum()
    }
}

/// After all user agents.
fn others() -> KeyPart {
    KeyPart::Text(vec![u8::MAX; UNKNOWN_USER_AGENT_BYTES_MAX + 1])
}

fn key_part(column: &Column, cell: &str) -> KeyPart {
    let place = |place: Option<usize>| place.and_then(|at| u64::try_from(at).ok());
    let number = match column.name {
        "identity" => place(Identity::ALL.iter().position(|known| known.as_str() == cell)),
        "reason" => place(Reject::ALL.iter().position(|known| known.as_str() == cell)),
        "user_agent" if cell == OTHERS => return others(),
        "user_agent" => None,
        _ => cell.parse().ok(),
    };
    number.map_or_else(|| KeyPart::Text(bytes_of(cell)), KeyPart::Number)
}

/// Puts `other` into `row`, which is of the same key and an earlier report.
fn join(table: &Table, row: &mut [String], other: &[String]) {
    let place = |name: &str| table.columns.iter().position(|column| column.name == name);
    let cell = |cells: &[String], name: &str| {
        place(name).map_or_else(String::new, |place| cells[place].clone())
    };
    let number = |cells: &[String], name: &str| cell(cells, name).parse().unwrap_or(0u64);
    let is_seen_earlier = cell(other, "first_seen_utc") < cell(row, "first_seen_utc");
    let is_busier = number(other, "busiest_hour_requests") > number(row, "busiest_hour_requests");
    let has_fetched = !cell(row, "first_successful_fetch_utc").is_empty();
    for ((column, cell), other) in table.columns.iter().zip(row.iter_mut()).zip(other) {
        let is_taken = match way(column) {
            Way::Sum => {
                add(cell, other);
                continue;
            }
            Way::BeforeFetch if has_fetched => false,
            Way::BeforeFetch => {
                add(cell, other);
                continue;
            }
            Way::Least => !other.is_empty() && (cell.is_empty() || is_less(other, cell)),
            Way::Most => !other.is_empty() && (cell.is_empty() || is_less(cell, other)),
            Way::OfFirstSeen => is_seen_earlier,
            Way::OfBusier => is_busier,
            Way::Same => cell.is_empty(),
            Way::Rate => false,
            Way::Lost => {
                cell.clear();
                false
            }
        };
        if is_taken {
            other.clone_into(cell);
        }
    }
    if let (Some(rate), violations) = (place("violation_rate"), number(row, "violations")) {
        row[rate] = fraction(violations, number(row, "allowed") + violations);
    }
}

/// An empty cell is no number, and not zero.
fn add(cell: &mut String, other: &str) {
    match (cell.parse::<u64>(), other.parse::<u64>()) {
        (Ok(left), Ok(right)) => *cell = left.saturating_add(right).to_string(),
        (Err(_), Ok(right)) => *cell = right.to_string(),
        (_, Err(_)) => {}
    }
}

/// Numbers by what they are worth, times by their text.
fn is_less(left: &str, right: &str) -> bool {
    match (left.parse::<u64>(), right.parse::<u64>()) {
        (Ok(left), Ok(right)) => left < right,
        _ => left < right,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::columns::TABLES;
    use super::*;

    fn rows(table: Table, cells: &[&[(&str, &str)]]) -> Rows {
        let mut rows = Rows::new(table);
        for given in cells {
            let cell = |column: &Column| {
                let cell = given.iter().find(|(name, _)| *name == column.name);
                cell.map_or("", |(_, cell)| cell).to_owned()
            };
            let key = table.columns.iter().filter(|column| KEYS.contains(&column.name));
            let key = key.map(|column| key_part(column, &cell(column))).collect();
            rows.add_cells(key, table.columns.iter().map(cell).collect());
        }
        rows
    }

    fn told(rows: &Rows, names: &[&str]) -> Vec<String> {
        let place = |name: &&str| {
            rows.table.columns.iter().position(|column| column.name == *name).unwrap()
        };
        let row = |row: &Vec<String>| -> Vec<String> {
            names.iter().map(|name| row[place(name)].clone()).collect()
        };
        rows.rows.values().map(|cells| row(cells).join(" ")).collect()
    }

    #[test]
    fn every_table_has_a_key() {
        for table in TABLES.iter().filter(|table| table.file.ends_with(".csv")) {
            assert!(table.columns.iter().any(|column| KEYS.contains(&column.name)), "{table:?}");
        }
    }

    #[test]
    fn hours_beyond_the_last_are_given_up_together() {
        let at = |hour| [("day", "2026-03-01"), ("hour", hour), ("requests", "2")];
        let all = [at("9"), at("10"), at("11")];
        let all: Vec<&[(&str, &str)]> = all.iter().map(|row| row.as_slice()).collect();
        let mut all = rows(HOURLY, &all);
        assert_eq!(all.bound_hours(3), 0);
        assert_eq!(all.bound_hours(2), 2);
        assert_eq!(told(&all, &["hour"]), ["10", "11"]);
    }

    #[test]
    fn user_agents_beyond_the_most_are_others() {
        let of = |name| [("user_agent", name), ("requests", "2"), ("token", name)];
        let all = [of("(others)"), of("a"), of("b"), of("c")];
        let all: Vec<&[(&str, &str)]> = all.iter().map(|row| row.as_slice()).collect();
        let mut all = rows(UNKNOWN_CRAWLERS, &all);
        all.bound_unknown(9);
        assert_eq!(told(&all, &["user_agent"]), ["a", "b", "c", "(others)"]);
        all.bound_unknown(2);
        let left = told(&all, &["user_agent", "requests"]);
        assert_eq!(left.last().unwrap(), &format!("(others) {}", 2 * (5 - left.len())));
    }
}
