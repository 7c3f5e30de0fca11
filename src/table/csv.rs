//! CSV: a quoted header, lines that end with LF, and quotes in rows only if needed.
//!
//! A report can have tens of thousands of rows. So cells are written directly to one buffer per
//! table, without an allocation for each cell.

use std::io::{self, Write};

use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::{identity::Identity, registry::Registry};
use crate::digest::Digest;
use crate::judge::robots::DecidingRule;
use crate::robots::model::StarGroups;
use crate::time::{Day, UtcTime};

use super::digest_text::{DIGEST_BYTES, digest_text};
use super::escape::{csv_cell, push_in_quotes, push_quoted};
use super::{plain_text::is_plain_cell, schema::TableSchema};

/// The buffer is flushed when it has this many bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// Takes the rows of a table.
pub trait RowSink {
    /// Takes one row with the cells that `fill` adds.
    ///
    /// # Errors
    /// If what takes the rows fails.
    fn row(&mut self, fill: &dyn Fn(&mut Row)) -> io::Result<()>;
}

impl<W: Write> RowSink for CsvTable<W> {
    fn row(&mut self, fill: &dyn Fn(&mut Row)) -> io::Result<()> {
        CsvTable::row(self, fill)
    }
}

/// A function that takes the unescaped cells of each row.
pub struct EachRow<F>(pub F);

impl<F: FnMut(Vec<String>) -> io::Result<()>> RowSink for EachRow<F> {
    fn row(&mut self, fill: &dyn Fn(&mut Row)) -> io::Result<()> {
        let mut row = Row::default();
        fill(&mut row);
        (self.0)(row.cells())
    }
}

/// Writes the rows of one table.
pub struct CsvTable<W: Write> {
    out: W,
    row: Row,
    columns: usize,
}

impl<W: Write> CsvTable<W> {
    /// Writes the header of `table`.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn with_header(out: W, table: &TableSchema) -> io::Result<CsvTable<W>> {
        let mut csv = CsvTable::without_header(out, table);
        csv.row(|row| {
            for column in table.columns {
                row.cell(|text| push_in_quotes(column.name, text));
            }
        })?;
        Ok(csv)
    }

    /// A table without a header, which is added later.
    pub fn without_header(out: W, table: &TableSchema) -> CsvTable<W> {
        CsvTable { out, row: Row::default(), columns: table.columns.len() }
    }

    /// Writes one row with the cells that `fill` adds.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn row(&mut self, fill: impl FnOnce(&mut Row)) -> io::Result<()> {
        fill(&mut self.row);
        assert_eq!(self.row.ends.len(), self.columns, "a row has a cell for each declared column");
        self.row.end_line();
        if self.row.text.len() < BUFFER_BYTES { Ok(()) } else { self.hand_on() }
    }

    /// Writes a row for each of `rows`.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn rows<T>(
        &mut self,
        rows: impl IntoIterator<Item = T>,
        fill: impl Fn(&mut Row, T),
    ) -> io::Result<()> {
        rows.into_iter().try_for_each(|of| self.row(|row| fill(row, of)))
    }

    /// Flushes the buffer.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.hand_on()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn hand_on(&mut self) -> io::Result<()> {
        self.out.write_all(&self.row.text)?;
        self.row.clear();
        Ok(())
    }
}

/// The cells of the current row, appended to the rows before it.
#[derive(Clone, Debug, Default)]
pub struct Row {
    text: Vec<u8>,
    /// The start of the row in the buffer.
    start: usize,
    /// The ends of its cells.
    ends: Vec<usize>,
}

