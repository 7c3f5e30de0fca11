//! Output to the terminal and arguments that several commands share: crawlers, outputs, the settings of a site in a
//! configuration file, the network, the summary; and the values of flags, with their names and help texts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{ffi::OsString, fs::File, num::NonZeroUsize, time::Duration};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command};

use crate::audit::tally::counter::TallyLimits;
use crate::classify::{input_format::ListSyntax, verdicts::Layout};
use crate::config::amounts::{bytes, positive};
use crate::config::option_value::DIALECTS;
use crate::deny::form::{DenyBy, Form};
use crate::error::{Error, Result};
use crate::net::settings::{Settings, Trust, UserAgent};
use crate::report::outputs::Overwrite;
use crate::report::summary_table::{SummaryBy, SummaryView};
use crate::run::console::{Console, cannot_print};
use crate::run::{audit_job::ConfiguredSite, check::CheckForm, crawlers::NamedCrawlers};
use crate::run::{report::ReportForm, robots::restrictions::Every, written::ResultFormat};
use crate::table::escape::visible;
use crate::time::Day;
use crate::url::{origin::Origin, path::Dialect};

use super::terminal::OutputStream;

/// The crawlers that a command judges.
#[derive(Args, Debug)]
pub(crate) struct CrawlersArgs {
    /// Known crawler, such as GPTBot; repeatable.
    #[arg(long, value_name = "NAME", help_heading = "Crawler")]
    crawler: Vec<String>,

    /// Any crawler with this product token; repeatable.
    ///
    /// A version after it is ignored: GPTBot/1.2.
    #[arg(long, value_name = "TOKEN", help_heading = "Crawler")]
    token: Vec<String>,

    /// Crawler that sends this whole User-Agent header; repeatable.
    ///
    /// If the registry does not know it, the first product counts: FooBot in `FooBot/1.0 (+http://foo.example)` and in
    /// `Mozilla/5.0 (compatible; FooBot/1.0)`.
    #[arg(long, value_name = "HEADER", help_heading = "Crawler", hide_short_help = true)]
    user_agent: Vec<OsString>,

    /// CSV file with more crawlers; a row with a built-in name replaces that crawler.
    #[arg(long, value_name = "FILE", help_heading = "Crawler", hide_short_help = true)]
    crawlers: Option<PathBuf>,
}

impl CrawlersArgs {
    /// The crawlers, as they are named.
    pub(crate) fn named(self) -> NamedCrawlers {
        NamedCrawlers {
            known: self.crawler,
            tokens: self.token,
            user_agents: self.user_agent,
            file: self.crawlers,
        }
    }
}

/// Whether foreign files may be overwritten.
#[derive(Args, Debug)]
pub(crate) struct ForceArg {
    /// Overwrite files that botaudit did not write, except inputs.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    force: bool,
}

impl ForceArg {
    /// The overwrite policy.
    pub(crate) fn overwrite(&self) -> Overwrite {
        if self.force { Overwrite::Any } else { Overwrite::Own }
    }
}

/// The memory that tallies may take.
#[derive(Args, Debug)]
pub(crate) struct MemoryArg {
    /// Memory that tallies may take, such as 4GiB; a number alone is MiB.
    ///
    /// A larger tally is refused: a few kilobytes from a stranger could fill the memory.
    #[arg(long = "memory", value_name = "SIZE", default_value = "2GiB", value_parser = bytes,
        help_heading = "Performance", hide_short_help = true)]
    bytes: usize,
}

impl MemoryArg {
    /// The limits of tallies that are read.
    pub(crate) fn limits(&self) -> TallyLimits {
        TallyLimits { memory_bytes: self.bytes, ..TallyLimits::default() }
    }
}

/// Parses `--origin`.
pub(crate) fn origin(url: &str) -> Result<Origin> {
    url.parse().map_err(|why| Error::usage(format!("--origin '{url}': {why}")))
}

/// Parses a day.
pub(crate) fn day(text: &str) -> std::result::Result<Day, String> {
    Day::parse(text).ok_or_else(|| match Day::meant_by(text) {
        Some(day) => format!("write {day}"),
        None => "write a day such as 2026-11-20".to_owned(),
    })
}

/// Prints `text` to standard output. A full disk or a closed pipe is an error.
pub(crate) fn print(text: &str) -> Result<()> {
    print_to(OutputStream::Stdout, text)
}

/// Prints `text` to `stream`.
pub(crate) fn print_to(stream: OutputStream, text: &str) -> Result<()> {
    let write = |out: &mut dyn Write| out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match stream {
        OutputStream::Stdout => write(&mut io::stdout().lock()).map_err(cannot_print),
        OutputStream::Stderr => write(&mut io::stderr().lock())
            .map_err(|err| Error::io("cannot write to", Path::new("standard error"), err)),
    }
}

