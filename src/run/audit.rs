//! One audit, from logs to a report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::audit;
use crate::audit::log_outages::{DAYS_MAX, FoundOutages, LogOutages};
use crate::audit::model::ReportModel;
use crate::audit::parse_rate::UnreadLogs;
use crate::audit::prepass::{AskedOrigins, Collected, FirstPass};
use crate::audit::repeated_content::refuse_repeated_pipes;
use crate::audit::tally::{Tally, file::TALLY, header};
use crate::audit::{client::ClientKey, dns_names::DnsCandidates, evidence::EvidenceSink};
use crate::audit::{identities::Identities, origin_options::OriginOptions};
use crate::config::audit_config::AuditConfig;
use crate::error::{Error, Result};
use crate::input::{copies::Repeats, source::Source};
use crate::judge::Judge;
use crate::merge::Merge;
use crate::report::requests::{RequestsFile, WrittenRequests};
use crate::report::tables::{PAGE, RUN_JSON, TABLES};
use crate::report::threshold::MetCondition;
use crate::report::{directory::Staging, run::EvidenceFile, summary_table::SummaryView};
use crate::staged::{is_stdout, pending::Unplaced, ready, replace};
use crate::table::escape::visible;
use crate::time::UtcTime;

use super::collect::{CollectedInput, write_collected};
use super::console::{Console, RunOutcome, STDOUT_NAME};
use super::fetching::{archive_to_fill, fetch_logged};
use super::first_pass::{
    check_any_opened, check_can_be_read_twice, first_pass, follow_logs, wanted,
};
use super::formats::check_json_fields;
use super::notes::{note_formats, note_repeats, note_rules, warn_of_robots_errors};
use super::setup::{Setup, Verification};
use super::swapped::refuse_swapped;
use super::written::{ResultFormat, WrittenReport};
use super::written::{unwritten_report, warn_of_audit, warn_of_damage, write_report};

/// An audit that is ready to run.
#[derive(Debug)]
pub(crate) struct AuditRun {
    /// The validated configuration.
    pub setup: Setup,
    /// The logs, without copies.
    pub sources: Vec<Source>,
    /// Logs that repeat others.
    pub repeats: Repeats,
    /// The destination of the result.
    pub destination: Destination,
    /// The result of a first pass, if it was read from a file.
    pub collected: Option<CollectedInput>,
    /// The key for hashes of clients in a first pass.
    pub client_key: ClientKey,
    /// The format of the printed result.
    pub format: ResultFormat,
    /// The display options of the summary.
    pub view: SummaryView,
}

/// The destination of the result of an audit.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    /// A report in this directory.
    Report(PathBuf),
    /// No file: the result is printed.
    Printed,
    /// Only the tally, in this file.
    Tally(PathBuf),
    /// The result of the first pass, in this file.
    Collected(PathBuf),
}

impl Destination {
    /// Whether it is standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        match self {
            Destination::Report(_) => false,
            Destination::Printed => true,
            Destination::Tally(path) | Destination::Collected(path) => is_stdout(path),
        }
    }
}

/// What is known before the first request is judged.
#[derive(Debug)]
struct Judged {
    judge: Judge,
    identities: Identities,
    /// Why robots.txt files that should have been fetched are missing.
    not_fetched: Option<String>,
}

impl AuditRun {
    /// Runs it.
    pub(crate) fn run(mut self) -> Result<RunOutcome> {
        if self.setup.console.is_verbose() {
            self.setup.console.note(&format!("threads: {}", self.setup.options.threads));
        }
        // Parts of an audit have the options of the whole.
        if matches!(self.destination, Destination::Report(_) | Destination::Printed) {
            check_json_fields(&self.sources, &self.setup.options.hints)?;
        }
        let (judge, collected) =
            Arc::clone(&self.setup.console).timed("rules and settings read", || self.prepare())?;
        match &self.destination {
            Destination::Report(output) => self.write_report(output, judge, collected),
            Destination::Printed => self.print_report(judge, collected),
            Destination::Tally(path) => self.write_tally(path, judge, collected),
            Destination::Collected(path) => {
                let logs = (&self.sources[..], &self.repeats);
                write_collected(path, &self.setup, logs, judge, &self.client_key)
            }
        }
    }

