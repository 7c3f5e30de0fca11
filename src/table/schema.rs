//! The types for CSV files and their columns, and a cell as a value.

use std::fmt;

use crate::time::{Day, UtcTime};

use super::escape::visible;

/// A constant text.
type Text = &'static str;

/// A column of a CSV file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Column {
    /// The header cell.
    pub name: Text,
    /// The unit, the kind of text, or the possible values of a cell.
    pub unit: Text,
    /// The meaning, as a sentence fragment.
    pub meaning: Text,
}

/// A CSV file.
#[derive(Clone, Copy, Debug)]
pub struct TableSchema {
    /// The file name in the report directory.
    pub file: Text,
    /// What one row describes.
    pub row: Text,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

/// A column, as a group of one.
pub const fn column(name: Text, unit: Text, meaning: Text) -> [Column; 1] {
    [Column { name, unit, meaning }]
}

/// A column of counts.
pub const fn count(name: Text, meaning: Text) -> [Column; 1] {
    column(name, "count", meaning)
}

/// A column of points in time.
pub const fn time(name: Text, meaning: Text) -> [Column; 1] {
    column(name, "RFC 3339, UTC", meaning)
}

/// A column of lines of a file.
pub const fn line_number(name: Text, meaning: Text) -> [Column; 1] {
    column(name, "line number from 1", meaning)
}

/// The number of columns in all groups.
pub const fn total(groups: &[&[Column]]) -> usize {
    let (mut total, mut group) = (0, 0);
    while group < groups.len() {
        total += groups[group].len();
        group += 1;
    }
    total
}

/// Joins all groups into one array of `N` columns.
pub const fn join<const N: usize>(groups: &[&[Column]]) -> [Column; N] {
    let mut columns = [Column { name: "", unit: "", meaning: "" }; N];
    let (mut group, mut at, mut end) = (0, 0, 0);
    while end < N {
        if at == groups[group].len() {
            group += 1;
            at = 0;
        } else {
            columns[end] = groups[group][at];
            at += 1;
            end += 1;
        }
    }
    columns
}

/// Joins groups of columns into the columns of one table.
macro_rules! joined {
    [$($group:expr),* $(,)?] => {{
        const GROUPS: &[&[$crate::table::schema::Column]] = &[$(&$group),*];
        const COLUMNS: [$crate::table::schema::Column; $crate::table::schema::total(GROUPS)] =
            $crate::table::schema::join(GROUPS);
        &COLUMNS
    }};
}

pub(crate) use joined;

/// Declares groups of columns from columns and smaller groups. Inside braces, rustfmt leaves a
/// column on one line, however long its meaning is.
macro_rules! groups {
    { $( $(#[$doc:meta])* $name:ident = [$($column:expr),* $(,)?]; )* } => {
        $( $(#[$doc])* pub const $name: &[$crate::table::schema::Column] = joined![$($column),*]; )*
    };
}

pub(crate) use groups;

/// Declares tables by file, row meaning and groups of columns, and a list of all tables.
macro_rules! tables {
    {
        $(#[$all_doc:meta])* $all:ident;
        $( $(#[$doc:meta])* $name:ident = $file:literal, $row:literal: [$($group:expr),* $(,)?]; )*
    } => {
        $(
            $(#[$doc])*
            pub(crate) const $name: TableSchema =
                TableSchema { file: $file, row: $row, columns: joined![$($group),*] };
        )*

        $(#[$all_doc])*
        pub(crate) const $all: &[TableSchema] = &[$($name),*];
    };
}

pub(crate) use tables;

/// A cell of a table of a report.
///
/// Its [text](fmt::Display) is that of the same cell in the CSV file, without quotes and without the
/// `'` that keeps spreadsheets from running a formula.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cell {
    /// There is no value, or it is not known.
    Empty,
    /// Text, which is never empty. What is not visible text in a log or robots.txt is `\xHH`, byte
    /// by byte.
    Text(String),
    /// A count, a size, a line, a status, or another number that cannot be negative.
    Count(u64),
    /// A whole number that may be negative.
    Difference(i64),
    /// A number that is rounded.
    Decimal {
        /// The number.
        value: f64,
        /// The digits after the point that are certain.
        decimals: usize,
    },
    /// A point in time.
    Time(UtcTime),
    /// A day, in the zone of the report.
    Day(Day),
}

impl Cell {
    pub(super) fn of_text(text: impl Into<String>) -> Cell {
        let text = text.into();
        if text.is_empty() { Cell::Empty } else { Cell::Text(text) }
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Cell {
        Cell::of_text(visible(bytes))
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        *self == Cell::Empty
    }

    /// The text of a cell with text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The count in a cell with a count.
    pub fn count(&self) -> Option<u64> {
        match self {
            Cell::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// The number in a cell with any kind of number. Counts above 2^53 are rounded.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Count(count) => Some(*count as f64),
            Cell::Difference(number) => Some(*number as f64),
            Cell::Decimal { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// The time in a cell with a time.
    pub fn time(&self) -> Option<UtcTime> {
        match self {
            Cell::Time(time) => Some(*time),
            _ => None,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Empty => Ok(()),
            Cell::Text(text) => f.write_str(text),
            Cell::Count(count) => write!(f, "{count}"),
            Cell::Difference(number) => write!(f, "{number}"),
            Cell::Decimal { value, decimals } => write!(f, "{value:.decimals$}"),
            Cell::Time(time) => write!(f, "{time}"),
            Cell::Day(day) => write!(f, "{day}"),
        }
    }
}
