//! What `run.json` says, read back.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};

use super::super::directory::MARKER;

/// The run, as far as pages tell of it. What an older version did not write is empty.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of `run.json`, described in report/run.rs")]
pub struct RunFacts {
    pub program: String,
    pub complete: bool,
    pub reports: Vec<ReportFacts>,
    pub options: BTreeMap<String, Value>,
    pub inputs: Vec<InputFacts>,
    pub robots: Vec<RobotsFacts>,
    pub crawlers_known: u64,
    pub lines: LineFacts,
    pub simulation: Option<SimulationFacts>,
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
pub struct ReportFacts {
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
pub struct InputFacts {
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
pub struct LineFacts {
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
pub struct RobotsFacts {
    pub source: String,
    pub digest: String,
    pub size_bytes: u64,
}

/// What a draft would change.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of `run.json`, described in report/run.rs")]
pub struct SimulationFacts {
    pub draft: RobotsFacts,
    pub not_spoofed: SimulatedFacts,
}

/// Requests by what a draft would do to them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "each is the field of `run.json`, described in report/run.rs")]
pub struct SimulatedFacts {
    pub judged: u64,
    pub newly_disallowed: u64,
    pub newly_allowed: u64,
    pub unchanged: u64,
}

impl RunFacts {
    /// Reads `run.json` of the report `directory`.
    ///
    /// # Errors
    /// Where it is not there, or `directory` is no report of ours.
    pub fn read(directory: &Path) -> Result<RunFacts> {
        let path = directory.join(MARKER);
        let json =
            std::fs::read(&path).map_err(|err| Error::io("cannot read the report", &path, err))?;
        let run: RunFacts = serde_json::from_slice(&json).map_err(|err| {
            let line = u64::try_from(err.line()).unwrap_or_default();
            Error::invalid(&path, line, format!("is no run.json of a report: {err}"))
        })?;
        if run.program != env!("CARGO_PKG_NAME") {
            let why = "is not a report of botaudit; name a directory that botaudit audit wrote";
            return Err(Error::invalid_file(directory, why));
        }
        Ok(run)
    }
}
