//! The text of a batch to rows of cells, whatever form the list has.

use std::collections::HashMap;
use std::ops::Range;

use csv::ByteRecord;
use memchr::memchr;
use serde_json::value::RawValue;

use crate::input::lines::lines;

use super::form::{Form, Wanted};

/// The rows of one batch. Their text lies in one buffer: nothing is allocated for a row.
#[derive(Debug, Default)]
pub struct Rows {
    text: Vec<u8>,
    cells: Vec<Range<u32>>,
    /// Where the cells of each row end.
    ends: Vec<u32>,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    text: &'a [u8],
    cells: &'a [Range<u32>],
}

impl Rows {
    /// Reads `chunk`, which holds whole records.
    pub fn read(form: &Form, chunk: Vec<u8>) -> Rows {
        match form {
            Form::Lines => Rows::of_lines(chunk),
            Form::Delimited { delimiter, .. } => Rows::of_records(&chunk, *delimiter),
            Form::JsonLines(wanted) => Rows::of_json(wanted, &chunk),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The row at `index`.
    pub fn get(&self, index: usize) -> Row<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        Row { text: &self.text, cells: &self.cells[start..self.ends[index] as usize] }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Gives the buffer back, for the next batch.
    pub fn into_buffer(self) -> Vec<u8> {
        self.text
    }

    /// Blank lines are no rows.
    fn of_lines(chunk: Vec<u8>) -> Rows {
        let mut rows = Rows::default();
        let mut start = 0;
        while start < chunk.len() {
            let end = memchr(b'\n', &chunk[start..]).map_or(chunk.len(), |lf| start + lf);
            let line = &chunk[start..end];
            let text = line.trim_ascii_start();
            let blank_bytes = line.len() - text.len();
            let text = text.trim_ascii_end();
            if !text.is_empty() {
                rows.cells.push(range(start + blank_bytes, text.len()));
                rows.end_row();
            }
            start = end + 1;
        }
        rows.text = chunk;
        rows
    }

    fn of_records(chunk: &[u8], delimiter: u8) -> Rows {
        let mut rows = Rows::default();
        let mut reader = record_reader(delimiter, chunk);
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).expect("bytes in memory are always read") {
            record.iter().for_each(|cell| rows.push_cell(cell));
            rows.end_row();
        }
        rows
    }

    /// Cells: the line as it is, then what is wanted of it, in the order of [`Wanted`]. What is
    /// missing, or is no text, is an empty cell.
    fn of_json(wanted: &Wanted<String>, chunk: &[u8]) -> Rows {
        let mut rows = Rows::default();
        for line in lines(chunk).filter(|line| !line.trim_ascii().is_empty()) {
            let members: Option<HashMap<String, &RawValue>> = serde_json::from_slice(line).ok();
            rows.push_cell(line);
            for name in wanted.all() {
                let value = members.as_ref().and_then(|members| members.get(name)).copied();
                rows.push_json_value(value);
            }
            rows.end_row();
        }
        rows
    }

    fn push_json_value(&mut self, value: Option<&RawValue>) {
        let raw = value.map_or("", RawValue::get);
        if raw.starts_with('"') {
            let text: String = serde_json::from_str(raw).unwrap_or_default();
            self.push_cell(text.as_bytes());
        } else if raw == "null" {
            self.push_cell(b"");
        } else {
            self.push_cell(raw.as_bytes());
        }
    }

    fn push_cell(&mut self, bytes: &[u8]) {
        self.cells.push(range(self.text.len(), bytes.len()));
        self.text.extend_from_slice(bytes);
    }

    fn end_row(&mut self) {
        self.ends.push(to_u32(self.cells.len()));
    }
}

impl<'a> Row<'a> {
    /// The cell at `index`; empty where the row is too short for it.
    pub fn cell(&self, index: usize) -> &'a [u8] {
        self.cells.get(index).map_or(b"", |cell| &self.text[cell.start as usize..cell.end as usize])
    }
}

/// How records are read everywhere: `"` around a cell, doubled inside it; rows of any length.
pub fn record_reader(delimiter: u8, text: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text)
}

fn range(start: usize, len: usize) -> Range<u32> {
    to_u32(start)..to_u32(start + len)
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("a batch is far below 4 GiB")
}
