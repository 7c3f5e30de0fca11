//! `botaudit robots diff`: two versions of one robots.txt, line by line.

use clap::Args;

use crate::archive::{entry::HistoryEntry, reader::Archive};
use crate::error::Result;
use crate::report::unified_diff::unified_diff;
use crate::run::outcome::RunOutcome;
use crate::url::origin::Origin;

use super::super::help::short;
use super::super::shared::note;
use super::archive_arg::{ArchiveArg, named_origin, named_time, newest};
use super::body::print_body;

const HELP: &str = include_str!("../help/robots-diff.txt");

/// Show what changed in a robots.txt between two times, as a unified diff.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots diff"), after_long_help = HELP)]
pub struct DiffArgs {
    /// Origin, such as https://example.com.
    origin: String,

    /// Earlier time, such as 2025-01-31T12:00:00Z.
    from: String,

    /// Later time [default: now]
    to: Option<String>,

    #[command(flatten)]
    archive: ArchiveArg,
}

impl DiffArgs {
    /// Prints nothing if nothing changed.
    pub fn run(self) -> Result<RunOutcome> {
        let origin = named_origin(&self.origin)?;
        let from = named_time(&self.from)?;
        let to = self.to.as_deref().map(named_time).transpose()?;
        let archive = self.archive.open()?;
        let old = newest(&archive, &origin, Some(from))?;
        let new = newest(&archive, &origin, to)?;
        if old.fetch.outcome != new.fetch.outcome {
            note(&format!(
                "{origin} answered {} at {}, and {} at {}",
                old.fetch.outcome, old.fetch.fetched_at, new.fetch.outcome, new.fetch.fetched_at
            ));
        }
        print_body(&unified(&archive, &origin, &old, &new)?)?;
        Ok(RunOutcome::Done)
    }
}

fn unified(
    archive: &Archive,
    origin: &Origin,
    old: &HistoryEntry,
    new: &HistoryEntry,
) -> Result<Vec<u8>> {
    if old.body == new.body {
        return Ok(Vec::new());
    }
    let body =
        |entry: &HistoryEntry| entry.body.map_or_else(|| Ok(Vec::new()), |key| archive.body(key));
    let (old_body, new_body) = (body(old)?, body(new)?);
    let name = |entry: &HistoryEntry| format!("{origin}/robots.txt\t{}", entry.fetch.fetched_at);
    Ok(unified_diff((&name(old), &old_body), (&name(new), &new_body)))
}
