//! `botaudit robots show`: prints an archived robots.txt.

use clap::Args;

use crate::cli::{help::short, progress::Show};
use crate::error::Result;
use crate::run::outcome::RunOutcome;

use super::archive_arg::ArchiveArg;

const HELP: &str = include_str!("../help/robots-show.txt");

/// Print an archived robots.txt: the newest, or the newest at a time.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots show"), after_long_help = HELP)]
pub(crate) struct ShowArgs {
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
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.archive.query(Show::unless(self.quiet)).show(&self.origin, self.at.as_deref())
    }
}
