//! `botaudit check`: may this crawler request these URLs, and why.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, BufRead, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::archive::{Store, import::time_named};
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::explain::checked_crawler::CheckedCrawler;
use crate::explain::{Explanation, Located, Undecided, explain, locate};
use crate::judge::{Judge, messages::foreign_message, robots::RobotsId};
use crate::report::check_json::{json, undecided_json};
use crate::report::check_text::{text, undecided_line, undecided_text, verdict_line};
use crate::report::outputs::{Outputs, Overwrite};
use crate::run::outcome::RunOutcome;
use crate::run::output::cannot_print;
use crate::run::sandbox::access_rights::TcpUse;
use crate::time::UtcTime;
use crate::url::{dialect::Dialect, origin::Origin};

use super::confinement::confine;
use super::help::short;
use super::shared::{or_token, origin, registry, unknown_crawler, warn};
use super::value_names::{DIALECTS, one_of};

const HELP: &str = include_str!("help/check.txt");

const USAGE: &str = "botaudit check [OPTIONS] --robots <PATH> --crawler <NAME> <URL>...
       botaudit check [OPTIONS] --robots <PATH> --user-agent <HEADER> <URL>...
       botaudit check [OPTIONS] --robots <PATH> --token <TOKEN> <URL>...";

/// The longest URL that is accepted, in bytes. By default, Apache and nginx refuse a request line
/// over 8 KiB. Every rule is tried in both dialects, and the time grows with the URL: the worst
/// known robots.txt, 31 rules of 16 KiB that end in `%2A`, takes a second for a URL of this length.
const URL_BYTES_MAX: usize = 1 << 16;

/// Check whether a crawler may request a URL, and explain the answer.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "check"), after_long_help = HELP, override_usage = USAGE)]
pub struct CheckArgs {
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
    #[arg(long, value_name = "DIALECT", value_parser = one_of(&DIALECTS), default_value = "google",
        help_heading = "Rules", hide_short_help = true)]
    dialect: Dialect,

    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    format: Format,

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

/// The values of `--format`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    /// For people: each step of the answer
    Text,
    /// For programs: an array with one object per URL
    Json,
    /// For programs: one object per line and URL
    Jsonl,
}

/// The form of the answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Text,
    Line,
    Json,
    JsonLines,
}

impl CheckArgs {
    /// Answers each URL as it is read.
    pub fn run(self) -> Result<RunOutcome> {
        let origin = self.origin.as_deref().map(origin).transpose()?;
        let registry = registry(self.crawlers.as_deref())?;
        let crawler = self.crawler.checked_crawler(&registry)?;
        let mut inputs = Outputs::new(Overwrite::Own);
        inputs.reads_robots("--robots", &self.robots);
        confine(&inputs, TcpUse::None);
        let judge = self.judge(&registry, crawler.kind.ad_hoc_tokens())?;
        let at = self.at(&judge)?;
        let mut answers = Answers {
            judge: &judge,
            crawler,
            origin: origin.as_ref(),
            at,
            form: match (self.format, self.quiet) {
                (Format::Json, _) => Form::Json,
                (Format::Jsonl, _) => Form::JsonLines,
                (Format::Text, true) => Form::Line,
                (Format::Text, false) => Form::Text,
            },
            out: BufWriter::new(io::stdout().lock()),
            outcome: RunOutcome::Done,
            is_first: true,
            is_watched: io::stdout().is_terminal(),
            unreadable: HashSet::new(),
            warned: HashSet::new(),
        };
        for url in &self.urls {
            if url == "-" {
                each_line(&mut io::stdin().lock(), |url| answers.answer(url))?;
            } else {
                answers.answer(url.as_encoded_bytes())?;
            }
        }
        answers.end()?;
        Ok(answers.outcome)
    }

    fn at(&self, judge: &Judge) -> Result<UtcTime> {
        let Some(text) = &self.at else { return Ok(jiff::Timestamp::now().into()) };
        if !judge.has_history() {
            let why = "--at needs an archive as --robots; create one with botaudit robots import \
                       or fetch";
            return Err(Error::usage(why));
        }
        time_named(text).ok_or_else(|| {
            Error::usage(format!("'{text}' is not a valid time; write --at 2026-01-31T12:00:00Z"))
        })
    }

    fn judge(&self, registry: &Registry, ad_hoc_tokens: Option<Vec<String>>) -> Result<Judge> {
        let store = Store::open(&self.robots)?;
        match ad_hoc_tokens {
            Some(product_tokens) => Judge::ad_hoc(store, product_tokens, self.dialect),
            None => Judge::of_rules_alone(store, registry, self.dialect),
        }
    }
}

impl CheckedCrawlerArgs {
    fn checked_crawler<'a>(&'a self, registry: &'a Registry) -> Result<CheckedCrawler<'a>> {
        match (&self.crawler, &self.user_agent, &self.token) {
            (Some(name), _, _) => CheckedCrawler::named(registry, name)
                .ok_or_else(|| unknown_crawler(name, registry, &or_token(name, registry))),
            (_, Some(user_agent), _) => {
                Ok(CheckedCrawler::by_user_agent(registry, user_agent.as_encoded_bytes()))
            }
            (_, _, Some(token)) if token.is_empty() => {
                Err(Error::usage("--token is empty; write --token mybot"))
            }
            (_, _, Some(token)) => {
                Ok(CheckedCrawler::ad_hoc(registry.checked_token(token, "--user-agent")?))
            }
            (None, None, None) => {
                Err(Error::usage("no crawler given; use --crawler, --user-agent or --token"))
            }
        }
    }
}

