//! The format of a list, the positions of the URL, the crawler and the time in a row, and the crawlers
//! of a list.

use std::{path::Path, sync::Arc};

use crate::crawlers::cache::{UserAgentCache, identify_cached};
use crate::crawlers::{crawler::CrawlerId, identify::Identified, registry::Registry};
use crate::error::{Error, Result};

/// The format of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum InputFormat {
    /// One URL per line.
    Lines,
    /// Records with a header (RFC 4180, or with tabs).
    Delimited {
        /// `,` or a tab.
        delimiter: u8,
        /// The cells of the header.
        header: Vec<String>,
        /// The columns that are read.
        wanted: WantedColumns<usize>,
    },
    /// One JSON object per line, with the names of its members.
    JsonLines(WantedColumns<String>),
}

/// The cells that are read from a row, by name or by index.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WantedColumns<T> {
    /// The URL.
    pub url: T,
    /// The crawler.
    pub crawler: Option<CrawlerColumn<T>>,
    /// The time.
    pub time: Option<T>,
}

/// The column that names the crawler of each row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CrawlerColumn<T> {
    /// By the name of a crawler.
    Crawler(T),
    /// By the User-Agent header.
    UserAgent(T),
}

/// How a list is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ListSyntax {
    /// One URL per line.
    Lines,
    /// RFC 4180.
    Csv,
    /// The same with tabs.
    Tsv,
    /// One JSON object per line.
    JsonLines,
}

impl<T> CrawlerColumn<T> {
    /// The column itself.
    pub fn column(&self) -> &T {
        match self {
            CrawlerColumn::Crawler(column) | CrawlerColumn::UserAgent(column) => column,
        }
    }

    fn map<U>(&self, column_index: impl FnOnce(&T) -> Result<U>) -> Result<CrawlerColumn<U>> {
        Ok(match self {
            CrawlerColumn::Crawler(column) => CrawlerColumn::Crawler(column_index(column)?),
            CrawlerColumn::UserAgent(column) => CrawlerColumn::UserAgent(column_index(column)?),
        })
    }
}

impl<T> WantedColumns<T> {
    /// All columns: the URL, then the crawler, then the time.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        let crawler = self.crawler.as_ref().map(CrawlerColumn::column);
        [Some(&self.url), crawler, self.time.as_ref()].into_iter().flatten()
    }
}

impl InputFormat {
    /// The format of the list `name` with this `syntax`; its first record is at the start of
    /// `head`.
    ///
    /// # Errors
    /// If the header lacks a column.
    pub fn new(
        writing: ListSyntax,
        wanted: &WantedColumns<String>,
        name: &str,
        head: &[u8],
    ) -> Result<InputFormat> {
        let delimiter = match writing {
            ListSyntax::Lines => return Ok(InputFormat::Lines),
            ListSyntax::JsonLines => return Ok(InputFormat::JsonLines(wanted.clone())),
            ListSyntax::Csv => b',',
            ListSyntax::Tsv => b'\t',
        };
        let header = header(delimiter, head);
        let column_index = |column: &String| column_index(column, &header, name);
        let crawler =
            wanted.crawler.as_ref().map(|crawler| crawler.map(column_index)).transpose()?;
        let wanted = WantedColumns {
            url: column_index(&wanted.url)?,
            crawler,
            time: wanted.time.as_ref().map(column_index).transpose()?,
        };
        Ok(InputFormat::Delimited { delimiter, header, wanted })
    }

    /// The positions of the cells that are read.
    pub fn cells(&self) -> WantedColumns<usize> {
        match self {
            InputFormat::Lines => WantedColumns::default(),
            InputFormat::Delimited { wanted, .. } => wanted.clone(),
            InputFormat::JsonLines(wanted) => {
                let crawler = wanted.crawler.as_ref().map(|crawler| match crawler {
                    CrawlerColumn::Crawler(_) => CrawlerColumn::Crawler(2),
                    CrawlerColumn::UserAgent(_) => CrawlerColumn::UserAgent(2),
                });
                let time = wanted.time.as_ref().map(|_| 2 + usize::from(crawler.is_some()));
                WantedColumns { url: 1, crawler, time }
            }
        }
    }

    /// The position of the URL in a row.
    pub fn url_cell(&self) -> usize {
        self.cells().url
    }

