//! `botaudit robots`: an archive of robots.txt versions.

mod fetch;
mod queries;
mod restrictions;

use clap::{Args, Subcommand};

use crate::error::Result;
use crate::run::{console::RunOutcome, robots::restrictions::write_changes};

use super::help::short;

const HELP: &str = include_str!("../help/robots.txt");
const CHANGES_HELP: &str = include_str!("../help/robots-changes.txt");

/// Archive robots.txt versions and query what was in force.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots"), after_long_help = HELP)]
pub(crate) struct RobotsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(fetch::ImportArgs),
    Fetch(fetch::FetchArgs),
    List(queries::ListArgs),
    Show(queries::ShowArgs),
    Log(queries::LogArgs),
    Diff(queries::DiffArgs),
    At(queries::AtArgs),
    Export(queries::ExportArgs),
    Restrictions(restrictions::RestrictionsArgs),
    /// Write a table of how the rules for crawlers changed from one robots.txt to the next.
    #[command(after_help = short(CHANGES_HELP, "robots changes"), after_long_help = CHANGES_HELP)]
    Changes(restrictions::TableArgs),
}

impl RobotsArgs {
    /// Runs the subcommand.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        match self.command {
            Command::Import(args) => args.run(),
            Command::Fetch(args) => args.run(),
            Command::List(args) => args.run(),
            Command::Show(args) => args.run(),
            Command::Log(args) => args.run(),
            Command::Diff(args) => args.run(),
            Command::At(args) => args.run(),
            Command::Export(args) => args.run(),
            Command::Restrictions(args) => args.run(),
            Command::Changes(args) => write_changes(&args.named()),
        }
    }
}
