//! `botaudit crawlers fetch-ranges`: downloads the address lists of operators into a directory.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::{fetch_ranges::FetchRangesRun, outcome::RunOutcome};

use super::console::console;
use super::help::short;
use super::network::NetworkArgs;
use super::progress::Show;
use super::shared::ForceArg;

const HELP: &str = include_str!("help/crawlers-fetch-ranges.txt");

/// Download the address lists that operators publish, for --ip-ranges.
///
/// Each list is in a file with a name made from its URL; manifest.json says which file is which, and
/// when it was fetched. A list that has changed moves to history/. If a download fails, the older
/// list stays, and the other lists are still downloaded.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "crawlers fetch-ranges"), after_long_help = HELP)]
pub(crate) struct FetchRangesArgs {
    /// Directory of the lists; created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    #[command(flatten)]
    force: ForceArg,

    #[command(flatten)]
    network: NetworkArgs,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl FetchRangesArgs {
    /// Downloads all lists; `crawlers` is the file of added crawlers.
    pub(crate) fn run(self, crawlers: Option<PathBuf>) -> Result<RunOutcome> {
        let run = FetchRangesRun {
            settings: self.network.settings()?,
            directory: self.directory,
            crawlers,
            overwrite: self.force.overwrite(),
            console: console(Show::unless(self.quiet)),
        };
        run.run()
    }
}
