//! Verdicts on lists of URLs as CSV, TSV or JSON Lines.
//!
//! A row is the input's cells, the URL and what was said of it. What was said is written once for
//! all rows of which the same was said, and kept with it.

use std::sync::OnceLock;

use serde::de::IgnoredAny;

use crate::classify::outcome::{Detail, Outcome, Outcomes};
use crate::classify::{answer::VerdictWord, asker::Askers, batch::JudgedBatch};
use crate::classify::{input_format::InputFormat, rows::InputRow};
use crate::digest::Digest;
use crate::error::{Error, Result};

use super::digest_text::{SNAPSHOT_BYTES, digest_text};
use super::escape::{csv_cell, push_quoted, visible};
use super::plain_text::{is_plain_cell, is_plain_text};

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

/// What is written of an outcome takes about so many bytes.
const SAID_BYTES: usize = 128;

/// How rows are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layout {
    /// RFC 4180, but with LF alone at the end of a line.
    Csv,
    /// The same with tabs.
    Tsv,
    /// A JSON object a line.
    JsonLines,
}

/// One row a URL and crawler, or one a URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Width {
    /// A row for each URL and crawler.
    Long,
    /// A row for each URL, a column for each crawler.
    Wide,
}

/// What to write.
#[derive(Debug)]
pub struct Verdicts<'a> {
    /// How.
    pub layout: Layout,
    /// How wide.
    pub width: Width,
    /// Columns by name; `None`: all.
    pub columns: Option<Vec<String>>,
    /// Verdicts to write; empty: all.
    pub only: Vec<VerdictWord>,
    /// Who asked.
    pub askers: &'a Askers<'a>,
    /// By the first list; set when it is begun.
    pieces: OnceLock<Vec<Piece>>,
}

/// A part of each row, and what stands around it in each.
#[derive(Debug)]
struct Piece {
    part: Part,
    /// A delimiter, a name.
    before: Vec<u8>,
    /// The end of the line, after the last.
    after: &'static [u8],
}

/// A column, or columns that depend on what was said alone.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Part {
    /// A cell of the input, by its name.
    Carried(String),
    /// The whole JSON object of the input.
    Input,
    Url,
    /// Of the outcome, by place in [`COLUMNS`].
    Said(Vec<usize>),
    /// The verdict for the asker of this place.
    VerdictFor(usize),
}

