//! The columns of answers, built from the verdicts of whole batches.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{Array, Int32Array, StringArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_pyarrow::ToPyArrow;
use botaudit::classify::{batch::JudgedBatch, crawler_source::CrawlerSource, outcome::Detail};
use botaudit::report::escape::visible;
use botaudit::report::verdicts::{COLUMNS, with_cell};
use pyo3::prelude::*;

/// The columns of answers, in their order: those of the command without the URL.
pub fn columns() -> &'static [&'static str] {
    &COLUMNS[1..]
}

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

/// The value of one outcome: a line, or the position of a text. Small, because each row looks one up.
#[derive(Clone, Copy)]
struct OutcomeValue {
    /// [`NO_VALUE`] if it is null.
    start: u32,
    len: u32,
}

const NO_VALUE: u32 = u32::MAX;

const NULL: OutcomeValue = OutcomeValue { start: NO_VALUE, len: 0 };

/// Texts are copied in pieces of this size, which need no call; what is copied too much is
/// overwritten by the next text.
const PIECE: usize = 32;

impl Answers {
    /// Empty columns with these names, for about `rows` rows.
    pub fn new(names: &[String], rows: usize) -> Answers {
        let is_wanted = |name: &&str| names.iter().any(|wanted| wanted == name);
        let names = columns().iter().copied().filter(is_wanted);
        let columns = names.map(|name| {
            let values = match name {
                "rule_line" => Values::Lines(Vec::with_capacity(rows)),
                _ => {
                    let mut offsets = Vec::with_capacity(rows + 1);
                    offsets.push(0);
                    Values::Texts { offsets, bytes: Vec::new() }
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
        // The value after those of all outcomes is null.
        let null = u32::try_from(batch.outcomes.iter().len()).expect("a batch is far below 4 GiB");
        let answers: Cow<'_, [u32]> = match is_null {
            None => Cow::Borrowed(&batch.answers),
            Some(is_null) => {
                let rows = batch.answers.chunks(batch.per_row).zip(is_null);
                let of_row = |(answers, &is_null): (&[u32], &bool)| match is_null {
                    true => vec![null; answers.len()],
                    false => answers.to_vec(),
                };
                Cow::Owned(rows.flat_map(of_row).collect())
            }
        };
        for column in &mut self.columns {
            column.append(batch, crawlers, &answers, is_null.is_some());
        }
    }

    /// The columns as arrays of pyarrow.
    pub fn into_pyarrow(self, py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
        let array = |column: AnswerColumn| column.into_array().to_data().to_pyarrow(py);
        self.columns.into_iter().map(array).collect()
    }
}

impl AnswerColumn {
    /// `answers` are indexes of the outcomes of `batch`; if it `has_nulls`, also the one after them.
    fn append(
        &mut self,
        batch: &JudgedBatch,
        crawlers: &CrawlerSource<'_>,
        answers: &[u32],
        has_nulls: bool,
    ) {
        let mut texts = Vec::new();
        let outcomes = &batch.outcomes;
        let value = |outcome| {
            with_cell(self.name, crawlers, outcomes, outcome, |cell| match (cell, &self.values) {
                (None, _) => NULL,
                (Some(line), Values::Lines(_)) => {
                    let line = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok());
                    OutcomeValue { start: line.unwrap_or(0), len: 0 }
                }
                (Some(text), Values::Texts { .. }) => {
                    let start = texts.len();
                    match self.name {
                        // The bytes of strangers, escaped as in all reports.
                        "pattern" | "group" => texts.extend_from_slice(visible(text).as_bytes()),
                        _ => texts.extend_from_slice(text),
                    }
                    OutcomeValue { start: start as u32, len: (texts.len() - start) as u32 }
                }
            })
        };
        let values: Vec<OutcomeValue> = outcomes.iter().map(value).chain([NULL]).collect();
        texts.resize(texts.len() + PIECE, 0);
        let is_valid = |value: OutcomeValue| value.start != NO_VALUE;
        if !has_nulls && values[..outcomes.iter().len()].iter().all(|&value| is_valid(value)) {
            self.valid.append_n_non_nulls(answers.len());
        } else {
            let is_valid = |row: usize| is_valid(values[answers[row] as usize]);
            let valid = BooleanBuffer::collect_bool(answers.len(), is_valid);
            self.valid.append_buffer(&NullBuffer::new(valid));
        }
        let values = answers.iter().map(|&answer| values[answer as usize]);
        match &mut self.values {
            Values::Lines(lines) => lines.extend(values.map(|value| value.start as i32)),
            Values::Texts { offsets, bytes } => push_texts(values, &texts, offsets, bytes),
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

/// Appends the text of each value to `bytes`, and its end to `offsets`.
fn push_texts(
    values: impl Iterator<Item = OutcomeValue> + Clone,
    texts: &[u8],
    offsets: &mut Vec<i32>,
    bytes: &mut Vec<u8>,
) {
    let total: usize = values.clone().map(|value| value.len as usize).sum();
    let mut end = bytes.len();
    i32::try_from(end + total).expect("a call has a limited number of rows");
    match end {
        // Fresh pages need not be cleared.
        0 => *bytes = vec![0; total + PIECE],
        _ => bytes.resize(end + total + PIECE, 0),
    }
    offsets.extend(values.map(|OutcomeValue { start, len }| {
        let (mut from, mut to) = (start as usize, end);
        end += len as usize;
        while to < end {
            bytes[to..to + PIECE].copy_from_slice(&texts[from..from + PIECE]);
            (from, to) = (from + PIECE, to + PIECE);
        }
        end as i32
    }));
    bytes.truncate(end);
}
