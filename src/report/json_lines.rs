//! The tables of a report as JSON: one object per row, in lines or in one document.
//!
//! Numbers are JSON numbers, an empty cell is `null`, and text is as people read it: hidden bytes
//! as `\xHH`, without the `'` that disarms formulas.

use std::io::{self, Write};
use std::path::Path;

use crate::audit::model::ReportModel;
use crate::error::{Error, Result};

use super::table::{Audited, Table};
use super::tables::tables_of;
use crate::table::csv::{CrawlerCells, EachRow};
use crate::table::escape::shown;
use crate::table::schema::{Column, TableSchema};

/// Writes the rows of `tables` of `audit`.
///
/// # Errors
/// If `out` fails.
pub fn json_lines(audit: &ReportModel, tables: &[&Table], out: &mut dyn Write) -> Result<()> {
    let of = Audited { audit, crawlers: &CrawlerCells::new(&audit.registry) };
    let asked = tables_of(audit).filter(|table| is_among(table, tables));
    let written = asked.into_iter().try_for_each(|table| {
        let named = quoted(name(&table.schema));
        objects(of, table, |object| writeln!(out, "{{\"table\":{named},{object}}}"))
    });
    written.and_then(|()| out.flush()).map_err(cannot_print)
}

/// Writes one object: the fields of `run`, which is the text of `run.json`, and all tables of
/// `audit`.
///
/// # Errors
/// If `out` fails.
pub fn json_document(audit: &ReportModel, run: &[u8], out: &mut dyn Write) -> Result<()> {
    write_document(audit, run, out).map_err(cannot_print)
}

fn write_document(audit: &ReportModel, run: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let of = Audited { audit, crawlers: &CrawlerCells::new(&audit.registry) };
    out.write_all(run.trim_ascii_end().strip_suffix(b"\n}").unwrap_or(run))?;
    let mut before = ",\n  \"tables\": {\n";
    for table in tables_of(audit) {
        write!(out, "{before}    {}: [", quoted(name(&table.schema)))?;
        before = ",\n";
        let mut before_row = "\n";
        objects(of, table, |object| {
            let before = std::mem::replace(&mut before_row, ",\n");
            write!(out, "{before}      {{{object}}}")
        })?;
        out.write_all(if before_row == "\n" { b"]" } else { b"\n    ]" })?;
    }
    out.write_all(b"\n  }\n}\n")?;
    out.flush()
}

fn cannot_print(err: io::Error) -> Error {
    Error::io("cannot write to", Path::new("standard output"), err)
}

/// Calls `take` with the fields of each row of `table`.
fn objects(
    of: Audited<'_>,
    table: &Table,
    mut take: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    table.rows(of, &mut EachRow(|cells: Vec<String>| take(&fields(&table.schema, &cells))))
}

fn is_among(table: &Table, tables: &[&Table]) -> bool {
    tables.iter().any(|asked| asked.schema.file == table.schema.file)
}

/// The name of a table in JSON.
pub fn name(table: &TableSchema) -> &'static str {
    table.file.trim_end_matches(".csv")
}

fn fields(table: &TableSchema, row: &[String]) -> String {
    let field = |(column, cell): (&Column, &String)| {
        format!("{}:{}", quoted(column.name), value(table, column.name, cell))
    };
    table.columns.iter().zip(row).map(field).collect::<Vec<_>>().join(",")
}

fn value(table: &TableSchema, column: &str, cell: &str) -> String {
    let unit = table.columns.iter().find(|known| known.name == column).map(|known| known.unit);
    match cell.parse::<f64>() {
        _ if cell.is_empty() => "null".to_owned(),
        Ok(number) if number.is_finite() && unit.is_some_and(is_numeric) => cell.to_owned(),
        _ => quoted(&shown(cell)),
    }
}

/// Whether cells with that unit are decimal numbers, as [`crate::table::csv::Row`] writes them.
fn is_numeric(unit: &str) -> bool {
    const UNITS: [&str; 7] =
        ["count", "bytes", "minutes", "seconds", "hours", "0 to 23", "line number from 1"];
    UNITS.contains(&unit) || unit.ends_with("decimals")
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text is JSON")
}

#[cfg(test)]
mod tests {
    use super::super::schemas::all_schemas;
    use super::super::tables::summary::SUMMARY;
    use super::*;

    #[test]
    fn numbers_text_and_nothing() {
        let check = |column: &str, cell: &str, expected: &str| {
            assert_eq!(value(&SUMMARY.schema, column, cell), expected);
        };
        check("requests", "12", "12");
        check("violation_rate", "0.500000", "0.500000");
        check("violation_rate", "", "null");
        check("crawler", "12", "\"12\"");
        check("crawler", "'=\"x", "\"=\\\"x\"");
        check("added_later", "12", "\"12\"");
        check("requests", "NaN", "\"NaN\"");
    }

    /// A new unit must be added to this test or to the one above.
    #[test]
    fn every_unit_is_known_to_be_of_numbers_or_of_text() {
        let texts = [
            "text",
            "path",
            "path pattern",
            "line numbers from 1",
            "product token",
            "product token or `*`",
            "request target",
            "RFC 3339, UTC",
            "scheme://host[:port]",
            "sha256:hex",
            "YYYY-MM-DD",
            "HTTP status",
        ];
        for column in all_schemas().flat_map(|table| table.columns) {
            let is_choice = column.unit.contains(", ") && !column.unit.contains("decimals");
            let is_text = texts.contains(&column.unit) || is_choice;
            assert_ne!(is_numeric(column.unit), is_text, "{}: {}", column.name, column.unit);
        }
    }
}
