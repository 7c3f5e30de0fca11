//! Answers to: may this crawler request these URLs, and why.

use std::io::{self, BufRead, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::{collections::HashSet, ffi::OsString, fs::File};

use crate::archive::Store;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::explain::json::{json, undecided_json};
use crate::explain::locate;
use crate::explain::text::{text, undecided_line, undecided_text, verdict_line};
use crate::explain::{Explanation, Located, Undecided, checked_crawler::CheckedCrawler, explain};
use crate::judge::{Judge, messages::foreign_message, profile::CrawlerProfile, robots::RobotsId};
use crate::report::outputs::{Outputs, Overwrite};
use crate::time::UtcTime;
use crate::url::{origin::Origin, path::Dialect};

use super::console::{Console, RunOutcome, SharedConsole, cannot_print};
use super::crawlers::{or_token, registry, unknown_crawler};
use super::{robots::named::named_time, sandbox::access_rights::TcpUse};

/// The longest URL that is accepted, in bytes. By default, Apache and nginx refuse a request line
/// over 8 KiB. Every rule is tried in both dialects, and the time grows with the URL: the worst
/// known robots.txt, 31 rules of 16 KiB that end in `%2A`, takes a second for a URL of this length.
const URL_BYTES_MAX: usize = 1 << 16;

/// URLs that are ready to be checked.
#[derive(Debug)]
pub(crate) struct CheckRun {
    /// URLs, or paths if there is an origin; - reads a list from standard input.
    pub urls: Vec<OsString>,
    /// The crawler.
    pub crawler: AskedCrawler,
    /// The robots.txt file, directory or archive to judge by.
    pub robots: PathBuf,
    /// The time to judge at, which needs an archive; `None` means now.
    pub at: Option<String>,
    /// The origin of paths.
    pub origin: Option<Origin>,
    /// A CSV file of crawlers.
    pub crawlers: Option<PathBuf>,
    /// How percent-encodings and wildcards are compared.
    pub dialect: Dialect,
    /// The form of the answers.
    pub form: CheckForm,
    /// Who follows the run.
    pub console: SharedConsole,
}

/// The crawler that a user asks about.
#[derive(Clone, Debug)]
pub(crate) enum AskedCrawler {
    /// A crawler of the registry.
    Named(String),
    /// The sender of a whole User-Agent header.
    UserAgent(OsString),
    /// Any crawler with this product token.
    Token(String),
}

/// The form of the answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CheckForm {
    /// For people: each step of the answer.
    Text,
    /// One line for each URL: verdict, deciding line, URL.
    Line,
    /// An array with an object for each URL.
    Json,
    /// An object on a line of its own for each URL.
    JsonLines,
}

impl CheckRun {
    /// Answers each URL as it is read.
    ///
    /// # Errors
    /// If a setting is not valid, robots.txt cannot be read, or the answers cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let console = &*self.console;
        let registry = registry(self.crawlers.as_deref())?;
        let crawler = self.crawler.checked_crawler(&registry)?;
        let mut inputs = Outputs::new(Overwrite::Own);
        inputs.reads_robots("--robots", &self.robots);
        console.begin_with(&inputs, TcpUse::None);
        let judge = self.judge(&registry, crawler.ad_hoc_profile())?;
        let at = self.at(&judge)?;
        let stdout = console.stdout()?;
        let mut answers = Answers {
            judge: &judge,
            crawler,
            origin: self.origin.as_ref(),
            at,
            form: self.form,
            is_watched: stdout.is_terminal(),
            out: BufWriter::new(stdout),
            console,
            outcome: RunOutcome::Done,
            is_first: true,
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
        if console.is_verbose() {
            console.note(&judge.compiled_message());
        }
        Ok(answers.outcome)
    }

