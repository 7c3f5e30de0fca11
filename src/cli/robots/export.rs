//! `botaudit robots export`: an archive as files and a manifest, for other programs and other times.

use std::path::PathBuf;

use clap::Args;

use crate::archive::export::export;
use crate::error::Result;

use super::super::{exit_status::ExitStatus, progress::Show};
use super::archive_arg::ArchiveArg;

/// Write an archive as a directory of dated files with a manifest.csv, which import reads back.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  botaudit robots export --archive robots.db versions/")]
pub struct ExportArgs {
    /// Where to write; a directory that is empty, or does not exist yet.
    directory: PathBuf,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Say nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

impl ExportArgs {
    /// The manifest is written under its name when all is there.
    pub fn run(self) -> Result<ExitStatus> {
        let snapshots = export(&self.archive.open()?, &self.directory)?;
        let text = format!("{snapshots} snapshots written to {}\n", self.directory.display());
        Show::unless(self.quiet).print(&text)?;
        Ok(ExitStatus::Done)
    }
}
