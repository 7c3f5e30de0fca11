//! `run.json`: inputs, options and results.
//!
//! Equal runs write equal bytes, except `made_at_utc`. So it contains nothing about the execution
//! (threads, chunk sizes, the output's name).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::audit::model::ReportModel;
use crate::audit::tally::header::{OutageSummary, RobotsVersion};
use crate::audit::{draft::WhatIf, input_tally::Input, log_outages::OutageEvidence};
use crate::crawlers::identity::{Identity, Proof};
use crate::judge::origin_history::SnapshotInForce;
use crate::time::UtcTime;

use super::{page_model::totals::LineTotals, tables::files_of};

/// Increased when a field changes its meaning or is removed.
const SCHEMA_VERSION: u32 = 1;

/// Fields that are left out where there is nothing to say.
const OPTIONAL: [&str; 7] = [
    "requests_contradicted_at_other_time",
    "requests_by_proof",
    "log_evidence",
    "evidence_digest",
    "what_if",
    "nothing_judged",
    "too_little_judged",
];

/// The evidence file of an audit.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvidenceFile<'a> {
    /// Its name, if it is in the report.
    pub name: Option<&'a str>,
    /// Its SHA-256, wherever it is. Readers recognise by it the file that was made with the report.
    pub digest: Option<&'a str>,
}

/// The text of `run.json`.
pub fn run_json(audit: &ReportModel, evidence: EvidenceFile<'_>, made_at: UtcTime) -> Vec<u8> {
    let robots = audit.robots.iter().map(|(source, robots)| robots_json(source, &robots.version));
    let of_identity =
        |identity: Identity| (identity.as_str(), BTreeMap::from(audit.total_of(identity).named()));
    let of_other_time = audit.requests_of_other_time();
    let mut json = json!({
        "program": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "schema_version": SCHEMA_VERSION,
        "made_at_utc": made_at.to_string(),
        "complete": audit.is_complete(),
        "options": audit.options,
        "inputs": audit.inputs.iter().map(input_json).collect::<Vec<_>>(),
        "robots": robots.collect::<Vec<_>>(),
        // The archive, if requests were judged by one.
        "archive": archive_json(audit),
        "log_evidence": audit.log_evidence.map(log_evidence_json),
        "evidence_digest": evidence.digest,
        "crawlers_known": audit.crawlers_known,
        "lines": LineTotals::of(&audit.inputs),
        "requests": BTreeMap::from(audit.total().named()),
        "requests_of_tools": BTreeMap::from(audit.total_of_tools().named()),
        "requests_by_identity": BTreeMap::from(Identity::ALL.map(of_identity)),
        // The part of the unverified whose addresses are contradicted by what is of another time.
        "requests_contradicted_at_other_time": (of_other_time > 0).then_some(of_other_time),
        // Without those of tallies that did not count it.
        "requests_by_proof": by_proof_json(audit),
        "what_if": audit.simulation.as_ref().map(|draft| what_if_json(audit, draft)),
        "coverage": coverage_json(audit),
        "nothing_judged": audit.coverage.nothing(),
        "too_little_judged": audit.coverage.too_little(),
        "warnings": audit.warnings,
        "notes": audit.notes,
        "files": files_of(audit, evidence.name).collect::<Vec<_>>(),
    });
    let fields = json.as_object_mut().expect("it was made as an object");
    fields.retain(|name, value| !(value.is_null() && OPTIONAL.contains(&name.as_str())));
    let mut text = serde_json::to_vec_pretty(&json).expect("strings and numbers are JSON");
    text.push(b'\n');
    text
}

fn by_proof_json(audit: &ReportModel) -> Option<Value> {
    let by_proof = audit.requests_by_proof();
    let of = |proof: Proof| (proof.as_str(), by_proof.get(&proof).copied().unwrap_or_default());
    (!by_proof.is_empty()).then(|| json!(BTreeMap::from(Proof::ALL.map(of))))
}

fn archive_json(audit: &ReportModel) -> Option<Value> {
    let snapshot = |snapshot: &SnapshotInForce| {
        json!({
            "fetched_utc": snapshot.fetched_at.to_string(),
            "outcome": snapshot.outcome.to_string(),
            "robots_digest": snapshot.digest.map(|digest| digest.to_string()),
        })
    };
    let in_force = audit.snapshots.origins.iter().map(|of| {
        json!({
            "origin": of.origin,
            "snapshots": of.snapshots_total,
            // At most some of many.
            "earliest": of.snapshots.iter().map(snapshot).collect::<Vec<_>>(),
        })
    });
    (audit.snapshots.origins_total > 0).then(|| {
        json!({
            "origins": audit.snapshots.origins_total,
            "requests_before_first_snapshot": audit.requests_before_first(),
            // At most some of many origins.
            "in_force": in_force.collect::<Vec<_>>(),
        })
    })
}

/// Whether requests of crawlers were judged: without tools and spoofed requests.
fn coverage_json(audit: &ReportModel) -> Value {
    json!({
        "outcome": audit.coverage.name(),
        "requests_judged": audit.coverage.judged(),
        // Those that robots.txt can bind.
        "requests_to_judge": audit.total_of_crawlers().bindable(),
    })
}

/// What was inferred from the answers to robots.txt requests in the logs.
fn log_evidence_json(evidence: OutageEvidence) -> Value {
    let OutageSummary { hours, origins, hours_near_a_snapshot } = evidence.outages;
    json!({
        "origins": origins,
        "hours": hours,
        "hours_near_a_snapshot": hours_near_a_snapshot,
        "requests_unreachable": evidence.requests,
    })
}

fn robots_json(source: &str, robots: &RobotsVersion) -> Value {
    json!({
        "source": source,
        "digest": robots.digest.to_string(),
        "size_bytes": robots.size_bytes,
        "parsed_bytes": robots.parsed_bytes,
    })
}

/// `judged = newly_disallowed + newly_allowed + unchanged`.
fn what_if_json(audit: &ReportModel, simulation: &WhatIf) -> Value {
    joined([
        json!({ "draft": robots_json(&simulation.draft, &simulation.robots.version) }),
        json!(simulation.total()),
        // Without spoofed requests and tools.
        json!({ "crawlers": audit.what_if_of_crawlers() }),
    ])
}

fn input_json(input: &Input) -> Value {
    let head = json!({
        "name": input.summary.name,
        "size_bytes": input.summary.size_bytes,
        "decompressed_bytes": input.summary.decompressed_bytes,
        "format": input.summary.format.as_ref().map(|format| &format.name),
    });
    let lines = LineTotals::of(std::slice::from_ref(input));
    joined([head, json!(lines), json!({ "damage": input.summary.damage })])
}

/// Merges the fields of `objects`.
fn joined<const N: usize>(objects: [Value; N]) -> Value {
    let fields = objects.iter().filter_map(Value::as_object).flatten();
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}
