//! One audit, from logs to a report in its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::audit::evidence::EvidenceSink;
use crate::audit::finish::{Audit, Input, inputs_of};
use crate::audit::parse_rate::not_understood;
use crate::audit::tally::file::TALLY;
use crate::audit::tally::{Tally, header};
use crate::audit::{self, Progress};
use crate::config::audit_config::AuditConfig;
use crate::error::{Error, Result};
use crate::input::source::Source;
use crate::judge::Judge;
use crate::report::directory::{MARKER, Staging};
use crate::report::escape::visible;
use crate::report::html::PAGE;
use crate::report::page_model::PageModel;
use crate::report::requests::RequestsFile;
use crate::report::summary::summary_text;
use crate::report::tables::TABLES;
use crate::staged::replace;

use super::super::Outcome;
use super::super::fetch_first::fetch_first;
use super::super::identity::identities;
use super::super::infer_outages::heed_outages;
use super::super::progress::{Show, follow};
use super::super::setup::Setup;
use super::super::shared::{complain, print};
use super::super::signals;
use super::super::what_if::draft;
use super::super::written::{discard_when_stopped, write_report};

/// An audit, ready to run.
#[derive(Debug)]
pub struct AuditRun {
    /// What it runs with.
    pub setup: Setup,
    /// The logs.
    pub sources: Vec<Source>,
    /// Where the result goes.
    pub destination: Destination,
}

/// Where the result of an audit goes.
#[derive(Clone, Debug)]
pub enum Destination {
    /// A report, to this directory.
    Report(PathBuf),
    /// The tally alone, to this file.
    Tally(PathBuf),
}

/// What an audit came to.
#[derive(Debug)]
pub struct AuditOutcome {
    /// How the run ends.
    pub outcome: Outcome,
    /// The thresholds that were met, in lines.
    pub met: Vec<String>,
}

impl AuditRun {
    /// Runs it.
    pub fn run(mut self) -> Result<Outcome> {
        // What is there already should be readable before anything is written.
        let judge = if self.setup.is_fetched() { None } else { Some(self.setup.judge()?) };
        let is_one_file = judge.as_ref().is_some_and(Judge::is_by_hand);
        let Setup { config, options, .. } = &self.setup;
        let judge_draft = |store| self.setup.judge_by(store);
        let draft = draft(config, &options.naming, is_one_file, judge_draft)?;
        self.setup.options.draft = draft.map(Arc::new);
        match &self.destination {
            Destination::Report(output) => self.write_report(output, judge),
            Destination::Tally(path) => self.write_tally(path, judge),
        }
    }

    /// Fetches what is to be judged by, if that is wanted, and gives the judge.
    fn fetched_judge(&self, judge: Option<Judge>) -> Result<Judge> {
        let Setup { config, options, registry, show, .. } = &self.setup;
        fetch_first(config, &self.sources, options, registry, *show)?;
        judge.map_or_else(|| self.setup.judge(), Ok)
    }

    fn write_report(&self, output: &Path, judge: Option<Judge>) -> Result<Outcome> {
        let staging = Arc::new(Staging::open(output)?);
        discard_when_stopped(&staging);
        let judge = self.fetched_judge(judge);
        let audit = judge.and_then(|mut judge| self.report(&staging, output, &mut judge));
        // Whoever waits for signals holds it too, so that it is not dropped here.
        let (audit, model) = audit.inspect_err(|_| {
            staging.discard();
        })?;
        conclude(&audit, &model, output, &self.setup).map(|concluded| concluded.outcome)
    }

    fn write_tally(&self, path: &Path, judge: Option<Judge>) -> Result<Outcome> {
        signals::begin();
        let mut judge = self.fetched_judge(judge)?;
        let evidence = self.setup.config.evidence.clone();
        let requests = self.evidence_file(evidence)?;
        let tally = self.tally(&mut judge, requests.as_ref())?;
        replace(path, &tally.to_bytes())?;
        requests.map_or(Ok(()), RequestsFile::commit)?;
        let inputs = inputs_of(&tally);
        for input in &inputs {
            if let Some(damage) = &input.damage {
                complain(&damage_text(input, damage));
            }
        }
        match inputs.iter().all(|input| input.damage.is_none()) {
            true => Ok(Outcome::Done),
            false => Ok(Outcome::Incomplete),
        }
    }

    fn evidence_file(&self, path: Option<PathBuf>) -> Result<Option<RequestsFile>> {
        let privacy = &self.setup.privacy;
        let requests = path.map(|path| RequestsFile::open(&path, privacy.clone()));
        let requests = requests.transpose()?;
        let hidden = requests.as_ref().and_then(RequestsFile::hidden);
        if let Some(hidden) = hidden.map(Path::to_owned) {
            signals::when_stopped(move || drop(std::fs::remove_file(&hidden)));
        }
        Ok(requests)
    }

