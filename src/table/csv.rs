//! CSV: a quoted header, lines that end with LF, and quotes in rows only if needed.
//!
//! A report can have tens of thousands of rows. So cells are written directly to one buffer per
//! table, without an allocation for each cell.

use std::io::{self, Write};

use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::{identity::Identity, registry::Registry};
use crate::digest::{DIGEST_BYTES, Digest, digest_text};
use crate::judge::robots::DecidingRule;
use crate::robots::model::StarGroups;
use crate::time::{Day, UtcTime};

use super::escape::{csv_cell, is_plain_cell, push_in_quotes, push_quoted};
use super::schema::{Cell, TableSchema};

/// The buffer is flushed when it has this many bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// Takes the rows of a table.
pub(crate) trait RowSink {
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
pub(crate) struct EachRow<F>(pub F);

impl<F: FnMut(Vec<String>) -> io::Result<()>> RowSink for EachRow<F> {
    fn row(&mut self, fill: &dyn Fn(&mut Row)) -> io::Result<()> {
        let mut row = Row::default();
        fill(&mut row);
        (self.0)(row.cells())
    }
}

/// A function that takes the cells of each row as values.
pub(crate) struct EachValues<F>(pub F);

impl<F: FnMut(Vec<Cell>) -> io::Result<()>> RowSink for EachValues<F> {
    fn row(&mut self, fill: &dyn Fn(&mut Row)) -> io::Result<()> {
        let mut row = Row { values: Some(Vec::new()), ..Row::default() };
        fill(&mut row);
        (self.0)(row.values.unwrap_or_default())
    }
}

/// Writes the rows of one table.
pub(crate) struct CsvTable<W: Write> {
    out: W,
    row: Row,
    columns: usize,
}

impl<W: Write> CsvTable<W> {
    /// Writes the header of `table`.
    ///
    /// # Errors
    /// If `out` fails.
    pub(crate) fn with_header(out: W, table: &TableSchema) -> io::Result<CsvTable<W>> {
        let mut csv = CsvTable::without_header(out, table);
        csv.row(|row| {
            for column in table.columns {
                row.cell(|text| push_in_quotes(column.name, text));
            }
        })?;
        Ok(csv)
    }

    /// A table without a header, which is added later.
    pub(crate) fn without_header(out: W, table: &TableSchema) -> CsvTable<W> {
        CsvTable { out, row: Row::default(), columns: table.columns.len() }
    }

    /// Writes one row with the cells that `fill` adds.
    ///
    /// # Errors
    /// If `out` fails.
    pub(crate) fn row(&mut self, fill: impl FnOnce(&mut Row)) -> io::Result<()> {
        fill(&mut self.row);
        assert_eq!(self.row.ends.len(), self.columns, "a row has a cell for each declared column");
        self.row.end_line();
        if self.row.text.len() < BUFFER_BYTES { Ok(()) } else { self.hand_on() }
    }

    /// Writes a row for each of `rows`.
    ///
    /// # Errors
    /// If `out` fails.
    pub(crate) fn rows<T>(
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
    pub(crate) fn finish(mut self) -> io::Result<W> {
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
pub(crate) struct Row {
    text: Vec<u8>,
    /// The start of the row in the buffer.
    start: usize,
    /// The ends of its cells.
    ends: Vec<usize>,
    /// Its cells, if they are wanted as values; then there is no text.
    values: Option<Vec<Cell>>,
}

impl Row {
    /// The number of its cells.
    pub(crate) fn len(&self) -> usize {
        self.values.as_ref().map_or(self.ends.len(), Vec::len)
    }

    /// Removes all cells.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.start = 0;
    }

    /// The cells of the row, unescaped.
    pub(crate) fn cells(&self) -> Vec<String> {
        let starts = std::iter::once(self.start).chain(self.ends.iter().map(|end| end + 1));
        let cells = starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]);
        cells.map(without_quotes).collect()
    }

    /// The row as written to the file, without the line end.
    pub(crate) fn written(&self) -> &str {
        std::str::from_utf8(&self.text[self.start..]).expect("cells are text")
    }