/// Standard output as a file.
pub(crate) fn stdout_file() -> Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    owned.map(File::from).map_err(cannot_print)
}

/// Prints an error to standard error.
pub(crate) fn error(what: &str) {
    labelled(&OutputStream::Stderr.palette().red("error:"), what);
}

/// Prints a warning to standard error.
pub(crate) fn warn(what: &str) {
    labelled(&OutputStream::Stderr.palette().yellow("warning:"), what);
}

/// Prints a note to standard error.
pub(crate) fn note(what: &str) {
    labelled(&OutputStream::Stderr.palette().cyan("note:"), what);
}

fn labelled(label: &str, what: &str) {
    say_all(&format!("{label} {}", visible(what.as_bytes())));
}

/// Prints one line to standard error. Names of files and hosts are escaped.
pub(crate) fn say(what: &str) {
    say_all(&visible(what.as_bytes()));
}

fn say_all(line: &str) {
    // In one step, so that lines of other processes do not come in between. If this fails, there is
    // no other place for messages.
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// The settings of a site in a configuration file.
#[derive(Args, Debug)]
#[command(next_help_heading = "Configuration file")]
pub(crate) struct ConfiguredArgs {
    /// Use the logs and settings of a site in the configuration of nightly.
    ///
    /// Logs and flags on the command line take precedence.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    config: Option<PathBuf>,

    /// Site of --config; needed only if it has several.
    #[arg(long, value_name = "NAME", hide_short_help = true, requires = "config")]
    site: Option<String>,
}

impl ConfiguredArgs {
    /// The site, if `--config` is given.
    pub(crate) fn site(&self, console: &dyn Console) -> Result<Option<ConfiguredSite>> {
        let open = |file: &PathBuf| ConfiguredSite::open(file, self.site.as_deref(), console);
        self.config.as_ref().map(open).transpose()
    }
}

const SUMMARY: &str = "Summary";

/// The flags of the summary. They change what is shown, not what is counted.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = SUMMARY)]
pub(crate) struct SummaryFlags {
    /// Show only this crawler, even without violations; repeatable.
    #[arg(long, value_name = "CRAWLER", hide_short_help = true)]
    only: Vec<String>,

    /// Do not show this crawler; repeatable.
    #[arg(long, value_name = "CRAWLER", hide_short_help = true)]
    exclude: Vec<String>,

    /// Show at most N rows [default: 10]
    #[arg(long, value_name = "N", default_value = "10", hide_default_value = true, value_parser = positive,
        allow_negative_numbers = true, hide_short_help = true)]
    top: NonZeroUsize,

    /// Show one row for each crawler, origin or rule [default: crawler]
    #[arg(long, value_name = "WHAT", value_parser = one_of(&SUMMARY_ROWS), default_value = "crawler", hide_default_value = true,
        hide_possible_values = true, hide_short_help = true)]
    by: SummaryBy,
}

impl SummaryFlags {
    /// `command` with these flags in its short help, for commands with few flags.
    pub(crate) fn shown(command: Command) -> Command {
        let is_ours = |arg: &Arg| arg.get_help_heading() == Some(SUMMARY);
        command.mut_args(|arg| if is_ours(&arg) { arg.hide_short_help(false) } else { arg })
    }

    /// The view of a summary on `stream`.
    pub(crate) fn view(self, stream: OutputStream) -> SummaryView {
        let SummaryFlags { only, exclude, top, by } = self;
        SummaryView { only, exclude, top: top.get(), by, ..view_of(stream) }
    }
}

/// The view of a summary on `stream` without flags.
pub(crate) fn view_of(stream: OutputStream) -> SummaryView {
    SummaryView { columns: stream.columns(), palette: stream.palette(), ..SummaryView::default() }
}

/// The longest timeout and the longest pause, in seconds: a day.
const SECONDS_MAX: f64 = 86_400.0;

/// Network settings. No proxy is used.
#[derive(Args, Debug)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    /// User-Agent header to send [default: botaudit/VERSION and a URL]
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    user_agent: Option<String>,

    /// Time limit of one fetch, with its redirects.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    timeout: f64,

    /// PEM file of the certificate authorities to trust instead of the built-in ones (Mozilla's).
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    ca_file: Option<PathBuf>,
}

impl NetworkArgs {
    /// The settings for `net`.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let settings = Settings::default();
        let total_timeout = seconds("--timeout", self.timeout)?;
        if total_timeout.is_zero() {
            return Err(Error::usage("--timeout 0 is too short; write --timeout 30"));
        }
        let user_agent = match &self.user_agent {
            Some(text) => UserAgent::new(text)?,
            None => UserAgent::default(),
        };
        let trust = match &self.ca_file {
            Some(path) => Trust::from_pem_file(path)?,
            None => Trust::BuiltIn,
        };
        Ok(Settings { user_agent, total_timeout, trust, ..settings })
    }
}

