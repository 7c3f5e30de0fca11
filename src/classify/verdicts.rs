//! Writes verdicts on lists of URLs as CSV, TSV or JSON Lines.
//!
//! A row has the cells of the input, the URL and the outcome. The text of an outcome is rendered
//! once and shared by all rows with the same outcome.

use std::sync::OnceLock;

use serde::de::IgnoredAny;

use crate::digest::{Digest, SNAPSHOT_BYTES, digest_text};
use crate::error::{Error, Result};
use crate::table::escape::{
    csv_cell, is_plain_cell, is_plain_text, push_in_quotes, push_quoted, visible,
};

use super::answer::{Detail, Outcome, Outcomes, VerdictWord};
use super::input_format::{CrawlerSource, InputFormat};
use super::{batch::JudgedBatch, rows::InputRow};

/// The columns of the long form, after those of the input.
pub const COLUMNS: [&str; 10] = [
    "url",
    "origin",
    "crawler",
    "verdict",
    "reason",
    "rule_line",
    "directive",
    "pattern",
    "group",
    "snapshot",
];

/// The approximate size of a rendered outcome in bytes.
const OUTCOME_TEXT_BYTES: usize = 128;

/// The format of the output.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Layout {
    /// RFC 4180, but with LF line ends.
    Csv,
    /// The same with tabs.
    Tsv,
    /// One JSON object per line.
    JsonLines,
}

/// The number of rows per URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Width {
    /// One row for each URL and crawler.
    Long,
    /// One row for each URL, with a column for each crawler.
    Wide,
}

/// The output options.
#[derive(Debug)]
pub(crate) struct Verdicts<'a> {
    /// The format.
    pub layout: Layout,
    /// The number of rows per URL.
    pub width: Width,
    /// The names of the columns; `None` means all.
    pub columns: Option<Vec<String>>,
    /// The verdicts to write; empty means all.
    pub only: Vec<VerdictWord>,
    /// The crawlers.
    pub crawlers: &'a CrawlerSource<'a>,
    /// The parts of a row; set when the first list begins.
    segments: OnceLock<Vec<RowSegment>>,
}

/// Calls `read` with the cell of `outcome`, one of `all`, in a `column` that depends on nothing else:
/// bytes that are not escaped yet, or `None`.
pub fn with_cell<T>(
    column: &str,
    crawlers: &CrawlerSource<'_>,
    all: &Outcomes,
    outcome: &Outcome,
    read: impl FnOnce(Option<&[u8]>) -> T,
) -> T {
    let rule = || all.rule(outcome);
    match column {
        "origin" => read(outcome.origin.as_deref().map(str::as_bytes)),
        "crawler" => read(outcome.crawler.map(|_| crawlers.name(outcome.crawler).as_bytes())),
        "verdict" => read(Some(outcome.word.as_str().as_bytes())),
        "reason" => read(Some(outcome.reason.as_str().as_bytes())),
        "rule_line" => {
            let mut decimal = itoa::Buffer::new();
            read(rule().map(|rule| decimal.format(rule.line).as_bytes()))
        }
        "directive" => read(rule().map(|rule| rule.directive.as_bytes())),
        "pattern" => read(rule().map(|rule| rule.pattern)),
        "group" => read(rule().map(|rule| rule.group)),
        "snapshot" => {
            let digest = outcome.digest.map(|digest| digest_text(&Digest::from(digest)));
            read(digest.as_ref().map(|digest: &[u8; SNAPSHOT_BYTES]| &digest[..]))
        }
        other => unreachable!("{other} does not depend on the outcome"),
    }
}

/// A part of each row, with the text around it.
#[derive(Debug)]
struct RowSegment {
    content: SegmentContent,
    /// A delimiter or a name.
    before: Vec<u8>,
    /// The line end after the last part.
    after: &'static [u8],
}

/// A column, or several columns that depend only on the outcome.
#[derive(Clone, Debug, Eq, PartialEq)]
enum SegmentContent {
    /// A cell of the input, by its name.
    Carried(String),
    /// The whole JSON object of the input.
    Input,
    Url,
    /// Columns of the outcome, as indexes in [`COLUMNS`].
    Outcome(Vec<usize>),
    /// The verdict for the crawler with this index.
    VerdictFor(usize),
}

