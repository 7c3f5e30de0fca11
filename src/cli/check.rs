//! `botaudit check`: may this crawler request these URLs, and why.

use std::ffi::OsString;
use std::io::{self, BufRead, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::archive::{Store, import::time_named};
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::explain::{Explanation, Undecided, asker::Asker, explain, locate};
use crate::judge::Judge;
use crate::report::check_json::{json, undecided_json};
use crate::report::check_text::{text, undecided_line, undecided_text, verdict_line};
use crate::time::UtcTime;
use crate::url::{dialect::Dialect, origin::Origin};

use super::exit_status::ExitStatus;
use super::shared::{cannot_print, origin, registry, unknown_crawler};
use super::value_names::{DIALECTS, one_of};

const EXAMPLES: &str = include_str!("help/check.txt");

/// The longest URL that is looked at, in bytes. Apache and nginx refuse a request line past 8 KiB
/// as they come. Every rule is tried, in both dialects, in time that grows with the URL: the worst
/// robots.txt known, 31 rules of 16 KiB that end in `%2A`, takes a second for a URL of this length.
const URL_BYTES_MAX: usize = 1 << 16;

/// Say whether a crawler may request a URL, and each step of the asked.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit check --help")]
pub struct CheckArgs {
    /// URLs, or paths of --origin; - for a list on standard input, one a line.
    #[arg(required = true, value_name = "URL")]
    urls: Vec<OsString>,

    #[command(flatten)]
    asker: AskerArgs,

    /// A robots.txt file, which then governs all URLs, a directory with one file an origin, or an
    /// archive of `botaudit robots`.
    ///
    /// In a directory the names decide: `example.com`, `example.com.txt` and
    /// `example.com/robots.txt` govern that host on its default port under any scheme;
    /// `https_example.com_8443.txt` governs exactly that origin, and wins.
    #[arg(long, value_name = "PATH")]
    robots: PathBuf,

    /// The time to ask about, as 2026-01-31T12:00:00Z: an archive says what was in force. Else now.
    #[arg(long, value_name = "TIME")]
    at: Option<String>,

    /// Origin of paths that are given alone, as https://example.com.
    #[arg(long, value_name = "URL")]
    origin: Option<String>,

    /// CSV of crawlers that are added to the built-in ones; a row of the same name replaces one.
    #[arg(long, value_name = "FILE")]
    crawlers: Option<PathBuf>,

    /// How percent-encodings and wildcards are read.
    #[arg(long, value_parser = one_of(&DIALECTS), default_value = "google")]
    dialect: Dialect,

    /// One JSON object a URL, each on a line, with all steps.
    #[arg(long)]
    json: bool,

    /// One line a URL: the verdict, the deciding line of robots.txt, the URL.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

/// Who asks.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct AskerArgs {
    /// A known crawler by its name, as GPTBot.
    #[arg(long, value_name = "NAME")]
    crawler: Option<String>,

    /// Whoever sends this User-Agent header, given in full.
    #[arg(long, value_name = "HEADER")]
    user_agent: Option<OsString>,

    /// Whoever answers to this product token, known or not.
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
}

/// How answers are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Text,
    Line,
    Json,
}

impl CheckArgs {
    /// Answers for each URL as it comes.
    pub fn run(self) -> Result<ExitStatus> {
        let origin = self.origin.as_deref().map(origin).transpose()?;
        let registry = registry(self.crawlers.as_deref())?;
        let asker = self.asker.asker(&registry)?;
        let judge = self.judge(&registry)?;
        let at = self.at(&judge)?;
        let mut answers = Answers {
            judge: &judge,
            asker,
            origin: origin.as_ref(),
            at,
            form: match (self.json, self.quiet) {
                (true, _) => Form::Json,
                (_, true) => Form::Line,
                (_, _) => Form::Text,
            },
            out: BufWriter::new(io::stdout().lock()),
            outcome: ExitStatus::Done,
            is_first: true,
            is_watched: io::stdout().is_terminal(),
        };
        for url in &self.urls {
            if url == "-" {
                each_line(&mut io::stdin().lock(), |url| answers.answer(url))?;
            } else {
                answers.answer(url.as_encoded_bytes())?;
            }
        }
        answers.out.flush().map_err(cannot_print)?;
        Ok(answers.outcome)
    }

