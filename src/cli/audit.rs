//! `botaudit audit`: logs and robots.txt to a report directory.

pub mod files;
pub mod run;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::config::audit_config::AuditConfig;
use crate::config::setting::Percent;
use crate::error::{Error, Result};
use crate::input::source::{Source, expand};

use super::collect::{CollectArgs, CollectedInput};
use super::configured::{ConfiguredArgs, ConfiguredSite};
use super::exit_status::ExitStatus;
use super::fetch_first::FetchFirstArgs;
use super::formats::HintArgs;
use super::identity::IdentityArgs;
use super::infer_outages::InferOutagesArgs;
use super::origins::OriginArgs;
use super::privacy::PrivacyArgs;
use super::progress::Show;
use super::setup::Setup;
use super::shared::{DialectArg, ForceArg, refusal};
use super::what_if::WhatIfArgs;
use super::window::WindowArgs;
use files::check_outputs;
use run::{AuditRun, Destination};

const EXAMPLES: &str = "\
Examples:
  One site, its logs of the month, one robots.txt:
    botaudit audit --robots robots.txt --origin https://example.com /var/log/nginx/access.log*.gz

  Many sites in one log (vhost_combined), a directory with one robots.txt a host:
    botaudit audit --robots robots/ -o report/ /var/log/apache2/other_vhosts_access.log*

  With the settings of a site of botaudit.toml, other logs, and examples of addresses:
    botaudit audit --config botaudit.toml --site shop --ip mask old.log.gz

  From a pipe, with the evidence for each violation, failing if there is any:
    zcat access.log.gz | botaudit audit --robots robots.txt --evidence evidence.csv.gz --fail-on-violations -

  One machine's share of a large audit; merge and report put the shares together:
    botaudit audit --robots robots/ --partial part-7.tally --name s3://logs/7.gz - < 7.gz

  The same where outages are inferred: first what all machines must know, then their shares:
    botaudit audit --robots robots/ --infer-outages --collect 7.collected --client-key \"$KEY\" 7.gz
    botaudit merge *.collected -o all.collected
    botaudit audit --robots robots/ --infer-outages --collected all.collected --partial 7.tally 7.gz

Exit codes:
  0 done   1 violations found and --fail-on-violations given, or a --fail-on is met
  2 could not run, nothing written
  3 reports written, but some input was damaged, or nothing could be judged";

/// Judge the requests of access logs by robots.txt; write CSV tables and a page that shows them.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, after_help = "More, with examples: botaudit audit --help")]
pub struct AuditArgs {
    /// Access logs: files, directories, patterns, or - for standard input.
    ///
    /// Plain, or compressed by gzip, zstd, bzip2 or xz, which their first bytes tell.
    #[arg(required_unless_present = "config", value_name = "LOG")]
    logs: Vec<OsString>,

    #[command(flatten)]
    configured: ConfiguredArgs,

    /// A robots.txt file for the whole log, a directory with one file an origin, or an archive.
    ///
    /// In an archive, made by `botaudit robots import` or `fetch`, each request is judged by what
    /// was in force when it was made.
    ///
    /// In a directory the names decide: `example.com`, `example.com.txt` and
    /// `example.com/robots.txt` govern that host on its default port under any scheme;
    /// `https_example.com_8443.txt` governs exactly that origin, and wins.
    #[arg(help_heading = "Rules", long, value_name = "PATH")]
    robots: Option<PathBuf>,

    #[command(flatten)]
    fetch: FetchFirstArgs,

    #[command(flatten)]
    origins: OriginArgs,

    #[command(flatten)]
    what_if: WhatIfArgs,

