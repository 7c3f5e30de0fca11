//! Splits the text of a batch into rows of cells, for all formats.

use std::{fmt, ops::Range};

use csv::ByteRecord;
use memchr::{memchr, memchr_iter};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::input::lines::lines;

use super::input_format::{InputFormat, WantedColumns, record_reader};

/// The rows of one batch. They share one buffer, so that a row needs no allocation.
#[derive(Debug, Default)]
pub struct InputRows {
    text: Vec<u8>,
    cells: Vec<Range<u32>>,
    /// The ends of the cells of each row.
    ends: Vec<u32>,
    /// Lines that should be JSON objects and are not.
    pub(crate) damaged: u64,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct InputRow<'a> {
    text: &'a [u8],
    cells: &'a [Range<u32>],
}

impl InputRows {
    /// Reads `chunk`, which holds whole records.
    pub fn read(form: &InputFormat, chunk: Vec<u8>) -> InputRows {
        match form {
            InputFormat::Lines => InputRows::in_place(chunk, None),
            InputFormat::Delimited { delimiter, .. } if is_simple(&chunk) => {
                InputRows::in_place(chunk, Some(*delimiter))
            }
            InputFormat::Delimited { delimiter, .. } => InputRows::of_records(&chunk, *delimiter),
            InputFormat::JsonLines(wanted) => InputRows::of_json(wanted, &chunk),
        }
    }

    /// No rows, with room for `rows` rows of `cells` cells each and `bytes` bytes.
    pub fn with_capacity(rows: usize, cells: usize, bytes: usize) -> InputRows {
        InputRows {
            text: Vec::with_capacity(bytes),
            cells: Vec::with_capacity(rows * cells),
            ends: Vec::with_capacity(rows),
            damaged: 0,
        }
    }

    /// Rows of one cell each, one after the other in `text`; `ends` are the ends of the cells.
    pub fn of_cells(text: Vec<u8>, ends: impl Iterator<Item = u32>) -> InputRows {
        let mut start = 0;
        let cells: Vec<Range<u32>> =
            ends.map(|end| std::mem::replace(&mut start, end)..end).collect();
        let ends = (1..=to_u32(cells.len())).collect();
        InputRows { text, cells, ends, damaged: 0 }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The row at `index`.
    pub(crate) fn get(&self, index: usize) -> InputRow<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        InputRow { text: &self.text, cells: &self.cells[start..self.ends[index] as usize] }
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = InputRow<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// A part of the text of all cells.
    pub(crate) fn text(&self, start: u32, end: u32) -> &[u8] {
        &self.text[start as usize..end as usize]
    }

    /// Gives the buffer back, for the next batch.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.text
    }

    /// Rows whose cells are slices of the lines. Without a `delimiter`, a line is one cell. With
    /// one, the result is that of [`InputRows::of_records`] if the chunk [`is_simple`]. Blank lines
    /// are skipped.
    fn in_place(chunk: Vec<u8>, delimiter: Option<u8>) -> InputRows {
        let mut rows = InputRows::default();
        let mut start = 0;
        // The last entry is the end of a last line without a line end.
        for end in memchr_iter(b'\n', &chunk).chain([chunk.len()]) {
            let line = &chunk[start..end];
            match delimiter {
                Some(delimiter) => rows.push_cells(start, line, delimiter),
                None => rows.push_trimmed(start, line),
            }
            start = end + 1;
        }
        rows.text = chunk;
        rows
    }

    fn push_trimmed(&mut self, start: usize, line: &[u8]) {
        let text = line.trim_ascii_start();
        let blank_bytes = line.len() - text.len();
        let text = text.trim_ascii_end();
        if !text.is_empty() {
            self.cells.push(range(start + blank_bytes, text.len()));
            self.end_row();
        }
    }

