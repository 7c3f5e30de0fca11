//! `botaudit robots at`: shows the ruling in force at a time, and why.

use clap::Args;

use crate::cli::{help::short, progress::Show};
use crate::error::Result;
use crate::judge::timeline::BeforeFirst;
use crate::run::outcome::RunOutcome;

use super::archive_arg::ArchiveArg;

const HELP: &str = include_str!("../help/robots-at.txt");

/// Show what was in force at a time, and why.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots at"), after_long_help = HELP)]
pub(crate) struct AtArgs {
    /// Origin, such as https://example.com.
    origin: String,

    /// Time, such as 2025-01-31T12:00:00Z.
    time: String,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Answer "unknown" for times before the first snapshot.
    #[arg(long)]
    unknown_before_first_snapshot: bool,
}

impl AtArgs {
    /// Prints the ruling and its reason.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let before = match self.unknown_before_first_snapshot {
            true => BeforeFirst::Unknown,
            false => BeforeFirst::AsFirst,
        };
        self.archive.query(Show::OnTerminal).at(&self.origin, &self.time, before)
    }
}