    /// The tally of the logs after the privacy settings. Writes nothing.
    pub(crate) fn tally_alone(mut self) -> Result<Tally> {
        let (judge, collected) = self.prepare()?;
        let judged = self.judged(judge, collected)?;
        self.tally(&judged, None)
    }

    /// Reads existing inputs, so that errors appear before anything is written.
    fn prepare(&mut self) -> Result<(Option<Judge>, Option<Collected>)> {
        if let Some(since) = self.setup.options.window.since
            && since > UtcTime::from(jiff::Timestamp::now())
        {
            self.setup.console.warn(&format!("--since {since} is in the future"));
        }
        let judge = if self.setup.is_fetched() { None } else { Some(self.setup.judge()?) };
        judge.iter().try_for_each(|judge| refuse_swapped(judge, &self.sources))?;
        let is_one_file = judge.as_ref().is_some_and(Judge::has_single_file);
        self.setup.options.draft = self.setup.draft(is_one_file)?.map(Arc::new);
        let collected = self.collected.take();
        let collected =
            collected.map(|input| input.take(&self.setup, &self.sources)).transpose()?;
        Ok((judge, collected))
    }

    /// Prepares the judge and the identities: from what was `collected` before, or by a first pass
    /// over the logs if one is needed. `judge` is `None` if robots.txt files must be fetched, which
    /// happens here.
    fn judged(&self, judge: Option<Judge>, collected: Option<Collected>) -> Result<Judged> {
        let AuditRun { setup: Setup { config, options, registry, console, .. }, sources, .. } =
            self;
        let wanted = wanted(config);
        if collected.is_none() {
            check_can_be_read_twice(wanted, sources)?;
        }
        let verification = Verification::new(config, registry)?;
        let (writer, before) = match archive_to_fill(config)? {
            None => (None, judge.map_or_else(|| self.setup.judge(), Ok)?),
            Some((writer, known)) => (Some(writer), self.setup.judge_by(known)?),
        };
        let collected = match collected {
            Some(collected) => collected,
            None if !wanted.is_any() => Collected::default(),
            None => {
                let (judge, identities) = (&before, &verification.ranges);
                let client_key = &self.client_key;
                let first = FirstPass { judge, registry, identities, wanted, client_key };
                let read = || first_pass(sources, options, &first, &**console);
                self.setup.console.timed("logs read the first time", read)?.0
            }
        };
        let Collected { addresses, answers, origins } = collected;
        let mut not_fetched = None;
        let mut judge = match writer {
            None => before,
            Some(writer) => {
                drop(before);
                let logged = origins.map(AskedOrigins::into_set).unwrap_or_default();
                let fetch = || fetch_logged(writer, config, &options.naming, logged, console);
                not_fetched = self.setup.console.timed("robots.txt files fetched", fetch)?;
                self.setup.judge()?
            }
        };
        if let Some(answers) = answers.filter(|_| wanted.outages.is_some()) {
            add_log_outages(answers, &mut judge, &options.naming, &**console);
        }
        let candidates = addresses.map(DnsCandidates::new).unwrap_or_default();
        let verify = || verification.identities(config, registry, |_| Ok(candidates));
        let identities = self.setup.console.timed("crawlers verified", verify)?;
        Ok(Judged { judge, identities, not_fetched })
    }

    fn write_report(
        &self,
        output: &Path,
        judge: Option<Judge>,
        collected: Option<Collected>,
    ) -> Result<RunOutcome> {
        let staging = Staging::open(output)?;
        let judged = self.judged(judge, collected)?;
        let written = self.report(staging, output, &judged);
        // The process ends soon. Freeing the memory rule by rule would take longer than the exit.
        // The same applies below.
        std::mem::forget(judged);
        let written = written?;
        let status = self.conclude(&written, Some(output));
        std::mem::forget(written);
        status
    }

    fn print_report(
        &self,
        judge: Option<Judge>,
        collected: Option<Collected>,
    ) -> Result<RunOutcome> {
        let judged = self.judged(judge, collected)?;
        let requests = self.evidence_file(self.setup.config.evidence.clone())?;
        let written = unwritten_report(self.tally(&judged, requests.as_ref())?, &self.view)?;
        std::mem::forget(judged);
        finished(requests)?.map_or(Ok(()), WrittenRequests::commit)?;
        self.conclude(&written, None)
    }