    /// Bytes from foreign input.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Row {
        let write = |text: &mut Vec<u8>| {
            if is_plain_cell(bytes) {
                text.extend_from_slice(bytes);
            } else {
                push_quoted(&csv_cell(bytes), ',', text);
            }
        };
        self.put(|| Cell::of_bytes(bytes), write)
    }

    /// Text that may contain foreign input.
    pub(crate) fn text(&mut self, text: &str) -> &mut Row {
        self.bytes(text.as_bytes())
    }

    /// A built-in word, which has only letters and `-`.
    pub(crate) fn word(&mut self, word: &'static str) -> &mut Row {
        self.put(|| Cell::of_text(word), |text| text.extend_from_slice(word.as_bytes()))
    }

    /// Numbers.
    pub(crate) fn counts<const N: usize>(&mut self, counts: [u64; N]) -> &mut Row {
        for count in counts {
            self.put(|| Cell::Count(count), |text| push_number(count, text));
        }
        self
    }

    /// The cells that `write` adds, or `cells` empty ones if the value is unknown.
    pub(crate) fn maybe<T>(
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
    pub(crate) fn maybe_counts<const N: usize>(&mut self, counts: Option<[u64; N]>) -> &mut Row {
        self.maybe(counts, N, Row::counts)
    }

    /// Milliseconds as seconds with three decimals, or an empty cell.
    pub(crate) fn milliseconds(&mut self, milliseconds: Option<u64>) -> &mut Row {
        self.maybe(milliseconds, 1, |row, all| {
            row.put(
                || Cell::Decimal { value: all as f64 / 1e3, decimals: 3 },
                |text| {
                    write!(text, "{}.{:03}", all / 1000, all % 1000).expect("a buffer takes all");
                },
            )
        })
    }

    /// Why robots.txt does not bind `crawler`, or an empty cell.
    pub(crate) fn not_bound_reason(&mut self, crawler: &Crawler) -> &mut Row {
        self.word(not_bound_reason(crawler))
    }

    /// Why `rule` does not bind `crawler`, or an empty cell.
    pub(crate) fn rule_not_bound_reason(
        &mut self,
        crawler: &Crawler,
        rule: &DecidingRule,
    ) -> &mut Row {
        match (crawler.obligation(), crawler.star, &*rule.group) {
            (Obligation::Bound, StarGroups::Ignored, b"*") => self.word("ignores-star"),
            _ => self.not_bound_reason(crawler),
        }
    }

    /// A point in time.
    pub(crate) fn time(&mut self, time: UtcTime) -> &mut Row {
        self.put(|| Cell::Time(time), |text| time.append_to(text))
    }

    /// A day.
    pub(crate) fn day(&mut self, day: Day) -> &mut Row {
        self.put(|| Cell::Day(day), |text| day.append_to(text))
    }

    /// The age of a snapshot in seconds at `time`, or an empty cell.
    pub(crate) fn snapshot_age(&mut self, fetched_at: Option<UtcTime>, time: UtcTime) -> &mut Row {
        self.maybe(fetched_at, 1, |row, at| {
            let seconds = time.unix_seconds() - at.unix_seconds();
            row.put(|| Cell::Difference(seconds), |text| push_number(seconds, text))
        })
    }

    /// `part / whole` with six decimals, or an empty cell if `whole` is 0.
    pub(crate) fn fraction(&mut self, part: u64, whole: u64) -> &mut Row {
        self.maybe(millionths(part, whole), 1, |row, millionths| {
            row.put(
                || Cell::Decimal { value: millionths as f64 / 1e6, decimals: 6 },
                |text| push_millionths(millionths, text),
            )
        })
    }

    /// A number with six decimals.
    pub(crate) fn decimal(&mut self, number: f64) -> &mut Row {
        self.put(
            || Cell::Decimal { value: number, decimals: 6 },
            |text| write!(text, "{number:.6}").expect("a buffer takes all"),
        )
    }

    /// `crawler`, `operator`, `purpose`, `stated_policy`, `identity`.
    pub(crate) fn crawler(&mut self, crawler: &Crawler, identity: Identity) -> &mut Row {
        self.crawler_without_identity(crawler).word(identity.as_str())
    }

    /// The cells of a crawler that were rendered before.
    pub(crate) fn known_crawler(
        &mut self,
        crawlers: &CrawlerCells<'_>,
        (crawler, identity): (CrawlerId, Identity),
    ) -> &mut Row {
        match self.values {
            Some(_) => self.crawler_without_identity(crawlers.registry.crawler(crawler)),
            None => self.append(&crawlers.cells[crawler.index()]),
        }
        .word(identity.as_str())
    }

    /// The digest of a robots.txt.
    pub(crate) fn digest(&mut self, digest: &Digest) -> &mut Row {
        let name = digest_text::<DIGEST_BYTES>(digest);
        self.put(|| Cell::of_bytes(&name), |text| text.extend_from_slice(&name))
    }

    /// `robots_digest`, `rule_line`, `directive`, `pattern`, `group`.
    pub(crate) fn rule(&mut self, rule: &DecidingRule) -> &mut Row {
        self.digest(&rule.digest).rule_without_digest(Some(rule))
    }

    /// As [`Row::rule`], and `continued_over_line`.
    pub(crate) fn violated_rule(&mut self, rule: &DecidingRule) -> &mut Row {
        self.rule(rule).maybe_counts(rule.continued_over.map(|line| [u64::from(line)]))
    }

    /// Line, directive, pattern and group of a rule, or four empty cells.
    pub(crate) fn rule_without_digest(&mut self, rule: Option<&DecidingRule>) -> &mut Row {
        self.maybe(rule, 4, |row, rule| {
            row.counts([u64::from(rule.line)])
                .word(rule.directive)
                .bytes(&rule.pattern)
                .bytes(&rule.group)
        })
    }

    /// This many empty cells.
    pub(crate) fn empty(&mut self, cells: usize) -> &mut Row {
        for _ in 0..cells {
            self.put(|| Cell::Empty, |_| ());
        }
        self
    }

    /// `crawler`, `operator`, `purpose`, `identity`.
    pub(crate) fn crawler_and_identity(
        &mut self,
        crawler: &Crawler,
        identity: Identity,
    ) -> &mut Row {
        self.crawler_names(crawler).word(identity.as_str())
    }

    fn crawler_without_identity(&mut self, crawler: &Crawler) -> &mut Row {
        self.crawler_names(crawler).word(crawler.stated_policy().as_str())
    }

    /// `crawler`, `operator`, `purpose`.
    pub(crate) fn crawler_names(&mut self, crawler: &Crawler) -> &mut Row {
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

    /// A cell as a value, or as its text.
    #[inline]
    fn put(&mut self, value: impl FnOnce() -> Cell, write: impl FnOnce(&mut Vec<u8>)) -> &mut Row {
        match &mut self.values {
            None => self.cell(write),
            Some(values) => {
                values.push(value());
                self
            }
        }
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
pub(crate) fn not_bound_reason(crawler: &Crawler) -> &'static str {
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

/// `part / whole` in millionths, rounded half up with integers, so that every machine gives the same
/// digits; `None` if `whole` is 0.
fn millionths(part: u64, whole: u64) -> Option<u128> {
    // The usual case fits in 64 bits, where a division is a single instruction.
    let halves = match part.checked_mul(2_000_000) {
        Some(part) => u128::from(part.checked_div(whole)?),
        None => (u128::from(part) * 2_000_000).checked_div(u128::from(whole))?,
    };
    Some(halves.div_ceil(2))
}

/// A number with six decimals.
fn push_millionths(millionths: u128, text: &mut Vec<u8>) {
    let (whole, rest) = (millionths / 1_000_000, (millionths % 1_000_000) as u32);
    push_number(whole, text);
    text.push(b'.');
    for power in [100_000, 10_000, 1_000, 100, 10, 1] {
        text.push(b'0' + (rest / power % 10) as u8);
    }
}

#[cfg(test)]
mod tests;
