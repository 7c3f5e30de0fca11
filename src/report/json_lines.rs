//! The tables of a report as JSON Lines: an object a row, with the name of its table.
//!
//! Numbers are numbers, an empty cell is `null`, and text is as people read
//! it: hidden bytes as `\xHH`, without the mark that disarms formulas.

use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, Result};

use super::columns::Table;
use super::escape::shown;
use super::facts::line::{Line, each_line};

/// Writes the rows of `tables` of the report in `directory`.
///
/// # Errors
/// Where a table cannot be read, or `out` fails.
pub fn json_lines(directory: &Path, tables: &[&Table], out: &mut dyn Write) -> Result<()> {
    for table in tables {
        let mut failed: Option<io::Error> = None;
        each_line(directory, table.file, |line| {
            if failed.is_none() {
                failed = writeln!(out, "{}", object(table, line)).err();
            }
        })?;
        if let Some(err) = failed {
            return Err(Error::io("cannot write to", Path::new("standard output"), err));
        }
    }
    out.flush().map_err(|err| Error::io("cannot write to", Path::new("standard output"), err))
}

/// The name of a table, as in the objects.
pub fn name(table: &Table) -> &'static str {
    table.file.trim_end_matches(".csv")
}

fn object(table: &Table, line: Line<'_>) -> String {
    let mut json = format!("{{\"table\":{}", quoted(name(table)));
    for (column, cell) in line.cells() {
        json += &format!(",{}:{}", quoted(column), value(table, column, cell));
    }
    json + "}"
}

fn value(table: &Table, column: &str, cell: &str) -> String {
    let unit = table.columns.iter().find(|known| known.name == column).map(|known| known.unit);
    match cell.parse::<f64>() {
        _ if cell.is_empty() => "null".to_owned(),
        Ok(number) if number.is_finite() && unit.is_some_and(is_numeric) => cell.to_owned(),
        _ => quoted(&shown(cell)),
    }
}

/// Whether cells of that unit are decimal numbers, as [`super::csv::Row`] writes them.
fn is_numeric(unit: &str) -> bool {
    const UNITS: [&str; 6] =
        ["count", "bytes", "minutes", "seconds", "0 to 23", "line number from 1"];
    UNITS.contains(&unit) || unit.ends_with("decimals")
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text is JSON")
}

#[cfg(test)]
mod tests {
    use super::super::columns::TABLES;
    use super::super::columns::summary::SUMMARY;
    use super::*;

    #[test]
    fn numbers_text_and_nothing() {
        let check = |column: &str, cell: &str, expected: &str| {
            assert_eq!(value(&SUMMARY, column, cell), expected);
        };
        check("requests", "12", "12");
        check("violation_rate", "0.500000", "0.500000");
        check("violation_rate", "", "null");
        check("crawler", "12", "\"12\"");
        check("crawler", "'=\"x", "\"=\\\"x\"");
        check("added_later", "12", "\"12\"");
        check("requests", "NaN", "\"NaN\"");
    }

    /// A unit that is new is to be named here or above.
    #[test]
    fn every_unit_is_known_to_be_of_numbers_or_of_text() {
        let texts = [
            "text",
            "path",
            "path pattern",
            "product token",
            "product token or `*`",
            "request target",
            "RFC 3339, UTC",
            "scheme://host[:port]",
            "sha256:hex",
            "YYYY-MM-DD",
            "HTTP status",
        ];
        for column in TABLES.iter().flat_map(|table| table.columns) {
            let is_choice = column.unit.contains(", ") && !column.unit.contains("decimals");
            let is_text = texts.contains(&column.unit) || is_choice;
            assert_ne!(is_numeric(column.unit), is_text, "{}: {}", column.name, column.unit);
        }
    }
}