impl<'a> Verdicts<'a> {
    /// Writes so, to whom `askers` are.
    pub fn new(
        layout: Layout,
        width: Width,
        columns: Option<Vec<String>>,
        only: Vec<VerdictWord>,
        askers: &'a Askers<'a>,
    ) -> Verdicts<'a> {
        Verdicts { layout, width, columns, only, askers, pieces: OnceLock::new() }
    }

    /// The header for lists of the form `form`, to be called once, for the first list. The cells of
    /// later ones are carried through by name.
    ///
    /// # Errors
    /// Where a column is wanted that there is not.
    pub fn begin(&self, form: &InputFormat) -> Result<Vec<u8>> {
        let carried: Vec<&str> = form.carried().iter().map(|(_, name)| *name).collect();
        let all = self.all_names(form, &carried);
        let (mut header, mut pieces) = (Vec::new(), Vec::<Piece>::new());
        for (at, name) in self.columns.as_ref().unwrap_or(&all).iter().enumerate() {
            let part = self.part(name, &carried).ok_or_else(|| {
                let all = all.join(", ");
                Error::usage(format!("unknown column '{name}'; the columns are {all}"))
            })?;
            self.delimit(at, &mut header);
            self.push_cell(name.as_bytes(), &mut header);
            match (pieces.last_mut().map(|piece| &mut piece.part), part) {
                // As JSON each needs its name.
                (Some(Part::Said(before)), Part::Said(columns)) => before.extend(columns),
                (_, part) => pieces.push(self.piece(name, part, pieces.is_empty())),
            }
        }
        header.push(b'\n');
        let is_json = self.layout == Layout::JsonLines;
        if let Some(last) = pieces.last_mut() {
            last.after = if is_json { b"}\n" } else { b"\n" };
        }
        let _ = self.pieces.set(pieces);
        Ok(if is_json { Vec::new() } else { header })
    }

    /// Writes a batch.
    pub fn write(&self, judged: &JudgedBatch, form: &InputFormat, out: &mut Vec<u8>) {
        if judged.rows.is_empty() {
            return;
        }
        let pieces = self.pieces.get().expect("a list is begun before its first rows");
        let carried = form.carried();
        let places: Vec<usize> = pieces.iter().map(|piece| place(&piece.part, &carried)).collect();
        let said = Said::of(self, pieces, judged);
        let lines = Lines { verdicts: self, pieces, judged, said: &said, places: &places, form };
        for (row, outcomes) in judged.iter() {
            let outcomes_a_line = match self.width {
                Width::Long => 1,
                Width::Wide => outcomes.len().max(1),
            };
            for outcomes in outcomes.chunks(outcomes_a_line) {
                if outcomes.iter().any(|&outcome| said.is_wanted[outcome as usize]) {
                    lines.write(row, outcomes, out);
                }
            }
        }
    }

    /// What must be known of rows to write them.
    pub fn detail(&self) -> Detail {
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

    /// `part`, which is called `name` if it is but one column.
    fn piece(&self, name: &str, part: Part, is_first: bool) -> Piece {
        let mut before = Vec::new();
        match is_first {
            true if self.layout == Layout::JsonLines => before.push(b'{'),
            _ => self.delimit(usize::from(!is_first), &mut before),
        }
        if !matches!(part, Part::Said(_)) {
            self.push_name(name, &mut before);
        }
        Piece { part, before, after: b"" }
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
                names.extend((0..self.askers.per_row()).map(|asker| self.asker_name(asker)));
            }
        }
        names
    }

    fn part(&self, name: &str, carried: &[&str]) -> Option<Part> {
        if name == "url" {
            return Some(Part::Url);
        }
        if self.width == Width::Wide {
            let mut askers = 0..self.askers.per_row();
            if let Some(asker) = askers.find(|&asker| self.asker_name(asker) == name) {
                return Some(Part::VerdictFor(asker));
            }
        }
        let columns = match self.width {
            Width::Long => &COLUMNS[..],
            Width::Wide => &COLUMNS[..2],
        };
        if let Some(column) = columns.iter().position(|column| *column == name) {
            return Some(Part::Said(vec![column]));
        }
        if let Some(column) = carried.iter().find(|column| self.carried_name(column) == name) {
            return Some(Part::Carried((*column).to_owned()));
        }
        (name == "input" && self.layout == Layout::JsonLines).then_some(Part::Input)
    }

    /// A column of the input that is called like one of ours gets another name.
    fn carried_name(&self, name: &str) -> String {
        let is_ours = COLUMNS.contains(&name)
            || self.width == Width::Wide
                && (0..self.askers.per_row()).any(|asker| self.asker_name(asker) == name);
        if is_ours { format!("input_{name}") } else { name.to_owned() }
    }

    fn asker_name(&self, place: usize) -> String {
        match self.askers {
            Askers::Fixed(names) => names[place].clone(),
            Askers::OfRow(_) => "verdict".to_owned(),
        }
    }

    /// The cells of `columns`, which depend on the outcome alone, with what stands between them.
    fn push_said(&self, columns: &[usize], all: &Outcomes, outcome: &Outcome, out: &mut Vec<u8>) {
        let rule = all.rule(outcome);
        for (at, &column) in columns.iter().enumerate() {
            self.delimit(at, out);
            self.push_name(COLUMNS[column], out);
            let (mut decimal, mut snapshot) = (itoa::Buffer::new(), [0; SNAPSHOT_BYTES]);
            let cell: Option<&[u8]> = match COLUMNS[column] {
                "origin" => outcome.origin.as_deref().map(str::as_bytes),
                "crawler" => outcome.asker.map(|_| self.askers.name(outcome.asker).as_bytes()),
                "verdict" => Some(outcome.word.as_str().as_bytes()),
                "reason" => Some(outcome.reason.as_str().as_bytes()),
                "rule_line" => rule.map(|rule| decimal.format(rule.line).as_bytes()),
                "directive" => rule.map(|rule| rule.directive.as_bytes()),
                "pattern" => rule.map(|rule| rule.pattern),
                "group" => rule.map(|rule| rule.group),
                "snapshot" => outcome.digest.map(|digest| {
                    snapshot = digest_text(&Digest::from(digest));
                    &snapshot[..]
                }),
                other => unreachable!("{other} does not depend on the outcome"),
            };
            match (self.layout, cell) {
                (Layout::JsonLines, None) => out.extend_from_slice(b"null"),
                (Layout::JsonLines, Some(line)) if COLUMNS[column] == "rule_line" => {
                    out.extend_from_slice(line);
                }
                (_, cell) => self.push_cell(cell.unwrap_or_default(), out),
            }
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

    /// A cell; strangers' bytes are made visible as in all reports.
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

/// What is written of outcomes, outcome by outcome, with what stands around it.
struct Said {
    text: Vec<u8>,
    /// By outcome and part: where what is written of it ends in `text`.
    ends: Vec<usize>,
    /// By outcome.
    is_wanted: Vec<bool>,
}

impl Said {
    fn of(verdicts: &Verdicts<'_>, pieces: &[Piece], judged: &JudgedBatch) -> Said {
        let mut said = Said {
            text: Vec::with_capacity(judged.outcomes.iter().len() * SAID_BYTES),
            ends: Vec::with_capacity(judged.outcomes.iter().len() * pieces.len() + 1),
            is_wanted: Vec::with_capacity(judged.outcomes.iter().len()),
        };
        said.ends.push(0);
        for outcome in judged.outcomes.iter() {
            // In a wide row an outcome may be written that nobody asked for.
            let is_wanted = verdicts.only.is_empty() || verdicts.only.contains(&outcome.word);
            for piece in pieces {
                if let Part::Said(columns) = &piece.part
                    && (is_wanted || verdicts.width == Width::Wide)
                {
                    said.text.extend_from_slice(&piece.before);
                    let start = said.text.len();
                    verdicts.push_said(columns, &judged.outcomes, outcome, &mut said.text);
                    if pieces.len() == 1 {
                        push_quotes_if_empty(start, &mut said.text);
                    }
                    said.text.extend_from_slice(piece.after);
                }
                said.ends.push(said.text.len());
            }
            said.is_wanted.push(is_wanted);
        }
        said
    }
}

/// The lines of a batch.
struct Lines<'a> {
    verdicts: &'a Verdicts<'a>,
    pieces: &'a [Piece],
    judged: &'a JudgedBatch,
    said: &'a Said,
    /// By part: where in a row a carried cell stands.
    places: &'a [usize],
    form: &'a InputFormat,
}

impl Lines<'_> {
    fn write(&self, row: InputRow<'_>, outcomes: &[u32], out: &mut Vec<u8>) {
        let verdicts = self.verdicts;
        for (at, (piece, place)) in self.pieces.iter().zip(self.places).enumerate() {
            if let Part::Said(_) = piece.part {
                let at = outcomes[0] as usize * self.pieces.len() + at;
                let said = self.said.ends[at]..self.said.ends[at + 1];
                out.extend_from_slice(&self.said.text[said]);
                continue;
            }
            out.extend_from_slice(&piece.before);
            let start = out.len();
            match &piece.part {
                Part::Url => verdicts.push_cell(row.cell(self.form.url_cell()).trim_ascii(), out),
                Part::Carried(_) => verdicts.push_cell(row.cell(*place), out),
                Part::Input => push_input(row.cell(0), out),
                Part::VerdictFor(asker) => {
                    let outcome = self.judged.outcomes.get(outcomes[*asker]);
                    verdicts.push_cell(outcome.word.as_str().as_bytes(), out);
                }
                Part::Said(_) => {}
            }
            if self.pieces.len() == 1 {
                push_quotes_if_empty(start, out);
            }
            out.extend_from_slice(piece.after);
        }
    }
}

/// A line of one empty cell, which begins at `start`: readers take an empty line for no row.
fn push_quotes_if_empty(start: usize, out: &mut Vec<u8>) {
    if out.len() == start {
        out.extend_from_slice(b"\"\"");
    }
}

/// Where a carried cell stands; past all cells, which are empty there, where it is in no row.
fn place(part: &Part, carried: &[(usize, &str)]) -> usize {
    let Part::Carried(name) = part else { return usize::MAX };
    carried.iter().find(|(_, column)| column == name).map_or(usize::MAX, |(place, _)| *place)
}

/// A line of JSON as it is; as a text where it is broken.
fn push_input(line: &[u8], out: &mut Vec<u8>) {
    match std::str::from_utf8(line).map(serde_json::from_str::<IgnoredAny>) {
        Ok(Ok(_)) => out.extend_from_slice(line.trim_ascii()),
        _ => push_json(&visible(line), out),
    }
}

fn push_json(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a text is always written to a buffer");
}