    fn conclude(&self, written: &WrittenReport, output: Option<&Path>) -> Result<RunOutcome> {
        self.format.print(&written.audit, &written.run_json, &*self.setup.console)?;
        let (outcome, met) = conclude(written, output, &self.setup, "--fail-on")?;
        let lines = met.iter().flat_map(MetCondition::lines);
        lines.for_each(|line| self.setup.console.warn(line));
        Ok(outcome)
    }

    fn write_tally(
        &self,
        path: &Path,
        judge: Option<Judge>,
        collected: Option<Collected>,
    ) -> Result<RunOutcome> {
        let judged = self.judged(judge, collected)?;
        let requests = self.evidence_file(self.setup.config.evidence.clone())?;
        let tally = self.tally(&judged, requests.as_ref())?;
        let (requests, bytes) = (finished(requests)?, tally.to_bytes());
        let console = &*self.setup.console;
        match is_stdout(path) {
            true => commit_with(requests, None, || console.write(path, &bytes, replace))?,
            false => {
                let file = ready(path, &bytes)?;
                let cannot_write = |err| Error::io("cannot write", path, err);
                let unplaced = file.unplaced();
                commit_with(requests, unplaced, || file.commit().map_err(cannot_write))?;
            }
        }
        let inputs = tally.inputs();
        warn_of_damage(&inputs, console);
        let repeats = &tally.header.repeats;
        note_repeats(repeats, console);
        let unread = UnreadLogs::of(&inputs, self.setup.min_parse_rate());
        unread.iter().for_each(|unread| console.warn(&unread.message));
        let not_fetched = &tally.header.rulings.not_fetched;
        not_fetched.iter().for_each(|why| console.warn(why));
        let is_whole = repeats.damaged() == 0
            && unread.is_none()
            && inputs.iter().all(|input| input.summary.damage.is_none())
            && (not_fetched.is_empty() || self.setup.config.allow_unjudged == Some(true));
        Ok(if is_whole { RunOutcome::Done } else { RunOutcome::Incomplete })
    }

    fn evidence_file(&self, path: Option<PathBuf>) -> Result<Option<RequestsFile>> {
        let privacy = &self.setup.privacy;
        let open = |path: PathBuf| match is_stdout(&path) {
            true => RequestsFile::stream(
                Path::new(STDOUT_NAME),
                self.setup.console.stdout()?,
                privacy.clone(),
            ),
            false => RequestsFile::open(&path, privacy.clone()),
        };
        path.map(open).transpose()
    }

    /// The tally of the logs after the privacy settings.
    fn tally(&self, judged: &Judged, requests: Option<&RequestsFile>) -> Result<Tally> {
        let mut tally =
            self.setup.console.timed("logs read and judged", || self.audit(judged, requests))?;
        let console = &*self.setup.console;
        note_formats(&tally.header, console);
        note_rules(&tally, &judged.judge, console);
        tally.header.rulings.not_fetched.extend(judged.not_fetched.clone());
        judged.judge.slow_message().iter().for_each(|slow| console.warn(slow));
        check_any_opened(&tally.header.inputs, &self.sources)?;
        let sketches = tally.header.inputs.iter().map(|input| input.sketch.as_ref());
        let alike = refuse_repeated_pipes(&self.sources, sketches)?;
        tally.header.repeats.absorb(self.repeats.clone());
        tally.header.repeats.alike.extend(alike);
        self.setup.privacy.apply(&mut tally);
        Ok(tally)
    }

    /// Runs the audit and writes all outputs.
    fn report(&self, staging: Staging, output: &Path, judged: &Judged) -> Result<WrittenReport> {
        let config = &self.setup.config;
        let evidence = evidence_within(config, &staging)?;
        let evidence_path = evidence
            .as_ref()
            .map(|name| staging.staged(name.as_ref()))
            .or_else(|| config.evidence.clone());
        let requests = self.evidence_file(evidence_path)?;
        let tally = self.tally(judged, requests.as_ref())?;
        let requests = match finished(requests) {
            // A closed evidence pipe does not prevent the report.
            Err(err) if err.is_broken_pipe() => None,
            requests => requests?,
        };
        let digest = requests.as_ref().map(WrittenRequests::digest);
        let file = EvidenceFile { name: evidence.as_deref(), digest };
        let write = || write_report(&staging, output, tally, file, &self.view);
        let written = self.setup.console.timed("report written", write)?;
        match evidence {
            None => commit_with(requests, staging.unplaced(), || staging.commit())?,
            Some(_) => {
                requests.map_or(Ok(()), WrittenRequests::commit)?;
                staging.commit()?;
            }
        }
        Ok(written)
    }

