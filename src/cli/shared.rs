//! Output to the terminal and arguments that several commands share.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use crate::audit::tally::counter::TallyLimits;
use crate::config::fault::Fault;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::lint::distance::distance;
use crate::report::outputs::{Outputs, Overwrite};
use crate::run::output::cannot_print;
use crate::table::escape::visible;
use crate::time::Day;
use crate::url::origin::Origin;

use super::size::bytes;
use super::terminal::{OutputStream, is_verbose};

/// Whether foreign files may be overwritten.
#[derive(Args, Debug)]
pub struct ForceArg {
    /// Overwrite an output file that botaudit did not write. An input is never overwritten.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    force: bool,
}

impl ForceArg {
    /// The overwrite policy.
    pub fn overwrite(&self) -> Overwrite {
        if self.force { Overwrite::Any } else { Overwrite::Own }
    }
}

/// The memory that tallies may take.
#[derive(Args, Debug)]
pub struct MemoryArg {
    /// Memory that tallies may take, such as 4GiB; a number alone is MiB.
    ///
    /// A tally that unpacks to more is refused: a few kilobytes from a stranger can fill the memory
    /// of a machine.
    #[arg(long = "memory", value_name = "SIZE", default_value = "2GiB", value_parser = bytes,
        help_heading = "Performance", hide_short_help = true)]
    bytes: usize,
}

impl MemoryArg {
    /// The limits of tallies that are read.
    pub fn limits(&self) -> TallyLimits {
        TallyLimits { memory_bytes: self.bytes, ..TallyLimits::default() }
    }
}

/// Letters of a name for each one that may be wrong.
const LETTERS_PER_SLIP: usize = 6;

/// Shorter names get no proposal, because too many are similar.
const SPELT_LENGTH_MIN: usize = 5;

/// The built-in crawlers, with those of the file `crawlers` if it is given.
pub fn registry(crawlers: Option<&Path>) -> Result<Registry> {
    match crawlers {
        Some(path) => Registry::with_file(path),
        None => Ok(Registry::builtin()),
    }
}

/// The error for the unknown crawler `name`; `next` says what else to do.
pub fn unknown_crawler(name: &str, registry: &Registry, next: &str) -> Error {
    Error::usage(format!("{}; {next}", unknown_crawler_name(name, registry)))
}

/// The same without a proposal of what else to do.
pub fn unknown_crawler_name(name: &str, registry: &Registry) -> String {
    let near = near_names(name, registry);
    let near = if near.is_empty() { near } else { format!(" (did you mean {near}?)") };
    format!("unknown crawler '{name}'{near}")
}

/// The proposal for commands that accept any product token and any header, in place of the unknown
/// crawler `name`.
pub fn or_token(name: &str, registry: &Registry) -> String {
    match registry.product_token(name) {
        Some(token) => format!("for any product token, use --token '{token}'"),
        None => "for a whole User-Agent header, use --user-agent".to_owned(),
    }
}

/// At most five names that contain `name`, are contained in it, have it as a token, or are spelled
/// similarly; short ones first.
fn near_names(name: &str, registry: &Registry) -> String {
    let asked = name.to_ascii_lowercase();
    let slips_max = (asked.len() / LETTERS_PER_SLIP).clamp(1, 2);
    let is_near = |known: &str| {
        let known = known.to_ascii_lowercase();
        known.contains(&asked)
            || asked.contains(&known)
            || (asked.len() >= SPELT_LENGTH_MIN
                && distance(asked.as_bytes(), known.as_bytes(), slips_max).is_some())
    };
    let crawlers = registry.iter().map(|(_, crawler)| crawler);
    let near = crawlers.filter(|crawler| {
        is_near(&crawler.name) || crawler.product_tokens.iter().any(|token| is_near(token))
    });
    let mut names: Vec<&str> = near.map(|crawler| crawler.name.as_str()).collect();
    names.sort_by_key(|name| (!is_near(name), name.len()));
    names.truncate(5);
    names.join(", ")
}

/// Parses `--origin`.
pub fn origin(url: &str) -> Result<Origin> {
    url.parse().map_err(|why| Error::usage(format!("--origin '{url}': {why}")))
}

/// Parses a day.
pub fn day(text: &str) -> std::result::Result<Day, String> {
    Day::parse(text).ok_or_else(|| "write a day such as 2026-11-20".to_owned())
}

/// Adds the tallies `paths` to `outputs`; they are files or report directories.
pub fn name_tallies(paths: &[PathBuf], outputs: &mut Outputs) {
    for path in paths {
        match path.is_dir() {
            true => outputs.reads_files_of("a report", path),
            false => outputs.reads("a tally", path),
        }
    }
}

/// The error for all `faults` of the command line; all but the last are printed.
pub fn refusal(faults: &[Fault]) -> Error {
    let Some((last, others)) = faults.split_last() else {
        return Error::inconsistent("a configuration is refused that has no faults");
    };
    others.iter().for_each(|fault| error(&fault.of_flags()));
    Error::usage(last.of_flags())
}

/// Prints `text` to standard output. A full disk or a closed pipe is an error.
pub fn print(text: &str) -> Result<()> {
    print_to(OutputStream::Stdout, text)
}

/// Prints `text` to `stream`.
pub fn print_to(stream: OutputStream, text: &str) -> Result<()> {
    let write = |out: &mut dyn Write| out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match stream {
        OutputStream::Stdout => write(&mut io::stdout().lock()).map_err(cannot_print),
        OutputStream::Stderr => write(&mut io::stderr().lock())
            .map_err(|err| Error::io("cannot write to", Path::new("standard error"), err)),
    }
}

/// Standard output as a file.
pub fn stdout_file() -> Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    owned.map(File::from).map_err(cannot_print)
}

/// Prints an error to standard error.
pub fn error(what: &str) {
    labelled(&OutputStream::Stderr.palette().red("error:"), what);
}

/// Prints a warning to standard error.
pub fn warn(what: &str) {
    labelled(&OutputStream::Stderr.palette().yellow("warning:"), what);
}

/// Prints a note to standard error.
pub fn note(what: &str) {
    labelled(&OutputStream::Stderr.palette().cyan("note:"), what);
}

fn labelled(label: &str, what: &str) {
    say_all(&format!("{label} {}", visible(what.as_bytes())));
}

/// Prints one line to standard error. Names of files and hosts are escaped.
pub fn say(what: &str) {
    say_all(&visible(what.as_bytes()));
}

fn say_all(line: &str) {
    // In one step, so that lines of other processes do not come in between. If this fails, there is
    // no other place for messages.
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// Runs `job`; with `--verbose`, a note gives the duration of the `stage`.
pub fn timed<T>(stage: &str, job: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = job();
    if is_verbose() {
        note(&format!("{stage}: {:.3} s", begun.elapsed().as_secs_f64()));
    }
    done
}
