//! CSV: a quoted header, lines that end with LF, and quotes in rows only if needed.
//!
//! A row has cells, which are values. What makes a cell safe for spreadsheets is added here, and nowhere
//! else, so whatever else reads rows gets the values.

use std::io::{self, Write};

use csv::{IntoInnerError, QuoteStyle, Writer, WriterBuilder};

use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::{identity::Identity, registry::Registry};
use crate::digest::{DIGEST_BYTES, Digest, digest_text};
use crate::judge::robots::DecidingRule;
use crate::robots::model::StarGroups;
use crate::time::{Day, UtcTime};

use super::escape::without_formula;
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

/// A function that takes the cells of each row.
pub(crate) struct EachRow<F>(pub F);

impl<F: FnMut(Vec<Cell>) -> io::Result<()>> RowSink for EachRow<F> {
    fn row(&mut self, fill: &dyn Fn(&mut Row)) -> io::Result<()> {
        let mut row = Row::default();
        fill(&mut row);
        (self.0)(row.0)
    }
}

/// Writes the rows of one table.
pub(crate) struct CsvTable<W: Write> {
    lines: Writer<W>,
    row: Row,
    columns: usize,
}

impl<W: Write> CsvTable<W> {
    /// Writes the header of `table`. All its cells are quoted, so that readers that detect the
    /// format from the first rows recognise quotes.
    ///
    /// # Errors
    /// If `out` fails.
    pub(crate) fn with_header(mut out: W, table: &TableSchema) -> io::Result<CsvTable<W>> {
        let mut header =
            WriterBuilder::new().quote_style(QuoteStyle::Always).from_writer(Vec::new());
        header.write_record(table.columns.iter().map(|column| column.name))?;
        out.write_all(&header.into_inner().map_err(IntoInnerError::into_error)?)?;
        Ok(CsvTable::without_header(out, table.columns.len()))
    }

    /// A table of so many columns without a header, which is added later.
    pub(crate) fn without_header(out: W, columns: usize) -> CsvTable<W> {
        let lines = WriterBuilder::new().buffer_capacity(BUFFER_BYTES).from_writer(out);
        CsvTable { lines, row: Row::default(), columns }
    }

    /// Writes one row with the cells that `fill` adds.
    ///
    /// # Errors
    /// If `out` fails.
    pub(crate) fn row(&mut self, fill: impl FnOnce(&mut Row)) -> io::Result<()> {
        self.row.0.clear();
        fill(&mut self.row);
        assert_eq!(self.row.len(), self.columns, "a row has a cell for each declared column");
        write_cells(&mut self.lines, &self.row.0)
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
    pub(crate) fn finish(self) -> io::Result<W> {
        self.lines.into_inner().map_err(IntoInnerError::into_error)
    }
}

/// Writes `cells` as a line of CSV.
///
/// # Errors
/// If what `lines` writes to fails.
pub(crate) fn write_cells<'a>(
    lines: &mut Writer<impl Write>,
    cells: impl IntoIterator<Item = &'a Cell>,
) -> io::Result<()> {
    for cell in cells {
        match cell {
            Cell::Text(text) => lines.write_field(without_formula(text).as_bytes())?,
            Cell::Empty => lines.write_field("")?,
            Cell::Count(count) => lines.write_field(itoa::Buffer::new().format(*count))?,
            cell => lines.write_field(cell.to_string())?,
        }
    }
    Ok(lines.write_record(None::<&[u8]>)?)
}

/// The cells of a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row(Vec<Cell>);

impl Row {
    /// The number of its cells.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Cells of another row.
    pub(crate) fn cells(&mut self, cells: &[Cell]) -> &mut Row {
        self.0.extend_from_slice(cells);
        self
    }

    /// Bytes from foreign input.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Row {
        self.put(Cell::of_bytes(bytes))
    }

    /// Text that may contain foreign input.
    pub(crate) fn text(&mut self, text: &str) -> &mut Row {
        self.bytes(text.as_bytes())
    }

    /// A built-in word, which has only letters and `-`.
    pub(crate) fn word(&mut self, word: &'static str) -> &mut Row {
        self.put(Cell::of_text(word))
    }

    /// Numbers.
    pub(crate) fn counts<const N: usize>(&mut self, counts: [u64; N]) -> &mut Row {
        self.0.extend(counts.map(Cell::Count));
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
            row.put(Cell::Decimal { value: all as f64 / 1e3, decimals: 3 })
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
        self.put(Cell::Time(time))
    }

    /// A day.
    pub(crate) fn day(&mut self, day: Day) -> &mut Row {
        self.put(Cell::Day(day))
    }

    /// The age of a snapshot in seconds at `time`, or an empty cell.
    pub(crate) fn snapshot_age(&mut self, fetched_at: Option<UtcTime>, time: UtcTime) -> &mut Row {
        self.maybe(fetched_at, 1, |row, at| {
            row.put(Cell::Difference(time.unix_seconds() - at.unix_seconds()))
        })
    }

    /// `part / whole` with six decimals, or an empty cell if `whole` is 0.
    pub(crate) fn fraction(&mut self, part: u64, whole: u64) -> &mut Row {
        self.maybe(millionths(part, whole), 1, |row, millionths| {
            row.put(Cell::Decimal { value: millionths as f64 / 1e6, decimals: 6 })
        })
    }

    /// A number with six decimals.
    pub(crate) fn decimal(&mut self, number: f64) -> &mut Row {
        self.put(Cell::Decimal { value: number, decimals: 6 })
    }

    /// `crawler`, `operator`, `purpose`, `stated_policy`, `identity`.
    pub(crate) fn crawler(&mut self, crawler: &Crawler, identity: Identity) -> &mut Row {
        self.crawler_names(crawler).word(crawler.stated_policy().as_str()).word(identity.as_str())
    }

    /// The same for a crawler of `registry`.
    pub(crate) fn known_crawler(
        &mut self,
        registry: &Registry,
        (crawler, identity): (CrawlerId, Identity),
    ) -> &mut Row {
        self.crawler(registry.crawler(crawler), identity)
    }

    /// The digest of a robots.txt.
    pub(crate) fn digest(&mut self, digest: &Digest) -> &mut Row {
        self.put(Cell::of_bytes(&digest_text::<DIGEST_BYTES>(digest)))
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
        self.0.extend(std::iter::repeat_n(Cell::Empty, cells));
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

    /// `crawler`, `operator`, `purpose`.
    pub(crate) fn crawler_names(&mut self, crawler: &Crawler) -> &mut Row {
        self.text(&crawler.name).text(&crawler.operator).text(&crawler.purpose)
    }

    fn put(&mut self, cell: Cell) -> &mut Row {
        self.0.push(cell);
        self
    }
}

/// Why robots.txt does not bind `crawler`; empty if it does.
pub(crate) fn not_bound_reason(crawler: &Crawler) -> &'static str {
    match crawler.obligation() {
        Obligation::Bound => "",
        reason => reason.as_str(),
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

#[cfg(test)]
mod tests;
