//! `botaudit crawlers import-ranges`: imports copies of address lists into a directory of lists.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::{import_ranges::ImportRangesRun, outcome::RunOutcome};

use super::console::console;
use super::help::short;
use super::progress::Show;

const HELP: &str = include_str!("help/crawlers-import-ranges.txt");

/// Import older copies of address lists, for --ip-ranges.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "crawlers import-ranges"), after_long_help = HELP)]
pub(crate) struct ImportRangesArgs {
    /// Directory of the lists; created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Files, directories or git repositories to import.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// URL of the list in files whose names do not say it.
    #[arg(long, value_name = "URL", help_heading = "Input")]
    url: Option<String>,

    /// Time of files without one; `modified` is that of the file system.
    #[arg(long, value_name = "TIME", help_heading = "Input")]
    at: Option<String>,

    /// Import the history of the lists from git (the current branch).
    #[arg(long, conflicts_with = "at", help_heading = "Input")]
    git: bool,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl ImportRangesArgs {
    /// Imports all paths; `crawlers` is the file of added crawlers.
    pub(crate) fn run(self, crawlers: Option<PathBuf>) -> Result<RunOutcome> {
        let run = ImportRangesRun {
            directory: self.directory,
            paths: self.paths,
            crawlers,
            url: self.url,
            at: self.at,
            is_git: self.git,
            console: console(Show::unless(self.quiet)),
        };
        run.run()
    }
}