    fn at(&self, judge: &Judge) -> Result<UtcTime> {
        let Some(text) = &self.at else { return Ok(jiff::Timestamp::now().into()) };
        if !judge.is_dated() {
            let why = "--at asks what was in force then, which only an archive knows; \
                       make one with botaudit robots import or fetch";
            return Err(Error::usage(why));
        }
        time_named(text).ok_or_else(|| {
            Error::usage(format!("'{text}' is no time; write --at 2026-01-31T12:00:00Z"))
        })
    }

    fn judge(&self, registry: &Registry) -> Result<Judge> {
        let store = Store::open(&self.robots)?;
        match self.asker.token.as_deref() {
            // Nobody in particular.
            Some("*") => Judge::ad_hoc(store, Vec::new(), self.dialect),
            Some(token) => Judge::ad_hoc(store, vec![token.to_owned()], self.dialect),
            None => Judge::of_rules_alone(store, registry, self.dialect),
        }
    }
}

impl AskerArgs {
    fn asker<'a>(&'a self, registry: &'a Registry) -> Result<Asker<'a>> {
        match (&self.crawler, &self.user_agent, &self.token) {
            (Some(name), _, _) => {
                Asker::named(registry, name).ok_or_else(|| unknown_crawler(name, registry))
            }
            (_, Some(user_agent), _) => {
                Ok(Asker::by_user_agent(registry, user_agent.as_encoded_bytes()))
            }
            (_, _, Some(token)) if token.is_empty() => {
                Err(Error::usage("an empty product token names nobody; write it as --token mybot"))
            }
            (_, _, Some(token)) => Ok(Asker::ad_hoc(token)),
            (None, None, None) => {
                Err(Error::usage("say who asks, with --crawler, --user-agent or --token"))
            }
        }
    }
}

/// What is asked of each URL, and where the answers go.
struct Answers<'a> {
    judge: &'a Judge,
    asker: Asker<'a>,
    origin: Option<&'a Origin>,
    at: UtcTime,
    form: Form,
    out: BufWriter<io::StdoutLock<'static>>,
    outcome: ExitStatus,
    is_first: bool,
    is_watched: bool,
}

impl Answers<'_> {
    fn answer(&mut self, url: &[u8]) -> Result<()> {
        let located = match url.len() {
            0..=URL_BYTES_MAX => locate(self.judge, url, self.origin, self.at),
            _ => Err(Undecided::TooLong(URL_BYTES_MAX)),
        };
        let text = match located {
            Ok(located) => {
                let explanation = explain(self.judge, self.asker.id, &located)?;
                if !explanation.asked.is_allowed() && self.outcome == ExitStatus::Done {
                    self.outcome = ExitStatus::Disallowed;
                }
                self.decided(&explanation)
            }
            Err(undecided) => {
                self.outcome = ExitStatus::Undecided;
                self.undecided(url, &undecided)
            }
        };
        if self.form == Form::Text && !std::mem::replace(&mut self.is_first, false) {
            self.out.write_all(b"\n").map_err(cannot_print)?;
        }
        self.out.write_all(text.as_bytes()).map_err(cannot_print)?;
        // A list may be typed, or come slowly.
        if self.is_watched { self.out.flush().map_err(cannot_print) } else { Ok(()) }
    }

    fn decided(&self, explanation: &Explanation<'_>) -> String {
        match self.form {
            Form::Text => text(explanation, self.asker.who),
            Form::Line => verdict_line(explanation, self.asker.who),
            Form::Json => json(explanation, self.asker.who),
        }
    }

    fn undecided(&self, url: &[u8], undecided: &Undecided) -> String {
        match self.form {
            Form::Text => undecided_text(url, undecided),
            Form::Line => undecided_line(url, undecided),
            Form::Json => undecided_json(url, undecided, self.asker.who),
        }
    }
}

/// Gives `take` each line that is not blank, without the whitespace around it; of a line that is
/// too long for a URL its beginning, still too long.
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
