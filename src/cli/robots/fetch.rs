//! `botaudit robots fetch`: fetches robots.txt files into an archive.

use std::{ffi::OsString, io::BufRead, path::Path};

use clap::Args;

use crate::archive::{Store, directory::Directory, reader::Archive};
use crate::audit;
use crate::config::setting::Seconds;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::{Location, expand};
use crate::net::settings::{Ports, Reach};
use crate::run::fetching::{LISTED_MAX, LoggedLimits, Origins, is_fetchable, origins_asked};
use crate::run::outcome::RunOutcome;
use crate::run::sandbox::access_rights::TcpUse;
use crate::url::origin::Origin;

use super::super::confinement::confine;
use super::super::console::console;
use super::super::help::short;
use super::super::network::{NetworkArgs, seconds};
use super::super::progress::Show;
use super::super::shared::{note, warn};
use super::archive_arg::{ArchiveArg, named_origin};

/// The most parallel fetches.
const JOBS_MAX: usize = 1000;

const HELP: &str = include_str!("../help/robots-fetch.txt");

/// Fetch robots.txt files over HTTP, HTTPS and FTP into an archive.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "robots fetch"), after_long_help = HELP)]
pub struct FetchArgs {
    /// Origins, such as https://example.com; - is a list on standard input.
    #[arg(required_unless_present = "from_log", value_name = "ORIGIN")]
    origins: Vec<String>,

    #[command(flatten)]
    archive: ArchiveArg,

    /// Fetch from all hosts in these logs that crawlers requested.
    ///
    /// Files, directories, patterns, or - for standard input.
    #[arg(long, help_heading = "Input", value_name = "LOG", num_args = 1..)]
    from_log: Vec<OsString>,

    /// Allow fetching from private addresses that logs name.
    ///
    /// Host names in logs are untrusted: any client can send any Host header. An origin on the command
    /// line is always fetched, but a redirect from a public site to a private address is never
    /// followed.
    #[arg(long, help_heading = "Network", requires = "from_log", hide_short_help = true)]
    allow_private_addresses: bool,

    /// Allow fetching from any port of hosts in logs.
    ///
    /// Otherwise only the ports 80, 443, 8080 and 8443 are asked. At most four ports of a host are
    /// asked. An origin on the command line may have any port.
    #[arg(long, help_heading = "Network", requires = "from_log", hide_short_help = true)]
    fetch_any_port: bool,

    /// Time for all fetches from hosts in logs [default: 600]
    ///
    /// What is not fetched by then is left out, and the exit code is 3. Origins on the command line
    /// are fetched first, and without this limit.
    #[arg(
        long,
        help_heading = "Network",
        value_name = "SECONDS",
        requires = "from_log",
        hide_short_help = true
    )]
    fetch_budget: Option<Seconds>,

    /// Number of fetches at the same time.
    #[arg(short, long, help_heading = "Network", value_name = "N", default_value_t = 16)]
    jobs: usize,

    /// Pause between two requests to a host.
    #[arg(long, help_heading = "Network", value_name = "SECONDS", default_value_t = 0.0)]
    delay: f64,

    #[command(flatten)]
    network: NetworkArgs,

    /// Print only problems.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

/// The origins to fetch from, and the problems with reading them.
#[derive(Default)]
struct Asked {
    origins: Origins,
    problems: usize,
}

impl FetchArgs {
    /// Fetches from all origins.
    pub fn run(self) -> Result<RunOutcome> {
        let settings = self.network.settings()?;
        let pause = seconds("--delay", self.delay)?;
        if !(1..=JOBS_MAX).contains(&self.jobs) {
            return Err(Error::usage(format!(
                "--jobs {} is not valid; write a number from 1 to \
                 {JOBS_MAX}",
                self.jobs
            )));
        }
        let logs = expand(&self.from_log);
        let logs = logs.iter().filter_map(|log| match &log.location {
            Location::File(path) => Some(path),
            Location::Stdin | Location::Nowhere(_) => None,
        });
        confine(&self.archive.check(logs)?, TcpUse::Needed);
        let asked = self.asked()?;
        let writer = Archive::writer(&self.archive.path)?;
        let show = Show::unless(self.quiet);
        let Asked { origins, problems } = asked;
        let limits = LoggedLimits {
            reach: if self.allow_private_addresses { Reach::AsAsked } else { Reach::Public },
            ports: if self.fetch_any_port { Ports::Any } else { Ports::Usual },
            budget: self.fetch_budget.unwrap_or(Seconds::OF_FETCHES).get(),
        };
        let summary = origins.fetch(writer, &settings, pause, limits, self.jobs, &console(show))?;
        let unfetched = summary.problem();
        show.print(&summary.text())?;
        unfetched.iter().for_each(|why| warn(why));
        Ok(if problems > 0 || unfetched.is_some() {
            RunOutcome::Incomplete
        } else {
            RunOutcome::Done
        })
    }

    fn asked(&self) -> Result<Asked> {
        let mut asked = Asked::default();
        for text in &self.origins {
            match text.as_str() {
                "-" => asked.read_list(std::io::stdin().lock())?,
                text => asked.origins.named.extend([fetchable(text)?]),
            }
        }
        if !self.from_log.is_empty() {
            asked.read_logs(&self.from_log)?;
        }
        Ok(asked)
    }
}

impl Asked {
    /// Reads one origin per line; empty lines and lines that begin with `#` are skipped.
    fn read_list(&mut self, list: impl BufRead) -> Result<()> {
        for (line, number) in list.split(b'\n').zip(1_u64..) {
            let failed = |err| Error::io("cannot read", Path::new("standard input"), err);
            let line = line.map_err(failed)?;
            let line = String::from_utf8_lossy(line.trim_ascii());
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match fetchable(&line) {
                Ok(origin) => self.origins.named.extend([origin]),
                Err(err) => {
                    let location = Path::new("standard input");
                    self.problem(&Error::invalid(location, number, err.to_string()).to_string());
                }
            }
        }
        Ok(())
    }

    /// Adds the origins that crawlers requested in the logs.
    fn read_logs(&mut self, logs: &[OsString]) -> Result<()> {
        let registry = Registry::builtin();
        let nothing = Store::Directory(Directory::default());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let options = audit::Options::new(threads);
        let (origins, damages) =
            origins_asked(&expand(logs), &options, nothing, &registry, &*console(Show::Nothing))?;
        damages.iter().for_each(|damage| self.problem(damage));
        let is_any = origins.iter().any(is_fetchable);
        self.origins.logged = origins;
        self.origins.retain_fetchable();
        if !is_any {
            let why = "the logs name no host that a crawler requested; name the origins instead, \
                       such as https://example.com";
            self.problem(why);
        }
        Ok(())
    }

    fn problem(&mut self, what: &str) {
        self.problems += 1;
        match self.problems {
            1..=LISTED_MAX => warn(what),
            _ if self.problems == LISTED_MAX + 1 => note(
                "more problems of this kind are not \
                 shown",
            ),
            _ => {}
        }
    }
}

/// Parses an origin that can have a robots.txt.
fn fetchable(text: &str) -> Result<Origin> {
    let origin = named_origin(text)?;
    if is_fetchable(&origin) {
        return Ok(origin);
    }
    let why = format!("'{text}' cannot have a robots.txt; use an http, https or ftp origin");
    Err(Error::usage(why))
}
