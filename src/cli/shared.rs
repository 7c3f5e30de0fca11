//! Output to the terminal and arguments that several commands share.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{ffi::OsString, fs::File};

use clap::Args;

use crate::audit::tally::counter::TallyLimits;
use crate::config::size::bytes;
use crate::error::{Error, Result};
use crate::report::outputs::Overwrite;
use crate::run::{crawler_names::NamedCrawlers, output::cannot_print};
use crate::table::escape::visible;
use crate::time::Day;
use crate::url::origin::Origin;

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
    Day::parse(text).ok_or_else(|| "write a day such as 2026-11-20".to_owned())
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
