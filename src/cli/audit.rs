//! `botaudit audit`: logs and robots.txt to a report directory.

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use clap::Args;

use crate::config::audit_config::AuditConfig;
use crate::error::{Error, Result};
use crate::input::copies::{DistinctLogs, ShortCopies, without_copies};
use crate::input::source::{Source, expand};
use crate::run::audit::{AuditRun, Destination};
use crate::run::collect::CollectedInput;
use crate::run::configured::ConfiguredSite;
use crate::run::crawler_names::known_view;
use crate::run::files::{check_outputs, tcp_use};
use crate::run::outcome::RunOutcome;
use crate::run::setup::{Setup, refusal};
use crate::run::written::ResultFormat;
use crate::staged::is_stdout;

use super::collect::CollectArgs;
use super::config_flags::{
    ContentFlags, FormatFlags, IdentityFlags, JudgingFlags, OriginFlags, PrivacyFlags, RobotsFlags,
    ThresholdFlags, WhatIfFlags, WindowFlags,
};
use super::configured::ConfiguredArgs;
use super::confinement::confine;
use super::console::console;
use super::help::short;
use super::progress::Show;
use super::shared::ForceArg;
use super::summary_flags::SummaryFlags;
use super::value_names::{RESULT_FORMATS, one_of};

const HELP: &str = include_str!("help/audit.txt");

/// Report which crawlers broke the rules of robots.txt.
#[derive(Args, Debug)]
#[command(after_help = short(HELP, "audit"), after_long_help = HELP)]
pub struct AuditArgs {
    /// Access logs: files, directories, patterns, or - for standard input.
    ///
    /// gzip, zstd, bzip2 and xz are detected by content, not by file name.
    #[arg(required_unless_present = "config", value_name = "LOG")]
    logs: Vec<OsString>,

    #[command(flatten)]
    robots: RobotsFlags,

    #[command(flatten)]
    judging: JudgingFlags,

    #[command(flatten)]
    origins: OriginFlags,

    #[command(flatten)]
    format: FormatFlags,

    #[command(flatten)]
    window: WindowFlags,

    /// Directory of the report [default: botaudit-report]
    ///
    /// An older report there is replaced at the end, in one step. With --format json or jsonl, no
    /// report is written unless -o is given.
    #[arg(help_heading = "Output", short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Format of what is printed; with json and jsonl, the summary goes to standard error.
    #[arg(
        help_heading = "Output",
        long = "format",
        value_name = "FORMAT",
        value_parser = one_of(&RESULT_FORMATS),
        default_value = "text",
        hide_short_help = true,
        conflicts_with_all = ["partial", "collect"]
    )]
    result_format: ResultFormat,

    /// Write all violations to FILE (CSV; also .gz or .zst).
    ///
    /// FILE may be - (standard output); the summary then goes to standard error.
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    evidence: Option<PathBuf>,

    #[command(flatten)]
    summary: SummaryFlags,

    #[command(flatten)]
    thresholds: ThresholdFlags,

    /// Print only warnings and errors.
    #[arg(help_heading = "Output", short, long)]
    quiet: bool,

    #[command(flatten)]
    force: ForceArg,

    #[command(flatten)]
    privacy: PrivacyFlags,

    #[command(flatten)]
    identity: IdentityFlags,

    #[command(flatten)]
    what_if: WhatIfFlags,

    #[command(flatten)]
    content: ContentFlags,

    #[command(flatten)]
    configured: ConfiguredArgs,

    /// Write the tally of these logs to FILE instead of a report; - is standard output.
    ///
    /// `botaudit merge` adds tallies up, and `botaudit report` writes their report. It is the same
    /// report as that of one audit of all the logs.
    #[arg(
        help_heading = "Parts of a large audit",
        long,
        value_name = "FILE",
        hide_short_help = true,
        conflicts_with_all = ["output", "fail_on", "fail_on_violations"]
    )]
    partial: Option<PathBuf>,

    /// Name of the only input in reports, such as its URL in object storage.
    #[arg(
        help_heading = "Parts of a large audit",
        long,
        value_name = "NAME",
        hide_short_help = true
    )]
    name: Option<String>,

    #[command(flatten)]
    collect: CollectArgs,

    /// Number of threads; 0 means one per core [default: 0]
    #[arg(help_heading = "Performance", long, value_name = "N", hide_short_help = true)]
    threads: Option<usize>,
}

