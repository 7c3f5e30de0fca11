//! How a run ended.

/// The result of a run without a fatal error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RunOutcome {
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

impl RunOutcome {
    /// The exit code, which metrics state, too; `help/start.txt` lists all.
    pub(crate) fn code(self) -> u8 {
        match self {
            RunOutcome::Done => 0,
            RunOutcome::Violations | RunOutcome::Disallowed => 1,
            RunOutcome::Undecided => 2,
            RunOutcome::Incomplete => 3,
            RunOutcome::Locked => 4,
        }
    }
}
