//! All sites of a configuration: reads their new log lines, and writes what is about all of them, with the summary of the
//! night and its recipients.

use std::collections::{BTreeMap, btree_map::Entry};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::audit::tally::counter::TallyLimits;
use crate::config::file::ConfigFile;
use crate::crawlers::{crawler::Crawler, identity::Identity, registry::Registry};
use crate::error::{Error, Result};
use crate::nightly::days::{Locked, days, lock, lock_by};
use crate::nightly::events::{KnownDays, events, no_longer_silent, sort, trend};
use crate::nightly::state::rows::{ActorDay, LOG_SILENT};
use crate::nightly::state::{State, mailed::SiteDays};
use crate::report::html::nights::{INDEX, SiteNights, nights_page, site_page};
use crate::report::metrics::{METRICS_FILE, SiteMetrics, metrics_text};
use crate::report::nights::{EventRow, SiteNight, TrendRow, events_csv, night_text, trend_csv};
use crate::report::outputs::{OutputContent, Outputs, Overwrite};
use crate::report::summary_table::SummaryView;
use crate::report::tables::{EVENTS, TREND};
use crate::run::audit_job::{read_config, report_errors};
use crate::run::console::{Access, Console, RunOutcome, SharedConsole};
use crate::run::{files::tcp_use, sandbox::access_rights::TcpUse};
use crate::staged::{is_stdout, replace, replace_both};
use crate::time::{Day, UtcTime};

use super::site::Job;

