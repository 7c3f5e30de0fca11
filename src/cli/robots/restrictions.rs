//! `botaudit robots restrictions`: how far robots.txt files restrict crawlers.

use clap::Args;

use crate::error::Result;
use crate::run::outcome::RunOutcome;
use crate::run::robots::restrictions::{Every, RestrictionsRun};

use super::super::help::short;
use super::super::value_names::{EVERY, one_of};
use super::table_args::TableArgs;

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