impl<'a> Verdicts<'a> {
    /// A writer of verdicts for `crawlers`.
    pub(crate) fn new(
        layout: Layout,
        width: Width,
        columns: Option<Vec<String>>,
        only: Vec<VerdictWord>,
        crawlers: &'a CrawlerSource<'a>,
    ) -> Verdicts<'a> {
        Verdicts { layout, width, columns, only, crawlers, segments: OnceLock::new() }
    }

    /// The header for lists of the format `form`. It must be called once, for the first list. The
    /// cells of later lists are matched by name.
    ///
    /// # Errors
    /// If a requested column does not exist.
    pub(crate) fn begin(&self, form: &InputFormat) -> Result<Vec<u8>> {
        let carried: Vec<&str> = form.carried().iter().map(|(_, name)| *name).collect();
        let all = self.all_names(form, &carried);
        let (mut header, mut segments) = (Vec::new(), Vec::<RowSegment>::new());
        for (at, name) in self.columns.as_ref().unwrap_or(&all).iter().enumerate() {
            let content = self.content(name, &carried).ok_or_else(|| {
                let all = all.join(", ");
                Error::usage(format!("unknown column '{name}'; the columns are {all}"))
            })?;
            self.delimit(at, &mut header);
            push_in_quotes(&csv_cell(name.as_bytes()), &mut header);
            match (segments.last_mut().map(|segment| &mut segment.content), content) {
                // In JSON, each one needs its name.
                (Some(SegmentContent::Outcome(before)), SegmentContent::Outcome(columns)) => {
                    before.extend(columns)
                }
                (_, content) => segments.push(self.segment(name, content, segments.is_empty())),
            }
        }
        header.push(b'\n');
        let is_json = self.layout == Layout::JsonLines;
        if let Some(last) = segments.last_mut() {
            last.after = if is_json { b"}\n" } else { b"\n" };
        }
        let _ = self.segments.set(segments);
        Ok(if is_json { Vec::new() } else { header })
    }

    /// Writes a batch.
    pub(crate) fn write(&self, judged: &JudgedBatch, form: &InputFormat, out: &mut Vec<u8>) {
        if judged.rows.is_empty() {
            return;
        }
        let segments = self.segments.get().expect("a list is begun before its first rows");
        let carried = form.carried();
        let cell_indexes: Vec<usize> =
            segments.iter().map(|segment| cell_index(&segment.content, &carried)).collect();
        let texts = OutcomeTexts::of(self, segments, judged);
        let row_writer = RowWriter {
            verdicts: self,
            segments,
            judged,
            texts: &texts,
            cell_indexes: &cell_indexes,
            form,
        };
        for (row, outcomes) in judged.iter() {
            let outcomes_a_line = match self.width {
                Width::Long => 1,
                Width::Wide => outcomes.len().max(1),
            };
            for outcomes in outcomes.chunks(outcomes_a_line) {
                if outcomes.iter().any(|&outcome| texts.is_wanted[outcome as usize]) {
                    row_writer.write(row, outcomes, out);
                }
            }
        }
    }

    /// The details that the columns need.
    pub(crate) fn detail(&self) -> Detail {
        let of_column = |name: &str| match name {
            "url" | "crawler" | "verdict" | "reason" => Detail::Verdicts,
            "origin" => Detail::Origins,
            name if COLUMNS.contains(&name) => Detail::Rules,
            // A cell of the input, or the verdict for a crawler.
            _ => Detail::Verdicts,
        };
        match (&self.columns, self.width) {
            (Some(columns), _) => columns.iter().map(|name| of_column(name)).max(),
            (None, Width::Long) => Some(Detail::Rules),
            (None, Width::Wide) => Some(Detail::Origins),
        }
        .unwrap_or(Detail::Verdicts)
    }

    /// A segment with `content`; `name` is used if it is a single column.
    fn segment(&self, name: &str, content: SegmentContent, is_first: bool) -> RowSegment {
        let mut before = Vec::new();
        match is_first {
            true if self.layout == Layout::JsonLines => before.push(b'{'),
            _ => self.delimit(usize::from(!is_first), &mut before),
        }
        if !matches!(content, SegmentContent::Outcome(_)) {
            self.push_name(name, &mut before);
        }
        RowSegment { content, before, after: b"" }
    }

    fn all_names(&self, form: &InputFormat, carried: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = carried.iter().map(|name| self.carried_name(name)).collect();
        if matches!(form, InputFormat::JsonLines(_)) && self.layout == Layout::JsonLines {
            names.push("input".to_owned());
        }
        match self.width {
            Width::Long => names.extend(COLUMNS.map(str::to_owned)),
            Width::Wide => {
                names.extend(["url", "origin"].map(str::to_owned));
                names
                    .extend((0..self.crawlers.per_row()).map(|crawler| self.crawler_name(crawler)));
            }
        }
        names
    }

    fn content(&self, name: &str, carried: &[&str]) -> Option<SegmentContent> {
        if name == "url" {
            return Some(SegmentContent::Url);
        }
        if self.width == Width::Wide {
            let mut crawlers = 0..self.crawlers.per_row();
            if let Some(crawler) = crawlers.find(|&crawler| self.crawler_name(crawler) == name) {
                return Some(SegmentContent::VerdictFor(crawler));
            }
        }
        let columns = match self.width {
            Width::Long => &COLUMNS[..],
            Width::Wide => &COLUMNS[..2],
        };
        if let Some(column) = columns.iter().position(|column| *column == name) {
            return Some(SegmentContent::Outcome(vec![column]));
        }
        if let Some(column) = carried.iter().find(|column| self.carried_name(column) == name) {
            return Some(SegmentContent::Carried((*column).to_owned()));
        }
        (name == "input" && self.layout == Layout::JsonLines).then_some(SegmentContent::Input)
    }

    /// A column of the input with the name of one of our columns is renamed.
    fn carried_name(&self, name: &str) -> String {
        let is_ours = COLUMNS.contains(&name)
            || self.width == Width::Wide
                && (0..self.crawlers.per_row()).any(|crawler| self.crawler_name(crawler) == name);
        if is_ours { format!("input_{name}") } else { name.to_owned() }
    }

    fn crawler_name(&self, index: usize) -> String {
        match self.crawlers {
            CrawlerSource::Fixed(names) => names[index].clone(),
            CrawlerSource::PerRow(_) => "verdict".to_owned(),
        }
    }

    /// Appends the cells of `columns` for the outcome, with the text between them.
    fn push_outcome(
        &self,
        columns: &[usize],
        all: &Outcomes,
        outcome: &Outcome,
        out: &mut Vec<u8>,
    ) {
        for (at, &column) in columns.iter().enumerate() {
            self.delimit(at, out);
            self.push_name(COLUMNS[column], out);
            with_cell(COLUMNS[column], self.crawlers, all, outcome, |cell| {
                match (self.layout, cell) {
                    (Layout::JsonLines, None) => out.extend_from_slice(b"null"),
                    (Layout::JsonLines, Some(line)) if COLUMNS[column] == "rule_line" => {
                        out.extend_from_slice(line);
                    }
                    (_, cell) => self.push_cell(cell.unwrap_or_default(), out),
                }
            });
        }
    }

    fn delimit(&self, at: usize, out: &mut Vec<u8>) {
        if at > 0 {
            out.push(if self.layout == Layout::Tsv { b'\t' } else { b',' });
        }
    }

    fn push_name(&self, name: &str, out: &mut Vec<u8>) {
        if self.layout == Layout::JsonLines {
            push_json(name, out);
            out.push(b':');
        }
    }

    /// Appends a cell; foreign bytes are escaped as in all reports.
    fn push_cell(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.layout {
            Layout::JsonLines if is_plain_text(bytes) => {
                out.push(b'"');
                out.extend_from_slice(bytes);
                out.push(b'"');
            }
            Layout::Csv | Layout::Tsv if is_plain_cell(bytes) => out.extend_from_slice(bytes),
            _ => self.push_escaped(bytes, out),
        }
    }

    #[cold]
    fn push_escaped(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.layout {
            Layout::JsonLines => push_json(&visible(bytes), out),
            Layout::Csv => push_quoted(&csv_cell(bytes), ',', out),
            Layout::Tsv => push_quoted(&csv_cell(bytes), '\t', out),
        }
    }
}

