//! Tables of robots.txt files: rows to snapshots, and WARC files to rows.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, BinaryArray, Int64Array, StringArray, builder::BinaryBuilder};
use arrow_pyarrow::ToPyArrow;
use botaudit::Error;
use botaudit::archive::import::warc::{finish, import_warc};
use botaudit::archive::import::warc_memory::{self, WarcMemory};
use botaudit::archive::import::{Import, ImportProgress};
use botaudit::archive::memory::{MemoryArchive, MemorySnapshot};
use botaudit::archive::reader::Archive;
use botaudit::archive::snapshot::{HistoryEntry, SnapshotOutcome, chain_text};
use botaudit::time::UtcTime;
use botaudit::url::origin::Origin;
use pyo3::prelude::*;

use crate::cells::Cells;
use crate::failure::exception;

/// Some rows of a table.
pub struct Batch {
    origin: Cells,
    fetched_at: Cells,
    outcome: Cells,
    max_age: Cells,
    body: Cells,
}

impl Batch {
    /// The rows with these five columns.
    pub fn of(columns: &[Bound<'_, PyAny>]) -> PyResult<Batch> {
        let column = |index: usize| Cells::of(&columns[index]);
        Ok(Batch {
            origin: column(0)?,
            fetched_at: column(1)?,
            outcome: column(2)?,
            max_age: column(3)?,
            body: column(4)?,
        })
    }

    fn origin(&self, row: usize) -> Result<Origin, String> {
        let text = self.origin.text(row).ok_or("origin is null; write https://example.com")?;
        Origin::parse(text).ok_or_else(|| {
            let text = String::from_utf8_lossy(text);
            format!("origin '{text}' is not valid; write https://example.com")
        })
    }

    fn fetched_at(&self, row: usize) -> Result<UtcTime, String> {
        let seconds = self.fetched_at.number(row);
        let seconds = seconds.ok_or("fetched_at is null; give the time of the fetch")?;
        UtcTime::from_unix_seconds(seconds)
            .ok_or_else(|| format!("fetched_at is {seconds} seconds after 1970, not a valid time"))
    }

    fn snapshot(&self, row: usize) -> Result<MemorySnapshot, String> {
        let fetched_at = self.fetched_at(row)?;
        let text = String::from_utf8_lossy(self.outcome.text(row).unwrap_or_default());
        let outcome = SnapshotOutcome::parse(&text).ok_or_else(|| {
            format!(
                "outcome '{text}' is not valid; write a status such as 200 or 404, or a failure \
                 such as timeout or dns"
            )
        })?;
        if outcome.is_success() && self.body.is_null(row) {
            return Err(format!(
                "body is null, but outcome {outcome} has one; give its bytes, b'' for an empty \
                 file, or another outcome"
            ));
        }
        let max_age = self.max_age.number(row).map(u64::try_from).transpose();
        let max_age_seconds =
            max_age.map_err(|_| "max_age is negative; give seconds, or null".to_owned())?;
        Ok(MemorySnapshot { fetched_at, outcome, max_age_seconds, body: Default::default() })
    }
}

/// What to do with rows that are not valid.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum BadRows {
    /// The first one is an error.
    Fail,
    /// Nothing is known about their origins: what was in force between two rows of an origin cannot
    /// be known without one of them.
    Forget,
}

/// The snapshots of all rows.
///
/// # Errors
/// A sentence that names the row and what to do, if a row is not valid or two rows have different
/// answers for one origin and second.
pub fn read(batches: &[Batch], bad_rows: BadRows) -> Result<MemoryArchive, String> {
    let mut memory = MemoryArchive::default();
    let mut forgotten = HashSet::new();
    let mut number = 0;
    for batch in batches {
        let body = batch.body.shared_bytes();
        for row in 0..batch.origin.len() {
            let origin = batch.origin(row);
            let added = origin.clone().and_then(|origin| {
                let mut snapshot = batch.snapshot(row).map_err(|why| format!("{origin}: {why}"))?;
                if snapshot.outcome.is_success() {
                    snapshot.body = body(row);
                }
                let fetched_at = snapshot.fetched_at;
                match memory.add(origin.clone(), snapshot) {
                    true => Ok(()),
                    false => Err(format!(
                        "{origin}: another row for {fetched_at} has a different answer; keep one \
                         of them"
                    )),
                }
            });
            match added {
                Ok(()) => {}
                Err(why) if bad_rows == BadRows::Fail => {
                    return Err(format!("robots, row {number} (from 0): {why}"));
                }
                Err(_) => forgotten.extend(origin.ok()),
            }
            number += 1;
        }
    }
    forgotten.iter().for_each(|origin| memory.remove(origin));
    Ok(memory)
}