    fn audit(&self, judged: &Judged, requests: Option<&RequestsFile>) -> Result<Tally> {
        let AuditRun { setup: Setup { options, registry, console, .. }, sources, .. } = self;
        let Judged { judge, identities, .. } = judged;
        let record = &header::ReportedOptions::of(&self.setup.reported_config(options.window));
        let take = requests.map(|file| move |evidence| file.take(evidence, sources, registry));
        let take = take.as_ref().map(|take| take as &EvidenceSink<'_>);
        follow_logs(&**console, sources, |progress| {
            audit::run(sources, options, record, judge, registry, identities, progress, take)
        })
    }
}

/// The evidence on disk, if there is any.
fn finished(requests: Option<RequestsFile>) -> Result<Option<WrittenRequests>> {
    requests.map(RequestsFile::finish).transpose()
}

/// Puts the evidence, if there is any, in place together with another output, which `last` puts in
/// place.
fn commit_with(
    requests: Option<WrittenRequests>,
    second: Option<Unplaced>,
    last: impl FnOnce() -> Result<()>,
) -> Result<()> {
    match requests {
        Some(requests) => requests.commit_with(second, last),
        None => last(),
    }
}

/// Prints the result. Returns the exit status, and a line for each threshold that was met.
pub(crate) fn conclude(
    written: &WrittenReport,
    output: Option<&Path>,
    setup: &Setup,
    option: &str,
) -> Result<(RunOutcome, Vec<MetCondition>)> {
    let WrittenReport { audit, summary, .. } = written;
    let console = &*setup.console;
    warn_of_audit(audit, console);
    warn_of_robots_errors(audit, console);
    let place = output.map(|path| visible(path.display().to_string().as_bytes()));
    let place = place.map_or_else(String::new, |path| format!("\nreport: {path}\n"));
    console.show(&format!("{summary}{place}"))?;
    Ok(outcome_of(audit, setup, option))
}

/// The outcome of `audit`, and the conditions of `option` that it meets.
pub(crate) fn outcome_of(
    audit: &ReportModel,
    setup: &Setup,
    option: &str,
) -> (RunOutcome, Vec<MetCondition>) {
    let Setup { config, thresholds, .. } = setup;
    let met: Vec<MetCondition> =
        thresholds.iter().filter_map(|threshold| threshold.met(audit, option)).collect();
    let is_met =
        !met.is_empty() || (config.fail_on_violations == Some(true) && audit.has_violations());
    let outcome = match audit.is_sufficient() {
        false => RunOutcome::Incomplete,
        true if is_met => RunOutcome::Violations,
        true => RunOutcome::Done,
    };
    (outcome, met)
}

/// The name of the evidence file, if it is inside the report.
fn evidence_within(config: &AuditConfig, staging: &Staging) -> Result<Option<String>> {
    let path = config.evidence.as_ref().filter(|path| !is_stdout(path));
    let Some(name) = path.and_then(|path| staging.name_within(path)) else {
        return Ok(None);
    };
    let is_used = TABLES
        .iter()
        .map(|table| table.schema.file)
        .chain([RUN_JSON, PAGE, TALLY])
        .any(|file| name == file);
    match name.to_str() {
        Some(name) if !is_used => Ok(Some(name.to_owned())),
        _ => Err(Error::usage(format!(
            "--evidence cannot have the name {}; write --evidence evidence.csv.gz",
            name.display()
        ))),
    }
}

/// Adds the outages that `answers` to robots.txt requests show to `judge`.
fn add_log_outages(
    answers: LogOutages,
    judge: &mut Judge,
    naming: &OriginOptions,
    console: &dyn Console,
) {
    let FoundOutages { hours, is_cut } = answers.into_silent(judge, naming);
    if is_cut {
        console.warn(&format!(
            "--infer-outages: too many days and origins with robots.txt requests (limit \
             {DAYS_MAX}), so some days were left out; audit fewer days or origins at once"
        ));
    }
    judge.add_outages(hours);
}
