//! The one error type: what failed, where, why, and what to do next.
//!
//! Only files, flags and the formats of this project can fail. Foreign input (log lines,
//! robots.txt, URLs, user agents) cannot fail: it gives rejects and findings.

use std::path::Path;
use std::{fmt, io};

/// A result with an error that says what failed, where, and what to do next.
pub type Result<T> = std::result::Result<T, Error>;

/// An error that stopped a run, or would have damaged its result.
#[derive(Debug)]
pub struct Error(Box<Kind>);

/// `EMFILE`: the process has as many open files as it may have.
const TOO_MANY_FILES: i32 = 24;

#[derive(Debug)]
enum Kind {
    /// The operating system refused something.
    Io { doing: String, cause: io::Error },
    /// A line of a file in one of our formats is wrong.
    Invalid { location: String, why: String },
    /// An invalid flag or combination of flags.
    Usage(String),
    /// Numbers that must agree differ: a bug.
    Inconsistent(String),
}

impl Error {
    /// The operating system refused `doing` ("cannot open") at `path`.
    pub fn io(doing: &str, path: &Path, cause: io::Error) -> Error {
        Error(Box::new(Kind::Io { doing: format!("{doing} {}", path.display()), cause }))
    }

    /// Line `line` (1-based) of `path` is wrong; `why` says what to write instead.
    pub fn invalid(path: &Path, line: u64, why: impl Into<String>) -> Error {
        let location = format!("{}:{line}", path.display());
        Error(Box::new(Kind::Invalid { location, why: why.into() }))
    }

    /// `path` as a whole is wrong; `why` says what to do instead.
    pub fn invalid_file(path: &Path, why: impl Into<String>) -> Error {
        Error(Box::new(Kind::Invalid { location: path.display().to_string(), why: why.into() }))
    }

    /// The command line is invalid; `why` names the flag and a valid value.
    pub fn usage(why: impl Into<String>) -> Error {
        Error(Box::new(Kind::Usage(why.into())))
    }

    /// Sums that must agree differ; the result cannot be trusted.
    pub fn inconsistent(what: impl Into<String>) -> Error {
        Error(Box::new(Kind::Inconsistent(what.into())))
    }

    /// Sums of the file at `path` that differ are not a bug, but damage to that file; `advice` says
    /// what it is and what to do. Other errors stay as they are.
    pub fn in_file(self, path: &Path, advice: &str) -> Error {
        match *self.0 {
            Kind::Inconsistent(what) => Error::invalid_file(path, format!("{advice} ({what})")),
            _ => self,
        }
    }

    /// Whether sums differ that must agree.
    pub fn is_inconsistent(&self) -> bool {
        matches!(&*self.0, Kind::Inconsistent(_))
    }

    /// Whether the reader of our output closed it (`| head`), which is not a failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&*self.0, Kind::Io { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Io { doing, cause } => {
                write!(f, "{doing}: {cause}")?;
                match cause.raw_os_error() {
                    Some(TOO_MANY_FILES) if cfg!(unix) => {
                        f.write_str("; raise the limit of open files (ulimit -n)")
                    }
                    _ => Ok(()),
                }
            }
            Kind::Invalid { location, why } => write!(f, "{location}: {why}"),
            Kind::Usage(why) => f.write_str(why),
            Kind::Inconsistent(what) => {
                write!(f, "internal check failed, nothing was written: {what}; please report this")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Kind::Io { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
