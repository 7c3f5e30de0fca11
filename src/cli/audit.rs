//! `botaudit audit`: logs and robots.txt to a report directory.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use crate::config::size::whole;
use crate::config::{audit_config::AuditConfig, setting::KeyTable};
use crate::error::Result;
use crate::run::audit::Destination;
use crate::run::audit_job::AuditJob;
use crate::run::outcome::RunOutcome;
use crate::run::written::ResultFormat;
use crate::staged::is_stdout;

use super::collect::CollectArgs;
use super::config_flags::{
    ContentFlags, FormatFlags, IdentityFlags, JudgingFlags, OriginFlags, PrivacyFlags, RobotsFlags,
    ThresholdFlags, WhatIfFlags, WindowFlags,
};
use super::configured::ConfiguredArgs;
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
pub(crate) struct AuditArgs {
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
    #[arg(help_heading = "Output", short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Print a summary (text), or the whole result [default: text]
    ///
    /// json is one object, jsonl one for each row. Then no report is written without -o.
    #[arg(
        help_heading = "Output",
        long = "format",
        value_name = "FORMAT",
        value_parser = one_of(&RESULT_FORMATS),
        hide_possible_values = true,
        default_value = "text",
        hide_default_value = true,
        hide_short_help = true,
        conflicts_with_all = ["partial", "collect"]
    )]
    result_format: ResultFormat,

    /// Write all violations to FILE (CSV; also .gz or .zst).
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

    /// Write the tally of these logs to FILE instead of a report.
    ///
    /// `botaudit merge` merges tallies; `botaudit report` writes their report.
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
    #[arg(help_heading = "Performance", long, value_name = "N", value_parser = whole,
        allow_negative_numbers = true, hide_short_help = true)]
    threads: Option<usize>,
}

impl AuditArgs {
    /// Runs the audit.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        let site = self.configured.site(&*console(Show::OnTerminal))?;
        let client_key = self.collect.key()?;
        let flags = self.config();
        let destination = match (self.partial, self.collect.collect) {
            (Some(path), _) => Destination::Tally(path),
            (None, Some(path)) => Destination::Collected(path),
            (None, None) => match (self.output, self.result_format) {
                (Some(output), _) => Destination::Report(output),
                (None, ResultFormat::Text) => Destination::Report("botaudit-report".into()),
                (None, _) => Destination::Printed,
            },
        };
        let of_site = site.as_ref().and_then(|site| site.audit().evidence);
        let has_data = self.result_format.is_data()
            || destination.is_stdout()
            || flags.evidence.clone().or(of_site).as_deref().is_some_and(is_stdout);
        let show = Show::unless(self.quiet).beside_data(has_data);
        let memory = self.collect.memory;
        let job = AuditJob {
            logs: self.logs,
            name: self.name,
            site,
            flags,
            destination,
            format: self.result_format,
            overwrite: self.force.overwrite(),
            collected: self.collect.collected.map(|path| (path, memory)),
            client_key,
            view: self.summary.view(show.stream()),
            console: console(show),
        };
        job.run()
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
