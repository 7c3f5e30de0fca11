//! `botaudit robots`: robots.txt files through time, in an archive.

mod archive_arg;
mod at;
mod body;
mod diff;
mod export;
mod fetch;
mod import;
mod list;
mod log;
mod show;

use clap::{Args, Subcommand};

use crate::error::Result;

use super::exit_status::ExitStatus;

const EXAMPLES: &str = "\
Examples:
  An archive from what Common Crawl publishes, and what it says of one site:
    botaudit robots import --archive robots.db CC-MAIN-*.warc.gz
    botaudit robots log --archive robots.db https://example.com

  From the git history of a site's own file, then an audit by what was in force at each request:
    botaudit robots import --archive robots.db --git --origin https://example.com site/robots.txt
    botaudit audit --robots robots.db access.log.gz

  What counted on a day, and why:
    botaudit robots at --archive robots.db https://example.com 2025-01-31T12:00:00Z";

/// Keep robots.txt files through time, and ask what was in force when.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit robots --help")]
pub struct RobotsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(import::ImportArgs),
    Fetch(fetch::FetchArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Log(log::LogArgs),
    Diff(diff::DiffArgs),
    At(at::AtArgs),
    Export(export::ExportArgs),
}

impl RobotsArgs {
    /// Runs the subcommand.
    pub fn run(self) -> Result<ExitStatus> {
        match self.command {
            Command::Import(args) => args.run(),
            Command::Fetch(args) => args.run(),
            Command::List(args) => args.run(),
            Command::Show(args) => args.run(),
            Command::Log(args) => args.run(),
            Command::Diff(args) => args.run(),
            Command::At(args) => args.run(),
            Command::Export(args) => args.run(),
        }
    }
}