    /// Where the report goes; a report that stands there is replaced at the end, in one step.
    #[arg(
        help_heading = "Output",
        short,
        long,
        value_name = "DIR",
        default_value = "botaudit-report"
    )]
    output: PathBuf,

    /// Write the tally of these logs to FILE instead of a report, to be merged with others.
    ///
    /// `botaudit merge` adds tallies up, and `botaudit report` draws the report of them: together
    /// they are what one audit of all the logs would have written.
    #[arg(
        help_heading = "Parts of a large audit",
        long,
        value_name = "FILE",
        conflicts_with_all = ["output", "fail_on", "fail_on_violations"]
    )]
    partial: Option<PathBuf>,

    /// What reports call the one input, for instance its URL in object storage.
    #[arg(help_heading = "Parts of a large audit", long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    collect: CollectArgs,

    /// Write every violating request to FILE, compressed if its name ends in .gz or .zst.
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    evidence: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArg,

    #[command(flatten)]
    privacy: PrivacyArgs,

    #[command(flatten)]
    hints: HintArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// Lines of a file that must be records, in percent of those that are not skipped [default: 90]
    ///
    /// A file that falls short fails the run, as its format was mistaken; a file with fewer than
    /// five rejected lines does not, unless no line of any file is a record. 0 accepts anything.
    #[arg(help_heading = "Reading logs", long, value_name = "PERCENT")]
    min_parse_rate: Option<Percent>,

    /// CSV of crawlers that are added to the built-in ones; a row of the same name replaces one.
    #[arg(help_heading = "Rules", long, value_name = "FILE")]
    crawlers: Option<PathBuf>,

    /// Also judge crawlers that robots.txt does not bind, as if it bound everybody.
    ///
    /// Else the requests of fetchers that a person triggered, and of crawlers that are known not to
    /// follow robots.txt, are counted apart, and `*` does not bind crawlers that are documented to
    /// ignore it.
    #[arg(help_heading = "Rules", long)]
    include_unbound: bool,

    /// Count requests from before the first snapshot of an archive as unknown.
    ///
    /// Else they are judged by that snapshot, and the report says how many they are.
    #[arg(help_heading = "Rules", long)]
    unknown_before_first_snapshot: bool,

    #[command(flatten)]
    infer_outages: InferOutagesArgs,

    /// How percent-encodings and wildcards are read [default: google]
    #[arg(help_heading = "Rules", long, value_enum)]
    dialect: Option<DialectArg>,

    #[command(flatten)]
    identity: IdentityArgs,

    /// Exit with 1 if there are violations (of crawlers that are not spoofed).
    #[arg(help_heading = "Output", long)]
    fail_on_violations: bool,

    /// Exit with 1 if a row of summary.csv meets CONDITION; can be repeated.
    ///
    /// Columns, numbers, percentages and quoted text, with = != < <= > >=, and, or, not, where:
    /// "violation_rate > 5% and requests >= 100 where purpose = 'ai-training'". Rows of spoofed
    /// crawlers count only where it names identity.
    #[arg(help_heading = "Output", long, value_name = "CONDITION")]
    fail_on: Vec<String>,

    /// Say nothing but warnings and errors.
    #[arg(help_heading = "Output", short, long)]
    quiet: bool,

    /// Threads that read, parse and judge; 0 for one a core [default: 0]
    #[arg(help_heading = "Performance", long, value_name = "N")]
    threads: Option<usize>,
}

impl AuditArgs {
    /// Runs the audit.
    pub fn run(self) -> Result<ExitStatus> {
        let site = self.configured.site()?;
        let logs = self.logs.clone();
        let destination = match (&self.partial, self.collect.output()) {
            (Some(path), _) => Destination::Tally(path.clone()),
            (None, Some(path)) => Destination::Collected(path.to_owned()),
            (None, None) => Destination::Report(self.output.clone()),
        };
        let client_key = self.collect.key()?;
        let collected = self.collect.input().map(Path::to_owned);
        let name = self.name.clone();
        let overwrite = self.force.overwrite();
        let show = if self.quiet { Show::Nothing } else { Show::OnTerminal };
        let flags = self.config();
        let of_site = site.as_ref().map(ConfiguredSite::audit).unwrap_or_default();
        let config = flags.clone().over(of_site);
        if site.is_none() && config.robots.is_none() && config.fetch.is_none() {
            return Err(no_robots());
        }
        let logs = match (logs.is_empty(), &site) {
            (true, Some(site)) => site.logs(),
            _ => logs,
        };
        let sources = named(expand(&logs), name)?;
        let collected = collected.as_deref();
        let defaults = config.clone().with_defaults();
        check_outputs(&defaults, &sources, collected, &destination, overwrite)?;
        let setup = Setup::new(config, &[], show);
        let setup = setup.map_err(|faults| match &site {
            Some(site) => site.refusal(&faults, &flags),
            None => refusal(&faults),
        })?;
        let collected = collected.map(CollectedInput::read).transpose()?;
        AuditRun { setup, sources, destination, collected, client_key }.run()
    }

    /// The configuration that the flags are.
    fn config(self) -> AuditConfig {
        let own = AuditConfig {
            robots: self.robots,
            evidence: self.evidence,
            min_parse_rate: self.min_parse_rate,
            crawlers: self.crawlers,
            include_unbound: self.include_unbound.then_some(true),
            unknown_before_first_snapshot: self.unknown_before_first_snapshot.then_some(true),
            dialect: self.dialect.map(DialectArg::dialect),
            fail_on_violations: self.fail_on_violations.then_some(true),
            fail_on: (!self.fail_on.is_empty()).then_some(self.fail_on),
            threads: self.threads,
            ..AuditConfig::default()
        };
        let groups = [
            self.fetch.config(),
            self.origins.config(),
            self.what_if.config(),
            self.privacy.config(),
            self.hints.config(),
            self.window.config(),
            self.infer_outages.config(),
            self.identity.config(),
        ];
        groups.into_iter().fold(own, AuditConfig::or)
    }
}

/// `sources` under the name that the user gives the only one of them.
fn named(mut sources: Vec<Source>, name: Option<String>) -> Result<Vec<Source>> {
    let Some(name) = name else { return Ok(sources) };
    match &mut sources[..] {
        [source] => source.name = name,
        _ => {
            let why = format!("--name is for one input, and there are {}", sources.len());
            return Err(Error::usage(why));
        }
    }
    Ok(sources)
}

fn no_robots() -> Error {
    Error::usage(
        "no robots.txt to judge by; name one with --robots, as in: \
         botaudit audit --robots robots.txt --origin https://example.com access.log.gz; \
         or add --fetch",
    )
}
