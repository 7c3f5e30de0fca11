//! `botaudit nightly`: audits the new log lines of each site of a configuration file.

mod after;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use crate::config::file::ConfigFile;
use crate::error::{Error, Result};
use crate::nightly::lock::{Locked, lock, lock_by};
use crate::nightly::state::State;
use crate::report::metrics::{METRICS_FILE, SiteMetrics, metrics_text};
use crate::report::outputs::{OutputContent, Outputs};
use crate::report::schemas::{EVENTS, TREND};
use crate::report::{night_text::SiteNight, nights::EventRow};
use crate::run::files::tcp_use;
use crate::run::nightly::site::Job;
use crate::run::outcome::RunOutcome;
use crate::run::sandbox::access_rights::TcpUse;
use crate::staged::replace;
use crate::time::{Day, UtcTime};

use super::configured::{read_config, report_errors};
use super::confinement::confine;
use super::console::console;
use super::exit_status::exit_code;
use super::help::short;
use super::progress::Show;
use super::shared::{ForceArg, MemoryArg, day, error, print};
use super::signals;
use super::summary_flags::view_of;
use after::{NotificationArgs, write_nights};

const HELP: &str = include_str!("help/nightly.txt");

/// Audit new log lines of every configured site.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "nightly"), after_long_help = HELP)]
pub struct NightlyArgs {
    /// Configuration file; its paths are relative to its directory.
    #[arg(long, help_heading = "Input", value_name = "FILE", default_value = "botaudit.toml")]
    config: PathBuf,

    /// Day to audit, such as 2026-11-20 [default: yesterday, in the time zone of each site]
    #[arg(long, help_heading = "Input", value_name = "DAY", value_parser = day)]
    day: Option<Day>,

    /// Print every mistake and what would be read; audit nothing.
    #[arg(long, help_heading = "Input")]
    check_config: bool,

    /// Print only warnings, errors and exceeded thresholds.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,

    #[command(flatten)]
    notification: NotificationArgs,

    #[command(flatten)]
    memory: MemoryArg,

    #[command(flatten)]
    force: ForceArg,
}

impl NightlyArgs {
    /// Runs the job.
    pub fn run(mut self) -> Result<RunOutcome> {
        self.notification = self.notification.absolute()?;
        let file = std::path::absolute(&self.config)
            .map_err(|err| Error::io("cannot read --config", &self.config, err))?;
        let (config, mut errors) = read_config(&self.config)?;
        let name = self.config.display().to_string();
        enter_directory_of(&self.config)?;
        let now = UtcTime::from(jiff::Timestamp::now());
        let show = Show::unless(self.quiet || self.notification.has_stdout());
        let shown = (&console(show), &view_of(show.stream()));
        let mut jobs = Vec::new();
        for site in &config.sites {
            match Job::new(site, &config, self.day, now, shown) {
                Ok(job) => jobs.push(job),
                Err(more) => errors.extend(more),
            }
        }
        if self.check_config {
            errors.extend(jobs.iter().filter_map(Job::origin_error));
        }
        errors.sort();
        errors.dedup();
        report_errors(&name, &errors)?;
        if self.check_config {
            let mut files = Outputs::new(self.force.overwrite());
            files.reads("--config", &file);
            jobs.iter().for_each(|job| files.add_directories_of(&job.files()));
            files.updated("state", &config.state)?;
            confine(&files, TcpUse::None);
            // `--check` must not create the state.
            let state = match config.state.exists() {
                true => self.open_state(&config)?,
                false => State::in_memory()?,
            };
            let described = jobs.iter().map(|job| job.described(&state));
            return print(&described.collect::<Result<String>>()?).map(|()| RunOutcome::Done);
        }
        let files = self.check_outputs(&file, &jobs, &config)?;
        // The command may need any right.
        if self.notification.has_command() {
            signals::handle();
        } else {
            let needs = |job: &Job<'_>| tcp_use(&job.site.audit) == TcpUse::Needed;
            confine(&files, TcpUse::needed_if(jobs.iter().any(needs)));
        }
        self.run_all(&jobs, &config, now)
    }

    fn open_state(&self, config: &ConfigFile) -> Result<State> {
        Ok(State::open(&config.state)?.with_memory(self.memory.limits().memory_bytes))
    }

    /// Checks that no output is an input, and that only files written by botaudit are replaced.
    /// Returns the files of the run.
    fn check_outputs(&self, file: &Path, jobs: &[Job<'_>], config: &ConfigFile) -> Result<Outputs> {
        let mut all = Outputs::new(self.force.overwrite());
        all.reads("--config", file);
        for job in jobs {
            job.name_inputs(&mut all);
        }
        all.updated("state", &config.state)?;
        all.file("reports", &config.reports.join(TREND.file), OutputContent::Trend)?;
        all.file("reports", &config.reports.join(EVENTS.file), OutputContent::Events)?;
        all.file("reports", &config.reports.join(METRICS_FILE), OutputContent::Metrics)?;
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
                    error(&format!("another run is in progress: {who}; nothing was done"));
                    return Ok(RunOutcome::Locked);
                }
            }
        }
        let begun = Instant::now();
        let mut state = self.open_state(config)?;
        // An error in one site does not prevent the others from being audited.
        let ran = jobs.iter().map(|job| job.run(config, &mut state));
        let (statuses, nights): (Vec<_>, Vec<_>) = ran.unzip();
        let mut events = write_nights(&config.reports, &state, jobs)?;
        let is_of_night =
            |site: &str, day: Day| jobs.iter().any(|job| job.site.name == site && job.day == day);
        events.retain(|row| is_of_night(&row.site, row.day));
        let ran = statuses.iter().zip(&nights).map(|(status, night)| {
            let success = matches!(status, RunOutcome::Done | RunOutcome::Violations);
            let last_success = state.last_success(&night.site, success.then_some(now))?;
            Ok(site_metrics(night, exit_code(Ok(*status)), last_success, &events))
        });
        let sites: Vec<SiteMetrics> = ran.collect::<Result<_>>()?;
        let text = metrics_text(now, begun.elapsed().as_secs_f64(), &sites);
        replace(&config.reports.join(METRICS_FILE), text.as_bytes())?;
        self.notification.send(&nights, &events, self.quiet)?;
        let worst = statuses.into_iter().max_by_key(|status| badness(*status));
        Ok(worst.unwrap_or(RunOutcome::Done))
    }
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

/// The order of severity; the exit code is that of the worst site.
fn badness(outcome: RunOutcome) -> u8 {
    match outcome {
        RunOutcome::Done => 0,
        RunOutcome::Violations => 1,
        RunOutcome::Incomplete => 2,
        _ => 3,
    }
}

/// Changes to the directory of the configuration file, so that paths mean the same wherever the job
/// is started.
fn enter_directory_of(config: &Path) -> Result<()> {
    let directory = config.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Some(directory) = directory else { return Ok(()) };
    std::env::set_current_dir(directory).map_err(|err| Error::io("cannot enter", directory, err))
}
