//! `botaudit crawlers import-card`: import what agents say of themselves.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::{import_card::ImportCardRun, outcome::RunOutcome};

use super::{console::console, help::short, progress::Show};

const HELP: &str = include_str!("help/crawlers-import-card.txt");

/// Import Signature Agent Cards into a CSV file of crawlers.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "crawlers import-card"), after_long_help = HELP)]
pub(crate) struct ImportCardArgs {
    /// Cards; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    cards: Vec<PathBuf>,

    /// Name of the crawler, instead of that in the card.
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    name: Option<String>,

    /// Operator of the crawler; by default the host of client_id or client_uri.
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    operator: Option<String>,

    /// Page at which the card was published; by default its client_id.
    #[arg(long, value_name = "URL", help_heading = "Input")]
    url: Option<String>,

    /// CSV file of crawlers to add to; created if it does not exist. Default: standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl ImportCardArgs {
    /// Imports all cards.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let run = ImportCardRun {
            cards: self.cards,
            output: self.output,
            name: self.name,
            operator: self.operator,
            url: self.url,
            console: console(Show::unless(self.quiet)),
        };
        run.run()
    }
}
