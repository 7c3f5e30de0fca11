//! `botaudit crawlers import-ranges` and `import-keys`: import copies of address lists, or of keys.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::import_ranges::{ImportRangesRun, ImportedKind};
use crate::run::outcome::RunOutcome;

use super::{console::console, progress::Show};

/// The arguments of both.
#[derive(Args, Debug)]
pub(crate) struct ImportRangesArgs {
    /// Directory to add to; created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Files, directories or git repositories to import.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// URL of the content of files, if their names do not contain it.
    #[arg(long, value_name = "URL", help_heading = "Input")]
    url: Option<String>,

    /// Time of files without one; `modified` means their modification time.
    #[arg(long, value_name = "TIME", help_heading = "Input")]
    at: Option<String>,

    /// Import the history of the files from git (the current branch).
    #[arg(long, conflicts_with = "at", help_heading = "Input")]
    git: bool,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl ImportRangesArgs {
    /// Imports all paths; `crawlers` is the file of added crawlers.
    pub(crate) fn run(self, kind: ImportedKind, crawlers: Option<PathBuf>) -> Result<RunOutcome> {
        let run = ImportRangesRun {
            kind,
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