/// The value of `flag` in seconds.
pub(crate) fn seconds(flag: &str, value: f64) -> Result<Duration> {
    if (0.0..=SECONDS_MAX).contains(&value) {
        return Ok(Duration::from_secs_f64(value));
    }
    Err(Error::usage(format!(
        "{flag} {value} is not valid; write a number of seconds, at most \
                              {SECONDS_MAX}"
    )))
}

/// A value with its name and its meaning.
type Named<T> = (&'static str, &'static str, T);

/// The formats of the answers of `check`.
pub(crate) const CHECK_FORMS: [Named<CheckForm>; 3] = [
    ("text", "For people: each step of the answer", CheckForm::Text),
    ("json", "For programs: an array with one object per URL", CheckForm::Json),
    ("jsonl", "For programs: one object per line and URL", CheckForm::JsonLines),
];

/// The periods of `robots restrictions`.
pub(crate) const EVERY: [Named<Every>; 3] = [
    ("week", "Weeks, from Monday to Sunday", Every::Week),
    ("month", "Months", Every::Month),
    ("year", "Years", Every::Year),
];

/// The formats of lists of URLs.
pub(crate) const LIST_SYNTAXES: [Named<ListSyntax>; 4] = [
    ("lines", "One URL per line", ListSyntax::Lines),
    ("csv", "CSV with a header", ListSyntax::Csv),
    ("tsv", "CSV with tabs", ListSyntax::Tsv),
    ("jsonl", "One JSON object per line", ListSyntax::JsonLines),
];

/// The format `json` of a result.
const JSON: &str = "One object: the content of run.json, and all tables as arrays of objects";

/// The format `jsonl` of a result.
const JSONL: &str = "One object per line and row of a table, with the name of the table";

/// The formats of the result of an audit.
pub(crate) const RESULT_FORMATS: [Named<ResultFormat>; 3] = [
    ("text", "A summary for people", ResultFormat::Text),
    ("json", JSON, ResultFormat::Json),
    ("jsonl", JSONL, ResultFormat::Jsonl),
];

/// The formats of reports.
pub(crate) const REPORT_FORMS: [Named<ReportForm>; 4] = [
    ("html", "A directory of files, and a summary for people", ReportForm::Directory),
    ("text", "A summary for people", ReportForm::Printed(ResultFormat::Text)),
    ("json", JSON, ReportForm::Printed(ResultFormat::Json)),
    ("jsonl", JSONL, ReportForm::Printed(ResultFormat::Jsonl)),
];

/// The formats of verdicts.
pub(crate) const LAYOUTS: [Named<Layout>; 3] = [
    ("csv", "CSV with a header", Layout::Csv),
    ("tsv", "CSV with tabs", Layout::Tsv),
    ("jsonl", "One JSON object per line", Layout::JsonLines),
];

/// The groupings of the summary.
pub(crate) const SUMMARY_ROWS: [Named<SummaryBy>; 3] = [
    ("crawler", "Crawlers, over all origins", SummaryBy::Crawler),
    ("origin", "Origins, over all crawlers", SummaryBy::Origin),
    ("rule", "Broken rules, over all origins and crawlers", SummaryBy::Rule),
];

/// The forms of rules.
pub(crate) const DENY_FORMS: [Named<Form>; Form::ALL.len()] = {
    let mut forms = [("", "", Form::Nginx); Form::ALL.len()];
    let mut at = 0;
    while at < forms.len() {
        forms[at] = (Form::ALL[at].as_str(), "", Form::ALL[at]);
        at += 1;
    }
    forms
};

/// What rules recognise requests by.
pub(crate) const DENY_BY: [Named<DenyBy>; 2] = [
    ("user-agent", "The User-Agent header", DenyBy::UserAgent),
    ("address", "The address ranges that the operator publishes", DenyBy::Address),
];

/// Parses one of `values`.
pub(crate) fn one_of<T: Copy + Send + Sync>(
    values: &'static [Named<T>],
) -> impl TypedValueParser<Value = T> {
    let names = values.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).map(|given| {
        let value = values.iter().find(|(name, ..)| *name == given);
        value.expect("no other name is let through").2
    })
}

/// Parses a dialect.
pub(crate) fn dialect() -> impl TypedValueParser<Value = Dialect> {
    let names = DIALECTS.iter().map(|(name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names)
        .map(|given| given.parse().expect("no other name is let through"))
}