/// The rendered outcomes of a batch.
struct OutcomeTexts {
    text: Vec<u8>,
    /// The end in `text` of each outcome and part.
    ends: Vec<usize>,
    /// Whether each outcome is written.
    is_wanted: Vec<bool>,
}

impl OutcomeTexts {
    fn of(verdicts: &Verdicts<'_>, segments: &[RowSegment], judged: &JudgedBatch) -> OutcomeTexts {
        let mut texts = OutcomeTexts {
            text: Vec::with_capacity(judged.outcomes.iter().len() * OUTCOME_TEXT_BYTES),
            ends: Vec::with_capacity(judged.outcomes.iter().len() * segments.len() + 1),
            is_wanted: Vec::with_capacity(judged.outcomes.iter().len()),
        };
        texts.ends.push(0);
        for outcome in judged.outcomes.iter() {
            // A wide row may include an outcome that was not requested.
            let is_wanted = verdicts.only.is_empty() || verdicts.only.contains(&outcome.word);
            for segment in segments {
                if let SegmentContent::Outcome(columns) = &segment.content
                    && (is_wanted || verdicts.width == Width::Wide)
                {
                    texts.text.extend_from_slice(&segment.before);
                    let start = texts.text.len();
                    verdicts.push_outcome(columns, &judged.outcomes, outcome, &mut texts.text);
                    if segments.len() == 1 {
                        push_quotes_if_empty(start, &mut texts.text);
                    }
                    texts.text.extend_from_slice(segment.after);
                }
                texts.ends.push(texts.text.len());
            }
            texts.is_wanted.push(is_wanted);
        }
        texts
    }
}