/// Why rows of a table are not valid, with their numbers.
#[pyfunction]
pub fn robots_faults(columns: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<(usize, String)>> {
    let batch = Batch::of(&columns)?;
    let fault = |row| {
        let read = batch.origin(row).and_then(|_| batch.snapshot(row).map(drop));
        read.err().map(|why| (row, why))
    };
    Ok((0..batch.origin.len()).filter_map(fault).collect())
}

/// The offset of a record, and why it could not be read.
type WarcProblem = (Option<u64>, String);

/// The columns `origin`, `fetched_at` in seconds, `outcome`, `max_age`, `body` and `chain` of the
/// snapshots in a WARC file, and for each record that could not be read its offset and a sentence.
#[pyfunction]
pub fn robots_from_warc<'py>(
    py: Python<'py>,
    path: &str,
) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<WarcProblem>)> {
    let read = py.detach(|| {
        let mut problems = Vec::new();
        warc_rows(Path::new(path), &mut problems).map(|rows| (rows, problems))
    });
    let (rows, problems) = read.map_err(exception)?;
    let arrays = rows.iter().map(|array| array.to_data().to_pyarrow(py));
    Ok((arrays.collect::<PyResult<_>>()?, problems))
}

fn warc_rows(
    path: &Path,
    problems: &mut Vec<WarcProblem>,
) -> botaudit::Result<Vec<Arc<dyn Array>>> {
    std::fs::File::open(path).map_err(|err| Error::io("cannot read", path, err))?;
    let directory = tempfile::tempdir()
        .map_err(|err| Error::io("cannot create a directory in", &std::env::temp_dir(), err))?;
    let archive = directory.path().join("archive");
    let mut writer = Archive::writer(&archive)?;
    let mut memory = WarcMemory::default();
    let mut import = Import {
        writer: &mut writer,
        progress: &ImportProgress::default(),
        problems: &mut |problem| problems.push((problem.offset_bytes, problem.to_string())),
    };
    import_warc(path, &mut memory, &mut import)?;
    finish(&mut memory, &mut import)?;
    import.writer.flush()?;
    warc_memory::follow(import.writer)?;
    drop(writer);
    let archive = Archive::open(&archive)?;
    let mut rows = Rows::default();
    archive.each_origin(|summary| {
        let mut history = archive.history(&summary.origin)?.into_iter().peekable();
        while let Some(entry) = history.next() {
            // Of several answers in one second, the last one is in force.
            let next = history.peek().map(|next| next.fetch.fetched_at);
            if next != Some(entry.fetch.fetched_at) {
                rows.push(&archive, &summary.origin, &entry)?;
            }
        }
        Ok(())
    })?;
    Ok(rows.into_arrays())
}

#[derive(Default)]
struct Rows {
    origins: Vec<String>,
    times: Vec<i64>,
    outcomes: Vec<String>,
    max_ages: Vec<Option<i64>>,
    bodies: BinaryBuilder,
    chains: Vec<Option<String>>,
}

impl Rows {
    fn push(
        &mut self,
        archive: &Archive,
        origin: &Origin,
        entry: &HistoryEntry,
    ) -> botaudit::Result<()> {
        let HistoryEntry { fetch, body, .. } = entry;
        self.bodies.append_option(body.map(|key| archive.body(key)).transpose()?);
        self.origins.push(origin.to_string());
        self.times.push(fetch.fetched_at.unix_seconds());
        self.outcomes.push(fetch.outcome.to_string());
        self.max_ages.push(fetch.max_age_seconds.and_then(|seconds| i64::try_from(seconds).ok()));
        self.chains.push(Some(chain_text(&fetch.chain)).filter(|text| !text.is_empty()));
        Ok(())
    }

    fn into_arrays(mut self) -> Vec<Arc<dyn Array>> {
        let bodies: BinaryArray = self.bodies.finish();
        vec![
            Arc::new(StringArray::from(self.origins)),
            Arc::new(Int64Array::from(self.times)),
            Arc::new(StringArray::from(self.outcomes)),
            Arc::new(Int64Array::from(self.max_ages)),
            Arc::new(bodies),
            Arc::new(StringArray::from(self.chains)),
        ]
    }
}
