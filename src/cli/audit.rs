//! `botaudit audit`: logs and robots.txt to a report directory.

mod files;
mod kept;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::available_parallelism;

use clap::{Args, ValueEnum};

use crate::archive::Store;
use crate::audit::evidence::EvidenceSink;
use crate::audit::finish::{Audit, Input};
use crate::audit::parse_rate::not_understood;
use crate::audit::{self, CHUNK_BYTES, Options, Progress};
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::{Source, expand};
use crate::judge::Judge;
use crate::judge::timeline::BeforeFirst;
use crate::report::directory::{MARKER, Staging};
use crate::report::html::PAGE;
use crate::report::page_model::PageModel;
use crate::report::privacy::Privacy;
use crate::report::requests::RequestsFile;
use crate::report::run::RunOptions;
use crate::report::summary::summary_text;
use crate::report::tables::TABLES;
use crate::report::threshold::Threshold;
use crate::url::origin::Origin;

use super::Outcome;
use super::fetch_first::FetchFirstArgs;
use super::formats::HintArgs;
use super::identity::IdentityArgs;
use super::log_evidence::LogEvidenceArgs;
use super::origins::OriginArgs;
use super::privacy::PrivacyArgs;
use super::progress::{Show, follow};
use super::shared::{DialectArg, ForceArg, complain, print};
use super::signals;
use super::simulate::SimulateArgs;
use super::window::WindowArgs;
use super::written::{discard_when_stopped, write_report};

const EXAMPLES: &str = "\
Examples:
  One site, its logs of the month, one robots.txt:
    botaudit audit --robots robots.txt --origin https://example.com /var/log/nginx/access.log*.gz

  Many sites in one log (vhost_combined), a directory with one robots.txt a host:
    botaudit audit --robots robots/ -o report/ /var/log/apache2/other_vhosts_access.log*

  From a pipe, with the evidence for each violation, failing if there is any:
    zcat access.log.gz | botaudit audit --robots robots.txt --requests evidence.csv.gz --fail-on-violations -

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
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<OsString>,

    /// A robots.txt file for the whole log, a directory with one file an origin, or an archive.
    ///
    /// In an archive, made by `botaudit robots import` or `fetch`, each request is judged by what
    /// was in force when it was made.
    ///
    /// In a directory the names decide: `example.com`, `example.com.txt` and
    /// `example.com/robots.txt` govern that host on its default port under any scheme;
    /// `https_example.com_8443.txt` governs exactly that origin, and wins.
    #[arg(help_heading = "By which rules", long, value_name = "PATH")]
    robots: Option<PathBuf>,

    #[command(flatten)]
    fetch: FetchFirstArgs,

    #[command(flatten)]
    origins: OriginArgs,

    #[command(flatten)]
    simulate: SimulateArgs,

    /// Where the report goes; a report that stands there is replaced at the end, in one step.
    #[arg(
        help_heading = "What comes out",
        short,
        long,
        value_name = "DIR",
        default_value = "botaudit-report"
    )]
    output: PathBuf,

    /// Write every violating request to FILE, compressed if its name ends in .gz or .zst.
    #[arg(help_heading = "What comes out", long, value_name = "FILE")]
    requests: Option<PathBuf>,

    #[command(flatten)]
    force: ForceArg,

    #[command(flatten)]
    privacy: PrivacyArgs,

    #[command(flatten)]
    hints: HintArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// Lines of a file that must be records, in percent of those that are not skipped.
    ///
    /// A file that falls short fails the run, as its format was mistaken; a file with fewer than
    /// five rejected lines does not, unless no line of any file is a record. 0 accepts anything.
    #[arg(help_heading = "How logs are read", long, value_name = "PERCENT", default_value = "90", value_parser = percent)]
    min_parse_rate: f64,

    /// CSV of crawlers that are added to the built-in ones; a row of the same name replaces one.
    #[arg(help_heading = "By which rules", long, value_name = "FILE")]
    crawlers: Option<PathBuf>,

    /// Whom to hold to the rules.
    ///
    /// `bound`: all but fetchers that a person triggered, and crawlers that are known not to
    /// follow robots.txt; `*` does not bind crawlers that are documented to ignore it.
    /// `everyone`: all of them, as if the rules bound everybody.
    #[arg(help_heading = "By which rules", long, value_enum, default_value_t = JudgeArg::Bound)]
    judge: JudgeArg,

    /// Count requests from before the first snapshot of an archive as unknown.
    ///
    /// Else they are judged by that snapshot, and the report says how many they are.
    #[arg(long)]
    strict_history: bool,

    #[command(flatten)]
    log_evidence: LogEvidenceArgs,

    /// How percent-encodings and wildcards are read.
    #[arg(help_heading = "By which rules", long, value_enum, default_value_t = DialectArg::Google)]
    dialect: DialectArg,

    #[command(flatten)]
    identity: IdentityArgs,

    /// Exit with 1 if there are violations (of crawlers that are not spoofed).
    #[arg(help_heading = "What comes out", long)]
    fail_on_violations: bool,

    /// Exit with 1 if a row of summary.csv meets CONDITION; can be repeated.
    ///
    /// Columns, numbers, percentages and quoted text, with = != < <= > >=, and, or, not, where:
    /// "violation_rate > 5% and requests >= 100 where purpose = 'ai-training'". Rows of spoofed
    /// crawlers count only where it names identity.
    #[arg(help_heading = "What comes out", long, value_name = "CONDITION")]
    fail_on: Vec<String>,

    /// Say nothing but warnings and errors.
    #[arg(help_heading = "What comes out", short, long)]
    quiet: bool,

    /// Threads that read, parse and judge; 0 for one a core.
    #[arg(help_heading = "How the work is done", long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

