//! `botaudit robots restrictions`: how far robots.txt files restrict crawlers; and the options of a table about the names
//! of crawlers in robots.txt files.

use std::path::PathBuf;

use clap::Args;

use crate::cli::console::{Show, console};
use crate::cli::help::short;
use crate::cli::shared::{CrawlersArgs, EVERY, ForceArg, one_of};
use crate::error::Result;
use crate::run::console::RunOutcome;
use crate::run::robots::name_table::NameTable;
use crate::run::robots::restrictions::{Every, RestrictionsRun};

const HELP: &str = include_str!("../help/robots-restrictions.txt");

/// Write a table of how far robots.txt files restrict crawlers.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots restrictions"), after_long_help = HELP)]
pub(crate) struct RestrictionsArgs {
    #[command(flatten)]
    table: TableArgs,

    /// Time of the rules, for an archive [default: that of the newest snapshot of each origin]
    #[arg(long, value_name = "TIME", help_heading = "Rules", conflicts_with = "every")]
    at: Option<String>,

    /// For an archive: the rules at the end of each period, from the first snapshot of an origin to its last.
    #[arg(long, value_name = "PERIOD", help_heading = "Rules", value_parser = one_of(&EVERY), hide_possible_values = true)]
    every: Option<Every>,
}

impl RestrictionsArgs {
    /// Writes the table.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        RestrictionsRun { table: self.table.named(), at: self.at, every: self.every }.run()
    }
}

/// The files, the names and the output of a table about the names of crawlers.
#[derive(Args, Debug)]
pub(super) struct TableArgs {
    /// robots.txt file, directory of such files, or archive.
    #[arg(long, value_name = "PATH", help_heading = "Rules")]
    robots: PathBuf,

    #[command(flatten)]
    crawlers: CrawlersArgs,

    /// Write one JSON object per line instead of CSV.
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Output file (also .gz or .zst); - is standard output [default: -]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArg,

    /// Print only errors and warnings.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl TableArgs {
    /// The table that they name.
    pub(super) fn named(self) -> NameTable {
        NameTable {
            robots: self.robots,
            crawlers: self.crawlers.named(),
            is_json: self.json,
            output: self.output,
            overwrite: self.force.overwrite(),
            console: console(Show::unless(self.quiet)),
        }
    }
}
