//! `botaudit audit`: logs and robots.txt to a report directory. `--collect` and `--collected` are the first pass of an
//! audit on several machines.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use crate::audit::client::ClientKey;
use crate::config::{amounts::bytes, audit_config::AuditConfig, option::FlagGroup};
use crate::error::Result;
use crate::run::written::ResultFormat;
use crate::run::{audit::Destination, audit_job::AuditJob, console::RunOutcome};
use crate::staged::is_stdout;

use super::console::{Show, console};
use super::help::short;
use super::option_flags::{FormatFlags, OptionFlags};
use super::shared::{ConfiguredArgs, ForceArg, RESULT_FORMATS, SummaryFlags, one_of};

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
    rules: OptionFlags<{ FlagGroup::Rules as u8 }>,

    #[command(flatten)]
    format: FormatFlags,

    #[command(flatten)]
    window: OptionFlags<{ FlagGroup::Window as u8 }>,

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

    #[command(flatten)]
    evidence: OptionFlags<{ FlagGroup::Evidence as u8 }>,

    #[command(flatten)]
    summary: SummaryFlags,

    #[command(flatten)]
    thresholds: OptionFlags<{ FlagGroup::Thresholds as u8 }>,

    /// Print only warnings and errors.
    #[arg(help_heading = "Output", short, long)]
    quiet: bool,

    #[command(flatten)]
    force: ForceArg,

    #[command(flatten)]
    details: OptionFlags<{ FlagGroup::Details as u8 }>,

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

    #[command(flatten)]
    threads: OptionFlags<{ FlagGroup::Threads as u8 }>,
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
        let groups = [
            self.rules.config(),
            self.format.config(),
            self.window.config(),
            self.evidence.config(),
            self.thresholds.config(),
            self.details.config(),
            self.threads.config(),
        ];
        groups.into_iter().fold(AuditConfig::default(), AuditConfig::or)
    }
}

/// The flags of the first pass of an audit on several machines.
#[derive(Args, Debug)]
#[command(next_help_heading = "Parts of a large audit")]
pub(crate) struct CollectArgs {
    /// Write the facts for --verify-dns, --infer-outages, --fetch to FILE.
    ///
    /// `botaudit merge` merges such files. With --verify-dns, FILE contains client addresses: delete
    /// it after use. Use the same --robots as in the audit.
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        conflicts_with_all = ["output", "partial", "collected", "evidence", "fail_on", "fail_on_violations"]
    )]
    pub collect: Option<PathBuf>,

    /// Read the facts that --collect wrote from these and other logs.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub collected: Option<PathBuf>,

    /// Memory for --collected, such as 4GiB [default: 2GiB]
    #[arg(long, value_name = "SIZE", hide_short_help = true, value_parser = bytes, requires = "collected")]
    pub memory: Option<usize>,

    /// Secret of at least 16 characters, the same on all machines.
    ///
    /// --collect hashes clients with it; files with other secrets cannot be merged.
    #[arg(long, hide_short_help = true, value_name = "TEXT", value_parser = ClientKey::of_text, requires = "collect")]
    client_key: Option<ClientKey>,
}

impl CollectArgs {
    /// The key for hashes of clients.
    pub(crate) fn key(&self) -> Result<ClientKey> {
        self.client_key.clone().map_or_else(ClientKey::random, Ok)
    }
}
