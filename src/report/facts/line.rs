//! The tables of a report directory, read back row by row.
//!
//! Cells are asked for by the name of their column, so that columns may be
//! added, and a report of an older version lacks some without harm.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::audit::sums::{Span, Statuses, Sums};
use crate::crawlers::identity::Identity;
use crate::error::{Error, Result};
use crate::time::{UtcTime, Zone};

use super::super::escape::shown;

/// One row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    names: &'a csv::StringRecord,
    cells: &'a csv::StringRecord,
}

/// Gives each row of the table `file` in `directory`; a table that is not there has none.
///
/// # Errors
/// Where it cannot be read or is no CSV.
pub fn each_line(directory: &Path, file: &str, mut take: impl FnMut(Line<'_>)) -> Result<()> {
    let path = directory.join(file);
    let opened = match File::open(&path) {
        Ok(opened) => opened,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(Error::io("cannot read", &path, err)),
    };
    let wrong = |err: csv::Error| {
        let line = err.position().map_or(1, csv::Position::line);
        Error::invalid(&path, line, format!("is no table of a report: {err}"))
    };
    let mut reader = csv::Reader::from_reader(io::BufReader::new(opened));
    let names = reader.headers().map_err(wrong)?.clone();
    let mut cells = csv::StringRecord::new();
    while reader.read_record(&mut cells).map_err(wrong)? {
        take(Line { names: &names, cells: &cells });
    }
    Ok(())
}

impl<'a> Line<'a> {
    /// The cell of `column` as it stands in the file; empty where there is none.
    pub fn raw(&self, column: &str) -> &'a str {
        let place = self.names.iter().position(|name| name == column);
        place.and_then(|place| self.cells.get(place)).unwrap_or_default()
    }

    /// The cell of `column` as people read it.
    pub fn text(&self, column: &str) -> String {
        shown(self.raw(column))
    }

    /// The number in `column`; 0 where there is none.
    pub fn count(&self, column: &str) -> u64 {
        self.raw(column).parse().unwrap_or_default()
    }

    /// The number in `column`; `None` where the cell is empty.
    pub fn maybe_count(&self, column: &str) -> Option<u64> {
        (!self.raw(column).is_empty()).then(|| self.count(column))
    }

    /// The time in `column`; `None` where there is none.
    pub fn time(&self, column: &str) -> Option<UtcTime> {
        Zone::UTC.parse(self.raw(column))
    }

    /// The times in the columns `first` and `last`.
    pub fn span(&self, first: &str, last: &str) -> Option<Span> {
        Some(Span { first: self.time(first)?, last: self.time(last)? })
    }

    /// The class of the client's identity.
    pub fn identity(&self) -> Identity {
        let name = self.raw("identity");
        let known = Identity::ALL.into_iter().find(|identity| identity.as_str() == name);
        known.unwrap_or(Identity::Unverified)
    }

    /// Requests by outcome.
    pub fn sums(&self) -> Sums {
        Sums {
            requests: self.count("requests"),
            robots_txt_requests: self.count("robots_txt_requests"),
            allowed: self.count("allowed"),
            allowed_ignoring_star: self.count("allowed_ignoring_star"),
            violations: self.count("violations"),
            grace: self.count("grace"),
            unreachable: self.count("unreachable"),
            unknown: self.count("unknown"),
            not_bound: self.count("not_bound"),
            not_bound_disallowed: self.count("not_bound_disallowed"),
            no_path: self.count("no_path"),
            bytes: self.count("bytes"),
        }
    }

    /// Requests by status.
    pub fn statuses(&self) -> Statuses {
        Statuses {
            status_2xx: self.count("status_2xx"),
            status_3xx: self.count("status_3xx"),
            status_4xx: self.count("status_4xx"),
            status_5xx: self.count("status_5xx"),
            status_other: self.count("status_other"),
        }
    }

    /// All cells with the names of their columns, in order.
    pub fn cells(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.names.iter().zip(self.cells.iter())
    }
}