    /// The other columns of the list, with their positions. They are copied to the output.
    pub(crate) fn carried(&self) -> Vec<(usize, &str)> {
        let InputFormat::Delimited { header, wanted, .. } = self else { return Vec::new() };
        let names = header.iter().map(String::as_str).enumerate();
        names.filter(|(column_index, _)| *column_index != wanted.url).collect()
    }
}

fn header(delimiter: u8, head: &[u8]) -> Vec<String> {
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let mut record = csv::ByteRecord::new();
    record_reader(delimiter, text)
        .read_byte_record(&mut record)
        .expect("bytes in memory are always read");
    record.iter().map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned()).collect()
}

/// A column by its name, or by its number from 1.
fn column_index(column: &str, header: &[String], name: &str) -> Result<usize> {
    let by_name = header.iter().position(|cell| cell == column);
    let by_number = || {
        let number: usize = column.parse().ok()?;
        (1..=header.len()).contains(&number).then(|| number - 1)
    };
    by_name.or_else(by_number).ok_or_else(|| {
        Error::input(format!(
            "{name} has no column '{column}'; its columns are {}",
            header.join(", ")
        ))
    })
}

/// How a name is usually written.
pub(crate) fn writing_of(name: &str) -> ListSyntax {
    let name = name.to_ascii_lowercase();
    let compressions = [".gz", ".zst", ".bz2", ".xz"];
    let name = compressions.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    match Path::new(name).extension().and_then(|end| end.to_str()) {
        Some("csv") => ListSyntax::Csv,
        Some("tsv" | "tab") => ListSyntax::Tsv,
        Some("jsonl" | "ndjson" | "json") => ListSyntax::JsonLines,
        _ => ListSyntax::Lines,
    }
}

/// The crawlers of a list. The judge's crawlers are those named here, in this order.
#[derive(Debug)]
pub enum CrawlerSource<'a> {
    /// The same for each URL.
    Fixed(Vec<String>),
    /// Each row names its crawler. The crawlers of the judge are those of the registry.
    PerRow(&'a Registry),
}

/// How a row names its crawler.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CrawlerValue<'a> {
    /// The name of a crawler.
    Crawler(&'a [u8]),
    /// A User-Agent header.
    UserAgent(&'a [u8]),
}

impl CrawlerSource<'_> {
    /// The name of a crawler; empty if there is none.
    pub(crate) fn name(&self, crawler: Option<u16>) -> &str {
        let Some(crawler) = crawler else { return "" };
        match self {
            CrawlerSource::Fixed(names) => &names[usize::from(crawler)],
            CrawlerSource::PerRow(registry) if CrawlerId(crawler) == registry.generic() => "*",
            CrawlerSource::PerRow(registry) => &registry.crawler(CrawlerId(crawler)).name,
        }
    }

    /// Answers for each row.
    pub fn per_row(&self) -> usize {
        match self {
            CrawlerSource::Fixed(names) => names.len(),
            CrawlerSource::PerRow(_) => 1,
        }
    }
}

/// The crawler that a row names, and the [other names](crate::crawlers::own_names) in its user agent. An unknown user
/// agent is judged by these, and else by `*`; an unknown name is not judged.
pub(crate) fn crawler_of_row(
    registry: &Registry,
    crawler_value: CrawlerValue<'_>,
    cache: &mut UserAgentCache,
) -> (Option<CrawlerId>, Option<Arc<[String]>>) {
    match crawler_value {
        CrawlerValue::Crawler(name) => {
            let name = std::str::from_utf8(name).ok();
            (name.and_then(|name| registry.find(name)), None)
        }
        CrawlerValue::UserAgent(user_agent) => {
            let identified = identify_cached(registry, user_agent, cache);
            let names = cache.other_names(registry, identified, user_agent);
            let crawler = match identified {
                Identified::Crawler(crawler) => crawler,
                Identified::Generic | Identified::Other | Identified::Empty => registry.generic(),
            };
            (Some(crawler), names)
        }
    }
}