/// The settings for all URLs, and the output.
struct Answers<'a> {
    judge: &'a Judge,
    crawler: CheckedCrawler<'a>,
    origin: Option<&'a Origin>,
    at: UtcTime,
    form: Form,
    out: BufWriter<io::StdoutLock<'static>>,
    outcome: RunOutcome,
    is_first: bool,
    is_watched: bool,
    /// Why robots.txt files could not be read, if a warning is printed.
    unreadable: HashSet<String>,
    /// The robots.txt versions with a printed warning.
    warned: HashSet<RobotsId>,
}

impl Answers<'_> {
    fn answer(&mut self, url: &[u8]) -> Result<()> {
        let located = match url.len() {
            0..=URL_BYTES_MAX => locate(self.judge, url, self.origin, self.at),
            _ => Err(Undecided::TooLong(URL_BYTES_MAX)),
        };
        let text = match located {
            Ok(located) => {
                self.warn_of_foreign(&located);
                let explanation = explain(self.judge, self.crawler.id, &located)?;
                if !explanation.asked.is_allowed() && self.outcome == RunOutcome::Done {
                    self.outcome = RunOutcome::Disallowed;
                }
                self.decided(&explanation)
            }
            Err(undecided) => {
                self.outcome = RunOutcome::Undecided;
                if let Undecided::Unreadable(why) = &undecided {
                    self.warn_of_unreadable(why);
                }
                self.undecided(url, &undecided)
            }
        };
        let is_first = std::mem::replace(&mut self.is_first, false);
        let before = match (self.form, is_first) {
            (Form::Text, false) => "\n",
            (Form::Json, true) => "[\n",
            (Form::Json, false) => ",\n",
            (Form::Text, true) | (Form::Line | Form::JsonLines, _) => "",
        };
        // Objects of an array are separated by commas, which must not follow a line end.
        let text = if self.form == Form::Json { text.trim_end() } else { &text };
        write!(self.out, "{before}{text}").map_err(cannot_print)?;
        // The list may be typed, or arrive slowly.
        if self.is_watched { self.out.flush().map_err(cannot_print) } else { Ok(()) }
    }

    /// Warns once for each robots.txt that could not be read.
    fn warn_of_unreadable(&mut self, why: &str) {
        if self.unreadable.insert(why.to_owned()) {
            warn(why);
        }
    }

    /// Warns once for each file that is not a robots.txt.
    fn warn_of_foreign(&mut self, located: &Located<'_>) {
        let Some(file) = &located.file else { return };
        if let Some(what) = file.robots.foreign
            && self.warned.insert(file.robots.id)
        {
            warn(&foreign_message(&file.source, what));
        }
    }

    fn decided(&self, explanation: &Explanation<'_>) -> String {
        match self.form {
            Form::Text => text(explanation, self.crawler.kind),
            Form::Line => verdict_line(explanation, self.crawler.kind),
            Form::Json | Form::JsonLines => json(explanation, self.crawler.kind),
        }
    }

    fn undecided(&self, url: &[u8], undecided: &Undecided) -> String {
        match self.form {
            Form::Text => undecided_text(url, undecided),
            Form::Line => undecided_line(url, undecided),
            Form::Json | Form::JsonLines => undecided_json(url, undecided, self.crawler.kind),
        }
    }

    /// Ends the output, once all URLs are answered.
    fn end(&mut self) -> Result<()> {
        let end = match (self.form, self.is_first) {
            (Form::Json, true) => "[]\n",
            (Form::Json, false) => "\n]\n",
            _ => "",
        };
        self.out.write_all(end.as_bytes()).and_then(|()| self.out.flush()).map_err(cannot_print)
    }
}

/// Calls `take` with each line that is not blank, trimmed. Of a line that is too long for a URL,
/// only the beginning is passed, which is still too long.
fn each_line(input: &mut impl BufRead, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let cannot_read = |err| Error::io("cannot read", Path::new("standard input"), err);
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = URL_BYTES_MAX as u64 + 2;
        input.by_ref().take(most).read_until(b'\n', &mut line).map_err(cannot_read)?;
        if line.is_empty() {
            return Ok(());
        }
        let is_cut = line.len() as u64 == most && line.last() != Some(&b'\n');
        if is_cut {
            input.skip_until(b'\n').map_err(cannot_read)?;
        }
        let url = if is_cut { &line[..] } else { line.trim_ascii() };
        if !url.is_empty() {
            take(url)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &[u8], expected: &[usize]) {
        let mut lengths = Vec::new();
        each_line(&mut io::BufReader::with_capacity(7, input), |url| {
            lengths.push(url.len());
            Ok(())
        })
        .unwrap();
        assert_eq!(lengths, expected);
    }

    #[test]
    fn lists_of_urls() {
        check(b"", &[]);
        check(b"/a\r\n\n  /bc \n/def", &[2, 3, 4]);
        let long = vec![b'x'; URL_BYTES_MAX + 100];
        check(&long, &[URL_BYTES_MAX + 2]);
        check(&[&long, &b"\n/a\n"[..]].concat(), &[URL_BYTES_MAX + 2, 2]);
        let longest = &long[..URL_BYTES_MAX];
        check(&[longest, &b"\n/a\n"[..]].concat(), &[URL_BYTES_MAX, 2]);
        check(&[longest, &b"x\n/a\n"[..]].concat(), &[URL_BYTES_MAX + 1, 2]);
    }
}
