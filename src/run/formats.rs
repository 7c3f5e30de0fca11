//! The formats of logs.

use std::ffi::OsString;

use crate::audit::probe::examine;
use crate::config::audit_config::AuditConfig;
use crate::error::Result;
use crate::input::source::expand;
use crate::report::formats_text::examined_text;
use crate::report::outputs::{Outputs, Overwrite};

use super::setup::{hints, refusal};
use super::{console::Console, outcome::RunOutcome, sandbox::access_rights::TcpUse};

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
    let sources = expand(logs);
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
