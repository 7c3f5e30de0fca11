//! `botaudit robots log`: the versions of one robots.txt.

use clap::Args;

use crate::cli::{help::short, progress::Show};
use crate::error::Result;
use crate::run::outcome::RunOutcome;

use super::archive_arg::ArchiveArg;

const HELP: &str = include_str!("../help/robots-log.txt");

/// List the snapshots of an origin and their changes, newest first.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots log"), after_long_help = HELP)]
pub(crate) struct LogArgs {
    /// Origin, such as https://example.com.
    origin: String,

    #[command(flatten)]
    archive: ArchiveArg,
}

impl LogArgs {
    /// Prints a paragraph for each version.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.archive.query(Show::OnTerminal).log(&self.origin)
    }
}
