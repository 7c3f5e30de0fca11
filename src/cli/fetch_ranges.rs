//! `botaudit crawlers fetch-ranges` and `fetch-keys`: download address lists, or keys, into a directory.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::{fetch_keys::FetchKeysRun, fetch_ranges::FetchRangesRun, outcome::RunOutcome};

use super::{
    console::console, help::short, network::NetworkArgs, progress::Show, shared::ForceArg,
};

const RANGES: &str = include_str!("help/crawlers-fetch-ranges.txt");
const KEYS: &str = include_str!("help/crawlers-fetch-keys.txt");

/// Download the address lists that operators publish, for --ip-ranges.
///
/// The name of a file is made from the URL of its list. manifest.json lists the files with their URLs
/// and times. A list that has changed moves to history/. If a download fails, the older list stays,
/// and the other lists are still downloaded.
#[derive(Args, Debug)]
#[command(after_help = short(RANGES, "crawlers fetch-ranges"), after_long_help = RANGES)]
pub(crate) struct FetchRangesArgs {
    #[command(flatten)]
    download: DownloadArgs,

    /// Also search the documentation of crawlers without a known list for one.
    #[arg(long)]
    discover: bool,
}

/// Download the keys with which agents sign requests, for --signature-keys.
///
/// Keys that have changed move to history/. If a download fails, the older keys stay, and the others are
/// still downloaded.
#[derive(Args, Debug)]
#[command(after_help = short(KEYS, "crawlers fetch-keys"), after_long_help = KEYS)]
pub(crate) struct FetchKeysArgs {
    #[command(flatten)]
    download: DownloadArgs,

    /// Agents: hosts such as chatgpt.com, or URLs of their keys [default: all known ones]
    #[arg(value_name = "AGENT", help_heading = clap::builder::Resettable::Reset)]
    agents: Vec<String>,
}

/// The arguments of both.
#[derive(Args, Debug)]
struct DownloadArgs {
    /// Directory of the files; created if it does not exist.
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
        let of = self.download;
        let run = FetchRangesRun {
            settings: of.network.settings()?,
            directory: of.directory,
            crawlers,
            discover: self.discover,
            overwrite: of.force.overwrite(),
            console: console(Show::unless(of.quiet)),
        };
        run.run()
    }
}

impl FetchKeysArgs {
    /// Downloads all directories of keys.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let of = self.download;
        let run = FetchKeysRun {
            settings: of.network.settings()?,
            directory: of.directory,
            agents: self.agents,
            overwrite: of.force.overwrite(),
            console: console(Show::unless(of.quiet)),
        };
        run.run()
    }
}
