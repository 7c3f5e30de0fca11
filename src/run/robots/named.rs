//! Archives, origins and times that a user names.

use std::path::{Path, PathBuf};

use crate::archive::{import::time_named, reader::Archive, snapshot::HistoryEntry};
use crate::error::{Error, Result};
use crate::report::outputs::{Outputs, Overwrite};
use crate::run::{console::Console, sandbox::access_rights::TcpUse};
use crate::time::{Day, UtcTime};
use crate::url::origin::Origin;

/// Checks that the archive `path` to be written is not one of `inputs`, and returns the files of the
/// run.
///
/// # Errors
/// If it is one of them.
pub(crate) fn check_archive<'a>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<Outputs> {
    let mut outputs = Outputs::new(Overwrite::Own);
    for input in inputs {
        outputs.reads_files_of("an input of this run", input);
    }
    outputs.updated("--archive", path)?;
    Ok(outputs)
}

/// Opens the archive `path` to read it, and begins with it.
///
/// # Errors
/// If it is not an archive, or cannot be read.
pub(crate) fn open_archive(path: &Path, console: &dyn Console) -> Result<Archive> {
    open_with(Outputs::new(Overwrite::Own), path, console)
}

/// As [`open_archive`], to write the directory `output`.
///
/// # Errors
/// As [`open_archive`], and if `output` is in use.
pub(crate) fn open_archive_for(
    output: &Path,
    path: &Path,
    console: &dyn Console,
) -> Result<Archive> {
    let mut outputs = Outputs::new(Overwrite::Own);
    outputs.updated("DIRECTORY", output)?;
    open_with(outputs, path, console)
}

fn open_with(mut files: Outputs, path: &Path, console: &dyn Console) -> Result<Archive> {
    files.reads_robots("--archive", path);
    console.begin_with(&files, TcpUse::None);
    Archive::open(path)
}

/// Parses an origin. A host alone or the URL of its robots.txt is accepted.
pub(crate) fn named_origin(text: &str) -> Result<Origin> {
    let with_scheme = match text.contains("://") {
        true => text.to_owned(),
        false => format!("https://{text}"),
    };
    Origin::parse(with_scheme.as_bytes()).ok_or_else(|| {
        Error::usage(format!(
            "'{text}' is not a valid origin; write \
             https://example.com"
        ))
    })
}

/// Parses a time.
pub(crate) fn named_time(text: &str) -> Result<UtcTime> {
    time_named(text).ok_or_else(|| {
        let example = match Day::meant_by(text) {
            Some(day) => day.to_string(),
            None => "2025-01-31T12:00:00Z, or 2025-01-31".to_owned(),
        };
        Error::usage(format!("'{text}' is not a valid time; write {example}"))
    })
}

/// The history of `origin` in `archive`, which must not be empty.
pub(crate) fn known_history(archive: &Archive, origin: &Origin) -> Result<Vec<HistoryEntry>> {
    let entries = archive.history(origin)?;
    if entries.is_empty() { Err(unknown(archive, origin)) } else { Ok(entries) }
}

/// The error for an origin that is not in the archive, with a proposal.
fn unknown(archive: &Archive, origin: &Origin) -> Error {
    let known = origin.other_scheme().filter(|other| archive.holds(other).unwrap_or(false));
    let hint = known.map_or_else(String::new, |other| format!("; it has {other}"));
    Error::usage(format!("{} has no snapshot of {origin}{hint}", archive.path().display()))
}

/// The newest snapshot of `origin` at or before `time`.
pub(crate) fn newest(
    archive: &Archive,
    origin: &Origin,
    time: Option<UtcTime>,
) -> Result<HistoryEntry> {
    if let Some(entry) = archive.newest(origin, time)? {
        return Ok(entry);
    }
    match (archive.history(origin)?.first(), time) {
        (Some(first), Some(time)) => Err(Error::usage(format!(
            "{} has no snapshot of {origin} before {time}; the first is from {}",
            archive.path().display(),
            first.fetch.fetched_at
        ))),
        _ => Err(unknown(archive, origin)),
    }
}
