//! The exit code of a run.

use crate::error::Result;
use crate::run::outcome::RunOutcome;

use super::shared::error;

/// Prints the error of `result`, if it is one, and returns the exit code.
pub(crate) fn exit_code(result: Result<RunOutcome>) -> u8 {
    match result {
        Ok(outcome) => outcome.code(),
        // The reader of the output closed it (`| head`).
        Err(err) if err.is_broken_pipe() => 0,
        Err(err) => {
            error(&err.to_string());
            RunOutcome::Undecided.code()
        }
    }
}