/// The length of `text` up to the end of its last whole record. A line break inside a quoted cell
/// does not end a record. `text` begins with a record.
pub fn whole_records(delimiter: u8, text: &[u8]) -> usize {
    if memchr::memchr(b'"', text).is_none() {
        return memchr::memrchr(b'\n', text).map_or(0, |lf| lf + 1);
    }
    let (mut state, mut end) = (State::CellStart, 0);
    for (at, &byte) in text.iter().enumerate() {
        state = match (state, byte) {
            (State::Quoted, b'"') => State::QuoteInQuoted,
            (State::Quoted, _) => State::Quoted,
            (State::QuoteInQuoted, b'"') => State::Quoted,
            (State::CellStart, b'"') => State::Quoted,
            (_, b'\n') => {
                end = at + 1;
                State::CellStart
            }
            // To the reader a CR alone ends a record, too.
            (_, byte) if byte == delimiter || byte == b'\r' => State::CellStart,
            _ => State::Plain,
        };
    }
    end
}

/// Whether a quote in the last record of `text` is not closed. `text` begins with a record.
pub(crate) fn is_quote_open(delimiter: u8, text: &[u8]) -> bool {
    whole_records(delimiter, &[text, b"\n"].concat()) <= text.len()
}

/// A reader of records: `"` around a cell, doubled inside it; rows of any length.
pub(crate) fn record_reader(delimiter: u8, text: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text)
}

#[derive(Clone, Copy)]
enum State {
    CellStart,
    Plain,
    Quoted,
    /// A quote that ends the cell, or the first half of a doubled one.
    QuoteInQuoted,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(url: &str) -> WantedColumns<String> {
        WantedColumns { url: url.to_owned(), ..WantedColumns::default() }
    }

    #[test]
    fn columns_have_names_or_numbers() {
        let form = |url: &str| {
            InputFormat::new(ListSyntax::Csv, &wanted(url), "a.csv", b"id, url ,x\n1,2,3")
        };
        assert_eq!(form("url").unwrap().url_cell(), 1);
        assert_eq!(form("3").unwrap().url_cell(), 2);
        assert_eq!(form("url").unwrap().carried(), [(0, "id"), (2, "x")]);
        for column in ["URL", "0", "4", ""] {
            let err = form(column).unwrap_err().to_string();
            assert_eq!(err, format!("a.csv has no column '{column}'; its columns are id, url, x"));
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_name() {
        let form =
            InputFormat::new(ListSyntax::Tsv, &wanted("url"), "a.tsv", b"\xEF\xBB\xBFurl\tx\n");
        assert_eq!(form.unwrap().url_cell(), 0);
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let end = whole_records(b',', text.as_bytes());
        assert_eq!(&text[..end], expected);
    }

    #[test]
    fn a_record_may_span_lines() {
        check("a,b\nc", "a,b\n");
        check("a,\"b\nc\"\nd", "a,\"b\nc\"\n");
        check("a,\"b\nc", "");
        check("a\n\"b\"\"\nc\"\n\"\nd", "a\n\"b\"\"\nc\"\n");
        check("a,b\"\nc", "a,b\"\n");
        check("\"a\"b\"\nc\n", "\"a\"b\"\nc\n");
        check("", "");
    }

    #[test]
    fn quotes_are_closed_in_their_record() {
        let is_open = |text: &str| is_quote_open(b',', text.as_bytes());
        assert!(["\"", "a,\"b\nc", "a\n\"b\"\"\n"].into_iter().all(is_open));
        assert!(!["", "a", "a\"", "a,\"b\"", "\"a\nb\"", "\"a\"\n"].into_iter().any(is_open));
    }

    /// The reader of records ends them at the same places.
    #[test]
    fn agrees_with_the_reader() {
        let alphabet = b"a,\"\n\r";
        for number in 0..5_usize.pow(7) {
            let letter = |digit| alphabet[number / 5_usize.pow(digit) % 5];
            let text: Vec<u8> = (0..7).map(letter).collect();
            let text = [b"x", &text[..]].concat();
            let end = whole_records(b',', &text);
            // Nothing is cut here. To make a reader takes longer than to use it.
            if end == 0 || end == text.len() {
                continue;
            }
            let read = |text: &[u8]| {
                let mut reader = record_reader(b',', text);
                let records = reader.byte_records().map(|record| record.unwrap());
                records
                    .map(|record| record.iter().map(<[u8]>::to_vec).collect::<Vec<_>>())
                    .collect::<Vec<_>>()
            };
            let parts = [read(&text[..end]), read(&text[end..])].concat();
            assert_eq!(parts, read(&text), "{:?}", String::from_utf8_lossy(&text));
        }
    }
}
