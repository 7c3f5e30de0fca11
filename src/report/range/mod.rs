//! Reports of several days as one: sums add up, without the logs.
//!
//! Made from the tables alone, row by row. What the result cannot say as an
//! audit of all the logs would is left empty, or said in a note.

mod rows;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::time::UtcTime;

use super::columns::{Table, daily::DAILY, summary::SUMMARY, what_if::WHAT_IF};
use super::directory::{MARKER, Staging};
use super::facts::line::each_line;
use super::facts::{self, read_run};
use super::html::{PAGE, page};
use super::page_model::PageModel;
use super::tables::TABLES;

use rows::Rows;
use run::{differing_options, is_simulated, run_json};

/// Days that are named where reports overlap.
const DAYS_NAMED_MAX: usize = 5;

/// One of the reports that are put together.
#[derive(Clone, Debug)]
struct Part {
    directory: PathBuf,
    /// As the user wrote it.
    name: String,
    /// Its `run.json`.
    run: Value,
    /// Days of which it tells, in order.
    days: BTreeSet<String>,
    /// Time of its first request, as written.
    first_seen: String,
}

/// Writes what the reports in `directories` come to together, and gives what it comes to. `notes`
/// are told to the reader.
///
/// # Errors
/// Where one is no report, is named twice, or the result cannot be written.
pub fn put_together(
    directories: &[PathBuf],
    notes: Vec<String>,
    staging: &Staging,
    made_at: UtcTime,
) -> Result<PageModel> {
    let mut parts = directories.iter().map(|path| Part::read(path)).collect::<Result<Vec<_>>>()?;
    refuse_repeated(&parts)?;
    parts.sort_by(|left, right| {
        (&left.first_seen, &left.name).cmp(&(&right.first_seen, &right.name))
    });
    let is_told = |table: &Table| table.file != WHAT_IF.file || is_simulated(&parts);
    let tables: Vec<&Table> =
        TABLES.iter().map(|(table, _)| table).filter(|table| is_told(table)).collect();
    let (warnings, mut notes) = (warnings(&parts), [own_notes(&parts), notes].concat());
    for table in &tables {
        let mut rows = Rows::new(**table);
        for part in &parts {
            each_line(&part.directory, table.file, |line| rows.add(line))?;
        }
        let earlier = rows.bound();
        if earlier > 0 {
            notes.push(format!("{earlier} requests of the first hours are counted by day alone"));
        }
        let mut out = BufWriter::new(staging.create(table.file)?);
        let written = rows.write(&mut out).and_then(|()| out.flush());
        written.map_err(|err| Error::io("cannot write", Path::new(table.file), err))?;
    }
    let files: Vec<&str> = tables.iter().map(|table| table.file).chain([PAGE]).collect();
    write(staging, MARKER, &run_json(&parts, warnings, notes, &files, made_at))?;
    let model = facts::read(staging.staged_directory())?;
    write(staging, PAGE, page(&model).as_bytes())?;
    staging.commit()?;
    Ok(model)
}

fn write(staging: &Staging, name: &str, text: &[u8]) -> Result<()> {
    let written = staging.create(name)?.write_all(text);
    written.map_err(|err| Error::io("cannot write", Path::new(name), err))
}

impl Part {
    fn read(directory: &Path) -> Result<Part> {
        read_run(directory)?;
        let path = directory.join(MARKER);
        let json =
            std::fs::read(&path).map_err(|err| Error::io("cannot read the report", &path, err))?;
        let run = serde_json::from_slice(&json)
            .map_err(|err| Error::invalid_file(&path, format!("is no run.json: {err}")))?;
        let (mut days, mut first_seen) = (BTreeSet::new(), String::new());
        each_line(directory, DAILY.file, |line| {
            days.insert(line.raw("day").to_owned());
        })?;
        each_line(directory, SUMMARY.file, |line| {
            let seen = line.raw("first_seen_utc");
            if first_seen.is_empty() || (!seen.is_empty() && *seen < *first_seen) {
                seen.clone_into(&mut first_seen);
            }
        })?;
        let name = directory.display().to_string();
        Ok(Part { directory: directory.to_owned(), name, run, days, first_seen })
    }
}

fn refuse_repeated(parts: &[Part]) -> Result<()> {
    let mut known = BTreeSet::new();
    for part in parts {
        let path = &part.directory;
        let place = std::fs::canonicalize(path);
        if !known.insert(place.map_err(|err| Error::io("cannot read", path, err))?) {
            return Err(Error::usage(format!(
                "{} is named twice; its requests would be counted twice",
                part.name
            )));
        }
    }
    Ok(())
}

fn warnings(parts: &[Part]) -> Vec<String> {
    let mut reports_of = BTreeMap::<&str, usize>::new();
    for day in parts.iter().flat_map(|part| &part.days) {
        *reports_of.entry(day).or_default() += 1;
    }
    let twice: Vec<&str> =
        reports_of.into_iter().filter(|(_, reports)| *reports > 1).map(|(day, _)| day).collect();
    let mut warnings = Vec::new();
    if !twice.is_empty() {
        let more = twice.len().saturating_sub(DAYS_NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more days") } else { String::new() };
        let named = twice[..twice.len().min(DAYS_NAMED_MAX)].join(", ");
        warnings.push(format!(
            "several reports tell of {named}{more}; what stands in the logs of more than one is \
             counted more than once"
        ));
    }
    let differing = differing_options(parts);
    if !differing.is_empty() {
        warnings.push(format!(
            "the reports were made with different options: {}",
            differing.join(", ")
        ));
    }
    warnings
}

fn own_notes(parts: &[Part]) -> Vec<String> {
    let count = parts.len();
    vec![format!(
        "put together from {count} reports: what a crawler had read before a violation is told by \
         each for itself, and a log that was read for several counts its lines in each"
    )]
}
