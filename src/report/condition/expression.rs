//! A parsed condition, and its evaluation for a row.

use std::{cmp::Ordering, ops::Range};

use crate::table::schema::{Cell, Column};
use crate::time::{DAY_SECONDS, Day, Zone};

/// The most days of a year.
const YEAR_DAYS_MAX: i32 = 366;

/// Why a condition could not be parsed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConditionError {
    /// The position: the number of characters before it.
    pub at: usize,
    /// What is wrong there, and what was expected.
    pub why: String,
}

/// A parsed condition.
#[derive(Clone, Debug)]
pub struct Condition {
    /// As written by the user.
    pub text: String,
    /// The indexes of its columns in the table, without duplicates.
    pub columns: Vec<usize>,
    /// The words that text columns are compared with.
    pub words: Vec<Word>,
    pub(super) expression: Expression,
}

/// A word that is compared with a column.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Word {
    /// The index of the column in the table.
    pub column: usize,
    /// The word.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Compare { column: usize, operator: Operator, with: Operand },
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Number(f64),
    Text(String),
    /// Seconds since 1970, from the first to before the last: a year, a day, one second.
    Time(Range<i64>),
    Column(usize),
}

/// The type of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Number,
    /// From 0 to 1.
    Fraction,
    /// A point in time. Text that is only its beginning, such as a day, is all of that day.
    Time,
    /// Only compared for equality.
    Text,
}

impl Condition {
    /// Gives its word number `at` another spelling, wherever its column is compared with it.
    pub(crate) fn spell(&mut self, at: usize, spelling: &str) {
        let word = &mut self.words[at];
        let before = std::mem::replace(&mut word.text, spelling.to_owned());
        self.expression.spell(word.column, &before, spelling);
    }
}

impl Expression {
    fn spell(&mut self, of: usize, before: &str, spelling: &str) {
        match self {
            Expression::Not(inner) => inner.spell(of, before, spelling),
            Expression::All(parts) | Expression::Any(parts) => {
                parts.iter_mut().for_each(|part| part.spell(of, before, spelling));
            }
            Expression::Compare { column, with: Operand::Text(text), .. }
                if *column == of && text == before =>
            {
                *text = spelling.to_owned();
            }
            Expression::Compare { .. } => {}
        }
    }

    pub(super) fn is_met(&self, cells: &[Cell]) -> bool {
        match self {
            Expression::Not(inner) => !inner.is_met(cells),
            Expression::All(parts) => parts.iter().all(|part| part.is_met(cells)),
            Expression::Any(parts) => parts.iter().any(|part| part.is_met(cells)),
            Expression::Compare { column, operator, with } => {
                let order = order(&cells[*column], with, cells);
                order.is_some_and(|order| operator.holds(order))
            }
        }
    }
}

/// How `cell` compares with an operand, which may be another of `cells`; `None` where one of them is
/// empty, or they are of different kinds.
fn order(cell: &Cell, with: &Operand, cells: &[Cell]) -> Option<Ordering> {
    match with {
        Operand::Text(text) if text.is_empty() => Some(cell.is_empty().cmp(&true)),
        Operand::Text(text) => Some(cell.text()?.cmp(text)),
        Operand::Number(number) => cell.number()?.partial_cmp(number),
        Operand::Time(time) => Some(order_of_time(cell.time()?.unix_seconds(), time)),
        Operand::Column(other) => match (cell, &cells[*other]) {
            (Cell::Text(left), Cell::Text(right)) => Some(left.cmp(right)),
            (Cell::Time(left), Cell::Time(right)) => Some(left.cmp(right)),
            (left, right) => left.number()?.partial_cmp(&right.number()?),
        },
    }
}

impl Operator {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            Operator::Less => order.is_lt(),
            Operator::AtMost => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::AtLeast => order.is_ge(),
        }
    }
}

/// Before, within or after `time`.
fn order_of_time(at: i64, time: &Range<i64>) -> Ordering {
    if time.contains(&at) { Ordering::Equal } else { at.cmp(&time.start) }
}

/// The time that `text` names, in UTC unless it has an offset: a second, or by its beginning a year,
/// a month, a day, an hour or a minute.
pub(super) fn time(text: &str) -> Option<Range<i64>> {
    // The first day of the year or the month that the text may be.
    let first_days = ["", "-01", "-01-01"].map(|rest| Day::parse(&format!("{text}{rest}")));
    let Some(first) = first_days.into_iter().flatten().next() else {
        let start = Zone::UTC.parse(text)?.unix_seconds();
        return Some(start..start + clock_seconds(text));
    };
    let is_beyond = |days: &i32| !first.plus(*days).to_string().starts_with(text);
    let days = (1..YEAR_DAYS_MAX).find(is_beyond).unwrap_or(YEAR_DAYS_MAX);
    let start = Zone::UTC.parse(&first.to_string())?.unix_seconds();
    Some(start..start + i64::from(days) * DAY_SECONDS)
}

/// How long the clock shows the time of day in `text`: an hour for `T12`, a minute for `T12:30`.
fn clock_seconds(text: &str) -> i64 {
    let clock = text.split(['T', 't', ' ']).nth(1).unwrap_or_default();
    let is_of_clock = |c: &char| c.is_ascii_digit() || *c == ':';
    match clock.chars().take_while(is_of_clock).filter(char::is_ascii_digit).count() {
        2 => 3_600,
        4 => 60,
        _ => 1,
    }
}

pub(super) fn kind(column: &Column) -> Kind {
    match column.unit {
        "count" | "bytes" => Kind::Number,
        "fraction, 6 decimals" => Kind::Fraction,
        "RFC 3339, UTC" => Kind::Time,
        _ => Kind::Text,
    }
}

/// The only possible cells of `column`; `None` if it can hold any text.
pub(super) fn words_of(column: &Column) -> Option<Vec<&'static str>> {
    let is_closed = ["identity", "stated_policy", "not_bound_reason"].contains(&column.name);
    is_closed.then(|| column.unit.split(", ").collect())
}
