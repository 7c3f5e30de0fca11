//! How a run ended, and the exit code that says so.

use std::process::ExitCode;

use crate::error::Result;

use super::shared::error;

/// How a run ended that could be carried out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExitStatus {
    /// All was read and written.
    Done,
    /// The same, and violations or faults were found that the user wants to hear of.
    Violations,
    /// Reports were written, but some input was damaged, or nothing could be judged.
    Incomplete,
    /// A URL that was asked about is disallowed.
    Disallowed,
    /// Of a URL that was asked about nothing can be said.
    Undecided,
    /// Another run is at work; nothing was done.
    Locked,
}

/// The exit code of `result`, after its error is told.
pub fn exit_code(result: Result<ExitStatus>) -> ExitCode {
    match result {
        Ok(ExitStatus::Done) => ExitCode::SUCCESS,
        Ok(ExitStatus::Violations | ExitStatus::Disallowed) => ExitCode::from(1),
        Ok(ExitStatus::Undecided) => ExitCode::from(2),
        Ok(ExitStatus::Incomplete) => ExitCode::from(3),
        Ok(ExitStatus::Locked) => ExitCode::from(4),
        // Whoever read our output has seen enough (`| head`).
        Err(err) if err.is_broken_pipe() => ExitCode::SUCCESS,
        Err(err) => {
            error(&err.to_string());
            ExitCode::from(2)
        }
    }
}