    /// The tally of the logs, without what may not leave.
    fn tally(&self, judge: &mut Judge, requests: Option<&RequestsFile>) -> Result<Tally> {
        let mut tally = self.audit(judge, requests)?;
        if let Some(err) = nothing_read(&tally) {
            return Err(err);
        }
        if let Some(why) = not_understood(&tally, self.setup.min_parse_rate()) {
            return Err(Error::usage(why));
        }
        self.setup.privacy.apply(&mut tally);
        Ok(tally)
    }

    /// Audits, and writes all that is to be written, at once and at the end.
    fn report(
        &self,
        staging: &Arc<Staging>,
        output: &Path,
        judge: &mut Judge,
    ) -> Result<(Audit, PageModel)> {
        let config = &self.setup.config;
        let evidence = evidence_within(config, staging)?;
        let evidence_path = evidence
            .as_ref()
            .map(|name| staging.staged(name.as_ref()))
            .or_else(|| config.evidence.clone());
        let requests = self.evidence_file(evidence_path)?;
        let tally = self.tally(judge, requests.as_ref())?;
        let written = write_report(staging, output, tally, evidence.as_deref())?;
        requests.map_or(Ok(()), RequestsFile::commit)?;
        staging.commit()?;
        Ok(written)
    }

    fn audit(&self, judge: &mut Judge, requests: Option<&RequestsFile>) -> Result<Tally> {
        let AuditRun { setup: Setup { config, options, registry, show, .. }, sources, .. } = self;
        let progress = Progress::default();
        let record = header::ReportedOptions::of(&self.setup.reported_config(options.window));
        let extra = [config.verify_dns, config.infer_outages];
        let passes = 1 + extra.iter().filter(|pass| **pass == Some(true)).count() as u64;
        let bytes_total = sources.iter().map(Source::size_bytes).sum::<Option<u64>>();
        let take = requests.map(|file| move |evidence| file.take(evidence, sources, registry));
        follow(
            *show,
            bytes_total.map(|bytes| bytes * passes),
            || progress.bytes_read.load(Ordering::Relaxed),
            || progress.lines.load(Ordering::Relaxed),
            || {
                let bytes_read = &progress.bytes_read;
                heed_outages(config, sources, options, judge, registry, bytes_read)?;
                let identities =
                    &identities(config, sources, options, judge, registry, bytes_read)?;
                let take = take.as_ref().map(|take| take as &EvidenceSink<'_>);
                let (record, progress) = (&record, &progress);
                audit::run(sources, options, record, judge, registry, identities, progress, take)
            },
        )
    }
}

/// Prints what came out, and whether a threshold was met.
pub fn conclude(
    audit: &Audit,
    model: &PageModel,
    output: &Path,
    setup: &Setup,
) -> Result<AuditOutcome> {
    let Setup { config, thresholds, show, .. } = setup;
    for input in &audit.inputs {
        if let Some(damage) = &input.damage {
            complain(&damage_text(input, damage));
        }
    }
    audit.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    if *show == Show::OnTerminal {
        print(&summary_text(model))?;
        print(&format!("\nreport: {}\n", visible(output.display().to_string().as_bytes())))?;
    }
    let met: Vec<String> = thresholds.iter().flat_map(|threshold| threshold.met(audit)).collect();
    met.iter().for_each(|line| complain(line));
    let is_met =
        !met.is_empty() || (config.fail_on_violations == Some(true) && audit.has_violations());
    let is_whole = audit.is_complete() && audit.nothing_judged.is_none();
    let outcome = match (is_whole, is_met) {
        (false, _) => Outcome::Incomplete,
        (true, true) => Outcome::Violations,
        (true, false) => Outcome::Done,
    };
    Ok(AuditOutcome { outcome, met })
}

/// The name of the evidence, where it is to stand in the report itself.
fn evidence_within(config: &AuditConfig, staging: &Staging) -> Result<Option<String>> {
    let Some(name) = config.evidence.as_ref().and_then(|path| staging.name_within(path)) else {
        return Ok(None);
    };
    let taken = TABLES
        .iter()
        .map(|(table, _)| table.file)
        .chain([MARKER, PAGE, TALLY])
        .any(|file| name == file);
    match name.to_str() {
        Some(name) if !taken => Ok(Some(name.to_owned())),
        _ => Err(Error::usage(format!(
            "--evidence cannot be named {}; write --evidence evidence.csv.gz",
            name.display()
        ))),
    }
}

fn damage_text(input: &Input, damage: &str) -> String {
    if input.damage.is_some() && input.size_bytes == 0 {
        return damage.to_owned();
    }
    format!("{}: {damage}; {} lines before it were counted", input.name, input.tally.lines())
}

/// Where not one input could be opened there is nothing to report.
fn nothing_read(tally: &Tally) -> Option<Error> {
    let inputs = &tally.header.inputs;
    let unopened = inputs.iter().all(|input| input.is_unopened());
    let first = inputs.first().filter(|_| unopened)?;
    Some(Error::usage(first.damage.clone().unwrap_or_default()))
}
