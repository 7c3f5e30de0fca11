//! `botaudit robots show`: prints an archived robots.txt.

use clap::Args;

use crate::archive::entry::HistoryEntry;
use crate::error::Result;
use crate::run::outcome::RunOutcome;

use super::super::help::short;
use super::super::shared::say;
use super::archive_arg::{ArchiveArg, named_origin, named_time, newest};
use super::body::print_body;

const HELP: &str = include_str!("../help/robots-show.txt");

/// Print an archived robots.txt: the newest, or the newest at a time.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots show"), after_long_help = HELP)]
pub struct ShowArgs {
    /// Origin, such as https://example.com.
    origin: String,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Print the last snapshot at or before TIME, such as 2025-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    at: Option<String>,

    /// Print only the body.
    #[arg(short, long)]
    quiet: bool,
}

impl ShowArgs {
    /// Prints the body to standard output, everything else to standard error.
    pub fn run(self) -> Result<RunOutcome> {
        let origin = named_origin(&self.origin)?;
        let at = self.at.as_deref().map(named_time).transpose()?;
        let archive = self.archive.open()?;
        let entry = newest(&archive, &origin, at)?;
        if !self.quiet {
            say(&format!("{origin}, {}", described(&entry)));
        }
        if let Some(key) = entry.body {
            print_body(&archive.body(key)?)?;
        }
        Ok(RunOutcome::Done)
    }
}

/// A snapshot as one line.
pub fn described(entry: &HistoryEntry) -> String {
    let fetch = &entry.fetch;
    let mut text = format!("fetched {}: {}", fetch.fetched_at, fetch.outcome);
    for hop in &fetch.chain {
        text.push_str(&format!(", after {} to {}", hop.status, hop.location));
    }
    if let Some(seconds) = fetch.max_age_seconds {
        text.push_str(&format!(", max-age {seconds} s"));
    }
    if let Some(body) = entry.body {
        text.push_str(&format!(", {} bytes, {}", body.size_bytes, body.digest));
    }
    text.push_str(&format!(", from {}", entry.source));
    text
}
