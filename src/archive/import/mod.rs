//! Histories of robots.txt files of other forms, imported into an archive.
//!
//! What is wrong with a file is told with its place, and ends no more than it must: what was good
//! is kept. Everything streams; memory does not grow with what is imported.

pub mod files;
pub mod git;
pub mod history_kind;
pub mod manifest;
pub mod redirects;
pub mod warc;
pub mod warc_memory;

mod coding;
mod git_objects;
mod git_process;
mod head;
mod name;
mod record;
mod revisits;

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

/// An import on its way: where snapshots go, and who is told of problems.
pub struct Import<'a> {
    /// The archive.
    pub writer: &'a mut Writer,
    /// For whoever watches.
    pub progress: &'a ImportProgress,
    /// Takes what was wrong with an input, with its place.
    pub problems: &'a mut dyn FnMut(Error),
}

/// What can be watched while an import runs.
#[derive(Debug, Default)]
pub struct ImportProgress {
    /// Bytes of inputs read, as they lie on disk.
    pub bytes_read: Arc<AtomicU64>,
    /// Snapshots found.
    pub snapshots: AtomicU64,
}

/// The time that `text` names: RFC 3339, the forms that names of dated files have, or a day.
pub fn time_named(text: &str) -> Option<UtcTime> {
    name::time(text)
}

impl Import<'_> {
    fn push(&mut self, snapshot: NewSnapshot) -> Result<()> {
        self.progress.snapshots.fetch_add(1, Ordering::Relaxed);
        self.writer.push(snapshot)
    }

    /// Adds what a file held at a time: the same for each of `origins`.
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

    fn problem(&mut self, problem: Error) {
        (self.problems)(problem);
    }

    /// What was read; `None` where that is a problem, which is reported.
    fn read<T>(&mut self, read: Result<T>) -> Option<T> {
        read.map_err(|problem| self.problem(problem)).ok()
    }
}

fn open(path: &Path, bytes_read: &Arc<AtomicU64>) -> Result<Opened> {
    let file = File::open(path).map_err(|err| Error::io("cannot read", path, err))?;
    Ok(Opened::new(Box::new(file), None, bytes_read))
}
