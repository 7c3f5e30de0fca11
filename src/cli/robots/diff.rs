//! `botaudit robots diff`: two versions of one robots.txt, line by line.

use clap::Args;

use crate::cli::{help::short, progress::Show};
use crate::error::Result;
use crate::run::outcome::RunOutcome;

use super::archive_arg::ArchiveArg;

const HELP: &str = include_str!("../help/robots-diff.txt");

/// Show what changed in a robots.txt between two times, as a unified diff.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots diff"), after_long_help = HELP)]
pub(crate) struct DiffArgs {
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
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.archive.query(Show::OnTerminal).diff(&self.origin, &self.from, self.to.as_deref())
    }
}
