//! Fetches of robots.txt files into an archive, and imports of histories in other formats.

use std::path::{Path, PathBuf};
use std::sync::{Arc, atomic::Ordering};
use std::{collections::BTreeMap, ffi::OsString, io::BufRead, time::Duration};

use crate::archive::import::files::{
    FetchedAt, HistoryKind, import_directory, import_file, kind_of,
};
use crate::archive::import::warc::{self, import_warc};
use crate::archive::import::warc_memory::{self, WarcMemory};
use crate::archive::import::{Import, ImportProgress, git::import_git, manifest::import_manifest};
use crate::archive::writer::{Added, Writer};
use crate::archive::{Store, directory::Directory, reader::Archive};
use crate::audit;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::{Location, expand};
use crate::net::settings::{Ports, Reach, Settings, Trust, UserAgent};
use crate::numbers::counted;
use crate::run::console::{Access, Console, KeptMessages, RunOutcome, SharedConsole, Watched};
use crate::run::fetching::{
    FetchSummary, LISTED_MAX, LoggedLimits, Origins, is_fetchable, origins_asked,
};
use crate::run::{audit_progress::AuditProgress, sandbox::access_rights::TcpUse};
use crate::url::origin::Origin;

use super::named::{check_archive, named_origin, named_time};
use crate::run::sources::found_sources;

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
        let options = audit::options::Options::new(threads);
        let (origins, damages) = origins_asked(
            &found_sources(logs, self.console),
            &options,
            nothing,
            &registry,
            self.console,
        )?;
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

/// The most problems that are listed; the others are counted.
const PROBLEMS_SHOWN_MAX: usize = 20;

/// An import that is ready to run.
#[derive(Debug)]
pub(crate) struct ImportRun {
    /// Files or directories to import.
    pub paths: Vec<PathBuf>,
    /// The archive; it is created if it does not exist.
    pub archive: PathBuf,
    /// The origin of files that name none.
    pub origin: Option<String>,
    /// The time of files without one, or `modified`.
    pub at: Option<String>,
    /// Whether the history of each file is taken from git.
    pub is_git: bool,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl ImportRun {
    /// Imports all paths; an error in one does not stop the others.
    ///
    /// # Errors
    /// If a setting is not valid, or nothing could be imported.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let origin = self.origin.as_deref().map(named_origin).transpose()?;
        let at = match self.at.as_deref() {
            None => FetchedAt::Unsaid,
            Some("modified") => FetchedAt::Modified,
            Some(time) => FetchedAt::At(named_time(time)?),
        };
        let files = check_archive(&self.archive, &self.paths)?;
        // git is a program of its own.
        if self.is_git {
            self.console.begin(Access::Any);
        } else {
            self.console.begin_with(&files, TcpUse::None);
        }
        let kinds = self.kinds(origin.as_ref(), at)?;
        let mut writer = Archive::writer(&self.archive)?;
        let progress = ImportProgress::default();
        let mut problems = 0;
        let sizes =
            self.paths.iter().map(|path| path.metadata().ok().filter(|data| data.is_file()));
        let bytes_total = sizes.map(|data| data.map(|data| data.len())).sum::<Option<u64>>();
        let origins: Vec<Origin> = origin.into_iter().collect();
        let watched = Watched::Bytes {
            total: bytes_total.filter(|_| !self.is_git),
            done: &|| progress.bytes_read.load(Ordering::Relaxed),
            text: &|| counted(progress.snapshots.load(Ordering::Relaxed), "snapshot"),
        };
        let imported = self.console.follow(&watched, || {
            let mut import = Import {
                writer: &mut writer,
                progress: &progress,
                problems: &mut |problem| {
                    problems += 1;
                    if problems <= PROBLEMS_SHOWN_MAX {
                        self.console.warn(&problem.to_string());
                    }
                },
            };
            self.import(&kinds, &origins, at, &mut import)
        });
        problems += usize::from(stopped(imported, &writer, &*self.console)?);
        self.report(&writer, problems)
    }

    /// The kind of each path. A path that cannot be imported at all is an error before anything is
    /// written.
    fn kinds(&self, origin: Option<&Origin>, at: FetchedAt) -> Result<Vec<Option<HistoryKind>>> {
        if self.is_git {
            return Ok(vec![None; self.paths.len()]);
        }
        let kind = |path: &PathBuf| {
            let kind = kind_of(path)?;
            match (kind, origin, at) {
                (HistoryKind::RobotsTxt, None, _) => {
                    Err(unsaid(path, "--origin https://example.com"))
                }
                (HistoryKind::RobotsTxt, _, FetchedAt::Unsaid) => {
                    Err(unsaid(path, "--at 2025-01-31T12:00:00Z, or --at modified"))
                }
                _ => Ok(Some(kind)),
            }
        };
        self.paths.iter().map(kind).collect()
    }

    fn import(
        &self,
        kinds: &[Option<HistoryKind>],
        origins: &[Origin],
        at: FetchedAt,
        import: &mut Import<'_>,
    ) -> Result<()> {
        let mut memory = WarcMemory::default();
        for (path, kind) in self.paths.iter().zip(kinds) {
            match kind {
                None => import_git(path, origins, import)?,
                Some(HistoryKind::RobotsTxt) => import_file(path, origins, at, import)?,
                Some(HistoryKind::Directory) => import_directory(path, at, import)?,
                Some(HistoryKind::Manifest) => import_manifest(path, import)?,
                Some(HistoryKind::Warc) => import_warc(path, &mut memory, import)?,
            }
        }
        warc::finish(&mut memory, import)?;
        import.writer.flush()?;
        warc_memory::follow(import.writer)
    }

    fn report(&self, writer: &Writer, problems: usize) -> Result<RunOutcome> {
        if problems > PROBLEMS_SHOWN_MAX {
            self.console.note(&format!(
                "{} not shown",
                counted((problems - PROBLEMS_SHOWN_MAX) as u64, "more problem")
            ));
        }
        let Added { snapshots, known, bodies } = writer.added();
        let printed = self.console.show(&format!(
            "{} added ({}); {} skipped\n",
            counted(snapshots, "snapshot"),
            counted(bodies, "new version"),
            counted(known, "duplicate"),
        ));
        let is_whole = problems == 0 && !stopped(printed, writer, &*self.console)?;
        Ok(if is_whole { RunOutcome::Done } else { RunOutcome::Incomplete })
    }
}

/// Whether `result` is an error. What was written before it stays in the archive, so the command has
/// not failed.
fn stopped(result: Result<()>, writer: &Writer, console: &dyn Console) -> Result<bool> {
    match result {
        Err(err) if writer.added() != Added::default() && !err.is_broken_pipe() => {
            console.error(&err.to_string());
            Ok(true)
        }
        result => result.map(|()| false),
    }
}

fn unsaid(path: &Path, flag: &str) -> Error {
    Error::invalid_file(path, format!("looks like a robots.txt; add {flag}"))
}
