//! Exports an archive as plain files: one folder per origin, one file per snapshot with a body, and
//! a manifest that import reads back.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::url::origin::{Origin, default_port};

use super::snapshot::{HistoryEntry, chain_text};
use super::{import::manifest::COLUMNS, reader::Archive};

/// Longer folder names, which file systems do not allow, are replaced by a digest.
const NAME_BYTES_MAX: usize = 200;

/// Writes everything in `archive` to `directory`, which must be empty or not exist. Returns the
/// number of snapshots.
///
/// # Errors
/// If the archive cannot be read or the directory cannot be written or is not empty. It stays empty
/// then.
pub fn export(archive: &Archive, directory: &Path) -> Result<u64> {
    let cannot_write = |err| Error::io("cannot write", directory, err);
    fs::create_dir_all(directory).map_err(cannot_write)?;
    if fs::read_dir(directory).map_err(cannot_write)?.next().is_some() {
        return Err(Error::refused(directory, "is not empty; use an empty or new directory"));
    }
    write_all(archive, directory).inspect_err(|_| empty(directory))
}

/// Removes everything in `directory`. If that fails, the error that comes first is reported.
fn empty(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
    }
}

fn write_all(archive: &Archive, directory: &Path) -> Result<u64> {
    let cannot_write = |err| Error::io("cannot write", directory, err);
    let staged = directory.join("manifest.csv.partial");
    let file = File::create_new(&staged).map_err(cannot_write)?;
    let mut manifest = csv::Writer::from_writer(BufWriter::new(file));
    let broken = |err: csv::Error| Error::io("cannot write", &staged, err.into());
    manifest.write_record(COLUMNS).map_err(broken)?;
    let mut snapshots = 0;
    archive.each_origin(|summary| {
        let origin = summary.origin;
        let folder = folder_name(&origin);
        let mut before = None;
        for entry in archive.history(&origin)? {
            let is_second = before.replace(entry.fetch.fetched_at) == Some(entry.fetch.fetched_at);
            let path = write_body(archive, directory, &folder, &entry, is_second)?;
            manifest.write_record(row(&origin, &entry, &path)).map_err(broken)?;
            snapshots += 1;
        }
        Ok(())
    })?;
    let file = manifest.into_inner().map_err(|err| cannot_write(err.into_error()))?;
    let mut file = file.into_inner().map_err(|err| cannot_write(err.into_error()))?;
    file.flush().and_then(|()| file.sync_all()).map_err(cannot_write)?;
    fs::rename(&staged, directory.join("manifest.csv")).map_err(cannot_write)?;
    Ok(snapshots)
}

/// Writes the body and returns its path within the directory; empty if there was no body.
fn write_body(
    archive: &Archive,
    directory: &Path,
    folder: &str,
    entry: &HistoryEntry,
    is_second: bool,
) -> Result<String> {
    let Some(key) = entry.body else { return Ok(String::new()) };
    // Some systems do not allow a colon in file names.
    let time = entry.fetch.fetched_at.to_string().replace(':', "-");
    let name = match is_second {
        false => format!("{time}.txt"),
        true => format!("{time}-{}.txt", &key.digest.to_string()[7..23]),
    };
    let path = directory.join(folder).join(&name);
    let written = fs::create_dir_all(directory.join(folder)).and_then(|()| File::create_new(&path));
    let body = archive.body(key)?;
    let written = written.and_then(|mut file| file.write_all(&body));
    written.map_err(|err| Error::io("cannot write", &path, err))?;
    Ok(format!("{folder}/{name}"))
}

fn row(origin: &Origin, entry: &HistoryEntry, path: &str) -> [String; COLUMNS.len()] {
    let fetch = &entry.fetch;
    [
        origin.to_string(),
        fetch.fetched_at.to_string(),
        fetch.outcome.to_string(),
        path.to_owned(),
        fetch.max_age_seconds.map_or_else(String::new, |seconds| seconds.to_string()),
        chain_text(&fetch.chain),
        entry.source.clone(),
    ]
}

/// The name in the form that import reads: `https_example.com_443`.
fn folder_name(origin: &Origin) -> String {
    let port = origin.port().or(default_port(origin.scheme())).unwrap_or(443);
    let name = format!("{}_{}_{port}", origin.scheme(), origin.host());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-[]:".contains(c);
    if name.len() <= NAME_BYTES_MAX && name.chars().all(is_plain) {
        return name;
    }
    format!("origin-{}", &Digest::of(origin.as_str().as_bytes()).to_string()[7..39])
}
