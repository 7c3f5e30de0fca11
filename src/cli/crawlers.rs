//! `botaudit crawlers`: who is known, by what, and who says so.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::crawlers::check::check;
use crate::error::Result;
use crate::report::crawlers_json::{crawler_json, identified_json, list_json};
use crate::report::crawlers_text::{crawler_text, identified_text, list_text};
use crate::report::escape::visible;

use super::shared::{complain, print, registry, unknown_crawler};
use super::{exit_status::ExitStatus, fetch_ranges::FetchRangesArgs};

const EXAMPLES: &str = include_str!("help/crawlers.txt");

/// Show the registry of crawlers: who they are, what is said of them and robots.txt, and by whom.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit crawlers --help")]
pub struct CrawlersArgs {
    #[command(subcommand)]
    command: Option<CrawlersCommand>,

    /// CSV of crawlers that are added to the built-in ones; a row of the same name replaces one.
    #[arg(long, value_name = "FILE", global = true)]
    crawlers: Option<PathBuf>,

    /// Answer in JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum CrawlersCommand {
    /// All crawlers in the order in which they are tried, a line each.
    #[command(after_help = "Example:\n  botaudit crawlers list --json | jq .name")]
    List,
    /// Everything that is known of one crawler.
    #[command(after_help = "Example:\n  botaudit crawlers show GPTBot")]
    Show {
        /// Its name, as GPTBot.
        name: String,
    },
    /// Which crawler sends this User-Agent header.
    #[command(
        after_help = "Example:\n  botaudit crawlers identify 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'"
    )]
    Identify {
        /// The header, in full.
        user_agent: OsString,
    },
    FetchRanges(FetchRangesArgs),
    /// Name every mistake in a CSV of crawlers, with its line.
    #[command(after_help = "Example:\n  botaudit crawlers check-registry my-crawlers.csv")]
    CheckRegistry {
        /// The CSV file, as for --crawlers.
        file: PathBuf,
    },
}

impl CrawlersArgs {
    /// Answers.
    pub fn run(self) -> Result<ExitStatus> {
        if let Some(CrawlersCommand::CheckRegistry { file }) = &self.command {
            return check_registry(file);
        }
        let registry = registry(self.crawlers.as_deref())?;
        if let Some(CrawlersCommand::FetchRanges(args)) = &self.command {
            return args.run(&registry, self.crawlers.as_deref());
        }
        print(&match (&self.command, self.json) {
            (Some(CrawlersCommand::Show { name }), _) => {
                let id = registry.find(name).ok_or_else(|| unknown_crawler(name, &registry))?;
                let text = if self.json { crawler_json } else { crawler_text };
                text(registry.crawler(id))
            }
            (Some(CrawlersCommand::Identify { user_agent }), _) => {
                let text = if self.json { identified_json } else { identified_text };
                text(&registry, user_agent.as_encoded_bytes())
            }
            (_, true) => list_json(&registry),
            (_, false) => list_text(&registry),
        })?;
        Ok(ExitStatus::Done)
    }
}

fn check_registry(file: &std::path::Path) -> Result<ExitStatus> {
    let checked = check(file)?;
    checked.mistakes.iter().for_each(|mistake| complain(&mistake.to_string()));
    checked.oddities.iter().for_each(|oddity| complain(&format!("warning: {oddity}")));
    print(&format!(
        "{}: {} crawlers ({} in place of built-in ones), {} mistakes, {} warnings\n",
        visible(file.display().to_string().as_bytes()),
        checked.rows,
        checked.replacing,
        checked.mistakes.len(),
        checked.oddities.len()
    ))?;
    Ok(if checked.mistakes.is_empty() { ExitStatus::Done } else { ExitStatus::Violations })
}
