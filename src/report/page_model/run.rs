//! What `run.json` says of the run, as far as the page shows it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::audit::file::FileTally;
use crate::audit::finish::{Audit, Input};
use crate::audit::simulate::{SimulatedSums, Simulation};
use crate::audit::tally::header::RobotsVersion;

use super::super::run::files_of;

/// The run. What an older version did not write is empty.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of `run.json`, described in report/run.rs")]
pub struct RunDetails {
    pub program: String,
    pub complete: bool,
    pub reports: Vec<MergedReport>,
    pub options: BTreeMap<String, Value>,
    pub inputs: Vec<InputDetails>,
    pub robots: Vec<RobotsDetails>,
    pub crawlers_known: u64,
    pub lines: LineTotals,
    pub what_if: Option<WhatIfTotals>,
    pub nothing_judged: bool,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
    pub files: Vec<String>,
}

/// One of the reports that this one was put together from.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(
    missing_docs,
    reason = "each is the field of `run.json`, described in report/range/run.rs"
)]
pub struct MergedReport {
    pub report: String,
    pub first_day: Option<String>,
    pub last_day: Option<String>,
    pub lines: u64,
    pub requests: u64,
}

/// One input.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of `run.json`, described in report/run.rs")]
pub struct InputDetails {
    pub name: String,
    pub size_bytes: u64,
    pub format: Option<String>,
    pub lines: u64,
    pub crawler: u64,
    pub other: u64,
    pub rejected: u64,
    pub skipped: u64,
    pub damage: Option<String>,
}

/// Lines of all inputs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of `run.json`, described in report/run.rs")]
pub struct LineTotals {
    pub lines: u64,
    pub crawler: u64,
    pub other: u64,
    pub rejected: u64,
    pub skipped: u64,
    pub skipped_by_reason: BTreeMap<String, u64>,
}

/// One robots.txt.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of `run.json`, described in report/run.rs")]
pub struct RobotsDetails {
    pub source: String,
    pub digest: String,
    pub size_bytes: u64,
}

/// What a draft would change.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of `run.json`, described in report/run.rs")]
pub struct WhatIfTotals {
    pub draft: RobotsDetails,
    pub not_spoofed: ChangeTotals,
}

/// Requests by what a draft would do to them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of `run.json`, described in report/run.rs")]
pub struct ChangeTotals {
    pub judged: u64,
    pub newly_disallowed: u64,
    pub newly_allowed: u64,
    pub unchanged: u64,
}

impl RunDetails {
    /// Of `audit`; `evidence` is the name of the evidence, where it stands in the report.
    pub fn of(audit: &Audit, evidence: Option<&str>) -> RunDetails {
        let options = audit.options.0.iter().cloned().collect();
        let robots =
            audit.robots.iter().map(|(source, robots)| robots_details(source, &robots.version));
        RunDetails {
            program: env!("CARGO_PKG_NAME").to_owned(),
            complete: audit.is_complete(),
            reports: Vec::new(),
            options,
            inputs: audit.inputs.iter().map(input_details).collect(),
            robots: robots.collect(),
            crawlers_known: audit.crawlers_known as u64,
            lines: line_totals(&audit.inputs),
            what_if: audit.simulation.as_ref().map(what_if_totals),
            nothing_judged: audit.nothing_judged.is_some(),
            warnings: audit.warnings.clone(),
            notes: audit.notes.clone(),
            files: files_of(audit, evidence).map(str::to_owned).collect(),
        }
    }
}

fn robots_details(source: &str, robots: &RobotsVersion) -> RobotsDetails {
    RobotsDetails {
        source: source.to_owned(),
        digest: robots.digest.to_string(),
        size_bytes: robots.size_bytes,
    }
}

fn input_details(input: &Input) -> InputDetails {
    let tally: &FileTally = &input.tally;
    InputDetails {
        name: input.name.clone(),
        size_bytes: input.size_bytes,
        format: input.format.as_ref().map(|format| format.name.clone()),
        lines: tally.lines(),
        crawler: tally.crawler,
        other: tally.other,
        rejected: tally.rejected_lines(),
        skipped: tally.skipped_lines(),
        damage: input.damage.clone(),
    }
}

fn line_totals(inputs: &[Input]) -> LineTotals {
    let mut totals = LineTotals::default();
    for input in inputs {
        totals.lines += input.tally.lines();
        totals.crawler += input.tally.crawler;
        totals.other += input.tally.other;
        totals.rejected += input.tally.rejected_lines();
        totals.skipped += input.tally.skipped_lines();
        for (reason, lines) in input.skips() {
            *totals.skipped_by_reason.entry(reason.as_str().to_owned()).or_default() += lines;
        }
    }
    totals
}

fn what_if_totals(simulation: &Simulation) -> WhatIfTotals {
    let SimulatedSums { judged, newly_disallowed, newly_allowed, unchanged } =
        simulation.total_not_spoofed();
    WhatIfTotals {
        draft: robots_details(&simulation.draft, &simulation.robots.version),
        not_spoofed: ChangeTotals { judged, newly_disallowed, newly_allowed, unchanged },
    }
}
