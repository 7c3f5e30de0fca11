//! `botaudit robots export`: writes an archive as files with a manifest.

use std::path::PathBuf;

use clap::Args;

use crate::archive::export::export;
use crate::error::Result;

use super::super::help::short;
use super::super::progress::Show;
use super::archive_arg::ArchiveArg;
use crate::numbers::counted;
use crate::report::outputs::check_directory_name;
use crate::run::outcome::RunOutcome;
use crate::run::output::path_text;

const HELP: &str = include_str!("../help/robots-export.txt");

/// Export an archive to a directory of dated files that `import` can read.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots export"), after_long_help = HELP)]
pub struct ExportArgs {
    /// Directory to write; it must be empty or not exist.
    directory: PathBuf,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Print only errors.
    #[arg(short, long)]
    quiet: bool,
}

impl ExportArgs {
    /// The manifest gets its name when all files are written.
    pub fn run(self) -> Result<RunOutcome> {
        check_directory_name("DIRECTORY", &self.directory)?;
        let snapshots = export(&self.archive.open_for(&self.directory)?, &self.directory)?;
        let (written, place) = (counted(snapshots, "snapshot"), path_text(&self.directory));
        let text = format!("{written} written to {place}\n");
        Show::unless(self.quiet).print(&text)?;
        Ok(RunOutcome::Done)
    }
}
