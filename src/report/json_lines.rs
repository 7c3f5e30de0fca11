//! The tables of a report as JSON: one object per row, in lines or in one document.
//!
//! Numbers are JSON numbers, an empty cell is `null`, and text is as people read it: hidden bytes
//! as `\xHH`, without the `'` that disarms formulas.

use std::io::{self, Write};
use std::path::Path;

use crate::audit::model::ReportModel;
use crate::error::{Error, Result};
use crate::table::csv::EachRow;
use crate::table::schema::{Cell, Column, TableSchema};

use super::table::{Audited, Table};
use super::tables::tables_of;

/// The unit of statuses, which are text in JSON.
const HTTP_STATUS: &str = "HTTP status";

/// Writes the rows of `tables` of `audit`.
///
/// # Errors
/// If `out` fails.
pub(crate) fn json_lines(
    audit: &ReportModel,
    tables: &[&Table],
    out: &mut dyn Write,
) -> Result<()> {
    let of = Audited { audit };
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
pub(crate) fn json_document(audit: &ReportModel, run: &[u8], out: &mut dyn Write) -> Result<()> {
    write_document(audit, run, out).map_err(cannot_print)
}

fn write_document(audit: &ReportModel, run: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let of = Audited { audit };
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
    table.rows(of, &mut EachRow(|cells: Vec<Cell>| take(&fields(&table.schema, &cells))))
}

fn is_among(table: &Table, tables: &[&Table]) -> bool {
    tables.iter().any(|asked| asked.schema.file == table.schema.file)
}

/// The name of a table in JSON.
pub(crate) fn name(table: &TableSchema) -> &'static str {
    table.file.trim_end_matches(".csv")
}

fn fields(table: &TableSchema, row: &[Cell]) -> String {
    let field = |(column, cell): (&Column, &Cell)| {
        format!("{}:{}", quoted(column.name), value(column, cell))
    };
    table.columns.iter().zip(row).map(field).collect::<Vec<_>>().join(",")
}

fn value(column: &Column, cell: &Cell) -> String {
    let is_number = match cell {
        Cell::Empty => return "null".to_owned(),
        Cell::Count(_) | Cell::Difference(_) => column.unit != HTTP_STATUS,
        // JSON has no word for other numbers.
        Cell::Decimal { value, .. } => value.is_finite(),
        _ => false,
    };
    let text = cell.to_string();
    if is_number { text } else { quoted(&text) }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::UtcTime;

    #[test]
    fn numbers_text_and_nothing() {
        let check = |unit: &'static str, cell: Cell, expected: &str| {
            let column = Column { name: "x", unit, meaning: "" };
            assert_eq!(value(&column, &cell), expected);
        };
        check("count", Cell::Count(u64::MAX), "18446744073709551615");
        check("seconds", Cell::Difference(-1), "-1");
        check("fraction, 6 decimals", Cell::Decimal { value: 0.5, decimals: 6 }, "0.500000");
        let infinite = Cell::Decimal { value: f64::INFINITY, decimals: 6 };
        check("number, 6 decimals", infinite, "\"inf\"");
        check("count", Cell::Empty, "null");
        check("text", Cell::Text("12".to_owned()), "\"12\"");
        check("text", Cell::Text("=\"x".to_owned()), "\"=\\\"x\"");
        check("HTTP status", Cell::Count(404), "\"404\"");
        check(
            "RFC 3339, UTC",
            Cell::Time(UtcTime::from_unix_seconds(0).unwrap()),
            "\"1970-01-01T00:00:00Z\"",
        );
    }
}