/// What the flags come to.
#[derive(Debug)]
pub struct Ready {
    /// How logs are read and judged.
    pub options: Options,
    /// Who is a crawler.
    pub registry: Registry,
    privacy: Privacy,
    thresholds: Vec<Threshold>,
}

/// What was told of an audit.
#[derive(Debug)]
pub struct Told {
    /// How the run ends.
    pub outcome: Outcome,
    /// The thresholds that were met, in lines.
    pub met: Vec<String>,
}

/// Whom to hold to the rules.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum JudgeArg {
    Bound,
    Everyone,
}

impl JudgeArg {
    fn as_str(self) -> &'static str {
        match self {
            JudgeArg::Bound => "bound",
            JudgeArg::Everyone => "everyone",
        }
    }
}

impl AuditArgs {
    /// Runs the audit.
    pub fn run(self) -> Result<Outcome> {
        let robots = self.robots_path().ok_or_else(no_robots)?;
        let sources = expand(&self.logs);
        self.check_outputs(&sources)?;
        let mut ready = self.ready(&[])?;
        // What is there already should be readable before anything is written.
        let judge = if self.fetch.is_wanted() { None } else { Some(self.judge(&ready)?) };
        let is_one_file = judge.as_ref().is_some_and(Judge::is_by_hand);
        let judge_draft = |draft| self.judge_by(draft, &ready.registry);
        let naming = &ready.options.naming;
        let draft = self.simulate.draft(naming, is_one_file, judge_draft)?.map(Arc::new);
        ready.options.draft = draft;
        let staging = Arc::new(Staging::open(&self.output)?);
        discard_when_stopped(&staging);
        let Ready { options, registry, .. } = &ready;
        let fetched = self.fetch.run(&robots, &sources, options, registry, self.show());
        let judge = fetched.and_then(|()| judge.map_or_else(|| self.judge(&ready), Ok));
        let audit = judge.and_then(|mut judge| self.report(&staging, &sources, &mut judge, &ready));
        // Whoever waits for signals holds it too, so that it is not dropped here.
        let audit = audit.inspect_err(|_| {
            staging.discard();
        })?;
        let (audit, model) = audit;
        self.tell(&audit, &model, &self.output, &ready).map(|told| told.outcome)
    }

    /// What the flags come to. `names` are crawlers that were known once, and may be no more.
    pub fn ready(&self, names: &[String]) -> Result<Ready> {
        let options = self.options()?;
        let privacy = self.privacy.privacy()?;
        let registry = Registry::with_names(self.crawlers.as_deref(), names)?;
        let thresholds = self.thresholds(&registry)?;
        Ok(Ready { options, privacy, registry, thresholds })
    }

    /// The judge of what `--robots` names.
    pub fn judge(&self, ready: &Ready) -> Result<Judge> {
        let robots = self.robots_path().ok_or_else(no_robots)?;
        self.judge_by(Store::open(&robots)?, &ready.registry)
    }

