//! The one error type: what failed, where, why, and what to do next.
//!
//! Only files, flags and the formats of this project can fail. Foreign input (log lines,
//! robots.txt, URLs, user agents) cannot fail: it gives rejects and findings.

use std::{fmt, io, path::Path};

/// A result with an error that says what failed, where, and what to do next.
pub type Result<T> = std::result::Result<T, Error>;

/// An error that stopped a run, or would have damaged its result.
///
/// Its text says what failed, where, and what to do next. [`Error::kind`] says what failed to
/// programs:
///
/// ```
/// use botaudit::{Audit, AuditConfig, ErrorKind};
///
/// let mut config = AuditConfig::default();
/// config.robots = Some("/nowhere/robots.txt".into());
/// let error = Audit::new(config).run(["access.log"]).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Io);
/// ```
#[derive(Debug)]
pub struct Error(Box<Failure>);

/// What failed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused something: to open or write a file, to start a thread.
    /// [`source`](std::error::Error::source) is its error, if it gave one.
    Io,
    /// A setting, an argument or a combination of them is not valid.
    Configuration,
    /// What was read is not what it must be: no line of the logs can be parsed, or a file that the
    /// user writes, such as a list of crawlers, has a mistake.
    Input,
    /// An archive of robots.txt files is damaged, or is none.
    Archive,
    /// A tally, or another file in which botaudit keeps results, is damaged, takes too much memory,
    /// or does not fit to the others.
    Tally,
    /// An output is refused: it would replace an input or a file of others, or another run is
    /// writing it.
    Refused,
    /// Sums that must agree differ: a bug. Nothing was written.
    Internal,
}

/// `EMFILE`: the process has as many open files as it may have.
const TOO_MANY_FILES: i32 = 24;

#[derive(Debug)]
struct Failure {
    kind: ErrorKind,
    text: Text,
}

#[derive(Debug)]
enum Text {
    /// The operating system gave a cause.
    Caused { doing: String, cause: io::Error },
    /// A place in a file, and what is wrong there.
    At { location: String, why: String },
    /// What is wrong.
    Plain(String),
    /// Numbers that must agree differ.
    Inconsistent(String),
}

impl Error {
    /// What failed.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operating system refused `doing` ("cannot open") at `path`.
    pub fn io(doing: &str, path: &Path, cause: io::Error) -> Error {
        let doing = format!("{doing} {}", path.display());
        Error::new(ErrorKind::Io, Text::Caused { doing, cause })
    }

    /// The operating system refused something that concerns no file.
    pub(crate) fn system(why: impl Into<String>) -> Error {
        Error::new(ErrorKind::Io, Text::Plain(why.into()))
    }

    /// Line `line` (1-based) of `path` is wrong; `why` says what to write instead.
    pub(crate) fn invalid(path: &Path, line: u64, why: impl Into<String>) -> Error {
        let location = format!("{}:{line}", path.display());
        Error::new(ErrorKind::Input, Text::At { location, why: why.into() })
    }

    /// `path` as a whole is wrong; `why` says what to do instead.
    pub fn invalid_file(path: &Path, why: impl Into<String>) -> Error {
        Error::at(ErrorKind::Input, path, why)
    }

    /// What was read is wrong; `why` names it.
    pub(crate) fn input(why: impl Into<String>) -> Error {
        Error::new(ErrorKind::Input, Text::Plain(why.into()))
    }

    /// The archive at `path` cannot be used.
    pub(crate) fn archive(path: &Path, why: impl Into<String>) -> Error {
        Error::at(ErrorKind::Archive, path, why)
    }

    /// The file of results at `path` cannot be used.
    pub(crate) fn tally(path: &Path, why: impl Into<String>) -> Error {
        Error::at(ErrorKind::Tally, path, why)
    }

    /// Files of results do not fit together, or to an audit; `why` names them.
    pub(crate) fn unfit(why: impl Into<String>) -> Error {
        Error::new(ErrorKind::Tally, Text::Plain(why.into()))
    }

