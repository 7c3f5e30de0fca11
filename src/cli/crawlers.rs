//! `botaudit crawlers`: the registry of known crawlers.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use crate::error::Result;
use crate::run::crawlers::{CrawlersQuestion, answer, check_registry};
use crate::run::{import_ranges::ImportedKind, outcome::RunOutcome};

use super::fetch_ranges::{FetchKeysArgs, FetchRangesArgs};
use super::{console::console, help::short, import_card::ImportCardArgs};
use super::{import_ranges::ImportRangesArgs, progress::Show};

const HELP: &str = include_str!("help/crawlers.txt");
const LIST: &str = include_str!("help/crawlers-list.txt");
const SHOW: &str = include_str!("help/crawlers-show.txt");
const IDENTIFY: &str = include_str!("help/crawlers-identify.txt");
const IMPORT_RANGES: &str = include_str!("help/crawlers-import-ranges.txt");
const IMPORT_KEYS: &str = include_str!("help/crawlers-import-keys.txt");
const CHECK_REGISTRY: &str = include_str!("help/crawlers-check-registry.txt");

/// Show known crawlers and what they say about robots.txt.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "crawlers"), after_long_help = HELP)]
pub(crate) struct CrawlersArgs {
    #[command(subcommand)]
    command: Option<CrawlersCommand>,

    /// CSV file with more crawlers; a row with a built-in name replaces that crawler.
    #[arg(long, value_name = "FILE", global = true)]
    crawlers: Option<PathBuf>,

    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    format: Format,
}

/// The format of the answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs: an object, or an array of them
    Json,
}

#[derive(Debug, Subcommand)]
enum CrawlersCommand {
    /// List all crawlers, one per line, in matching order.
    #[command(after_help = short(LIST, "crawlers list"), after_long_help = LIST)]
    List,
    /// Show everything known about one crawler.
    #[command(after_help = short(SHOW, "crawlers show"), after_long_help = SHOW)]
    Show {
        /// Name of the crawler, such as GPTBot.
        name: String,
    },
    /// Identify the crawler that sends a User-Agent header.
    #[command(after_help = short(IDENTIFY, "crawlers identify"), after_long_help = IDENTIFY)]
    Identify {
        /// The whole header.
        user_agent: OsString,
    },
    FetchRanges(FetchRangesArgs),
    /// Import older copies of address lists, for --ip-ranges.
    #[command(
        after_help = short(IMPORT_RANGES, "crawlers import-ranges"),
        after_long_help = IMPORT_RANGES
    )]
    ImportRanges(ImportRangesArgs),
    FetchKeys(FetchKeysArgs),
    /// Import older copies of keys with which agents sign requests, for --signature-keys.
    #[command(after_help = short(IMPORT_KEYS, "crawlers import-keys"), after_long_help = IMPORT_KEYS)]
    ImportKeys(ImportRangesArgs),
    ImportCard(ImportCardArgs),
    /// Check a CSV file of crawlers for mistakes.
    #[command(
        after_help = short(CHECK_REGISTRY, "crawlers check-registry"),
        after_long_help = CHECK_REGISTRY
    )]
    CheckRegistry {
        /// CSV file, as for --crawlers.
        file: PathBuf,
    },
}

impl CrawlersArgs {
    /// Prints the answer.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let (crawlers, console) = (self.crawlers, console(Show::OnTerminal));
        let is_json = self.format == Format::Json;
        let answered = |question| answer(question, crawlers.as_deref(), is_json, &*console);
        match self.command {
            None | Some(CrawlersCommand::List) => answered(CrawlersQuestion::List),
            Some(CrawlersCommand::Show { name }) => answered(CrawlersQuestion::Show(&name)),
            Some(CrawlersCommand::Identify { user_agent }) => {
                answered(CrawlersQuestion::Identify(&user_agent))
            }
            Some(CrawlersCommand::CheckRegistry { file }) => check_registry(&file, &*console),
            Some(CrawlersCommand::FetchRanges(args)) => args.run(crawlers),
            Some(CrawlersCommand::ImportRanges(args)) => args.run(ImportedKind::Lists, crawlers),
            Some(CrawlersCommand::FetchKeys(args)) => args.run(),
            Some(CrawlersCommand::ImportKeys(args)) => args.run(ImportedKind::Keys, crawlers),
            Some(CrawlersCommand::ImportCard(args)) => args.run(),
        }
    }
}