    fn push_cells(&mut self, start: usize, line: &[u8], delimiter: u8) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.is_empty() {
            let mut cell = 0;
            for cell_end in memchr_iter(delimiter, line).chain([line.len()]) {
                self.cells.push(range(start + cell, cell_end - cell));
                cell = cell_end + 1;
            }
            self.end_row();
        }
    }

    fn of_records(chunk: &[u8], delimiter: u8) -> InputRows {
        let mut rows = InputRows::default();
        let mut reader = record_reader(delimiter, chunk);
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).expect("bytes in memory are always read") {
            record.iter().for_each(|cell| rows.push_cell(cell));
            rows.end_row();
        }
        rows
    }

    /// The cells are the line itself, then its members in the order of [`WantedColumns`]. A member
    /// that is missing or not a text is an empty cell.
    fn of_json(wanted: &WantedColumns<String>, chunk: &[u8]) -> InputRows {
        let mut rows = InputRows::default();
        let names: Vec<&String> = wanted.all().collect();
        for line in lines(chunk).filter(|line| !line.trim_ascii().is_empty()) {
            let members = members(line, &names);
            rows.damaged += u64::from(members.is_none());
            let members = members.unwrap_or_default();
            rows.push_cell(line);
            (0..names.len()).for_each(|digit| rows.push_json_value(members[digit]));
            rows.end_row();
        }
        rows
    }

    fn push_json_value(&mut self, value: Option<&RawValue>) {
        let raw = value.map_or("", RawValue::get);
        if let Some(text) = simple_text(raw) {
            self.push_cell(text.as_bytes());
        } else if raw.starts_with('"') {
            let text: String = serde_json::from_str(raw).unwrap_or_default();
            self.push_cell(text.as_bytes());
        } else if raw == "null" {
            self.push_cell(b"");
        } else {
            self.push_cell(raw.as_bytes());
        }
    }

    /// Appends a cell to the last row.
    pub fn push_cell(&mut self, bytes: &[u8]) {
        self.cells.push(range(self.text.len(), bytes.len()));
        self.text.extend_from_slice(bytes);
    }

    /// Ends the last row; the next cell begins another one.
    pub fn end_row(&mut self) {
        self.ends.push(to_u32(self.cells.len()));
    }
}

impl<'a> InputRow<'a> {
    /// The cell at `index`; empty if the row is too short.
    pub fn cell(&self, index: usize) -> &'a [u8] {
        self.cells.get(index).map_or(b"", |cell| &self.text[cell.start as usize..cell.end as usize])
    }

    /// The trimmed cell, and its end in the text of the batch.
    pub fn trimmed(&self, index: usize) -> (&'a [u8], u32) {
        let cell = self.cell(index).trim_ascii_end();
        let start = self.cells.get(index).map_or(0, |cell| cell.start);
        (cell.trim_ascii_start(), start + to_u32(cell.len()))
    }
}

/// Whether no cell is quoted, and records end with their lines.
fn is_simple(chunk: &[u8]) -> bool {
    memchr(b'"', chunk).is_none()
        && memchr_iter(b'\r', chunk).all(|at| matches!(chunk.get(at + 1), None | Some(b'\n')))
}

/// The content of a JSON text without escapes.
fn simple_text(raw: &str) -> Option<&str> {
    let text = raw.strip_prefix('"')?.strip_suffix('"')?;
    memchr(b'\\', text.as_bytes()).is_none().then_some(text)
}

fn range(start: usize, len: usize) -> Range<u32> {
    to_u32(start)..to_u32(start + len)
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("a batch is far below 4 GiB")
}

/// The most members that are read: URL, crawler and time.
const WANTED_MAX: usize = 3;

/// The members `names` of the object `line`, in this order. Of several members with one name, the
/// last counts. `None` if the line is not an object.
fn members<'l>(line: &'l [u8], names: &[&String]) -> Option<FoundMembers<'l>> {
    let mut reader = serde_json::Deserializer::from_slice(line);
    let found = reader.deserialize_map(Members(names));
    found.and_then(|found| reader.end().map(|()| found)).ok()
}

