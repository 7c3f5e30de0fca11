//! `botaudit nightly`: audits the new log lines of each site of a configuration file; and `botaudit init`, which writes
//! such a file.

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::run::nightly::night::{NightlyRun, Notification};
use crate::run::{console::RunOutcome, init::InitRun};
use crate::staged::is_stdout;
use crate::time::Day;

use super::console::{Show, console};
use super::help::short;
use super::shared::{ForceArg, MemoryArg, day, view_of};

const HELP: &str = include_str!("help/nightly.txt");

/// Audit new log lines of every configured site.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "nightly"), after_long_help = HELP)]
pub(crate) struct NightlyArgs {
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

    #[command(flatten)]
    memory: MemoryArg,

    #[command(flatten)]
    force: ForceArg,
}

impl NightlyArgs {
    /// Runs the job.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let notification = Notification {
            mail_summary: self.mail_summary,
            command: self.notify_cmd,
            only_news: self.quiet,
        };
        let show = Show::unless(self.quiet || notification.has_stdout());
        let run = NightlyRun {
            config: self.config,
            day: self.day,
            only_checks: self.check_config,
            notification,
            overwrite: self.force.overwrite(),
            limits: self.memory.limits(),
            view: view_of(show.stream()),
            console: console(show),
        };
        run.run()
    }
}

const INIT_HELP: &str = include_str!("help/init.txt");

/// Write a configuration for `botaudit nightly`.
///
/// It names the logs and web roots that are found on this machine.
#[derive(Args, Debug)]
#[command(after_help = short(INIT_HELP, "init"), after_long_help = INIT_HELP)]
pub(crate) struct InitArgs {
    /// File to write; an existing file is never overwritten. - is standard output.
    #[arg(value_name = "FILE", default_value = "botaudit.toml")]
    file: PathBuf,

    /// Search below DIR instead of the root of the file system.
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
}

impl InitArgs {
    /// Searches for logs and writes the configuration.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let show = Show::OnTerminal.beside_data(is_stdout(&self.file));
        InitRun { file: self.file, root: self.root, console: console(show) }.run()
    }
}
