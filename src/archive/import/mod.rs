//! Imports histories of robots.txt files from other formats into an archive.
//!
//! Problems are reported with their position, and as much as possible is imported despite them.
//! Everything streams; memory does not grow with the input.

pub mod coding;
pub mod files;
pub mod git;
pub(crate) mod list_history;
pub(crate) mod lists;
pub mod manifest;
pub mod warc;
pub mod warc_memory;

mod git_process;
mod record;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, fs::File, path::Path};

use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use crate::error::{Error, Result};
use crate::input::open::Opened;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::directory::{exact_origin, looks_like_host};
use super::snapshot::{Fetch, SnapshotOutcome};
use super::writer::{NewSnapshot, Writer};

/// A running import.
pub struct Import<'a> {
    /// The archive.
    pub writer: &'a mut Writer,
    /// Its progress.
    pub progress: &'a ImportProgress,
    /// Receives problems with their positions.
    pub problems: &'a mut dyn FnMut(ImportProblem),
}

/// What could not be imported.
#[derive(Debug)]
pub struct ImportProblem {
    /// Where and why.
    pub error: Error,
    /// The offset of the record of a WARC file, after decompression.
    pub offset_bytes: Option<u64>,
}

impl fmt::Display for ImportProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// The progress of an import.
#[derive(Debug, Default)]
pub struct ImportProgress {
    /// Bytes of inputs read, before decompression.
    pub bytes_read: Arc<AtomicU64>,
    /// Snapshots found.
    pub snapshots: AtomicU64,
}

impl Import<'_> {
    fn push(&mut self, snapshot: NewSnapshot) -> Result<()> {
        self.progress.snapshots.fetch_add(1, Ordering::Relaxed);
        self.writer.push(snapshot)
    }

    /// Adds the same snapshot for each of `origins`.
    fn push_for_each(
        &mut self,
        origins: &[Origin],
        fetched_at: UtcTime,
        status: u16,
        source: &str,
        body: &[u8],
    ) -> Result<()> {
        let outcome = SnapshotOutcome::Status(status);
        let fetch = Fetch { fetched_at, outcome, max_age_seconds: None, chain: Vec::new() };
        origins.iter().try_for_each(|origin| {
            let (origin, fetch) = (origin.clone(), fetch.clone());
            let (source, body) = (source.to_owned(), body.to_vec().into());
            self.push(NewSnapshot { origin, fetch, source, body })
        })
    }

    fn problem(&mut self, error: Error) {
        (self.problems)(ImportProblem { error, offset_bytes: None });
    }

    /// A problem in the record of the WARC file `path` that starts at `offset_bytes`.
    fn problem_at(&mut self, path: &Path, offset_bytes: u64, why: String) {
        let error = Error::invalid_file(path, why);
        (self.problems)(ImportProblem { error, offset_bytes: Some(offset_bytes) });
    }

    /// The value; `None` for an error, which is reported as a problem.
    fn read<T>(&mut self, read: Result<T>) -> Option<T> {
        read.map_err(|problem| self.problem(problem)).ok()
    }
}

fn open(path: &Path, bytes_read: &Arc<AtomicU64>) -> Result<Opened> {
    let file = File::open(path).map_err(|err| Error::io("cannot read", path, err))?;
    Ok(Opened::new(Box::new(file), None, bytes_read))
}

/// The origins of `name`: one for `https_example.com_8443`, http and https for `example.com`, none
/// if it is not a host.
fn origins_named(name: &str) -> Vec<Origin> {
    if let Some(origin) = exact_origin(name) {
        return vec![origin];
    }
    let origin = |scheme: &[u8]| Origin::new(scheme, name.as_bytes(), None);
    let is_host = origin(b"http").is_some_and(|origin| looks_like_host(origin.host()));
    if is_host {
        [origin(b"http"), origin(b"https")].into_iter().flatten().collect()
    } else {
        vec![]
    }
}

/// Parses `2025-01-31T12:00:00Z` (with any offset), the same in UTC with `-` for `:` or without
/// separators, fourteen digits as in web archives, or a day, which means its midnight.
pub(crate) fn time_named(text: &str) -> Option<UtcTime> {
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Some(UtcTime::from(timestamp));
    }
    if let Ok(date) = text.parse::<Date>() {
        return utc(date.to_datetime(jiff::civil::Time::midnight()));
    }
    let digits: String = text.chars().filter(|c| !"-T".contains(*c)).collect();
    let digits = digits.strip_suffix('Z').unwrap_or(&digits);
    if digits.len() != 14 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| digits[from..to].parse::<i8>().ok();
    let date = Date::new(digits[..4].parse().ok()?, part(4, 6)?, part(6, 8)?).ok()?;
    let time = jiff::civil::Time::new(part(8, 10)?, part(10, 12)?, part(12, 14)?, 0).ok()?;
    utc(date.to_datetime(time))
}

fn utc(time: DateTime) -> Option<UtcTime> {
    Offset::UTC.to_timestamp(time).ok().map(UtcTime::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_times() {
        for text in [
            "2025-01-31T12:00:00Z",
            "2025-01-31T13:00:00+01:00",
            "2025-01-31T12:00:00.9Z",
            "2025-01-31T12-00-00Z",
            "20250131T120000Z",
            "20250131120000",
        ] {
            assert_eq!(time_named(text).unwrap().to_string(), "2025-01-31T12:00:00Z", "{text}");
        }
        assert_eq!(time_named("2025-01-31").unwrap().to_string(), "2025-01-31T00:00:00Z");
        for text in [
            "",
            "robots",
            "2025",
            "20251331120000",
            "2025-01-32",
            "2025013112000",
            "ä2025013112000",
        ] {
            assert_eq!(time_named(text), None, "{text}");
        }
    }

    #[test]
    fn names_of_origins() {
        let check = |name: &str, expected: &[&str]| {
            let names: Vec<String> = origins_named(name).iter().map(Origin::to_string).collect();
            assert_eq!(names, expected, "{name}");
        };
        check("Example.com", &["http://example.com", "https://example.com"]);
        check("https_example.com_8443", &["https://example.com:8443"]);
        check("ftp_example.com_21", &["ftp://example.com"]);
        check("README", &[]);
        check("", &[]);
    }
}
