//! Imports single files and directories. Origin and time are in the file names, or the user gives
//! them. Which kind of history a path holds shows in its first bytes.

use std::path::{Path, PathBuf};
use std::{ffi::OsStr, fs, sync::Arc};

use crate::archive::snapshot::read_body;
use crate::error::{Error, Result};
use crate::files::visible_entries;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::manifest::{self, import_manifest};
use super::{Import, open, origins_named, time_named};

/// The time of files whose names contain none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FetchedAt {
    /// This time.
    At(UtcTime),
    /// The modification time of the file.
    Modified,
    /// No time was given: such files are problems.
    Unsaid,
}

/// Imports the file at `path` as a snapshot of each of `origins`.
///
/// # Errors
/// If the archive cannot be written. A file that cannot be read is a problem.
pub(crate) fn import_file(
    path: &Path,
    origins: &[Origin],
    at: FetchedAt,
    import: &mut Import<'_>,
) -> Result<()> {
    let read = fetched_at(path, at).and_then(|fetched_at| Ok((fetched_at, read_body(path)?)));
    let Some((fetched_at, body)) = import.read(read) else { return Ok(()) };
    let read = body.len() as u64;
    import.progress.bytes_read.fetch_add(read, std::sync::atomic::Ordering::Relaxed);
    let source = path.display().to_string();
    import.push_for_each(origins, fetched_at, 200, &source, &body)
}

/// Imports a directory: by its `manifest.csv` if it has one, otherwise by the names of its files.
/// `example.com`, `example.com.txt`, `https_example.com_8443.txt` and `example.com/robots.txt` get
/// the time `at`; `example.com/2025-01-31T12:00:00Z.txt` and
/// `https_example.com_8443/20250131120000.txt` contain their time.
///
/// # Errors
/// If the archive cannot be written. Files without a valid name or content are problems.
pub fn import_directory(path: &Path, at: FetchedAt, import: &mut Import<'_>) -> Result<()> {
    let manifest = path.join("manifest.csv");
    if manifest.is_file() {
        return import_manifest(&manifest, import);
    }
    let Some(entries) = entries(path, import) else { return Ok(()) };
    for entry in entries {
        let name = stem(&entry);
        let origins = origins_named(name);
        if origins.is_empty() {
            let why = "the file name is not a host; rename it to example.com.txt or \
                 https_example.com_8443.txt";
            import.problem(Error::invalid_file(&entry, why));
        } else if entry.is_dir() {
            import_versions(&entry, &origins, at, import)?;
        } else {
            import_file(&entry, &origins, at, import)?;
        }
    }
    Ok(())
}

fn import_versions(
    path: &Path,
    origins: &[Origin],
    at: FetchedAt,
    import: &mut Import<'_>,
) -> Result<()> {
    for entry in entries(path, import).unwrap_or_default() {
        let name = stem(&entry);
        match time_named(name) {
            Some(time) => import_file(&entry, origins, FetchedAt::At(time), import)?,
            None if name == "robots" => import_file(&entry, origins, at, import)?,
            None => import.problem(Error::invalid_file(
                &entry,
                "the file name is not a time; rename it to robots.txt or 2025-01-31T12:00:00Z.txt",
            )),
        }
    }
    Ok(())
}

/// The entries in alphabetical order, without hidden ones.
fn entries(path: &Path, import: &mut Import<'_>) -> Option<Vec<PathBuf>> {
    let listed = visible_entries(path).map_err(|err| Error::io("cannot list", path, err));
    import.read(listed)
}

fn stem(path: &Path) -> &str {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.strip_suffix(".txt").unwrap_or(name)
}

/// The time of a file that does not say its own.
///
/// # Errors
/// If it is not known.
pub(crate) fn fetched_at(path: &Path, at: FetchedAt) -> Result<UtcTime> {
    match at {
        FetchedAt::At(time) => Ok(time),
        FetchedAt::Unsaid => Err(Error::invalid_file(
            path,
            "the time of the fetch is not known; add --at 2025-01-31T12:00:00Z, or --at modified",
        )),
        FetchedAt::Modified => {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
            let modified = modified.map_err(|err| Error::io("cannot read", path, err))?;
            let timestamp = jiff::Timestamp::try_from(modified).ok().map(UtcTime::from);
            timestamp.ok_or_else(|| {
                Error::invalid_file(
                    path,
                    "its modification time is out of range; \
                     add --at 2025-01-31T12:00:00Z",
                )
            })
        }
    }
}

/// The bytes of a file that are examined.
const LOOK_BYTES: usize = 4096;

/// The kind of history at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HistoryKind {
    /// A directory of files.
    Directory,
    /// A CSV manifest.
    Manifest,
    /// A WARC file, gzipped or not.
    Warc,
    /// Any other file counts as a robots.txt.
    RobotsTxt,
}

/// The kind of `path`, by its first bytes. A WARC file whose beginning is damaged has only its name.
///
/// # Errors
/// If it cannot be read.
pub fn kind_of(path: &Path) -> Result<HistoryKind> {
    let metadata = std::fs::metadata(path).map_err(|err| Error::io("cannot read", path, err))?;
    if metadata.is_dir() {
        return Ok(HistoryKind::Directory);
    }
    let mut opened = open(path, &Arc::default())?;
    let mut start = vec![0; LOOK_BYTES];
    let filled = opened.fill(&mut start);
    let start = &start[..filled];
    Ok(if start.trim_ascii_start().starts_with(b"WARC/") || is_name_of_warc(path) {
        HistoryKind::Warc
    } else if manifest::is_header(start) {
        HistoryKind::Manifest
    } else {
        HistoryKind::RobotsTxt
    })
}

/// Whether a name ends in `.warc`, perhaps with the ending of a compression.
fn is_name_of_warc(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let name = name.to_ascii_lowercase();
    name.ends_with(".warc")
        || name.rsplit_once('.').is_some_and(|(stem, _)| stem.ends_with(".warc"))
}
