//! `run.json`: what was read, how, and what came of it.
//!
//! Equal runs write equal bytes, but for `made_at_utc`; so nothing is in it
//! that only says how the work was done (threads, chunk sizes, the output's name).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::audit::finish::{Audit, Input};
use crate::audit::simulate::{SimulatedSums, Simulation};
use crate::audit::sums::Sums;
use crate::audit::tally::header::{ReportedOptions, RobotsVersion};
use crate::audit::witness::LogEvidence;
use crate::crawlers::identity::Identity;
use crate::crawlers::registry::Registry;
use crate::judge::snapshot_history::SnapshotInForce;
use crate::time::UtcTime;

use super::files::files_of;
use super::line_totals::LineTotals;

/// Grows by one when a field changes its meaning or goes away.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct RunJson<'a> {
    program: &'static str,
    version: &'static str,
    schema_version: u32,
    made_at_utc: String,
    complete: bool,
    options: &'a ReportedOptions,
    inputs: Vec<InputJson<'a>>,
    robots: Vec<RobotsJson<'a>>,
    archive: Option<ArchiveJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_evidence: Option<LogEvidenceJson>,
    crawlers_known: usize,
    lines: LineTotals,
    requests: BTreeMap<&'static str, u64>,
    requests_by_identity: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_if: Option<WhatIfJson<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    nothing_judged: bool,
    warnings: &'a [String],
    notes: &'a [String],
    files: Vec<&'a str>,
}

#[derive(Serialize)]
struct InputJson<'a> {
    name: &'a str,
    size_bytes: u64,
    decompressed_bytes: u64,
    format: Option<&'a str>,
    #[serde(flatten)]
    lines: LineTotals,
    damage: Option<&'a str>,
}

#[derive(Serialize)]
struct RobotsJson<'a> {
    source: &'a str,
    digest: String,
    size_bytes: u64,
    parsed_bytes: u64,
}

/// What was judged by an archive.
#[derive(Serialize)]
struct ArchiveJson<'a> {
    origins: usize,
    requests_before_first_snapshot: u64,
    /// Of some origins, where there are many.
    in_force: Vec<InForceJson<'a>>,
}

#[derive(Serialize)]
struct InForceJson<'a> {
    origin: &'a str,
    snapshots: usize,
    /// Some of them, where there are many.
    earliest: Vec<SnapshotJson>,
}

#[derive(Serialize)]
struct SnapshotJson {
    fetched_utc: String,
    outcome: String,
    robots_digest: Option<String>,
}

/// What was heeded of what the logs themselves show of robots.txt.
#[derive(Serialize)]
struct LogEvidenceJson {
    origins: u64,
    hours: u64,
    hours_near_a_snapshot: u64,
    requests_unreachable: u64,
}

#[derive(Serialize)]
struct WhatIfJson<'a> {
    draft: RobotsJson<'a>,
    #[serde(flatten)]
    all: SimulatedJson,
    /// Those who would read the draft.
    not_spoofed: SimulatedJson,
}

/// `judged = newly_disallowed + newly_allowed + unchanged`.
#[derive(Serialize)]
struct SimulatedJson {
    judged: u64,
    newly_disallowed: u64,
    newly_allowed: u64,
    unchanged: u64,
}

/// The text of `run.json`. `evidence` is the name of the evidence, where it stands in the report.
pub fn run_json(audit: &Audit, evidence: Option<&str>, made_at: UtcTime) -> Vec<u8> {
    let robots = audit.robots.iter().map(|(source, robots)| robots_json(source, &robots.version));
    let json = RunJson {
        program: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        schema_version: SCHEMA_VERSION,
        made_at_utc: made_at.to_string(),
        complete: audit.is_complete(),
        options: &audit.options,
        inputs: audit.inputs.iter().map(input_json).collect(),
        robots: robots.collect(),
        archive: archive_json(audit),
        log_evidence: audit.log_evidence.map(log_evidence_json),
        crawlers_known: audit.crawlers_known,
        lines: LineTotals::of(&audit.inputs),
        requests: requests_json(&audit.total()),
        requests_by_identity: Identity::ALL
            .iter()
            .map(|&identity| (identity.as_str(), requests_json(&audit.total_of(identity))))
            .collect(),
        what_if: audit.simulation.as_ref().map(what_if_json),
        nothing_judged: audit.nothing_judged.is_some(),
        warnings: &audit.warnings,
        notes: &audit.notes,
        files: files_of(audit, evidence).collect(),
    };
    let mut text = serde_json::to_vec_pretty(&json).expect("strings and numbers are JSON");
    text.push(b'\n');
    text
}

/// The crawlers of `registry`. Its last row is none: it tests what looks automated.
pub fn crawlers_known(registry: &Registry) -> usize {
    registry.iter().count() - 1
}

fn archive_json(audit: &Audit) -> Option<ArchiveJson<'_>> {
    let snapshot = |snapshot: &SnapshotInForce| SnapshotJson {
        fetched_utc: snapshot.fetched_at.to_string(),
        outcome: snapshot.outcome.to_string(),
        robots_digest: snapshot.digest.map(|digest| digest.to_string()),
    };
    let in_force = audit.snapshots.origins.iter().map(|of| InForceJson {
        origin: &of.origin,
        snapshots: of.snapshots_total,
        earliest: of.snapshots.iter().map(snapshot).collect(),
    });
    (audit.snapshots.origins_total > 0).then(|| ArchiveJson {
        origins: audit.snapshots.origins_total,
        requests_before_first_snapshot: audit.requests_before_first(),
        in_force: in_force.collect(),
    })
}

fn log_evidence_json(evidence: LogEvidence) -> LogEvidenceJson {
    let LogEvidence { hours, origins, hours_passed_over, requests } = evidence;
    LogEvidenceJson {
        origins,
        hours,
        hours_near_a_snapshot: hours_passed_over,
        requests_unreachable: requests,
    }
}

fn robots_json<'a>(source: &'a str, robots: &RobotsVersion) -> RobotsJson<'a> {
    RobotsJson {
        source,
        digest: robots.digest.to_string(),
        size_bytes: robots.size_bytes,
        parsed_bytes: robots.parsed_bytes,
    }
}

fn what_if_json(simulation: &Simulation) -> WhatIfJson<'_> {
    WhatIfJson {
        draft: robots_json(&simulation.draft, &simulation.robots.version),
        all: simulated_json(simulation.total()),
        not_spoofed: simulated_json(simulation.total_not_spoofed()),
    }
}

fn simulated_json(sums: SimulatedSums) -> SimulatedJson {
    let SimulatedSums { judged, newly_disallowed, newly_allowed, unchanged } = sums;
    SimulatedJson { judged, newly_disallowed, newly_allowed, unchanged }
}

fn input_json(input: &Input) -> InputJson<'_> {
    InputJson {
        name: &input.name,
        size_bytes: input.size_bytes,
        decompressed_bytes: input.decompressed_bytes,
        format: input.format.as_ref().map(|format| format.name.as_str()),
        lines: LineTotals::of(std::slice::from_ref(input)),
        damage: input.damage.as_deref(),
    }
}

fn requests_json(total: &Sums) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("requests", total.requests),
        ("robots_txt_requests", total.robots_txt_requests),
        ("allowed", total.allowed),
        ("allowed_ignoring_star", total.allowed_ignoring_star),
        ("violations", total.violations),
        ("grace", total.grace),
        ("unreachable", total.unreachable),
        ("unknown", total.unknown),
        ("not_bound", total.not_bound),
        ("not_bound_disallowed", total.not_bound_disallowed),
        ("no_path", total.no_path),
        ("bytes", total.bytes),
    ])
}
