//! Every column of every table that a run writes: name, unit, meaning.
//!
//! The columns are a promise: names and order stay; new ones come last.

pub mod crawl_delay;
pub mod daily;
pub mod evidence;
pub mod hourly;
pub mod nights;
pub mod rejects;
pub mod robots_fetches;
pub mod robots_rules;
pub mod summary;
pub mod unknown_crawlers;
pub mod violations;
pub mod what_if;

mod shared;

/// A column of a CSV file.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The header cell.
    pub name: &'static str,
    /// What a cell holds: a unit, a kind of text, or the values it can have.
    pub unit: &'static str,
    /// What it says, in a sentence fragment.
    pub meaning: &'static str,
}

/// A CSV file.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name in the report directory.
    pub file: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

const fn column(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, unit, meaning }
}

/// All tables, in the order in which they are documented.
pub const TABLES: &[Table] = &[
    summary::SUMMARY,
    violations::VIOLATION,
    robots_rules::ROBOTS_RULES,
    robots_fetches::ROBOTS_FETCHES,
    crawl_delay::CRAWL_DELAY,
    daily::DAILY,
    hourly::HOURLY,
    unknown_crawlers::UNKNOWN_CRAWLERS,
    rejects::REJECTS,
    what_if::WHAT_IF,
    evidence::REQUESTS_EVIDENCE,
    nights::TREND,
    nights::EVENTS,
];