    fn judge_by(&self, store: Store, registry: &Registry) -> Result<Judge> {
        let make = match self.judge {
            JudgeArg::Bound => Judge::new,
            JudgeArg::Everyone => Judge::of_everyone,
        };
        make(store, registry, self.dialect.dialect())
    }

    /// Whether it could be run, as far as that can be told without reading a log.
    pub fn check(&self) -> Result<()> {
        self.ready(&[])?;
        match self.fetch.is_wanted() {
            true => Ok(()),
            false => Store::open(self.robots.as_ref().ok_or_else(no_robots)?).map(drop),
        }
    }

    /// Audits, and writes all that is to be written, at once and at the end.
    fn report(
        &self,
        staging: &Arc<Staging>,
        sources: &[Source],
        judge: &mut Judge,
        ready: &Ready,
    ) -> Result<(Audit, PageModel)> {
        let Ready { options, registry, privacy, .. } = ready;
        let evidence = self.evidence_within(staging)?;
        let evidence_path = evidence
            .as_ref()
            .map(|name| staging.staged(name.as_ref()))
            .or_else(|| self.requests.clone());
        let requests = evidence_path.map(|path| RequestsFile::open(&path, privacy.clone()));
        let requests = requests.transpose()?;
        let hidden = requests.as_ref().and_then(RequestsFile::hidden);
        if let Some(hidden) = hidden.map(Path::to_owned) {
            signals::when_stopped(move || drop(std::fs::remove_file(&hidden)));
        }

        let mut audit = self.audit(sources, options, judge, registry, requests.as_ref())?;
        if let Some(err) = nothing_read(&audit) {
            return Err(err);
        }
        if let Some(why) = not_understood(&audit, self.min_parse_rate) {
            return Err(Error::usage(why));
        }
        privacy.apply(&mut audit);
        let (options, name) = (self.run_options(options), evidence.as_deref());
        let model = write_report(staging, &self.output, &audit, &options, name, registry)?;
        requests.map_or(Ok(()), RequestsFile::commit)?;
        staging.commit()?;
        Ok((audit, model))
    }