/// Writes the lines of a batch.
struct RowWriter<'a> {
    verdicts: &'a Verdicts<'a>,
    segments: &'a [RowSegment],
    judged: &'a JudgedBatch,
    texts: &'a OutcomeTexts,
    /// The index of the carried cell of each part.
    cell_indexes: &'a [usize],
    form: &'a InputFormat,
}

impl RowWriter<'_> {
    fn write(&self, row: InputRow<'_>, outcomes: &[u32], out: &mut Vec<u8>) {
        let verdicts = self.verdicts;
        for (at, (segment, cell_index)) in self.segments.iter().zip(self.cell_indexes).enumerate() {
            if let SegmentContent::Outcome(_) = segment.content {
                let at = outcomes[0] as usize * self.segments.len() + at;
                let texts = self.texts.ends[at]..self.texts.ends[at + 1];
                out.extend_from_slice(&self.texts.text[texts]);
                continue;
            }
            out.extend_from_slice(&segment.before);
            let start = out.len();
            match &segment.content {
                SegmentContent::Url => {
                    verdicts.push_cell(row.cell(self.form.url_cell()).trim_ascii(), out)
                }
                SegmentContent::Carried(_) => verdicts.push_cell(row.cell(*cell_index), out),
                SegmentContent::Input => push_input(row.cell(0), out),
                SegmentContent::VerdictFor(crawler) => {
                    let outcome = self.judged.outcomes.get(outcomes[*crawler]);
                    verdicts.push_cell(outcome.word.as_str().as_bytes(), out);
                }
                SegmentContent::Outcome(_) => {}
            }
            if self.segments.len() == 1 {
                push_quotes_if_empty(start, out);
            }
            out.extend_from_slice(segment.after);
        }
    }
}

/// If the line from `start` is one empty cell, writes quotes: readers skip an empty line.
fn push_quotes_if_empty(start: usize, out: &mut Vec<u8>) {
    if out.len() == start {
        out.extend_from_slice(b"\"\"");
    }
}

/// The index of a carried cell. If the row is too short, an index past its end, which reads as
/// empty.
fn cell_index(content: &SegmentContent, carried: &[(usize, &str)]) -> usize {
    let SegmentContent::Carried(name) = content else { return usize::MAX };
    carried
        .iter()
        .find(|(_, column)| column == name)
        .map_or(usize::MAX, |(cell_index, _)| *cell_index)
}

/// A line of JSON unchanged; as a JSON text if it is broken.
fn push_input(line: &[u8], out: &mut Vec<u8>) {
    match std::str::from_utf8(line).map(serde_json::from_str::<IgnoredAny>) {
        Ok(Ok(_)) => out.extend_from_slice(line.trim_ascii()),
        _ => push_json(&visible(line), out),
    }
}

fn push_json(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a text is always written to a buffer");
}
