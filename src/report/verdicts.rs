//! Verdicts on lists of URLs as CSV, TSV or JSON Lines.
//!
//! A row is the input's cells, the URL and what was said of it. What was said is written once a
//! batch for all rows of which the same was said.

use std::io::Write;
use std::sync::OnceLock;

use serde::de::IgnoredAny;

use crate::classify::asker::Askers;
use crate::classify::batch::Judged;
use crate::classify::form::Form;
use crate::classify::outcome::{Answer, Outcome};
use crate::classify::rows::Row;
use crate::error::{Error, Result};

use super::cell::{csv_cell, visible};

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
    /// Answers to write; empty: all.
    pub only: Vec<Answer>,
    /// Who asked.
    pub askers: &'a Askers<'a>,
    /// By the first list; set when it is begun.
    parts: OnceLock<Vec<Part>>,
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
    /// The answer to the asker of this place.
    AnswerTo(usize),
}

impl<'a> Verdicts<'a> {
    /// Writes so, to whom `askers` are.
    pub fn new(
        layout: Layout,
        width: Width,
        columns: Option<Vec<String>>,
        only: Vec<Answer>,
        askers: &'a Askers<'a>,
    ) -> Verdicts<'a> {
        Verdicts { layout, width, columns, only, askers, parts: OnceLock::new() }
    }

    /// The header for lists of the form `form`, to be called once, for the first list. The cells of
    /// later ones are carried through by name.
    ///
    /// # Errors
    /// Where a column is wanted that there is not.
    pub fn begin(&self, form: &Form) -> Result<Vec<u8>> {
        let parts = self.parts_for(form)?;
        let mut header = Vec::new();
        let names: Vec<String> = parts.iter().flat_map(|part| self.names(part)).collect();
        match self.layout {
            Layout::JsonLines => {}
            Layout::Csv | Layout::Tsv => {
                for (at, name) in names.iter().enumerate() {
                    self.delimit(at, &mut header);
                    self.push_cell(name.as_bytes(), &mut header);
                }
                header.push(b'\n');
            }
        }
        let _ = self.parts.set(parts);
        Ok(header)
    }

    /// Writes a batch.
    pub fn write(&self, judged: &Judged, form: &Form, out: &mut Vec<u8>) {
        if judged.rows.is_empty() {
            return;
        }
        let parts = self.parts.get().expect("a list is begun before its first rows");
        let said: Vec<Vec<Vec<u8>>> = judged
            .outcomes
            .iter()
            .map(|outcome| parts.iter().map(|part| self.said(part, outcome)).collect())
            .collect();
        let carried = form.carried();
        let places: Vec<Option<usize>> = parts.iter().map(|part| place(part, &carried)).collect();
        let line = Line { verdicts: self, parts, said: &said, places: &places, form };
        for (index, row) in judged.rows.iter().enumerate() {
            match self.width {
                Width::Long => judged
                    .outcomes_of(index)
                    .filter(|&outcome| self.wants(judged.outcomes[outcome].answer))
                    .for_each(|outcome| line.write(row, judged, &[outcome], out)),
                Width::Wide => {
                    let outcomes: Vec<usize> = judged.outcomes_of(index).collect();
                    if outcomes.iter().any(|&of| self.wants(judged.outcomes[of].answer)) {
                        line.write(row, judged, &outcomes, out);
                    }
                }
            }
        }
    }

    fn wants(&self, answer: Answer) -> bool {
        self.only.is_empty() || self.only.contains(&answer)
    }

    fn parts_for(&self, form: &Form) -> Result<Vec<Part>> {
        let carried: Vec<&str> = form.carried().iter().map(|(_, name)| *name).collect();
        let names = match &self.columns {
            Some(columns) => columns.clone(),
            None => self.all_names(form, &carried),
        };
        let mut parts: Vec<Part> = Vec::new();
        for name in &names {
            let part = self.part(name, &carried).ok_or_else(|| {
                let all = self.all_names(form, &carried).join(", ");
                Error::usage(format!("there is no column '{name}' to write; there are {all}"))
            })?;
            match (parts.last_mut(), part) {
                // As JSON each needs its name.
                (Some(Part::Said(before)), Part::Said(columns)) => before.extend(columns),
                (_, part) => parts.push(part),
            }
        }
        Ok(parts)
    }

    fn all_names(&self, form: &Form, carried: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = carried.iter().map(|name| self.carried_name(name)).collect();
        if matches!(form, Form::JsonLines(_)) && self.layout == Layout::JsonLines {
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
                return Some(Part::AnswerTo(asker));
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

    fn names(&self, part: &Part) -> Vec<String> {
        match part {
            Part::Carried(name) => vec![self.carried_name(name)],
            Part::Input => vec!["input".to_owned()],
            Part::Url => vec!["url".to_owned()],
            Part::Said(columns) => columns.iter().map(|&at| COLUMNS[at].to_owned()).collect(),
            Part::AnswerTo(asker) => vec![self.asker_name(*asker)],
        }
    }

    /// The cells of `part` that depend on the outcome alone, with what stands between them.
    fn said(&self, part: &Part, outcome: &Outcome) -> Vec<u8> {
        let mut text = Vec::new();
        if let Part::Said(columns) = part {
            for (at, &column) in columns.iter().enumerate() {
                self.delimit(at, &mut text);
                self.push_name(COLUMNS[column], &mut text);
                match (self.layout, self.said_cell(column, outcome)) {
                    (Layout::JsonLines, None) => text.extend_from_slice(b"null"),
                    (Layout::JsonLines, Some(line)) if COLUMNS[column] == "rule_line" => {
                        text.extend_from_slice(&line);
                    }
                    (_, cell) => self.push_cell(&cell.unwrap_or_default(), &mut text),
                }
            }
        }
        text
    }

    fn said_cell(&self, column: usize, outcome: &Outcome) -> Option<Vec<u8>> {
        let rule = outcome.rule.as_deref();
        let text = |text: &str| Some(text.as_bytes().to_vec());
        match COLUMNS[column] {
            "origin" => text(outcome.origin.as_deref()?),
            "crawler" => text(self.askers.name(outcome.asker)),
            "verdict" => text(outcome.answer.as_str()),
            "reason" => text(outcome.reason.as_str()),
            "rule_line" => text(&rule?.line.to_string()),
            "directive" => text(rule?.directive),
            "pattern" => Some(rule?.pattern.to_vec()),
            "group" => Some(rule?.group.to_vec()),
            "snapshot" => text(outcome.snapshot.as_deref()?),
            other => unreachable!("{other} does not depend on the outcome"),
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
        if self.layout == Layout::JsonLines {
            return push_json(&visible(bytes), out);
        }
        let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\",\\".contains(byte);
        let is_formula = |first: &u8| b"=+-@'".contains(first);
        if bytes.iter().all(is_plain) && !bytes.first().is_some_and(is_formula) {
            return out.extend_from_slice(bytes);
        }
        let text = csv_cell(bytes);
        let delimiter = if self.layout == Layout::Tsv { '\t' } else { ',' };
        if text.contains([delimiter, '"']) {
            write!(out, "\"{}\"", text.replace('"', "\"\"")).expect("a buffer takes all");
        } else {
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// What is the same for all lines of a batch.
struct Line<'a> {
    verdicts: &'a Verdicts<'a>,
    parts: &'a [Part],
    /// By outcome and part.
    said: &'a [Vec<Vec<u8>>],
    /// By part: where in a row a carried cell stands.
    places: &'a [Option<usize>],
    form: &'a Form,
}

impl Line<'_> {
    fn write(&self, row: Row<'_>, judged: &Judged, outcomes: &[usize], out: &mut Vec<u8>) {
        let is_json = self.verdicts.layout == Layout::JsonLines;
        if is_json {
            out.push(b'{');
        }
        for (at, part) in self.parts.iter().enumerate() {
            self.verdicts.delimit(at, out);
            match part {
                Part::Said(_) => out.extend_from_slice(&self.said[outcomes[0]][at]),
                Part::Url => {
                    self.verdicts.push_name("url", out);
                    self.verdicts.push_cell(row.cell(self.form.url_cell()).trim_ascii(), out);
                }
                Part::Carried(name) => {
                    self.verdicts.push_name(&self.verdicts.carried_name(name), out);
                    let cell = self.places[at].map_or(&b""[..], |place| row.cell(place));
                    self.verdicts.push_cell(cell, out);
                }
                Part::Input => {
                    self.verdicts.push_name("input", out);
                    push_input(row.cell(0), out);
                }
                Part::AnswerTo(asker) => {
                    self.verdicts.push_name(&self.verdicts.asker_name(*asker), out);
                    let answer = judged.outcomes[outcomes[*asker]].answer.as_str();
                    self.verdicts.push_cell(answer.as_bytes(), out);
                }
            }
        }
        out.extend_from_slice(if is_json { b"}\n" } else { b"\n" });
    }
}

fn place(part: &Part, carried: &[(usize, &str)]) -> Option<usize> {
    let Part::Carried(name) = part else { return None };
    carried.iter().find(|(_, column)| column == name).map(|(place, _)| *place)
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
