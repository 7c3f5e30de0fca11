//! CSV as RFC 4180 has it: a header always, CR LF, quotes where needed.

use std::io::{self, Write};

use crate::audit::awareness::Awareness;
use crate::audit::sums::Span;
use crate::crawlers::crawler::{Crawler, Obligation, StarGroups};
use crate::crawlers::identity::Identity;
use crate::judge::robots::DecidingRule;
use crate::time::UtcTime;

use super::columns::Table;
use super::escape::csv_cell;

/// Writes the rows of one table.
pub struct CsvTable<W: Write> {
    writer: csv::Writer<W>,
    columns: usize,
}

impl<W: Write> CsvTable<W> {
    /// Writes the header of `table`.
    ///
    /// # Errors
    /// As `out` has them.
    pub fn with_header(out: W, table: &Table) -> io::Result<CsvTable<W>> {
        let mut table_writer = CsvTable::without_header(out, table);
        table_writer.writer.write_record(table.columns.iter().map(|column| column.name))?;
        Ok(table_writer)
    }

    /// For rows that are put behind a header later.
    pub fn without_header(out: W, table: &Table) -> CsvTable<W> {
        let writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
        CsvTable { writer, columns: table.columns.len() }
    }

    /// Writes one row.
    ///
    /// # Errors
    /// As `out` has them.
    pub fn row(&mut self, row: Row) -> io::Result<()> {
        assert_eq!(row.cells.len(), self.columns, "a row has a cell for each declared column");
        Ok(self.writer.write_record(&row.cells)?)
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// As `out` has them.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

/// The cells of a row, from left to right.
#[derive(Clone, Debug, Default)]
pub struct Row {
    cells: Vec<String>,
}

impl Row {
    /// What they hold, as it is written.
    pub fn cells(&self) -> &[String] {
        &self.cells
    }

    /// A cell as it stands in another table.
    pub fn as_written(mut self, cell: &str) -> Row {
        self.cells.push(cell.to_owned());
        self
    }

    /// Bytes that strangers wrote.
    pub fn bytes(mut self, bytes: &[u8]) -> Row {
        self.cells.push(csv_cell(bytes));
        self
    }

    /// Text that may hold what strangers wrote.
    pub fn text(self, text: &str) -> Row {
        self.bytes(text.as_bytes())
    }

    /// Numbers.
    pub fn counts<const N: usize>(mut self, counts: [u64; N]) -> Row {
        self.cells.extend(counts.map(|count| count.to_string()));
        self
    }

    /// Numbers that may be unknown: empty cells.
    pub fn maybe_counts<const N: usize>(mut self, counts: Option<[u64; N]>) -> Row {
        match counts {
            Some(counts) => self.counts(counts),
            None => {
                self.cells.extend(std::iter::repeat_n(String::new(), N));
                self
            }
        }
    }

    /// Seconds with three decimals, or an empty cell.
    pub fn milliseconds(mut self, milliseconds: Option<u64>) -> Row {
        let cell = milliseconds.map(|all| format!("{}.{:03}", all / 1000, all % 1000));
        self.cells.push(cell.unwrap_or_default());
        self
    }

    /// Why robots.txt does not bind `crawler`, or an empty cell.
    pub fn not_bound_reason(self, crawler: &Crawler) -> Row {
        match crawler.binding() {
            Obligation::Bound => self.text(""),
            reason => self.text(reason.as_str()),
        }
    }

    /// Why `rule` does not bind `crawler`, or an empty cell.
    pub fn rule_not_bound_reason(self, crawler: &Crawler, rule: &DecidingRule) -> Row {
        match (crawler.binding(), crawler.star, &*rule.group) {
            (Obligation::Bound, StarGroups::Ignored, b"*") => self.text("ignores-star"),
            _ => self.not_bound_reason(crawler),
        }
    }

    /// A point in time.
    pub fn time(mut self, time: UtcTime) -> Row {
        self.cells.push(time.to_string());
        self
    }

    /// `snapshot_fetched_utc` and `snapshot_age_seconds` at `time`, or two empty cells.
    pub fn snapshot(mut self, fetched_at: Option<UtcTime>, time: UtcTime) -> Row {
        let age = |at: UtcTime| (time.unix_seconds() - at.unix_seconds()).to_string();
        self.cells.push(fetched_at.map_or_else(String::new, |at| at.to_string()));
        self.cells.push(fetched_at.map_or_else(String::new, age));
        self
    }

    /// The first and the last time, or two empty cells.
    pub fn span(mut self, span: Option<Span>) -> Row {
        let cell = |time: Option<UtcTime>| time.map_or_else(String::new, |time| time.to_string());
        self.cells.push(cell(span.map(|span| span.first)));
        self.cells.push(cell(span.map(|span| span.last)));
        self
    }

    /// `read_by_itself` to `last_reading_304`.
    pub fn awareness(self, awareness: &Awareness) -> Row {
        self.counts([awareness.read_by_itself, awareness.read_by_operator])
            .counts([awareness.not_read_in_logs, awareness.reading_unknown])
            .counts([awareness.asked_without_reading])
            .counts([awareness.last_reading_200, awareness.last_reading_304])
    }

    /// `part / whole` with six decimals, or an empty cell where there is no whole.
    pub fn fraction(mut self, part: u64, whole: u64) -> Row {
        self.cells.push(fraction(part, whole));
        self
    }

    /// `crawler`, `operator`, `purpose`, `promise`, `identity`.
    pub fn crawler(self, crawler: &Crawler, identity: Identity) -> Row {
        self.text(&crawler.name)
            .text(&crawler.operator)
            .text(&crawler.purpose)
            .text(crawler.promise().as_str())
            .text(identity.as_str())
    }

    /// `robots_digest`, `rule_line`, `directive`, `pattern`, `group`.
    pub fn rule(self, rule: &DecidingRule) -> Row {
        self.text(&rule.digest.to_string()).rule_without_digest(Some(rule))
    }

    /// Line, directive, pattern and group of a rule, or four empty cells.
    pub fn rule_without_digest(self, rule: Option<&DecidingRule>) -> Row {
        match rule {
            None => self.maybe_counts(None::<[u64; 4]>),
            Some(rule) => self
                .counts([u64::from(rule.line)])
                .text(rule.directive)
                .bytes(&rule.pattern)
                .bytes(&rule.group),
        }
    }
}

/// Six decimals, rounded half up in whole numbers: the same on every machine.
pub fn fraction(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let millionths = (u128::from(part) * 2_000_000 / u128::from(whole)).div_ceil(2);
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::super::columns::{Column, Table};
    use super::*;

    #[test]
    fn a_fraction_has_six_decimals() {
        assert_eq!(fraction(0, 0), "");
        assert_eq!(fraction(0, 5), "0.000000");
        assert_eq!(fraction(5, 5), "1.000000");
        assert_eq!(fraction(2, 3), "0.666667");
        assert_eq!(fraction(1, 3), "0.333333");
        assert_eq!(fraction(1, 2_000_000), "0.000001");
        assert_eq!(fraction(u64::MAX, u64::MAX), "1.000000");
    }

    #[test]
    fn cells_are_quoted_and_lines_end_as_rfc_4180_asks() {
        let column = Column { name: "x", unit: "", meaning: "" };
        let columns: &'static [Column] = Box::leak(Box::new([column]));
        let table = Table { file: "x.csv", row: "", columns };
        let mut csv = CsvTable::with_header(Vec::new(), &table).unwrap();
        csv.row(Row::default().text("a,\"b\"")).unwrap();
        csv.row(Row::default().text("")).unwrap();
        assert_eq!(csv.finish().unwrap(), b"x\r\n\"a,\"\"b\"\"\"\r\n\"\"\r\n");
    }
}
