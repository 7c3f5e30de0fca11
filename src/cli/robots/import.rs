//! `botaudit robots import`: imports histories in other formats into an archive.

use std::path::PathBuf;

use clap::Args;

use crate::cli::console::{Show, console};
use crate::cli::help::short;
use crate::error::Result;
use crate::run::{console::RunOutcome, robots::import::ImportRun};

use super::queries::ArchiveArg;

const HELP: &str = include_str!("../help/robots-import.txt");

/// Import robots.txt versions into an archive.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots import"), after_long_help = HELP)]
pub(crate) struct ImportArgs {
    /// Files or directories to import.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Origin of files that name none.
    #[arg(long, value_name = "URL", help_heading = "Input")]
    origin: Option<String>,

    /// Time of files without one; `modified` means their modification time.
    #[arg(long, value_name = "TIME", help_heading = "Input")]
    at: Option<String>,

    /// Import each file's history from git (the current branch).
    #[arg(long, requires = "origin", help_heading = "Input")]
    git: bool,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl ImportArgs {
    /// Imports all paths.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let run = ImportRun {
            paths: self.paths,
            archive: self.archive.path,
            origin: self.origin,
            at: self.at,
            is_git: self.git,
            console: console(Show::unless(self.quiet)),
        };
        run.run()
    }
}
