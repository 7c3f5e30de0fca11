//! `botaudit robots export`: writes an archive as files with a manifest.

use std::path::PathBuf;

use clap::Args;

use crate::cli::{help::short, progress::Show};
use crate::error::Result;
use crate::run::outcome::RunOutcome;

use super::archive_arg::ArchiveArg;

const HELP: &str = include_str!("../help/robots-export.txt");

/// Export an archive to a directory of dated files that `import` can read.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots export"), after_long_help = HELP)]
pub(crate) struct ExportArgs {
    /// Directory to write; it must be empty or not exist.
    directory: PathBuf,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Print only errors.
    #[arg(short, long)]
    quiet: bool,
}

impl ExportArgs {
    /// Writes the files.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.archive.query(Show::unless(self.quiet)).export(&self.directory)
    }
}
