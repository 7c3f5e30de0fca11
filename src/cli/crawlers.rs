//! `botaudit crawlers`: the registry of known crawlers, and what operators publish about them: address lists, keys and
//! cards, downloaded or imported.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use crate::error::Result;
use crate::run::console::RunOutcome;
use crate::run::crawlers::{CrawlersQuestion, answer, check_registry};
use crate::run::downloads::{FetchKeysRun, FetchRangesRun};
use crate::run::imports::{ImportCardRun, ImportRangesRun, ImportedKind};

use super::console::{Show, console};
use super::help::short;
use super::shared::{ForceArg, NetworkArgs};

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

const IMPORT_CARD: &str = include_str!("help/crawlers-import-card.txt");

/// Import Signature Agent Cards into a CSV file of crawlers.
#[derive(Args, Debug)]
#[command(after_help = short(IMPORT_CARD, "crawlers import-card"), after_long_help = IMPORT_CARD)]
pub(crate) struct ImportCardArgs {
    /// Cards; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    cards: Vec<PathBuf>,

    /// Name of the crawler, instead of that in the card.
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    name: Option<String>,

    /// Built-in crawler that the card replaces.
    #[arg(long, value_name = "NAME", help_heading = "Input", conflicts_with = "name")]
    replace: Option<String>,

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
            replace: self.replace,
            operator: self.operator,
            url: self.url,
            console: console(Show::unless(self.quiet)),
        };
        run.run()
    }
}

/// The arguments of `import-ranges` and `import-keys`.
#[derive(Args, Debug)]
pub(crate) struct ImportRangesArgs {
    /// Directory to add to; created if it does not exist.
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Files, directories or git repositories to import.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// URL of the content of files, if their names do not contain it.
    #[arg(long, value_name = "URL", help_heading = "Input")]
    url: Option<String>,

    /// Time of files without one; `modified` means their modification time.
    #[arg(long, value_name = "TIME", help_heading = "Input")]
    at: Option<String>,

    /// Import the history of the files from git (the current branch).
    #[arg(long, conflicts_with = "at", help_heading = "Input")]
    git: bool,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

impl ImportRangesArgs {
    /// Imports all paths; `crawlers` is the file of added crawlers.
    pub(crate) fn run(self, kind: ImportedKind, crawlers: Option<PathBuf>) -> Result<RunOutcome> {
        let run = ImportRangesRun {
            kind,
            directory: self.directory,
            paths: self.paths,
            crawlers,
            url: self.url,
            at: self.at,
            is_git: self.git,
            console: console(Show::unless(self.quiet)),
        };
        run.run()
    }
}

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

/// The arguments of `fetch-ranges` and `fetch-keys`.
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
