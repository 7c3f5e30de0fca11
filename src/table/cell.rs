//! A cell of a table as a value.

use std::fmt;

use crate::time::{Day, UtcTime};

use super::escape::visible;

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
