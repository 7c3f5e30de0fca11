//! The arguments of the commands on archives: an archive, an origin, a time.

use std::path::{Path, PathBuf};

use clap::Args;

use super::super::confinement::confine;
use crate::archive::{entry::HistoryEntry, import::time_named, reader::Archive};
use crate::error::{Error, Result};
use crate::report::outputs::{Outputs, Overwrite};
use crate::run::sandbox::access_rights::TcpUse;
use crate::time::UtcTime;
use crate::url::origin::Origin;

/// The archive.
#[derive(Args, Debug)]
pub struct ArchiveArg {
    /// The archive, a file such as robots.db.
    #[arg(short = 'a', long = "archive", value_name = "FILE")]
    pub path: PathBuf,
}

impl ArchiveArg {
    /// Checks that the archive to be written is not one of `inputs`, and returns the files of the
    /// run.
    pub fn check<'a>(&self, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Result<Outputs> {
        let mut outputs = Outputs::new(Overwrite::Own);
        for input in inputs {
            outputs.reads_files_of("an input of this run", input);
        }
        outputs.updated("--archive", &self.path)?;
        Ok(outputs)
    }

    /// Opens it to read it, and confines the process to it.
    pub fn open(&self) -> Result<Archive> {
        self.open_with(Outputs::new(Overwrite::Own))
    }

    /// As [`ArchiveArg::open`], to write the directory `output`.
    pub fn open_for(&self, output: &Path) -> Result<Archive> {
        let mut outputs = Outputs::new(Overwrite::Own);
        outputs.updated("DIRECTORY", output)?;
        self.open_with(outputs)
    }

    fn open_with(&self, mut files: Outputs) -> Result<Archive> {
        files.reads_robots("--archive", &self.path);
        confine(&files, TcpUse::None);
        Archive::open(&self.path)
    }
}

/// Parses an origin. A host alone or the URL of its robots.txt is accepted.
pub fn named_origin(text: &str) -> Result<Origin> {
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
pub fn named_time(text: &str) -> Result<UtcTime> {
    time_named(text).ok_or_else(|| {
        let why = format!(
            "'{text}' is not a valid time; write 2025-01-31T12:00:00Z, or \
                           2025-01-31"
        );
        Error::usage(why)
    })
}

/// The history of `origin` in `archive`, which must not be empty.
pub fn known_history(archive: &Archive, origin: &Origin) -> Result<Vec<HistoryEntry>> {
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
pub fn newest(archive: &Archive, origin: &Origin, time: Option<UtcTime>) -> Result<HistoryEntry> {
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
