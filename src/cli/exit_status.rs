//! The result of a run, and its exit code.

use crate::error::Result;

use super::shared::error;

/// The result of a run without a fatal error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExitStatus {
    /// All inputs were read, all outputs written.
    Done,
    /// As `Done`, but there are violations or findings that the user wants as a failure.
    Violations,
    /// Reports were written, but some input was damaged, or nothing could be judged.
    Incomplete,
    /// A URL that was asked about is disallowed.
    Disallowed,
    /// A URL could not be decided.
    Undecided,
    /// Another run is in progress; nothing was done.
    Locked,
}

/// Prints the error of `result`, if it is one, and returns the exit code.
pub fn exit_code(result: Result<ExitStatus>) -> u8 {
    match result {
        Ok(ExitStatus::Done) => 0,
        Ok(ExitStatus::Violations | ExitStatus::Disallowed) => 1,
        Ok(ExitStatus::Undecided) => 2,
        Ok(ExitStatus::Incomplete) => 3,
        Ok(ExitStatus::Locked) => 4,
        // The reader of the output closed it (`| head`).
        Err(err) if err.is_broken_pipe() => 0,
        Err(err) => {
            error(&err.to_string());
            2
        }
    }
}
