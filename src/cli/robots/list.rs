//! `botaudit robots list`: the origins of an archive.

use clap::Args;

use crate::cli::{help::short, progress::Show};
use crate::error::Result;
use crate::run::outcome::RunOutcome;

use super::archive_arg::ArchiveArg;

const HELP: &str = include_str!("../help/robots-list.txt");

/// List the origins of an archive.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots list"), after_long_help = HELP)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    archive: ArchiveArg,

    /// Print only origins.
    #[arg(short, long)]
    quiet: bool,
}

impl ListArgs {
    /// Prints origins.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.archive.query(Show::OnTerminal).list(self.quiet)
    }
}
