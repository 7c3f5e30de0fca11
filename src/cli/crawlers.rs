//! `botaudit crawlers`: the registry of known crawlers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use crate::crawlers::check::check;
use crate::error::Result;
use crate::numbers::{counted, grouped};
use crate::report::crawlers_json::{crawler_json, identified_json, list_json};
use crate::report::crawlers_text::{crawler_text, identified_text, list_text};
use crate::report::outputs::{Outputs, Overwrite};
use crate::run::crawler_names::{registry, unknown_crawler};
use crate::run::outcome::RunOutcome;
use crate::run::sandbox::access_rights::TcpUse;
use crate::table::escape::visible;

use super::confinement::confine;
use super::fetch_ranges::FetchRangesArgs;
use super::help::short;
use super::shared::{error, print, warn};

const HELP: &str = include_str!("help/crawlers.txt");
const LIST: &str = include_str!("help/crawlers-list.txt");
const SHOW: &str = include_str!("help/crawlers-show.txt");
const IDENTIFY: &str = include_str!("help/crawlers-identify.txt");
const CHECK_REGISTRY: &str = include_str!("help/crawlers-check-registry.txt");

/// Show known crawlers and what they say about robots.txt.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "crawlers"), after_long_help = HELP)]
pub struct CrawlersArgs {
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
    pub fn run(self) -> Result<RunOutcome> {
        if let Some(CrawlersCommand::CheckRegistry { file }) = &self.command {
            confine_to("FILE", Some(file));
            return check_registry(file);
        }
        // The download confines itself, because it needs the network.
        if !matches!(self.command, Some(CrawlersCommand::FetchRanges(_))) {
            confine_to("--crawlers", self.crawlers.as_deref());
        }
        let registry = registry(self.crawlers.as_deref())?;
        if let Some(CrawlersCommand::FetchRanges(args)) = &self.command {
            return args.run(&registry, self.crawlers.as_deref());
        }
        let is_json = self.format == Format::Json;
        print(&match (&self.command, is_json) {
            (Some(CrawlersCommand::Show { name }), _) => {
                let next = "to list all names, run: botaudit crawlers list";
                let id =
                    registry.find(name).ok_or_else(|| unknown_crawler(name, &registry, next))?;
                let text = if is_json { crawler_json } else { crawler_text };
                text(registry.crawler(id))
            }
            (Some(CrawlersCommand::Identify { user_agent }), _) => {
                let text = if is_json { identified_json } else { identified_text };
                text(&registry, user_agent.as_encoded_bytes())
            }
            (_, true) => list_json(&registry),
            (_, false) => list_text(&registry),
        })?;
        Ok(RunOutcome::Done)
    }
}

/// Confines the process to the input `path` of `role`.
fn confine_to(role: &'static str, path: Option<&Path>) {
    let mut files = Outputs::new(Overwrite::Own);
    path.into_iter().for_each(|path| files.reads(role, path));
    confine(&files, TcpUse::None);
}

fn check_registry(file: &Path) -> Result<RunOutcome> {
    let checked = check(file)?;
    checked.errors.iter().for_each(|problem| error(&problem.to_string()));
    checked.warnings.iter().for_each(|problem| warn(&problem.to_string()));
    print(&format!(
        "{}: {} ({} in place of built-in ones), {}, {}\n",
        visible(file.display().to_string().as_bytes()),
        counted(checked.rows as u64, "crawler"),
        grouped(checked.replacing as u64),
        counted(checked.errors.len() as u64, "mistake"),
        counted(checked.warnings.len() as u64, "warning"),
    ))?;
    Ok(if checked.errors.is_empty() { RunOutcome::Done } else { RunOutcome::Violations })
}
