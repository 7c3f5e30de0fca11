//! `botaudit robots`: robots.txt files through time, in an archive.

mod at;
mod body;
mod diff;
mod export;
mod fetch;
mod import;
mod list;
mod log;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::archive::entry::HistoryEntry;
use crate::archive::import::time_named;
use crate::archive::reader::Archive;
use crate::error::{Error, Result};
use crate::report::outputs::{Outputs, Overwrite};
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::Outcome;

const EXAMPLES: &str = "\
Examples:
  An archive from what Common Crawl publishes, and what it says of one site:
    botaudit robots import --archive robots.db CC-MAIN-*.warc.gz
    botaudit robots log --archive robots.db https://example.com

  From the git history of a site's own file, then an audit by what was in force at each request:
    botaudit robots import --archive robots.db --git --origin https://example.com site/robots.txt
    botaudit audit --robots robots.db access.log.gz

  What counted on a day, and why:
    botaudit robots at --archive robots.db https://example.com 2025-01-31T12:00:00Z";

/// Keep robots.txt files through time, and ask what was in force when.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit robots --help")]
pub struct RobotsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(import::ImportArgs),
    Fetch(fetch::FetchArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Log(log::LogArgs),
    Diff(diff::DiffArgs),
    At(at::AtArgs),
    Export(export::ExportArgs),
}

/// The archive that all of them work on.
#[derive(Args, Debug)]
struct ArchiveArg {
    /// The archive, one file.
    #[arg(short = 'a', long = "archive", value_name = "FILE")]
    path: PathBuf,
}

impl RobotsArgs {
    /// Runs the subcommand.
    pub fn run(self) -> Result<Outcome> {
        match self.command {
            Command::Import(args) => args.run(),
            Command::Fetch(args) => args.run(),
            Command::List(args) => args.run(),
            Command::Show(args) => args.run(),
            Command::Log(args) => args.run(),
            Command::Diff(args) => args.run(),
            Command::At(args) => args.run(),
            Command::Export(args) => args.run(),
        }
    }
}

impl ArchiveArg {
    /// That it is none of `inputs`, before it is added to.
    fn check<'a>(&self, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
        let mut outputs = Outputs::new(Overwrite::Own);
        for input in inputs {
            outputs.reads_files_of("an input of this run", input, None);
        }
        outputs.updated("--archive", &self.path)
    }

    fn open(&self) -> Result<Archive> {
        Archive::open(&self.path)
    }
}

/// The origin that a user names, also as a host alone or as the URL of its robots.txt.
fn named_origin(text: &str) -> Result<Origin> {
    let with_scheme = match text.contains("://") {
        true => text.to_owned(),
        false => format!("https://{text}"),
    };
    Origin::parse(with_scheme.as_bytes())
        .ok_or_else(|| Error::usage(format!("'{text}' is no origin; write https://example.com")))
}

/// The time that a user names.
fn named_time(text: &str) -> Result<UtcTime> {
    time_named(text).ok_or_else(|| {
        let why = format!("'{text}' is no time; write 2025-01-31T12:00:00Z, or 2025-01-31");
        Error::usage(why)
    })
}

/// That nothing is known of `origin`, and where it stands that the user may have meant.
fn unknown(archive: &Archive, origin: &Origin) -> Error {
    let other = match origin.scheme() {
        "http" => "https",
        _ => "http",
    };
    let other = Origin::new(other.as_bytes(), origin.host().as_bytes(), origin.port());
    let known = other.filter(|other| archive.holds(other).unwrap_or(false));
    let hint = known.map_or_else(String::new, |other| format!("; it has {other}"));
    Error::usage(format!("{} has nothing of {origin}{hint}", archive.path().display()))
}

/// The newest snapshot of `origin` at or before `time`.
fn newest(archive: &Archive, origin: &Origin, time: Option<UtcTime>) -> Result<HistoryEntry> {
    if let Some(entry) = archive.newest(origin, time)? {
        return Ok(entry);
    }
    match (archive.history(origin)?.first(), time) {
        (Some(first), Some(time)) => Err(Error::usage(format!(
            "{} has nothing of {origin} from before {time}; its first snapshot is of {}",
            archive.path().display(),
            first.fetch.fetched_at
        ))),
        _ => Err(unknown(archive, origin)),
    }
}
