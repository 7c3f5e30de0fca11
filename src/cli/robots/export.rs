//! `botaudit robots export`: an archive as files and a manifest, for other programs and other times.

use std::path::PathBuf;

use clap::Args;

use crate::archive::export::export;
use crate::error::Result;

use super::super::shared::output_directory;
use super::super::{exit_status::ExitStatus, help::short, progress::Show};
use super::archive_arg::ArchiveArg;
use crate::numbers::counted;

const HELP: &str = include_str!("../help/robots-export.txt");

/// Export an archive to a directory of dated files that `import` can read.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots export"), after_long_help = HELP)]
pub struct ExportArgs {
    /// Directory to write; it must be empty or not exist.
    #[arg(value_parser = output_directory())]
    directory: PathBuf,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Print only errors.
    #[arg(short, long)]
    quiet: bool,
}

impl ExportArgs {
    /// The manifest is written under its name when all is there.
    pub fn run(self) -> Result<ExitStatus> {
        let snapshots = export(&self.archive.open()?, &self.directory)?;
        let text =
            format!("{} written to {}\n", counted(snapshots, "snapshot"), self.directory.display());
        Show::unless(self.quiet).print(&text)?;
        Ok(ExitStatus::Done)
    }
}