    /// The output `path` must not be written.
    pub(crate) fn refused(path: &Path, why: impl Into<String>) -> Error {
        Error::at(ErrorKind::Refused, path, why)
    }

    /// A setting is invalid; `why` names it and a valid value.
    pub(crate) fn usage(why: impl Into<String>) -> Error {
        Error::new(ErrorKind::Configuration, Text::Plain(why.into()))
    }

    /// Sums that must agree differ; the result cannot be trusted.
    pub(crate) fn inconsistent(what: impl Into<String>) -> Error {
        Error::new(ErrorKind::Internal, Text::Inconsistent(what.into()))
    }

    fn at(kind: ErrorKind, path: &Path, why: impl Into<String>) -> Error {
        Error::new(kind, Text::At { location: path.display().to_string(), why: why.into() })
    }

    fn new(kind: ErrorKind, text: Text) -> Error {
        Error(Box::new(Failure { kind, text }))
    }

    /// Sums of the file of results at `path` that differ are not a bug, but damage to that file;
    /// `advice` says what it is and what to do. Other errors stay as they are.
    pub(crate) fn in_file(self, path: &Path, advice: &str) -> Error {
        match &self.0.text {
            Text::Inconsistent(what) => Error::tally(path, format!("{advice} ({what})")),
            _ => self,
        }
    }

    /// Whether sums differ that must agree.
    pub(crate) fn is_inconsistent(&self) -> bool {
        matches!(&self.0.text, Text::Inconsistent(_))
    }

    /// Whether the reader of our output closed it (`| head`), which is not a failure.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let text = &self.0.text;
        matches!(text, Text::Caused { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.text {
            Text::Caused { doing, cause } => {
                write!(f, "{doing}: {cause}")?;
                match cause.raw_os_error() {
                    Some(TOO_MANY_FILES) if cfg!(unix) => {
                        f.write_str("; raise the limit of open files (ulimit -n)")
                    }
                    _ => Ok(()),
                }
            }
            Text::At { location, why } => write!(f, "{location}: {why}"),
            Text::Plain(why) => f.write_str(why),
            Text::Inconsistent(what) => {
                write!(f, "internal check failed, nothing was written: {what}; please report this")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.text {
            Text::Caused { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_a_kind() {
        let path = Path::new("file");
        let cause = || io::Error::from(io::ErrorKind::NotFound);
        for (error, kind, text) in [
            (Error::io("cannot open", path, cause()), ErrorKind::Io, "cannot open file: "),
            (Error::system("no threads"), ErrorKind::Io, "no threads"),
            (Error::usage("--x is wrong"), ErrorKind::Configuration, "--x is wrong"),
            (Error::invalid(path, 7, "is wrong"), ErrorKind::Input, "file:7: is wrong"),
            (Error::invalid_file(path, "is wrong"), ErrorKind::Input, "file: is wrong"),
            (Error::input("no log"), ErrorKind::Input, "no log"),
            (Error::archive(path, "is none"), ErrorKind::Archive, "file: is none"),
            (Error::tally(path, "is damaged"), ErrorKind::Tally, "file: is damaged"),
            (Error::unfit("a and b differ"), ErrorKind::Tally, "a and b differ"),
            (Error::refused(path, "is an input"), ErrorKind::Refused, "file: is an input"),
            (Error::inconsistent("1 and 2"), ErrorKind::Internal, "internal check failed"),
            (Error::inconsistent("1").in_file(path, "damaged"), ErrorKind::Tally, "file: damaged"),
            (Error::usage("x").in_file(path, "damaged"), ErrorKind::Configuration, "x"),
        ] {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().starts_with(text), "{error}");
            let has_cause = std::error::Error::source(&error).is_some();
            assert_eq!(has_cause, text.starts_with("cannot open"), "{error}");
        }
    }
}
