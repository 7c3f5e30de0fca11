//! The formats of logs, and a refusal of `--json-fields` for logs without keys that it could name.

use std::ffi::OsString;

use crate::audit::probe::examine;
use crate::config::audit_config::AuditConfig;
use crate::error::{Error, Result};
use crate::input::source::{Location, Source};
use crate::logs::format::Hints;
use crate::report::formats_text::examined_text;
use crate::report::outputs::{Outputs, Overwrite};

use super::console::{Console, RunOutcome};
use super::sandbox::access_rights::TcpUse;
use super::setup::{hints, refusal};
use super::sources::found_sources;

/// Detects the format of `logs` and prints it. An unreadable log does not prevent the others from
/// being examined.
///
/// # Errors
/// If a setting of `config` is not valid, or the result cannot be printed.
pub(crate) fn detect(
    logs: &[OsString],
    config: &AuditConfig,
    console: &dyn Console,
) -> Result<RunOutcome> {
    let mut faults = Vec::new();
    let hints = hints(config, &mut faults);
    if !faults.is_empty() {
        return Err(refusal(&faults, console));
    }
    let sources = found_sources(logs, console);
    let mut files = Outputs::new(Overwrite::Own);
    files.reads_sources("a log", &sources);
    console.begin_with(&files, TcpUse::None);
    let mut outcome = RunOutcome::Done;
    for source in sources {
        match examine(&source, &hints) {
            Ok(examined) => {
                if examined.detection.format.is_none() && examined.rejected_lines() > 0
                    || examined.damage.is_some()
                {
                    outcome = RunOutcome::Undecided;
                }
                console.print(&examined_text(&source.name, &examined))?;
            }
            Err(err) => {
                console.error(&err.to_string());
                outcome = RunOutcome::Undecided;
            }
        }
    }
    Ok(outcome)
}

/// The most logs that are examined.
const EXAMINED_MAX: usize = 64;

/// Checks that a log may have keys that `--json-fields` can name. Other logs beside it are usual. A pipe can be read only once, so it is not examined.
pub(super) fn check_json_fields(sources: &[Source], hints: &Hints) -> Result<()> {
    if hints.json_fields.is_none() || sources.len() > EXAMINED_MAX {
        return Ok(());
    }
    let formats: Option<Vec<String>> =
        sources.iter().map(|source| other_format(source, hints)).collect();
    let Some((source, format)) =
        formats.and_then(|formats| sources.first().zip(formats.into_iter().next()))
    else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "--json-fields is for the format json, and the format of {} is {format}; omit it, or add --log-format json",
        source.name
    )))
}

/// The format of `source` if lines were read by one without keys.
fn other_format(source: &Source, hints: &Hints) -> Option<String> {
    let Location::File(path) = &source.location else { return None };
    if !path.is_file() {
        return None;
    }
    let probe = examine(source, hints).ok().filter(|probe| probe.records > 0)?;
    let name = probe.detection.format?.name().to_owned();
    // Such as `json in docker`.
    (!name.split(' ').any(|word| word == "json")).then_some(name)
}
