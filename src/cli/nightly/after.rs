//! Writes trend, events and the night summary after all sites.

use std::collections::{BTreeMap, btree_map::Entry};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;

use crate::crawlers::{crawler::Crawler, registry::Registry};
use crate::error::{Error, Result};
use crate::nightly::events::{events, trend};
use crate::nightly::state::{State, rows::ActorDay};
use crate::report::night_text::{SiteNight, night_text};
use crate::report::nights::{EventRow, events_csv, trend_csv};
use crate::report::schemas::{EVENTS, TREND};
use crate::run::nightly::site::Job;
use crate::staged::{is_stdout, replace, replace_both};

use super::super::shared::print;

/// How long the command of `--notify-cmd` may take.
const NOTIFY_TIME_MAX: Duration = Duration::from_secs(60);

/// How often the job looks whether that command has ended.
const NOTIFY_POLL: Duration = Duration::from_millis(20);

/// The flags.
#[derive(Args, Debug)]
pub struct NotificationArgs {
    /// Write a summary of the night for a mail to FILE [default: standard output]
    ///
    /// With -q, standard output gets it only if there is news: an exceeded threshold, damaged input, an
    /// error, or an event.
    #[arg(long, help_heading = "Output", value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    mail_summary: Option<PathBuf>,

    /// If there is news, run the shell command CMD with that summary as its standard input.
    ///
    /// It runs in the directory of the configuration file.
    #[arg(long, help_heading = "Output", value_name = "CMD")]
    notify_cmd: Option<String>,
}

impl NotificationArgs {
    /// Makes paths absolute, because they are relative to the directory of the user.
    pub fn absolute(mut self) -> Result<NotificationArgs> {
        if let Some(path) = self.mail_summary.as_mut().filter(|path| !is_stdout(path)) {
            let absolute = std::path::absolute(&*path);
            *path = absolute.map_err(|err| Error::io("cannot write --mail-summary", path, err))?;
        }
        Ok(self)
    }

    /// The file of the summary.
    pub fn file(&self) -> Option<&Path> {
        self.mail_summary.as_deref().filter(|path| !is_stdout(path))
    }

    /// Whether a command is run.
    pub fn has_command(&self) -> bool {
        self.notify_cmd.is_some()
    }

    /// Whether the summary goes to standard output.
    pub fn has_stdout(&self) -> bool {
        self.mail_summary.as_deref().is_some_and(is_stdout)
    }

    /// Sends the summary to its file, to standard output and to the command.
    pub fn send(&self, nights: &[SiteNight], events: &[EventRow], is_quiet: bool) -> Result<()> {
        let text = night_text(nights, events);
        let has_events = !events.is_empty()
            || nights.iter().any(|night| night.sums.is_none() || !night.notices.is_empty());
        if let Some(path) = self.file() {
            replace(path, text.as_bytes())?;
        } else if self.has_stdout() && (has_events || !is_quiet) {
            print(&text)?;
        }
        match &self.notify_cmd {
            Some(command) if has_events => notify(command, &text, NOTIFY_TIME_MAX),
            Some(_) | None => Ok(()),
        }
    }
}

/// Writes `trend.csv` and `events.csv` of the sites of `jobs` into `reports`, up to the last day of
/// each, and returns the events.
pub fn write_nights(reports: &Path, state: &State, jobs: &[Job<'_>]) -> Result<Vec<EventRow>> {
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
    let events = events(&actors, &ruled, |actor| !row_of(actor).is_some_and(Crawler::is_tool));
    let (trend_path, events_path) = (reports.join(TREND.file), reports.join(EVENTS.file));
    let cannot_write = |path| move |err| Error::io("cannot write", path, err);
    // All sites may have an output of their own elsewhere.
    std::fs::create_dir_all(reports).map_err(|err| Error::io("cannot create", reports, err))?;
    let trend = trend_csv(&trend(&actors), registry_of).map_err(cannot_write(&trend_path))?;
    let table = events_csv(&events).map_err(cannot_write(&events_path))?;
    replace_both((&trend_path, &trend), (&events_path, &table))?;
    Ok(events)
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