/// The values of the members that are read.
type FoundMembers<'l> = [Option<&'l RawValue>; WANTED_MAX];

struct Members<'n>(&'n [&'n String]);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = [Option<&'de RawValue>; WANTED_MAX];

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; WANTED_MAX];
        while let Some(wanted) = map.next_key_seed(Name(self.0))? {
            let value: &RawValue = map.next_value()?;
            for (index, is_wanted) in wanted.into_iter().enumerate() {
                if is_wanted {
                    found[index] = Some(value);
                }
            }
        }
        Ok(found)
    }
}

/// The members that a name stands for; two may have the same name.
struct Name<'n>(&'n [&'n String]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = [bool; WANTED_MAX];

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = [bool; WANTED_MAX];

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let mut wanted = [false; WANTED_MAX];
        self.0.iter().zip(&mut wanted).for_each(|(known, is)| *is = *known == name);
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(rows: &InputRows) -> Vec<Vec<&[u8]>> {
        rows.iter().map(|row| (0..row.cells.len()).map(|at| row.cell(at)).collect()).collect()
    }

    /// All texts of eight letters of an alphabet.
    #[test]
    fn simple_records_are_read_as_all_records_are() {
        let alphabet = b"a,\r\n";
        for number in 0..alphabet.len().pow(8) {
            let letter = |digit| alphabet[number / alphabet.len().pow(digit) % alphabet.len()];
            let text: Vec<u8> = (0..8).map(letter).collect();
            if is_simple(&text) {
                let simply = InputRows::in_place(text.clone(), Some(b','));
                let expected = InputRows::of_records(&text, b',');
                assert_eq!(cells(&simply), cells(&expected), "{text:?}");
            }
        }
        assert!(!is_simple(b"a\rb") && !is_simple(b"\"") && is_simple(b"a\r\nb\r"));
    }

    #[test]
    fn rows_of_cells() {
        let rows = InputRows::of_cells(b"ab c".to_vec(), [2, 2, 4].into_iter());
        let expected: [&[&[u8]]; 3] = [&[b"ab"], &[b""], &[b" c"]];
        assert_eq!(cells(&rows), expected);
        let mut pushed = InputRows::with_capacity(1, 2, 0);
        pushed.push_cell(b"a");
        pushed.push_cell(b"b");
        pushed.end_row();
        let expected: [&[&[u8]]; 1] = [&[b"a", b"b"]];
        assert_eq!(cells(&pushed), expected);
    }

    #[test]
    fn lines_are_trimmed_and_blank_ones_are_none() {
        let rows = InputRows::in_place(b"\n a \r\n\t\nb c\n\nd".to_vec(), None);
        let expected: [&[&[u8]]; 3] = [&[b"a"], &[b"b c"], &[b"d"]];
        assert_eq!(cells(&rows), expected);
    }

    #[track_caller]
    fn check(line: &str, expected: [Option<&str>; 2]) {
        let names = ["url".to_owned(), "t\"".to_owned()];
        let found = members(line.as_bytes(), &[&names[0], &names[1]]).unwrap_or_default();
        let found = found.map(|value| value.map(RawValue::get));
        assert_eq!(found[..2], expected, "{line}");
    }

    #[test]
    fn members_are_found_by_name() {
        check(r#"{"url":"a","x":{"url":"b"},"t\"":1}"#, [Some("\"a\""), Some("1")]);
        check(r#" { "\u0075rl" : "a" , "url" : null } "#, [Some("null"), None]);
        for line in ["", "1", "[]", "null", "{", r#"{"url":"a"} x"#, r#"{"url":"a""#, r#"{"url"}"#]
        {
            check(line, [None, None]);
        }
    }

    /// Two columns may be one.
    #[test]
    fn one_member_may_be_wanted_twice() {
        let name = "url".to_owned();
        let found = members(br#"{"url":"a"}"#, &[&name, &name]).unwrap();
        assert!(found[0].is_some() && found[1].is_some());
    }
}
