//! `botaudit check`: may this crawler request these URLs, and why.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use crate::error::{Error, Result};
use crate::run::check::{AskedCrawler, CheckForm, CheckRun};
use crate::run::console::RunOutcome;
use crate::url::path::Dialect;

use super::console::{Show, console};
use super::help::short;
use super::shared::{CHECK_FORMS, dialect, one_of, origin};

const HELP: &str = include_str!("help/check.txt");

const USAGE: &str = "botaudit check [OPTIONS] --robots <PATH> --crawler <NAME> <URL>...
       botaudit check [OPTIONS] --robots <PATH> --user-agent <HEADER> <URL>...
       botaudit check [OPTIONS] --robots <PATH> --token <TOKEN> <URL>...";

/// Check whether a crawler may request a URL, and explain the answer.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "check"), after_long_help = HELP, override_usage = USAGE)]
pub(crate) struct CheckArgs {
    /// URLs, or paths with --origin; - reads a list from standard input.
    ///
    /// A list has one URL per line.
    #[arg(required = true, value_name = "URL")]
    urls: Vec<OsString>,

    #[command(flatten)]
    crawler: CheckedCrawlerArgs,

    /// robots.txt file, directory of such files, or archive.
    ///
    /// A file applies to all URLs. A directory has one file per host, and the file names decide. `example.com`, `example.com.txt` and
    /// `example.com/robots.txt` apply to that host on its default port, for http and https.
    /// `https_example.com_8443.txt` applies to exactly that origin and takes precedence.
    #[arg(long, value_name = "PATH", help_heading = "Rules")]
    robots: PathBuf,

    /// Use the robots.txt that was in force at TIME; needs an archive [default: now]
    ///
    /// TIME is written as 2026-01-31T12:00:00Z, or as a date.
    #[arg(long, value_name = "TIME", help_heading = "Rules")]
    at: Option<String>,

    /// Origin of paths, such as https://example.com.
    #[arg(long, value_name = "URL", help_heading = "Rules")]
    origin: Option<String>,

    /// CSV file with more crawlers; a row with a built-in name replaces that crawler.
    #[arg(long, value_name = "FILE", help_heading = "Crawler", hide_short_help = true)]
    crawlers: Option<PathBuf>,

    /// How percent-encodings and wildcards are compared.
    #[arg(long, value_name = "DIALECT", value_parser = dialect(), default_value = "google",
        help_heading = "Rules", hide_short_help = true)]
    dialect: Dialect,

    /// Format of the output.
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&CHECK_FORMS), default_value = "text",
        help_heading = "Output")]
    format: CheckForm,

    /// Print one line per URL: verdict, deciding line, URL.
    #[arg(short, long, help_heading = "Output", conflicts_with = "format")]
    quiet: bool,
}

/// The crawler.
#[derive(Args, Debug)]
#[command(next_help_heading = "Crawler")]
#[group(required = true, multiple = false)]
struct CheckedCrawlerArgs {
    /// Known crawler, such as GPTBot.
    #[arg(long, value_name = "NAME")]
    crawler: Option<String>,

    /// Crawler that sends this whole User-Agent header.
    ///
    /// If the registry does not know it, the first product counts: FooBot in `FooBot/1.0 (+http://foo.example)` and in
    /// `Mozilla/5.0 (compatible; FooBot/1.0)`.
    #[arg(long, value_name = "HEADER")]
    user_agent: Option<OsString>,

    /// Any crawler with this product token.
    ///
    /// The product token is the name in User-agent lines of robots.txt. A version after it is ignored: GPTBot/1.2.
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
}

impl CheckArgs {
    /// Answers each URL.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let run = CheckRun {
            origin: self.origin.as_deref().map(origin).transpose()?,
            crawler: self.crawler.asked()?,
            urls: self.urls,
            robots: self.robots,
            at: self.at,
            crawlers: self.crawlers,
            dialect: self.dialect,
            form: if self.quiet { CheckForm::Line } else { self.format },
            console: console(Show::OnTerminal),
        };
        run.run()
    }
}

impl CheckedCrawlerArgs {
    fn asked(self) -> Result<AskedCrawler> {
        let crawler = self.crawler.map(AskedCrawler::Named);
        let crawler = crawler.or(self.user_agent.map(AskedCrawler::UserAgent));
        crawler
            .or(self.token.map(AskedCrawler::Token))
            .ok_or_else(|| Error::usage("no crawler given; use --crawler, --user-agent or --token"))
    }
}
