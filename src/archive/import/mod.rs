//! Imports histories of robots.txt files from other formats into an archive.
//!
//! Problems are reported with their position, and as much as possible is imported despite them.
//! Everything streams; memory does not grow with the input.

pub mod coding;
pub mod files;
pub mod git;
pub mod history_kind;
pub(crate) mod list_history;
pub(crate) mod list_names;
pub(crate) mod lists;
pub mod manifest;
pub mod redirects;
pub mod warc;
pub mod warc_memory;

mod git_objects;
mod git_process;
mod name;
mod record;
mod revisits;

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::input::open::Opened;
use crate::time::UtcTime;
use crate::url::origin::Origin;

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

/// Parses RFC 3339, the forms in names of dated files, or a day.
pub(crate) fn time_named(text: &str) -> Option<UtcTime> {
    name::time(text)
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
