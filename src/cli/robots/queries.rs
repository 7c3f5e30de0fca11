//! `botaudit robots list`, `show`, `log`, `diff`, `at` and `export`: questions to an archive, which their arguments name.

use std::path::PathBuf;

use clap::Args;

use crate::cli::console::{Show, console};
use crate::cli::help::short;
use crate::error::Result;
use crate::judge::timeline::BeforeFirst;
use crate::run::{console::RunOutcome, robots::queries::ArchiveQuery};

/// The archive.
#[derive(Args, Debug)]
pub(crate) struct ArchiveArg {
    /// The archive, a file such as robots.db.
    #[arg(short = 'a', long = "archive", value_name = "FILE")]
    pub path: PathBuf,
}

impl ArchiveArg {
    /// The archive, to be asked.
    pub(super) fn query(self, show: Show) -> ArchiveQuery {
        ArchiveQuery { archive: self.path, console: console(show) }
    }
}

const LIST_HELP: &str = include_str!("../help/robots-list.txt");

/// List the origins of an archive.
#[derive(Args, Debug)]
#[command(after_help = short(LIST_HELP, "robots list"), after_long_help = LIST_HELP)]
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

const SHOW_HELP: &str = include_str!("../help/robots-show.txt");

/// Print an archived robots.txt: the newest, or the newest at a time.
#[derive(Args, Debug)]
#[command(after_help = short(SHOW_HELP, "robots show"), after_long_help = SHOW_HELP)]
pub(crate) struct ShowArgs {
    /// Origin, such as https://example.com.
    origin: String,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Print the last snapshot at or before TIME, such as 2025-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    at: Option<String>,

    /// Print only the body.
    #[arg(short, long)]
    quiet: bool,
}

impl ShowArgs {
    /// Prints the body to standard output, everything else to standard error.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.archive.query(Show::unless(self.quiet)).show(&self.origin, self.at.as_deref())
    }
}

const LOG_HELP: &str = include_str!("../help/robots-log.txt");

/// List the snapshots of an origin and their changes, newest first.
#[derive(Args, Debug)]
#[command(after_help = short(LOG_HELP, "robots log"), after_long_help = LOG_HELP)]
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

const DIFF_HELP: &str = include_str!("../help/robots-diff.txt");

/// Show what changed in a robots.txt between two times, as a unified diff.
#[derive(Args, Debug)]
#[command(after_help = short(DIFF_HELP, "robots diff"), after_long_help = DIFF_HELP)]
pub(crate) struct DiffArgs {
    /// Origin, such as https://example.com.
    origin: String,

    /// Earlier time, such as 2025-01-31T12:00:00Z.
    from: String,

    /// Later time [default: now]
    to: Option<String>,

    #[command(flatten)]
    archive: ArchiveArg,
}

impl DiffArgs {
    /// Prints nothing if nothing changed.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.archive.query(Show::OnTerminal).diff(&self.origin, &self.from, self.to.as_deref())
    }
}

const AT_HELP: &str = include_str!("../help/robots-at.txt");

/// Show what was in force at a time, and why.
#[derive(Args, Debug)]
#[command(after_help = short(AT_HELP, "robots at"), after_long_help = AT_HELP)]
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

const EXPORT_HELP: &str = include_str!("../help/robots-export.txt");

/// Export an archive to a directory of dated files that `import` can read.
#[derive(Args, Debug)]
#[command(after_help = short(EXPORT_HELP, "robots export"), after_long_help = EXPORT_HELP)]
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