/// A night that is ready to run.
#[derive(Debug)]
pub(crate) struct NightlyRun {
    /// The configuration file. The run enters its directory, to which its paths are relative.
    pub config: PathBuf,
    /// The day to audit; `None` means yesterday, in the zone of each site.
    pub day: Option<Day>,
    /// Whether mistakes and what would be read are all that is wanted.
    pub only_checks: bool,
    /// Where the summary goes.
    pub notification: Notification,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// The memory that tallies may take.
    pub limits: TallyLimits,
    /// The display options of the summaries.
    pub view: SummaryView,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl NightlyRun {
    /// Runs the job.
    ///
    /// # Errors
    /// If the configuration has a mistake, or an output or the state cannot be used. An error in one
    /// site is only an outcome.
    pub(crate) fn run(mut self) -> Result<RunOutcome> {
        self.notification = self.notification.absolute()?;
        let file = std::path::absolute(&self.config)
            .map_err(|err| Error::io("cannot read --config", &self.config, err))?;
        let (config, mut errors) = read_config(&self.config)?;
        let name = self.config.display().to_string();
        enter_directory_of(&self.config)?;
        let now = UtcTime::from(jiff::Timestamp::now());
        let shown = (&self.console, &self.view, self.notification.has_stdout());
        let mut jobs = Vec::new();
        for site in &config.sites {
            match Job::new(site, &config, self.day, now, shown) {
                Ok(job) => jobs.push(job),
                Err(more) => errors.extend(more),
            }
        }
        let is_later = |job: &&Job<'_>| job.day > job.today;
        if let Some(Job { day, today, .. }) = jobs.iter().find(is_later) {
            return Err(Error::usage(format!("--day {day} is in the future: today is {today}")));
        }
        if self.only_checks {
            errors.extend(jobs.iter().filter_map(Job::origin_error));
        }
        errors.sort();
        errors.dedup();
        report_errors(&name, &errors, &*self.console)?;
        if self.only_checks {
            return self.describe(&file, &jobs, &config);
        }
        let files = self.check_outputs(&file, &jobs, &config)?;
        // The command may need any right.
        if self.notification.command.is_some() {
            self.console.begin(Access::Any);
        } else {
            let needs = |job: &Job<'_>| tcp_use(&job.site.audit) == TcpUse::Needed;
            self.console.begin_with(&files, TcpUse::needed_if(jobs.iter().any(needs)));
        }
        self.run_all(&jobs, &config, now)
    }

    /// Prints what would be read and written.
    fn describe(&self, file: &Path, jobs: &[Job<'_>], config: &ConfigFile) -> Result<RunOutcome> {
        let mut files = Outputs::new(self.overwrite);
        files.reads("--config", file);
        jobs.iter().for_each(|job| files.add_directories_of(&job.files()));
        files.updated("state", &config.state)?;
        self.console.begin_with(&files, TcpUse::None);
        // `--check` must not create the state.
        let state = match config.state.exists() {
            true => self.open_state(config)?,
            false => State::in_memory()?,
        };
        let described = jobs.iter().map(|job| job.described(&state));
        self.console.print(&described.collect::<Result<String>>()?)?;
        Ok(RunOutcome::Done)
    }

    fn open_state(&self, config: &ConfigFile) -> Result<State> {
        Ok(State::open(&config.state)?.with_memory(self.limits.memory_bytes))
    }

    /// Checks that no output is an input, and that only files written by botaudit are replaced.
    /// Returns the files of the run.
    fn check_outputs(&self, file: &Path, jobs: &[Job<'_>], config: &ConfigFile) -> Result<Outputs> {
        let mut all = Outputs::new(self.overwrite);
        all.reads("--config", file);
        for job in jobs {
            job.name_inputs(&mut all);
        }
        all.updated("state", &config.state)?;
        all.file("reports", &config.reports.join(TREND.file), OutputContent::Trend)?;
        all.file("reports", &config.reports.join(EVENTS.file), OutputContent::Events)?;
        all.file("reports", &config.reports.join(INDEX), OutputContent::Page)?;
        all.file("reports", &config.reports.join(METRICS_FILE), OutputContent::Metrics)?;
        for job in jobs {
            all.file("reports", &job.site.reports.join(INDEX), OutputContent::Page)?;
        }
        if let Some(path) = self.notification.file() {
            all.file("--mail-summary", path, OutputContent::Night)?;
        }
        jobs.iter().for_each(|job| all.add_directories_of(&job.files()));
        Ok(all)
    }

    fn run_all(&self, jobs: &[Job<'_>], config: &ConfigFile, now: UtcTime) -> Result<RunOutcome> {
        let mut locks: Vec<File> = Vec::new();
        let mut beside = config.state.clone().into_os_string();
        beside.push(".lock");
        let of_state = [lock_by(Path::new(&beside), now)];
        for locked in
            of_state.into_iter().chain(jobs.iter().map(|job| lock(&job.site.reports, now)))
        {
            match locked? {
                Locked::Ours(file) => locks.push(file),
                Locked::Theirs(who) => {
                    self.console
                        .error(&format!("another run is in progress: {who}; nothing was done"));
                    return Ok(RunOutcome::Locked);
                }
            }
        }
        let begun = Instant::now();
        let mut state = self.open_state(config)?;
        // An error in one site does not prevent the others from being audited.
        let ran = jobs.iter().map(|job| job.run(config, &mut state));
        let (statuses, nights): (Vec<_>, Vec<_>) = ran.unzip();
        let all = write_nights(config, &state, jobs)?;
        let days: Vec<SiteDays> = jobs.iter().zip(&nights).map(site_days).collect();
        let news: Vec<Vec<EventRow>> =
            days.iter().map(|of| state.news(of, &all)).collect::<Result<_>>()?;
        let mut events = news.concat();
        sort(&mut events);
        let ran = statuses.iter().zip(&nights).map(|(status, night)| {
            let success = matches!(status, RunOutcome::Done | RunOutcome::Violations);
            let last_success = state.last_success(&night.site, success.then_some(now))?;
            Ok(site_metrics(night, status.code(), last_success, &events))
        });
        let sites: Vec<SiteMetrics> = ran.collect::<Result<_>>()?;
        let text = metrics_text(now, begun.elapsed().as_secs_f64(), &sites);
        replace(&config.reports.join(METRICS_FILE), text.as_bytes())?;
        let index = config.reports.join(INDEX).display().to_string();
        let text = night_text(&nights, &events, &index);
        let is_news = !events.is_empty() || nights.iter().any(SiteNight::is_news);
        self.notification.send(&text, is_news, &*self.console)?;
        state.mailed(&days, &events)?;
        let worst = statuses.into_iter().max_by_key(|status| status.severity());
        Ok(worst.unwrap_or(RunOutcome::Done))
    }
}

fn site_days((job, night): (&Job<'_>, &SiteNight)) -> SiteDays {
    let reported = night.days.iter().map(|of| of.day).collect();
    SiteDays { site: job.site.name.clone(), requested: job.day, reported }
}

fn site_metrics(
    night: &SiteNight,
    exit_code: u8,
    last_success: Option<UtcTime>,
    all: &[EventRow],
) -> SiteMetrics {
    let mut events = BTreeMap::new();
    for event in all.iter().filter(|event| event.site == night.site) {
        *events.entry(event.kind).or_default() += 1;
    }
    let (site, day) = (night.site.clone(), night.metrics.clone());
    SiteMetrics { site, exit_code, last_success, day, events }
}

/// Changes to the directory of the configuration file, so that paths mean the same wherever the job
/// is started.
fn enter_directory_of(config: &Path) -> Result<()> {
    let directory = config.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Some(directory) = directory else { return Ok(()) };
    std::env::set_current_dir(directory).map_err(|err| Error::io("cannot enter", directory, err))
}

/// Writes `trend.csv` and `events.csv` of the sites of `jobs` into the directory of reports, up to the last day of
/// each, and returns the events.
fn write_nights(config: &ConfigFile, state: &State, jobs: &[Job<'_>]) -> Result<Vec<EventRow>> {
    let reports = &*config.reports;
    let by_site: BTreeMap<&str, &Job<'_>> =
        jobs.iter().map(|job| (job.site.name.as_str(), job)).collect();
    let is_over = |site: &str, day| by_site.get(site).is_some_and(|job| day <= job.last_day());
    let mut actors = state.actor_days()?;
    actors.retain(|actor| is_over(&actor.site, actor.day));
    let mut ruled = state.ruled_days()?;
    ruled.retain(|ruled| is_over(&ruled.site, ruled.day));
    let names = state.crawlers()?;
    let mut registries: BTreeMap<Option<&Path>, Registry> = BTreeMap::new();
    for file in jobs.iter().map(Job::crawlers) {
        if let Entry::Vacant(vacant) = registries.entry(file) {
            vacant.insert(Registry::with_names(file, &names)?);
        }
    }
    let registry_of = |site: &str| registries.get(&by_site.get(site)?.crawlers());
    let row_of = |actor: &ActorDay| registry_of(&actor.site)?.by_name(&actor.crawler);
    let mut lines = state.line_days()?;
    lines.retain(|of| is_over(&of.site, of.day));
    let known = KnownDays { actors: &actors, ruled: &ruled, lines: &lines };
    // Another client that uses a crawler's name is no news of that crawler.
    let is_itself = |actor: &ActorDay| actor.identity != Identity::Spoofed.as_str();
    let is_crawler =
        |actor: &ActorDay| is_itself(actor) && !row_of(actor).is_some_and(Crawler::is_tool);
    let last_day = |site: &str| Some(by_site.get(site)?.last_day());
    let mut events = events(known, is_crawler, last_day, config.news);
    for silent in events.iter().filter(|event| event.kind == LOG_SILENT) {
        state.tell(silent, false)?;
    }
    let mut remembered = state.told()?;
    remembered.retain(|row| is_over(&row.site, row.day));
    events.extend(no_longer_silent(&remembered, &lines));
    events.extend(remembered.into_iter().filter(|row| row.kind != LOG_SILENT));
    sort(&mut events);
    let (trend_path, events_path) = (reports.join(TREND.file), reports.join(EVENTS.file));
    let cannot_write = |path| move |err| Error::io("cannot write", path, err);
    // All sites may have an output of their own elsewhere.
    std::fs::create_dir_all(reports).map_err(|err| Error::io("cannot create", reports, err))?;
    let trend = trend_csv(&trend(&actors), registry_of).map_err(cannot_write(&trend_path))?;
    let table = events_csv(&events).map_err(cannot_write(&events_path))?;
    replace_both((&trend_path, &trend), (&events_path, &table))?;
    let own: Vec<ActorDay> = actors.iter().filter(|actor| is_crawler(actor)).cloned().collect();
    let rows = self::trend(&own);
    let sites = jobs.iter().map(|job| site_nights(job, reports, &rows, &events));
    let sites = sites.collect::<Result<Vec<_>>>()?;
    for (job, site) in jobs.iter().zip(&sites) {
        replace(&job.site.reports.join(INDEX), site_page(site).as_bytes())?;
    }
    replace(&reports.join(INDEX), nights_page(&sites).as_bytes())?;
    Ok(events)
}

/// What the page of all nights shows of the site of `job`.
fn site_nights<'a>(
    job: &Job<'a>,
    reports: &Path,
    rows: &'a [TrendRow<'a>],
    events: &'a [EventRow],
) -> Result<SiteNights<'a>> {
    let (name, directory) = (job.site.name.as_str(), &job.site.reports);
    let days = match days(directory) {
        Err(err) if err.kind() == ErrorKind::NotFound => Vec::new(),
        days => days.map_err(|err| Error::io("cannot list", directory, err))?,
    };
    Ok(SiteNights {
        name,
        directory: directory.display().to_string(),
        is_beside: *directory == reports.join(name),
        reports: days.into_iter().filter(|day| *day <= job.last_day()).collect(),
        trend: rows.iter().filter(|row| row.site == name).collect(),
        events: events.iter().filter(|event| event.site == name).collect(),
    })
}

/// How long the command of `--notify-cmd` may take.
const NOTIFY_TIME_MAX: Duration = Duration::from_secs(60);

/// How often the job looks whether that command has ended.
const NOTIFY_POLL: Duration = Duration::from_millis(20);

/// Where the summary of a night goes.
#[derive(Clone, Debug)]
pub(crate) struct Notification {
    /// A file; - is standard output.
    pub mail_summary: Option<PathBuf>,
    /// A shell command that gets the summary as its standard input if there is news.
    pub command: Option<String>,
    /// Whether standard output gets the summary only if there is news.
    pub only_news: bool,
}

impl Notification {
    /// Makes paths absolute, because they are relative to the directory of the user.
    ///
    /// # Errors
    /// If the current directory is gone.
    pub(crate) fn absolute(mut self) -> Result<Notification> {
        if let Some(path) = self.mail_summary.as_mut().filter(|path| !is_stdout(path)) {
            let absolute = std::path::absolute(&*path);
            *path = absolute.map_err(|err| Error::io("cannot write --mail-summary", path, err))?;
        }
        Ok(self)
    }

    /// The file of the summary.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.mail_summary.as_deref().filter(|path| !is_stdout(path))
    }

    /// Whether the summary goes to standard output.
    pub(crate) fn has_stdout(&self) -> bool {
        self.mail_summary.as_deref().is_some_and(is_stdout)
    }

    /// Sends `text`, the summary, to its file, to standard output and to the command.
    pub(crate) fn send(&self, text: &str, is_news: bool, console: &dyn Console) -> Result<()> {
        if let Some(path) = self.file() {
            replace(path, text.as_bytes())?;
        } else if self.has_stdout() && (is_news || !self.only_news) {
            console.print(text)?;
        }
        match &self.command {
            Some(command) if is_news => notify(command, text, NOTIFY_TIME_MAX),
            Some(_) | None => Ok(()),
        }
    }
}

fn notify(command: &str, text: &str, time_max: Duration) -> Result<()> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let cannot = |err| Error::io("cannot run --notify-cmd", Path::new(command), err);
    let child = Command::new(shell).arg(flag).arg(command).stdin(Stdio::piped()).spawn();
    let mut child = child.map_err(cannot)?;
    if let Some(mut stdin) = child.stdin.take() {
        let text = text.to_owned();
        // A command that does not read its input may have no need of it, but must not block the job.
        let write = std::thread::Builder::new().spawn(move || stdin.write_all(text.as_bytes()));
        if let Err(err) = write {
            child.kill().and_then(|()| child.wait()).map_err(cannot)?;
            return Err(cannot(err));
        }
    }
    let end = Instant::now() + time_max;
    loop {
        match child.try_wait().map_err(cannot)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(Error::usage(format!("--notify-cmd {command}: {status}"))),
            None if Instant::now() >= end => {
                child.kill().map_err(cannot)?;
                child.wait().map_err(cannot)?;
                let limit = time_max.as_secs();
                let why = format!("stopped after {limit} seconds; run long work in the background");
                return Err(Error::usage(format!("--notify-cmd {command}: {why}")));
            }
            None => std::thread::sleep(NOTIFY_POLL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_command_that_does_not_end_is_stopped() {
        let text = "x".repeat(1 << 20);
        let err = notify("exec sleep 60", &text, Duration::ZERO).unwrap_err();
        assert!(err.to_string().contains("stopped after 0 seconds"), "{err}");
        // A command that reads nothing does not keep the job waiting.
        notify("true", &text, NOTIFY_TIME_MAX).unwrap();
    }
}