    fn at(&self, judge: &Judge) -> Result<UtcTime> {
        let Some(text) = &self.at else { return Ok(jiff::Timestamp::now().into()) };
        if !judge.has_history() {
            let why = "--at needs an archive as --robots; create one with botaudit robots import \
                       or fetch";
            return Err(Error::usage(why));
        }
        named_time(text)
    }

    fn judge(&self, registry: &Registry, ad_hoc: Option<CrawlerProfile>) -> Result<Judge> {
        let store = Store::open(&self.robots)?;
        match ad_hoc {
            Some(profile) => Judge::ad_hoc(store, profile, self.dialect),
            None => Judge::of_rules_alone(store, registry, self.dialect),
        }
    }
}

impl AskedCrawler {
    fn checked_crawler<'a>(&'a self, registry: &'a Registry) -> Result<CheckedCrawler<'a>> {
        match self {
            AskedCrawler::Named(name) => CheckedCrawler::named(registry, name)
                .ok_or_else(|| unknown_crawler(name, registry, &or_token(name, registry))),
            AskedCrawler::UserAgent(header) => {
                Ok(CheckedCrawler::by_user_agent(registry, header.as_encoded_bytes()))
            }
            AskedCrawler::Token(token) if token.is_empty() => {
                Err(Error::usage("--token is empty; write --token mybot"))
            }
            AskedCrawler::Token(token) => {
                Ok(CheckedCrawler::ad_hoc(registry.checked_token(token, "--user-agent")?))
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
    form: CheckForm,
    out: BufWriter<File>,
    console: &'a dyn Console,
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
        if let Ok(located) = &located {
            self.warn_of_foreign(located);
        }
        let explanation = match &located {
            Ok(located) => explain(self.judge, self.crawler.asker(), located)?,
            Err(undecided) => Err(undecided.clone()),
        };
        let text = match explanation {
            Ok(explanation) => {
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
            (CheckForm::Text, false) => "\n",
            (CheckForm::Json, true) => "[\n",
            (CheckForm::Json, false) => ",\n",
            (CheckForm::Text, true) | (CheckForm::Line | CheckForm::JsonLines, _) => "",
        };
        // Objects of an array are separated by commas, which must not follow a line end.
        let text = if self.form == CheckForm::Json { text.trim_end() } else { &text };
        write!(self.out, "{before}{text}").map_err(cannot_print)?;
        // The list may be typed, or arrive slowly.
        if self.is_watched { self.out.flush().map_err(cannot_print) } else { Ok(()) }
    }

    /// Warns once for each robots.txt that could not be read.
    fn warn_of_unreadable(&mut self, why: &str) {
        if self.unreadable.insert(why.to_owned()) {
            self.console.warn(why);
        }
    }

    /// Warns once for each file that is not a robots.txt.
    fn warn_of_foreign(&mut self, located: &Located<'_>) {
        let Some(file) = &located.file else { return };
        if let Some(what) = file.robots.foreign
            && self.warned.insert(file.robots.id)
        {
            self.console.warn(&foreign_message(&file.source, what));
        }
    }

    fn decided(&self, explanation: &Explanation<'_>) -> String {
        match self.form {
            CheckForm::Text => text(explanation, &self.crawler),
            CheckForm::Line => verdict_line(explanation, self.crawler.kind),
            CheckForm::Json | CheckForm::JsonLines => json(explanation, self.crawler.kind),
        }
    }

    fn undecided(&self, url: &[u8], undecided: &Undecided) -> String {
        match self.form {
            CheckForm::Text => undecided_text(url, undecided),
            CheckForm::Line => undecided_line(url, undecided),
            CheckForm::Json | CheckForm::JsonLines => {
                undecided_json(url, undecided, self.crawler.kind)
            }
        }
    }

    /// Ends the output, once all URLs are answered.
    fn end(&mut self) -> Result<()> {
        let end = match (self.form, self.is_first) {
            (CheckForm::Json, true) => "[]\n",
            (CheckForm::Json, false) => "\n]\n",
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
