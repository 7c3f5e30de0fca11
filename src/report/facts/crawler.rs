//! What one crawler of one identity did, at all origins together.

use crate::audit::sums::{Statuses, Sums};
use crate::merge::Merge;

use super::line::Line;

/// Added up over the origins.
#[derive(Clone, Debug, Default)]
pub struct CrawlerFacts {
    /// Who runs it.
    pub operator: String,
    /// What it crawls for.
    pub purpose: String,
    /// What its operator promises.
    pub promise: String,
    /// Why robots.txt does not bind it; empty where it does.
    pub not_bound_reason: String,
    /// Its requests.
    pub sums: Sums,
    /// How its violations were answered.
    pub statuses: Statuses,
    /// What was known before its violations.
    pub knowledge: Knowledge,
    /// Its readings of robots.txt.
    pub readings: Readings,
}

/// Violations by what had been read before them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(missing_docs, reason = "each is the column of the same name")]
pub struct Knowledge {
    pub read_by_itself: u64,
    pub read_by_operator: u64,
    pub not_read_in_logs: u64,
    pub reading_unknown: u64,
}

/// Who read robots.txt how often.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    /// Requests for robots.txt.
    pub requests: u64,
    /// Those that were a GET answered 200 or 304.
    pub readings: u64,
    /// Origins of which it asked for anything.
    pub origins: u64,
    /// Origins of which it read robots.txt.
    pub origins_read: u64,
    /// Requests for anything else.
    pub other_requests: u64,
    /// Those of them in minutes before the first reading of the same origin's robots.txt.
    pub before_first: u64,
    /// Time of the first reading, as written; empty where there is none.
    pub first: String,
    /// Time of the last one.
    pub last: String,
}

impl Knowledge {
    /// The columns of one row.
    pub fn of(line: Line<'_>) -> Knowledge {
        Knowledge {
            read_by_itself: line.count("read_by_itself"),
            read_by_operator: line.count("read_by_operator"),
            not_read_in_logs: line.count("not_read_in_logs"),
            reading_unknown: line.count("reading_unknown"),
        }
    }

    /// All violations.
    pub fn total(&self) -> u64 {
        self.read_by_itself + self.read_by_operator + self.not_read_in_logs + self.reading_unknown
    }
}

impl Merge for Knowledge {
    fn absorb(&mut self, other: Knowledge) {
        self.read_by_itself += other.read_by_itself;
        self.read_by_operator += other.read_by_operator;
        self.not_read_in_logs += other.not_read_in_logs;
        self.reading_unknown += other.reading_unknown;
    }
}

impl CrawlerFacts {
    /// Takes a row of `summary.csv`.
    pub(super) fn add_summary(&mut self, line: Line<'_>) {
        self.operator = line.text("operator");
        self.purpose = line.text("purpose");
        self.promise = line.text("promise");
        self.not_bound_reason = line.text("not_bound_reason");
        self.sums.absorb(line.sums());
    }

    /// Takes a row of `robots-fetches.csv`.
    pub(super) fn add_fetches(&mut self, line: Line<'_>) {
        self.knowledge.absorb(Knowledge::of(line));
        let readings = &mut self.readings;
        readings.requests += line.count("robots_txt_requests");
        readings.readings += line.count("readings");
        readings.origins += 1;
        readings.origins_read += u64::from(line.count("readings") > 0);
        readings.other_requests += line.count("other_requests");
        readings.before_first += line.count("requests_before_first_reading");
        let (first, last) = (line.raw("first_reading_utc"), line.raw("last_reading_utc"));
        if !first.is_empty() && (readings.first.is_empty() || *first < *readings.first) {
            readings.first = first.to_owned();
        }
        if *last > *readings.last {
            readings.last = last.to_owned();
        }
    }
}