    fn audit(
        &self,
        sources: &[Source],
        options: &Options,
        judge: &mut Judge,
        registry: &Registry,
        requests: Option<&RequestsFile>,
    ) -> Result<Audit> {
        let progress = Progress::default();
        let identity = &self.identity;
        let bytes_total = sources.iter().map(Source::size_bytes).sum::<Option<u64>>();
        let bytes_total =
            bytes_total.map(|bytes| bytes * (identity.passes() + self.log_evidence.passes()));
        let take = requests.map(|file| move |evidence| file.take(evidence, sources, registry));
        follow(
            self.show(),
            bytes_total,
            || progress.bytes_read.load(Ordering::Relaxed),
            || progress.lines.load(Ordering::Relaxed),
            || {
                let bytes_read = &progress.bytes_read;
                self.log_evidence.heed(sources, options, judge, registry, bytes_read)?;
                let identities =
                    &identity.identities(sources, options, judge, registry, bytes_read)?;
                let take = take.as_ref().map(|take| take as &EvidenceSink<'_>);
                audit::run(sources, options, judge, registry, identities, &progress, take)
            },
        )
    }

    fn show(&self) -> Show {
        if self.quiet { Show::Nothing } else { Show::OnTerminal }
    }

    /// What to judge by; what is to be fetched may not be there yet.
    fn robots_path(&self) -> Option<PathBuf> {
        self.fetch.robots(self.robots.as_deref())
    }

    fn thresholds(&self, registry: &Registry) -> Result<Vec<Threshold>> {
        let parse = |text: &String| {
            Threshold::parse(text, registry)
                .map_err(|why| Error::usage(format!("--fail-on \"{text}\": {why}")))
        };
        self.fail_on.iter().map(parse).collect()
    }

    /// Tells what came out, and whether a threshold was met.
    pub fn tell(
        &self,
        audit: &Audit,
        model: &PageModel,
        output: &Path,
        ready: &Ready,
    ) -> Result<Told> {
        let Ready { registry, thresholds, .. } = ready;
        for input in &audit.inputs {
            if let Some(damage) = &input.damage {
                complain(&damage_text(input, damage));
            }
        }
        audit.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
        if !self.quiet {
            print(&summary_text(model))?;
            print(&format!(
                "\nreport: {}\n",
                crate::report::escape::visible(output.display().to_string().as_bytes())
            ))?;
        }
        let met: Vec<String> =
            thresholds.iter().flat_map(|threshold| threshold.met(audit, registry)).collect();
        met.iter().for_each(|line| complain(line));
        let is_met = !met.is_empty() || (self.fail_on_violations && audit.has_violations());
        let is_whole = audit.is_complete() && audit.nothing_judged.is_none();
        let outcome = match (is_whole, is_met) {
            (false, _) => Outcome::Incomplete,
            (true, true) => Outcome::Violations,
            (true, false) => Outcome::Done,
        };
        Ok(Told { outcome, met })
    }

    /// The name of the evidence, where it is to stand in the report itself.
    fn evidence_within(&self, staging: &Staging) -> Result<Option<String>> {
        let Some(name) = self.requests.as_ref().and_then(|path| staging.name_within(path)) else {
            return Ok(None);
        };
        let taken = TABLES
            .iter()
            .map(|(table, _)| table.file)
            .chain([MARKER, PAGE])
            .any(|file| name == file);
        match name.to_str() {
            Some(name) if !taken => Ok(Some(name.to_owned())),
            _ => Err(Error::usage(format!(
                "--requests cannot be named {}; write --requests evidence.csv.gz",
                name.display()
            ))),
        }
    }

    fn options(&self) -> Result<Options> {
        let cores = available_parallelism().map_or(1, usize::from);
        let hints = self.hints.hints()?;
        let zone = hints.zone.clone();
        Ok(Options {
            threads: if self.threads == 0 { cores } else { self.threads },
            chunk_bytes: CHUNK_BYTES,
            hints,
            naming: self.origins.naming()?,
            trusted_proxies: self.origins.trusted_proxies()?,
            window: self.window.window(&zone)?,
            zone,
            before_first: match self.strict_history {
                true => BeforeFirst::Unknown,
                false => BeforeFirst::AsFirst,
            },
            draft: None,
        })
    }

    fn run_options(&self, options: &Options) -> RunOptions {
        RunOptions {
            robots: self.robots_path().map_or_else(String::new, |path| path.display().to_string()),
            origin: options.naming.origin.as_ref().map(Origin::to_string),
            origin_from_path: self.origins.origin_from_path.clone(),
            aliases: self.origins.alias.clone(),
            simulate: self.simulate.name(),
            simulate_for: self.simulate.simulate_for.clone(),
            trusted_proxies: self.origins.trusted_proxy.clone(),
            haproxy_captures: self.hints.haproxy_captures.clone(),
            json_fields: self.hints.json_fields.clone(),
            log_format: self.hints.log_format.clone(),
            crawlers: self.crawlers.as_ref().map(|path| path.display().to_string()),
            ip_ranges: self.identity.ip_ranges(),
            verify_dns: self.identity.dns_max().is_some(),
            dns_max: self.identity.dns_max(),
            timezone: self.hints.timezone.clone(),
            since: options.window.since.map(|time| time.to_string()),
            until: options.window.until.map(|time| time.to_string()),
            min_parse_rate: self.min_parse_rate,
            ip: self.privacy.ip.as_str(),
            strip_query: self.privacy.strip_query,
            dialect: self.dialect.as_str(),
            judge: self.judge.as_str(),
            strict_history: self.strict_history,
            log_evidence: self.log_evidence.is_wanted(),
            fetch: self.fetch.is_wanted(),
        }
    }
}

fn no_robots() -> Error {
    Error::usage(
        "no robots.txt to judge by; name one with --robots, as in: \
         botaudit audit --robots robots.txt --origin https://example.com access.log.gz; \
         or add --fetch",
    )
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "a number from 0 to 100 is needed".to_owned())
}

fn damage_text(input: &Input, damage: &str) -> String {
    if input.is_unopened() {
        return damage.to_owned();
    }
    format!("{}: {damage}; {} lines before it were counted", input.name, input.tally.lines())
}

/// Where not one input could be opened there is nothing to report.
fn nothing_read(audit: &Audit) -> Option<Error> {
    let unopened = audit.inputs.iter().all(|input| input.is_unopened());
    let first = audit.inputs.first().filter(|_| unopened)?;
    Some(Error::usage(first.damage.clone().unwrap_or_default()))
}