impl Row {
    /// The number of its cells.
    #[expect(clippy::len_without_is_empty, reason = "a row without cells is a mistake")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Removes all cells.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.start = 0;
    }

    /// The cells of the row, unescaped.
    pub fn cells(&self) -> Vec<String> {
        let starts = std::iter::once(self.start).chain(self.ends.iter().map(|end| end + 1));
        let cells = starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]);
        cells.map(without_quotes).collect()
    }

    /// The row as written to the file, without the line end.
    pub fn written(&self) -> &str {
        std::str::from_utf8(&self.text[self.start..]).expect("cells are text")
    }

    /// Bytes from foreign input.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Row {
        self.cell(|text| {
            if is_plain_cell(bytes) {
                text.extend_from_slice(bytes);
            } else {
                push_quoted(&csv_cell(bytes), ',', text);
            }
        })
    }

    /// Text that may contain foreign input.
    pub fn text(&mut self, text: &str) -> &mut Row {
        self.bytes(text.as_bytes())
    }

    /// A built-in word, which has only letters and `-`.
    pub fn word(&mut self, word: &'static str) -> &mut Row {
        self.cell(|text| text.extend_from_slice(word.as_bytes()))
    }

    /// Numbers.
    pub fn counts<const N: usize>(&mut self, counts: [u64; N]) -> &mut Row {
        for count in counts {
            self.cell(|text| push_number(count, text));
        }
        self
    }

    /// The cells that `write` adds, or `cells` empty ones if the value is unknown.
    pub fn maybe<T>(
        &mut self,
        known: Option<T>,
        cells: usize,
        write: impl FnOnce(&mut Row, T) -> &mut Row,
    ) -> &mut Row {
        match known {
            Some(known) => write(self, known),
            None => self.empty(cells),
        }
    }

    /// Numbers, or empty cells if they are unknown.
    pub fn maybe_counts<const N: usize>(&mut self, counts: Option<[u64; N]>) -> &mut Row {
        self.maybe(counts, N, Row::counts)
    }

    /// Milliseconds as seconds with three decimals, or an empty cell.
    pub fn milliseconds(&mut self, milliseconds: Option<u64>) -> &mut Row {
        self.cell(|text| {
            if let Some(all) = milliseconds {
                write!(text, "{}.{:03}", all / 1000, all % 1000).expect("a buffer takes all");
            }
        })
    }

    /// Why robots.txt does not bind `crawler`, or an empty cell.
    pub fn not_bound_reason(&mut self, crawler: &Crawler) -> &mut Row {
        self.word(not_bound_reason(crawler))
    }

    /// Why `rule` does not bind `crawler`, or an empty cell.
    pub fn rule_not_bound_reason(&mut self, crawler: &Crawler, rule: &DecidingRule) -> &mut Row {
        match (crawler.obligation(), crawler.star, &*rule.group) {
            (Obligation::Bound, StarGroups::Ignored, b"*") => self.word("ignores-star"),
            _ => self.not_bound_reason(crawler),
        }
    }

    /// A point in time.
    pub fn time(&mut self, time: UtcTime) -> &mut Row {
        self.cell(|text| time.append_to(text))
    }

    /// A day.
    pub fn day(&mut self, day: Day) -> &mut Row {
        self.cell(|text| day.append_to(text))
    }

    /// The age of a snapshot in seconds at `time`, or an empty cell.
    pub fn snapshot_age(&mut self, fetched_at: Option<UtcTime>, time: UtcTime) -> &mut Row {
        self.maybe(fetched_at, 1, |row, at| {
            row.cell(|text| push_number(time.unix_seconds() - at.unix_seconds(), text))
        })
    }

    /// `part / whole` with six decimals, or an empty cell if `whole` is 0.
    pub fn fraction(&mut self, part: u64, whole: u64) -> &mut Row {
        self.cell(|text| push_fraction(part, whole, text))
    }

    /// A number with six decimals.
    pub fn decimal(&mut self, number: f64) -> &mut Row {
        self.cell(|text| write!(text, "{number:.6}").expect("a buffer takes all"))
    }

    /// `crawler`, `operator`, `purpose`, `stated_policy`, `identity`.
    pub fn crawler(&mut self, crawler: &Crawler, identity: Identity) -> &mut Row {
        self.crawler_without_identity(crawler).word(identity.as_str())
    }

    /// The cells of a crawler that were rendered before.
    pub fn known_crawler(
        &mut self,
        crawlers: &CrawlerCells<'_>,
        (crawler, identity): (CrawlerId, Identity),
    ) -> &mut Row {
        self.append(&crawlers.cells[crawler.index()]).word(identity.as_str())
    }

    /// The digest of a robots.txt.
    pub fn digest(&mut self, digest: &Digest) -> &mut Row {
        self.cell(|text| text.extend_from_slice(&digest_text::<DIGEST_BYTES>(digest)))
    }

    /// `robots_digest`, `rule_line`, `directive`, `pattern`, `group`.
    pub fn rule(&mut self, rule: &DecidingRule) -> &mut Row {
        self.digest(&rule.digest).rule_without_digest(Some(rule))
    }

    /// As [`Row::rule`], and `continued_over_line`.
    pub fn violated_rule(&mut self, rule: &DecidingRule) -> &mut Row {
        self.rule(rule).maybe_counts(rule.continued_over.map(|line| [u64::from(line)]))
    }

    /// Line, directive, pattern and group of a rule, or four empty cells.
    pub fn rule_without_digest(&mut self, rule: Option<&DecidingRule>) -> &mut Row {
        self.maybe(rule, 4, |row, rule| {
            row.counts([u64::from(rule.line)])
                .word(rule.directive)
                .bytes(&rule.pattern)
                .bytes(&rule.group)
        })
    }

    /// This many empty cells.
    pub fn empty(&mut self, cells: usize) -> &mut Row {
        for _ in 0..cells {
            self.cell(|_| ());
        }
        self
    }

    /// `crawler`, `operator`, `purpose`, `identity`.
    pub fn crawler_and_identity(&mut self, crawler: &Crawler, identity: Identity) -> &mut Row {
        self.name_and_operator(crawler).word(identity.as_str())
    }

    fn crawler_without_identity(&mut self, crawler: &Crawler) -> &mut Row {
        self.name_and_operator(crawler).word(crawler.stated_policy().as_str())
    }

    fn name_and_operator(&mut self, crawler: &Crawler) -> &mut Row {
        self.text(&crawler.name).text(&crawler.operator).text(&crawler.purpose)
    }

    /// Appends the cells of `other`.
    fn append(&mut self, other: &Row) -> &mut Row {
        self.delimit();
        let start = self.text.len();
        self.text.extend_from_slice(&other.text);
        self.ends.extend(other.ends.iter().map(|end| start + end));
        self
    }

    #[inline]
    fn cell(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Row {
        self.delimit();
        write(&mut self.text);
        self.ends.push(self.text.len());
        self
    }

    #[inline]
    fn delimit(&mut self) {
        if !self.ends.is_empty() {
            self.text.push(b',');
        }
    }

    /// Ends the row; the next cells belong to the next row.
    fn end_line(&mut self) {
        if self.ends.len() == 1 && self.text.len() == self.start {
            // An empty line would not be read as a row.
            self.text.extend_from_slice(b"\"\"");
        }
        self.text.push(b'\n');
        self.start = self.text.len();
        self.ends.clear();
    }
}

