//! `botaudit robots restrictions`: how far robots.txt files restrict crawlers.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::outcome::RunOutcome;
use crate::run::robots::restrictions::{Every, RestrictionsRun};

use super::super::console::console;
use super::super::help::short;
use super::super::progress::Show;
use super::super::shared::{CrawlersArgs, ForceArg};
use super::super::value_names::{EVERY, one_of};

const HELP: &str = include_str!("../help/robots-restrictions.txt");

/// Write a table of how far robots.txt files restrict crawlers.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots restrictions"), after_long_help = HELP)]
pub(crate) struct RestrictionsArgs {
    /// robots.txt file, directory of such files, or archive.
    #[arg(long, value_name = "PATH", help_heading = "Rules")]
    robots: PathBuf,

    #[command(flatten)]
    crawlers: CrawlersArgs,

    /// Time of the rules, for an archive [default: that of the newest snapshot of each origin]
    #[arg(long, value_name = "TIME", help_heading = "Rules", conflicts_with = "every")]
    at: Option<String>,

    /// For an archive: the rules at the end of each period, from the first snapshot of an origin to its last.
    #[arg(long, value_name = "PERIOD", help_heading = "Rules", value_parser = one_of(&EVERY), hide_possible_values = true)]
    every: Option<Every>,

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

impl RestrictionsArgs {
    /// Writes the table.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        RestrictionsRun {
            robots: self.robots,
            crawlers: self.crawlers.named(),
            at: self.at,
            every: self.every,
            is_json: self.json,
            output: self.output,
            overwrite: self.force.overwrite(),
            console: console(Show::unless(self.quiet)),
        }
        .run()
    }
}