impl AuditArgs {
    /// Runs the audit.
    pub fn run(self) -> Result<RunOutcome> {
        let site = self.configured.site(&*console(Show::OnTerminal))?;
        let client_key = self.collect.key()?;
        let flags = self.config();
        let of_site = site.as_ref().map(ConfiguredSite::audit).unwrap_or_default();
        let config = flags.clone().over(of_site);
        if site.is_none() && config.robots.is_none() && config.fetch.is_none() {
            return Err(no_robots());
        }
        let logs = match &site {
            Some(site) if self.logs.is_empty() => site.logs(),
            _ => self.logs,
        };
        let destination = match (self.partial, self.collect.collect) {
            (Some(path), _) => Destination::Tally(path),
            (None, Some(path)) => Destination::Collected(path),
            (None, None) => match (self.output, self.result_format) {
                (Some(output), _) => Destination::Report(output),
                (None, ResultFormat::Text) => Destination::Report("botaudit-report".into()),
                (None, _) => Destination::Printed,
            },
        };
        let sources = named(expand(&logs), self.name)?;
        let collected = self.collect.collected.as_deref();
        let defaults = config.clone().with_defaults();
        let (format, overwrite) = (self.result_format, self.force.overwrite());
        let outputs =
            check_outputs(&defaults, &sources, collected, &destination, format, overwrite)?;
        confine(&outputs, tcp_use(&defaults));
        let DistinctLogs { sources, repeats } = without_copies(sources, ShortCopies::ByName);
        let has_data = format.is_data()
            || destination.is_stdout()
            || config.evidence.as_deref().is_some_and(is_stdout);
        let show = Show::unless(self.quiet).beside_data(has_data);
        let console = console(show);
        let setup = Setup::new(config, &[], Arc::clone(&console));
        let setup = setup.map_err(|faults| match &site {
            Some(site) => site.refusal(&faults, &flags, &*console),
            None => refusal(&faults, &*console),
        })?;
        let view = known_view(self.summary.view(show.stream()), &[&setup.registry])?;
        let memory = self.collect.memory;
        let collected = collected.map(|path| CollectedInput::read(path, memory)).transpose()?;
        let run =
            AuditRun { setup, sources, repeats, destination, collected, client_key, format, view };
        run.run()
    }

    /// The flags as a configuration.
    fn config(&self) -> AuditConfig {
        let own = AuditConfig {
            evidence: self.evidence.clone(),
            threads: self.threads,
            ..AuditConfig::default()
        };
        let groups = [
            self.robots.config(),
            self.origins.config(),
            self.what_if.config(),
            self.content.config(),
            self.privacy.config(),
            self.format.config(),
            self.window.config(),
            self.judging.config(),
            self.identity.config(),
            self.thresholds.config(),
        ];
        groups.into_iter().fold(own, AuditConfig::or)
    }
}

/// `sources`; a `name` from the user replaces the name of the only one.
fn named(mut sources: Vec<Source>, name: Option<String>) -> Result<Vec<Source>> {
    let Some(name) = name else { return Ok(sources) };
    match &mut sources[..] {
        [source] => source.name = name,
        _ => {
            let why = format!("--name needs exactly one input, but there are {}", sources.len());
            return Err(Error::usage(why));
        }
    }
    Ok(sources)
}

fn no_robots() -> Error {
    Error::usage(
        "no robots.txt given; use --robots, as in: botaudit audit --robots robots.txt --origin \
         https://example.com access.log.gz; or add --fetch",
    )
}
