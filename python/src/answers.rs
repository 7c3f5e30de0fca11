//! The columns of answers, built from the verdicts of whole batches.

use std::sync::Arc;

use arrow_array::{Array, Int32Array, StringArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_pyarrow::ToPyArrow;
use botaudit::classify::{batch::JudgedBatch, crawler_source::CrawlerSource, outcome::Detail};
use botaudit::report::escape::visible;
use botaudit::report::verdicts::with_cell;
use pyo3::prelude::*;

/// The columns of answers, in their order.
pub const COLUMNS: [&str; 9] = [
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

/// Some of the columns.
pub struct Answers {
    columns: Vec<AnswerColumn>,
}

struct AnswerColumn {
    name: &'static str,
    values: Values,
    valid: NullBufferBuilder,
}

enum Values {
    Lines(Vec<i32>),
    Texts { offsets: Vec<i32>, bytes: Vec<u8> },
}

/// The value of one outcome: a line, or the position of a text.
#[derive(Clone, Copy)]
struct OutcomeValue {
    start: usize,
    end: usize,
    is_valid: bool,
}

const NULL: OutcomeValue = OutcomeValue { start: 0, end: 0, is_valid: false };

impl Answers {
    /// Empty columns with these names, for about `rows` rows.
    pub fn new(names: &[String], rows: usize) -> Answers {
        let names = COLUMNS.into_iter().filter(|name| names.iter().any(|wanted| wanted == name));
        let columns = names.map(|name| {
            let values = match name {
                "rule_line" => Values::Lines(Vec::with_capacity(rows)),
                _ => {
                    let mut offsets = Vec::with_capacity(rows + 1);
                    offsets.push(0);
                    Values::Texts { offsets, bytes: Vec::with_capacity(rows * 16) }
                }
            };
            AnswerColumn { name, values, valid: NullBufferBuilder::new(rows) }
        });
        Answers { columns: columns.collect() }
    }

    /// The details that the columns need.
    pub fn detail(&self) -> Detail {
        let of_column = |column: &AnswerColumn| match column.name {
            "crawler" | "verdict" | "reason" => Detail::Verdicts,
            "origin" => Detail::Origins,
            _ => Detail::Rules,
        };
        self.columns.iter().map(of_column).max().unwrap_or(Detail::Verdicts)
    }

    /// Appends the answers of `batch`; a row for which `is_null` holds has nulls.
    pub fn append(
        &mut self,
        batch: &JudgedBatch,
        crawlers: &CrawlerSource<'_>,
        is_null: Option<&[bool]>,
    ) {
        for column in &mut self.columns {
            column.append(batch, crawlers, is_null);
        }
    }

    /// The columns as arrays of pyarrow.
    pub fn into_pyarrow(self, py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
        let array = |column: AnswerColumn| column.into_array().to_data().to_pyarrow(py);
        self.columns.into_iter().map(array).collect()
    }
}

impl AnswerColumn {
    fn append(
        &mut self,
        batch: &JudgedBatch,
        crawlers: &CrawlerSource<'_>,
        is_null: Option<&[bool]>,
    ) {
        let mut texts = Vec::new();
        let outcomes = &batch.outcomes;
        let value = |outcome| {
            with_cell(self.name, crawlers, outcomes, outcome, |cell| match (cell, &self.values) {
                (None, _) => NULL,
                (Some(line), Values::Lines(_)) => {
                    let line = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok());
                    OutcomeValue { start: line.unwrap_or(0), end: 0, is_valid: true }
                }
                (Some(text), Values::Texts { .. }) => {
                    let start = texts.len();
                    match self.name {
                        // The bytes of strangers, escaped as in all reports.
                        "pattern" | "group" => texts.extend_from_slice(visible(text).as_bytes()),
                        _ => texts.extend_from_slice(text),
                    }
                    OutcomeValue { start, end: texts.len(), is_valid: true }
                }
            })
        };
        let values: Vec<OutcomeValue> = outcomes.iter().map(value).collect();
        match is_null {
            None if values.iter().all(|value| value.is_valid) => {
                self.valid.append_n_non_nulls(batch.answers.len());
                self.push_all(batch.answers.iter().map(|&answer| values[answer as usize]), &texts);
            }
            _ => {
                let is_null = |row: usize| is_null.is_some_and(|is_null| is_null[row]);
                let value = |(index, &answer): (usize, &u32)| match is_null(index / batch.per_row) {
                    true => NULL,
                    false => values[answer as usize],
                };
                let answers = || batch.answers.iter().enumerate().map(value);
                answers().for_each(|value| self.valid.append(value.is_valid));
                self.push_all(answers(), &texts);
            }
        }
    }

    fn push_all(&mut self, answers: impl Iterator<Item = OutcomeValue>, texts: &[u8]) {
        match &mut self.values {
            Values::Lines(lines) => lines.extend(answers.map(|value| value.start as i32)),
            Values::Texts { offsets, bytes } => answers.for_each(|value| {
                bytes.extend_from_slice(&texts[value.start..value.end]);
                offsets
                    .push(i32::try_from(bytes.len()).expect("a call has a limited number of rows"));
            }),
        }
    }

    fn into_array(mut self) -> Arc<dyn Array> {
        let nulls = self.valid.finish();
        match self.values {
            Values::Lines(lines) => Arc::new(Int32Array::new(lines.into(), nulls)),
            Values::Texts { offsets, bytes } => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                Arc::new(StringArray::new(offsets, bytes.into(), nulls))
            }
        }
    }
}
