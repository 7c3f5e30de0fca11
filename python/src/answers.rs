//! The columns of answers, built from the verdicts of whole batches.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::types::Int32Type;
use arrow_array::{Array, DictionaryArray, Int32Array, StringArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, NullBufferBuilder};
use arrow_pyarrow::ToPyArrow;
use botaudit::classify::answer::Detail;
use botaudit::classify::batch::JudgedBatch;
use botaudit::classify::input_format::CrawlerSource;
use botaudit::classify::verdicts::{COLUMNS, with_cell};
use botaudit::table::escape::visible;
use pyo3::prelude::*;

/// The columns of answers, in their order: those of the command without the URL.
pub fn columns() -> &'static [&'static str] {
    &COLUMNS[1..]
}

/// Some of the columns.
pub struct Answers {
    columns: Vec<AnswerColumn>,
}

/// The texts of the columns that were built so far, which later columns continue.
#[pyclass(frozen, module = "pybotaudit._botaudit")]
#[derive(Default)]
pub struct AnswerTexts(Mutex<HashMap<&'static str, Texts>>);

#[pymethods]
impl AnswerTexts {
    #[new]
    fn new() -> AnswerTexts {
        AnswerTexts::default()
    }
}

struct AnswerColumn {
    name: &'static str,
    /// The different texts of the column; `None` for lines.
    texts: Option<Texts>,
    /// For each row a line or the index of a text; anything if it is null.
    values: Vec<i32>,
    valid: NullBufferBuilder,
}

/// Different texts, numbered in the order in which they were found.
#[derive(Default)]
struct Texts {
    list: Vec<Box<str>>,
    numbers: HashMap<Box<str>, i32>,
    /// The index of the previous text: outcomes of an origin follow one another.
    last: usize,
}

impl Answers {
    /// Empty columns with these names, for about `rows` rows. Their texts continue `known`.
    pub fn new(names: &[String], rows: usize, known: &AnswerTexts) -> Answers {
        let mut known = known.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wanted = |name: &&str| names.iter().any(|wanted| wanted == name);
        let names = columns().iter().copied().filter(is_wanted);
        let columns = names.map(|name| AnswerColumn {
            name,
            texts: (name != "rule_line").then(|| known.remove(name).unwrap_or_default()),
            values: Vec::with_capacity(rows),
            valid: NullBufferBuilder::new(rows),
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

    /// The columns as arrays of pyarrow. Their texts go to `known`.
    pub fn into_pyarrow<'py>(
        self,
        py: Python<'py>,
        known: &AnswerTexts,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut known = known.0.lock().unwrap_or_else(PoisonError::into_inner);
        let array = |column: AnswerColumn| {
            let (name, (array, texts)) = (column.name, column.into_array());
            known.extend(texts.map(|texts| (name, texts)));
            array.to_data().to_pyarrow(py)
        };
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
        let outcomes = &batch.outcomes;
        let mut value = |outcome| {
            with_cell(self.name, crawlers, outcomes, outcome, |cell| {
                let cell = cell?;
                match (&mut self.texts, self.name) {
                    (None, _) => std::str::from_utf8(cell).ok()?.parse().ok(),
                    // The bytes of strangers, escaped as in all reports.
                    (Some(texts), "pattern" | "group") => Some(texts.number(&visible(cell))),
                    (Some(texts), _) => Some(texts.number(&String::from_utf8_lossy(cell))),
                }
            })
        };
        // The value after those of all outcomes is null.
        let values: Vec<Option<i32>> = outcomes.iter().map(&mut value).chain([None]).collect();
        if !has_nulls && values[..outcomes.iter().len()].iter().all(Option::is_some) {
            self.valid.append_n_non_nulls(answers.len());
        } else {
            let is_valid = |row: usize| values[answers[row] as usize].is_some();
            let valid = BooleanBuffer::collect_bool(answers.len(), is_valid);
            self.valid.append_buffer(&NullBuffer::new(valid));
        }
        let values: Vec<i32> = values.into_iter().map(Option::unwrap_or_default).collect();
        self.values.extend(answers.iter().map(|&answer| values[answer as usize]));
    }

    fn into_array(mut self) -> (Arc<dyn Array>, Option<Texts>) {
        let values = Int32Array::new(self.values.into(), self.valid.finish());
        let array: Arc<dyn Array> = match &self.texts {
            None => Arc::new(values),
            Some(texts) => {
                let texts = StringArray::from_iter_values(&texts.list);
                Arc::new(DictionaryArray::<Int32Type>::new(values, Arc::new(texts)))
            }
        };
        (array, self.texts)
    }
}

impl Texts {
    /// The number of `text`, which is added if it is new.
    fn number(&mut self, text: &str) -> i32 {
        if self.list.get(self.last).is_none_or(|last| **last != *text) {
            self.last = match self.numbers.get(text) {
                Some(&number) => number as usize,
                None => {
                    let number = self.list.len();
                    self.numbers.insert(text.into(), number as i32);
                    self.list.push(text.into());
                    number
                }
            };
        }
        self.last as i32
    }
}