/// The rendered cells of crawlers, which are in the rows of most tables.
#[derive(Debug)]
pub struct CrawlerCells<'a> {
    /// The registry of the crawlers.
    pub registry: &'a Registry,
    /// By id: `crawler` to `stated_policy`.
    cells: Vec<Row>,
}

impl<'a> CrawlerCells<'a> {
    /// The cells of all crawlers of `registry`.
    pub fn new(registry: &'a Registry) -> CrawlerCells<'a> {
        let cells = registry.iter().map(|(_, crawler)| {
            let mut row = Row::default();
            row.crawler_without_identity(crawler);
            row
        });
        CrawlerCells { registry, cells: cells.collect() }
    }
}

/// Why robots.txt does not bind `crawler`; empty if it does.
pub fn not_bound_reason(crawler: &Crawler) -> &'static str {
    match crawler.obligation() {
        Obligation::Bound => "",
        reason => reason.as_str(),
    }
}

fn push_number(number: impl itoa::Integer, text: &mut Vec<u8>) {
    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Undoes the quoting of the cell `written`.
fn without_quotes(written: &[u8]) -> String {
    let written = String::from_utf8_lossy(written);
    match written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => written.into_owned(),
    }
}

/// Six decimals, rounded half up with integers, so that every machine gives the same digits.
fn push_fraction(part: u64, whole: u64, text: &mut Vec<u8>) {
    if whole == 0 {
        return;
    }
    // The usual case fits in 64 bits, where a division is a single instruction.
    let millionths = match part.checked_mul(2_000_000) {
        Some(part) => u128::from((part / whole).div_ceil(2)),
        None => (u128::from(part) * 2_000_000 / u128::from(whole)).div_ceil(2),
    };
    let (whole, rest) = (millionths / 1_000_000, (millionths % 1_000_000) as u32);
    push_number(whole, text);
    text.push(b'.');
    for power in [100_000, 10_000, 1_000, 100, 10, 1] {
        text.push(b'0' + (rest / power % 10) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::{CsvColumn, TableSchema};
    use super::*;

    fn fraction(part: u64, whole: u64) -> String {
        let mut text = Vec::new();
        push_fraction(part, whole, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_fraction_has_six_decimals() {
        assert_eq!(fraction(0, 0), "");
        assert_eq!(fraction(0, 5), "0.000000");
        assert_eq!(fraction(5, 5), "1.000000");
        assert_eq!(fraction(2, 3), "0.666667");
        assert_eq!(fraction(1, 3), "0.333333");
        assert_eq!(fraction(1, 2_000_000), "0.000001");
        assert_eq!(fraction(u64::MAX, u64::MAX), "1.000000");
        assert_eq!(fraction(u64::MAX, 1), "18446744073709551615.000000");
    }

    fn table(columns: usize) -> TableSchema {
        let column = CsvColumn { name: "x", unit: "", meaning: "" };
        let columns: &'static [CsvColumn] = Box::leak(vec![column; columns].into_boxed_slice());
        TableSchema { file: "x.csv", row: "", columns }
    }

    #[test]
    fn headers_are_quoted_and_cells_where_needed() {
        let mut csv = CsvTable::with_header(Vec::new(), &table(1)).unwrap();
        csv.row(|row| {
            row.text("a,\"b\"");
        })
        .unwrap();
        csv.row(|row| {
            row.text("");
        })
        .unwrap();
        assert_eq!(csv.finish().unwrap(), b"\"x\"\n\"a,\"\"b\"\"\"\n\"\"\n");
    }

    /// Random bytes in rows of one or two cells, compared with another CSV writer.
    #[test]
    fn every_cell_is_as_another_writer_has_it() {
        let texts: Vec<Vec<u8>> = (0..=u8::MAX)
            .flat_map(|byte| [vec![byte], vec![b'a', byte], vec![b'"', byte, b',']])
            .chain([vec![], b"x".repeat(100_000), "=\u{202e}ß".as_bytes().to_vec()])
            .collect();
        for columns in [1, 2] {
            let mut csv = CsvTable::without_header(Vec::new(), &table(columns));
            let mut other = csv::Writer::from_writer(Vec::new());
            for pair in texts.chunks(columns).filter(|pair| pair.len() == columns) {
                let cells: Vec<String> = pair.iter().map(|bytes| csv_cell(bytes)).collect();
                csv.row(|row| {
                    for bytes in pair {
                        row.bytes(bytes);
                    }
                    assert_eq!(row.cells(), cells);
                })
                .unwrap();
                csv.row(|row| {
                    for cell in &cells {
                        row.cell(|text| push_quoted(cell, ',', text));
                    }
                })
                .unwrap();
                other.write_record(&cells).unwrap();
                other.write_record(&cells).unwrap();
            }
            assert!(csv.finish().unwrap() == other.into_inner().unwrap(), "{columns} columns");
        }
    }

    #[test]
    fn known_crawlers_have_the_cells_of_their_row() {
        let registry = Registry::builtin();
        let crawlers = CrawlerCells::new(&registry);
        for (id, crawler) in registry.iter() {
            let (mut known, mut written) = (Row::default(), Row::default());
            known.text("a,b").known_crawler(&crawlers, (id, Identity::Spoofed)).counts([7]);
            written.text("a,b").crawler(crawler, Identity::Spoofed).counts([7]);
            assert_eq!(known.text, written.text);
            assert_eq!(known.cells(), written.cells());
        }
    }
}
