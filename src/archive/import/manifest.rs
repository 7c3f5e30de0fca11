//! Imports CSV manifests: one row per snapshot, with its body in a file beside the manifest.
//!
//! The columns may be in any order: `origin`, `fetched_at`, `status`, `path`; and optionally
//! `max_age`, `chain` and `source`. A status is a number, the name of a failure, or `unfollowed`. A
//! 2xx status needs a path, which must stay in the manifest's folder.

use std::path::{Component, Path, PathBuf};
use std::{fs::File, io::Read};

use csv::StringRecord;

use crate::archive::snapshot::{Fetch, SnapshotOutcome, chain};
use crate::archive::writer::{KEPT_BYTES_MAX, NewSnapshot};
use crate::error::{Error, Result};
use crate::input::open::Opened;
use crate::url::origin::Origin;

use super::{Import, open, time_named, warc_memory::too_long};

/// The columns that are read.
pub(crate) const COLUMNS: [&str; 7] =
    ["origin", "fetched_at", "status", "path", "max_age", "chain", "source"];

/// The first columns, which are required.
const NEEDED: usize = 4;

/// The most bytes of a manifest's line; paths and chains take a few kilobytes.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Whether the first line of `start` has the required columns.
pub(crate) fn is_header(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let cells: Vec<&[u8]> = line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect();
    cells.contains(&b"origin".as_slice()) && cells.contains(&b"fetched_at".as_slice())
}

/// Imports the manifest at `path`.
///
/// # Errors
/// If the archive cannot be written. Rows that cannot be read are problems, each with its line.
pub fn import_manifest(path: &Path, import: &mut Import<'_>) -> Result<()> {
    let opened = open(path, &import.progress.bytes_read);
    let Some(opened) = import.read(opened) else { return Ok(()) };
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).from_reader(Stream { opened, line_bytes: 0 });
    let header = reader.headers().map_err(|err| broken(path, &err));
    let columns = header.and_then(|header| columns(path, header));
    let Some(columns) = import.read(columns) else { return Ok(()) };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut record = StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(err) => {
                import.problem(broken(path, &err));
                // After a record that is not UTF-8, reading continues; after other errors it
                // cannot.
                if matches!(err.kind(), csv::ErrorKind::Utf8 { .. }) {
                    continue;
                }
                return Ok(());
            }
        }
        let line = record.position().map_or(0, csv::Position::line);
        let cells = columns.map(|column| column.and_then(|at| record.get(at)).unwrap_or_default());
        match snapshot(&cells, folder, path) {
            Ok(snapshot) => import.push(snapshot)?,
            Err(why) => import.problem(Error::invalid(path, line, why)),
        }
    }
}

/// The index of each of [`COLUMNS`].
fn columns(path: &Path, header: &StringRecord) -> Result<[Option<usize>; COLUMNS.len()]> {
    let names: Vec<&str> =
        header.iter().map(|name| name.trim_start_matches('\u{feff}').trim()).collect();
    if let Some(unknown) = names.iter().find(|name| !COLUMNS.contains(name)) {
        let why = format!("unknown column '{unknown}'; the columns are {}", COLUMNS.join(", "));
        return Err(Error::invalid(path, 1, why));
    }
    let columns = COLUMNS.map(|column| names.iter().position(|name| *name == column));
    match columns[..NEEDED].iter().position(Option::is_none) {
        Some(missing) => {
            let why = format!("column '{}' is missing", COLUMNS[missing]);
            Err(Error::invalid(path, 1, why))
        }
        None => Ok(columns),
    }
}

fn snapshot(
    cells: &[&str; COLUMNS.len()],
    folder: &Path,
    manifest: &Path,
) -> std::result::Result<NewSnapshot, String> {
    let [origin, fetched_at, status, path, max_age, hops, source] = cells.map(str::trim);
    let origin = Origin::parse(origin.as_bytes())
        .ok_or_else(|| format!("'{origin}' is not a valid origin; write https://example.com"))?;
    let fetched_at = time_named(fetched_at)
        .ok_or_else(|| format!("'{fetched_at}' is not a valid time; write 2025-01-31T12:00:00Z"))?;
    let outcome = SnapshotOutcome::parse(status).ok_or_else(|| {
        format!(
            "'{status}' is not a valid status; write 200, 404, or a failure such as timeout \
                 or dns"
        )
    })?;
    let max_age_seconds = match max_age {
        "" => None,
        digits => Some(
            digits.parse().map_err(|_| format!("max_age '{digits}' is not a number of seconds"))?,
        ),
    };
    let chain = chain(hops).ok_or(
        "column chain is not valid; write one line per redirect: 301 \
         https://example.com/robots.txt",
    )?;
    // What lies behind so many redirects is never fetched.
    let outcome = too_long(&chain).unwrap_or(outcome);
    let body = match (outcome.is_success(), path) {
        (true, "") => {
            return Err(format!(
                "status {status} needs a file with the body; write its name in column path"
            ));
        }
        (true, path) => body(folder, path)?,
        (false, _) => Vec::new(),
    };
    let source = match source {
        "" => manifest.display().to_string(),
        source => source.to_owned(),
    };
    let fetch = Fetch { fetched_at, outcome, max_age_seconds, chain };
    Ok(NewSnapshot { origin, fetch, source, body: body.into() })
}

/// Reads a body. A manifest may be untrusted, so it cannot name files outside of its folder.
fn body(folder: &Path, path: &str) -> std::result::Result<Vec<u8>, String> {
    let is_within = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_within {
        return Err(format!(
            "'{path}' is outside the directory of the manifest; move the file \
                            into it"
        ));
    }
    let file: PathBuf = folder.join(path);
    let cannot_read = |err| Error::io("cannot read", &file, err).to_string();
    let real = |path: &Path| path.canonicalize().map_err(cannot_read);
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !real(&file)?.starts_with(real(here)?) || !file.is_file() {
        return Err(format!(
            "'{path}' is not a file in the directory of the manifest; move the \
                            file into it"
        ));
    }
    let mut body = Vec::new();
    let file_bytes = File::open(&file).map_err(cannot_read)?;
    file_bytes.take(KEPT_BYTES_MAX as u64).read_to_end(&mut body).map_err(cannot_read)?;
    Ok(body)
}

fn broken(path: &Path, err: &csv::Error) -> Error {
    match (err.position(), err.kind()) {
        (Some(position), _) => Error::invalid(path, position.line(), err.to_string()),
        (None, csv::ErrorKind::Io(cause)) => Error::invalid_file(path, cause.to_string()),
        (None, _) => Error::invalid_file(path, err.to_string()),
    }
}

/// The input of the CSV reader. An endless line is an error and does not fill the memory.
struct Stream {
    opened: Opened,
    /// Bytes since the last line end.
    line_bytes: usize,
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.opened.read(out);
        let count = read.map_err(|damage| std::io::Error::other(damage.to_string()))?;
        self.line_bytes = match memchr::memrchr(b'\n', &out[..count]) {
            Some(end) => count - end,
            None => self.line_bytes + count,
        };
        if self.line_bytes > LINE_BYTES_MAX {
            return Err(std::io::Error::other("a line is longer than 1 MiB; shorten it"));
        }
        Ok(count)
    }
}
