//! Fetches of robots.txt files into an archive.

use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, ffi::OsString, io::BufRead, sync::Arc, time::Duration};

use crate::archive::{Store, directory::Directory, reader::Archive};
use crate::audit;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::{Location, expand};
use crate::net::settings::{Ports, Reach, Settings, Trust, UserAgent};
use crate::run::console::{Console, KeptMessages, RunOutcome, SharedConsole};
use crate::run::fetching::{
    FetchSummary, LISTED_MAX, LoggedLimits, Origins, is_fetchable, origins_asked,
};
use crate::run::{audit_progress::AuditProgress, sandbox::access_rights::TcpUse};
use crate::url::origin::Origin;

use super::named::{check_archive, named_origin};

/// The most parallel fetches.
const JOBS_MAX: usize = 1000;

/// The longest time that an application may name, in seconds: a day.
const SECONDS_MAX: f64 = 86_400.0;

/// Fetches that are ready to run.
#[derive(Debug)]
pub(crate) struct FetchRun {
    /// Origins; - is a list on standard input.
    pub origins: Vec<String>,
    /// The archive; it is created if it does not exist.
    pub archive: PathBuf,
    /// Logs whose hosts are fetched from.
    pub from_log: Vec<OsString>,
    /// What hosts of logs may make the run do.
    pub limits: LoggedLimits,
    /// The number of fetches at the same time.
    pub jobs: usize,
    /// The pause between two requests to a host.
    pub pause: Duration,
    /// How files are fetched.
    pub settings: Settings,
    /// Who follows the run.
    pub console: SharedConsole,
}

/// What an application asks for. Each field is the flag of `botaudit robots fetch` with that name.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// Origins.
    pub origins: Vec<String>,
    /// The archive.
    pub archive: PathBuf,
    /// Logs whose hosts are fetched from.
    pub from_log: Vec<OsString>,
    /// The number of fetches at the same time.
    pub jobs: usize,
    /// The pause between two requests to a host, in seconds.
    pub delay: f64,
    /// The time limit of one fetch, in seconds.
    pub timeout: f64,
    /// The User-Agent header to send.
    pub user_agent: Option<String>,
    /// The certificate authorities to trust instead of the built-in ones.
    pub ca_file: Option<PathBuf>,
    /// Whether hosts in logs may have private addresses.
    pub allow_private_addresses: bool,
    /// Whether hosts in logs may have any port.
    pub fetch_any_port: bool,
    /// The time for all fetches from hosts in logs, in seconds.
    pub fetch_budget: f64,
}

impl FetchRequest {
    /// Fetches, while `progress` can stop it. Returns the number of origins with each outcome, and
    /// warnings.
    ///
    /// # Errors
    /// If a setting is not valid, the archive cannot be written, or it was stopped.
    pub fn run(self, progress: &AuditProgress) -> Result<(BTreeMap<String, u64>, Vec<String>)> {
        if self.origins.iter().any(|origin| origin == "-") {
            return Err(Error::usage("'-' is not an origin; write https://example.com"));
        }
        let seconds = |name: &str, seconds: f64, least: f64| match seconds {
            _ if (least..=SECONDS_MAX).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
            _ => Err(Error::usage(format!(
                "{name} is {seconds}; write seconds from {least} to {SECONDS_MAX}"
            ))),
        };
        let (pause, total_timeout) =
            (seconds("delay", self.delay, 0.0)?, seconds("timeout", self.timeout, 0.1)?);
        let budget = seconds("fetch_budget", self.fetch_budget, 0.0)?;
        let user_agent = self.user_agent.as_deref().map(UserAgent::new).transpose()?;
        let trust = self.ca_file.as_deref().map(Trust::from_pem_file).transpose()?;
        let messages = Arc::new(KeptMessages::followed_by(progress.clone()));
        let run = FetchRun {
            origins: self.origins,
            archive: self.archive,
            from_log: self.from_log,
            limits: LoggedLimits {
                reach: if self.allow_private_addresses { Reach::AsAsked } else { Reach::Public },
                ports: if self.fetch_any_port { Ports::Any } else { Ports::Usual },
                budget,
            },
            jobs: self.jobs,
            pause,
            settings: Settings {
                user_agent: user_agent.unwrap_or_default(),
                total_timeout,
                trust: trust.unwrap_or(Trust::BuiltIn),
                ..Settings::default()
            },
            console: Arc::clone(&messages) as _,
        };
        let (summary, _) = run.fetch()?;
        let warnings = messages.take().into_iter().chain(summary.problem());
        Ok((summary.by_outcome().clone(), warnings.collect()))
    }
}

/// The origins to fetch from, and the problems with reading them.
struct Asked<'a> {
    origins: Origins,
    problems: usize,
    console: &'a dyn Console,
}

impl FetchRun {
    /// Fetches from all origins.
    ///
    /// # Errors
    /// If a setting is not valid, or the archive cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let console = Arc::clone(&self.console);
        let (summary, problems) = self.fetch()?;
        let unfetched = summary.problem();
        console.show(&summary.text())?;
        unfetched.iter().for_each(|why| console.warn(why));
        Ok(if problems > 0 || unfetched.is_some() {
            RunOutcome::Incomplete
        } else {
            RunOutcome::Done
        })
    }

    /// Fetches from all origins. Returns the number of other problems, too.
    fn fetch(self) -> Result<(FetchSummary, usize)> {
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
        self.console.begin_with(&check_archive(&self.archive, logs)?, TcpUse::Needed);
        let asked = self.asked()?;
        let writer = Archive::writer(&self.archive)?;
        let Asked { origins, problems, .. } = asked;
        let summary = origins.fetch(
            writer,
            &self.settings,
            self.pause,
            self.limits,
            self.jobs,
            &self.console,
        )?;
        Ok((summary, problems))
    }

    fn asked(&self) -> Result<Asked<'_>> {
        let console = &*self.console;
        let mut asked = Asked { origins: Origins::default(), problems: 0, console };
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

impl Asked<'_> {
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
            origins_asked(&expand(logs), &options, nothing, &registry, self.console)?;
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
            1..=LISTED_MAX => self.console.warn(what),
            _ if self.problems == LISTED_MAX + 1 => self.console.note(
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
