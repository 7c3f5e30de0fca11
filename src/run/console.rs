//! Where a run says what happens, the terminal of a command or an application; files that may be standard output; and
//! how it ended.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::{fmt, fs::File, path::Path, time::Instant};

use crate::audit::progress::Progress;
use crate::error::{Error, Result};
use crate::mutex::lock;
use crate::report::outputs::Outputs;
use crate::staged::is_stdout;
use crate::table::escape::visible;

use super::{audit_progress::AuditProgress, sandbox::access_rights::TcpUse};

/// How much a message matters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MessageLevel {
    /// A part of the run failed.
    Error,
    /// The result lacks something, or may mislead.
    Warning,
    /// What may help to understand the result.
    Note,
    /// A part of the result that does not belong into its file: a sentence that needs no mark.
    Plain,
}

/// What a run needs from the system, once it has checked its settings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access<'a> {
    /// Only these files, and perhaps the network.
    Files(&'a Outputs, TcpUse),
    /// Anything, because it starts other programs.
    Any,
}

/// The progress of a job, which a console may show while the job runs.
pub(crate) enum Watched<'a> {
    /// Bytes that were read, of all if that is known, and a text.
    Bytes {
        /// All bytes.
        total: Option<u64>,
        /// The bytes so far.
        done: &'a (dyn Fn() -> u64 + Sync),
        /// What else is known of the progress.
        text: &'a (dyn Fn() -> String + Sync),
    },
    /// Items that are finished.
    Items {
        /// All items.
        total: u64,
        /// The items so far.
        done: &'a (dyn Fn() -> u64 + Sync),
    },
}

/// Where a run says what happens.
pub(crate) trait Console: fmt::Debug + Send + Sync {
    /// A message beside the result.
    fn tell(&self, level: MessageLevel, text: &str);

    /// The run begins: it needs only `access` from now on, and has not started a thread. Whoever
    /// runs nothing else in this process may confine it.
    fn begin(&self, access: Access<'_>);

    /// Shows a result to people, unless they want none.
    fn show(&self, text: &str) -> Result<()>;

    /// Whether to tell how logs are read and how long it takes.
    fn is_verbose(&self) -> bool;

    /// Standard output, for data.
    fn stdout(&self) -> Result<File>;

    /// Runs `job` and shows its progress.
    fn watch(&self, watched: &Watched<'_>, job: &mut dyn FnMut());

    /// `step` is to run if the process is told to stop.
    fn when_stopped(&self, step: Box<dyn FnOnce() + Send>);

    /// Whether nobody waits for the result any longer.
    fn is_stopped(&self) -> bool {
        false
    }

    /// The progress of a pass over logs with so many bytes that begins now, if that is known.
    fn pass_begins(&self, total_bytes: Option<u64>) -> Arc<Progress> {
        let _ = total_bytes;
        Arc::default()
    }
}

/// A console that is shared by the parts of a run.
pub(crate) type SharedConsole = Arc<dyn Console>;

impl dyn Console + '_ {
    /// Tells of the failure of a part of the run.
    pub(crate) fn error(&self, text: &str) {
        self.tell(MessageLevel::Error, text);
    }

    /// Tells that the result lacks something, or may mislead.
    pub(crate) fn warn(&self, text: &str) {
        self.tell(MessageLevel::Warning, text);
    }

    /// Tells what may help to understand the result.
    pub(crate) fn note(&self, text: &str) {
        self.tell(MessageLevel::Note, text);
    }

    /// Tells a part of the result that does not belong into its file.
    pub(crate) fn say(&self, text: &str) {
        self.tell(MessageLevel::Plain, text);
    }

    /// The run begins with these files.
    pub(crate) fn begin_with(&self, files: &Outputs, tcp: TcpUse) {
        self.begin(Access::Files(files, tcp));
    }

    /// Writes `bytes` to `path` as `replace` does, or to standard output if `path` is `-`.
    ///
    /// # Errors
    /// If the disk is full, the reader of a pipe is gone, or the file cannot be replaced.
    pub(crate) fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        replace: fn(&Path, &[u8]) -> Result<()>,
    ) -> Result<()> {
        match is_stdout(path) {
            true => self.stdout()?.write_all(bytes).map_err(cannot_print),
            false => replace(path, bytes),
        }
    }

    /// Writes `text` to standard output, whatever people want to be shown.
    ///
    /// # Errors
    /// If the disk is full, or the reader of a pipe is gone.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        self.stdout()?.write_all(text.as_bytes()).map_err(cannot_print)
    }

    /// Runs `job`, and notes its duration if the console is verbose.
    pub(crate) fn timed<T>(&self, stage: &str, job: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = job();
        if self.is_verbose() {
            self.note(&format!("{stage}: {:.3} s", begun.elapsed().as_secs_f64()));
        }
        done
    }

    /// Runs `job` and shows its progress.
    pub(crate) fn follow<T>(&self, watched: &Watched<'_>, job: impl FnOnce() -> T) -> T {
        let (mut job, mut done) = (Some(job), None);
        self.watch(watched, &mut || done = job.take().map(|job| job()));
        done.expect("a console runs the job that it watches")
    }
}

/// Shows nothing, and keeps warnings and errors for the caller of the library, who may follow the
/// progress.
#[derive(Debug, Default)]
pub(crate) struct KeptMessages {
    messages: Mutex<Vec<String>>,
    progress: AuditProgress,
}

impl KeptMessages {
    /// Keeps the messages of a run that `progress` follows.
    pub(crate) fn followed_by(progress: AuditProgress) -> KeptMessages {
        KeptMessages { progress, ..KeptMessages::default() }
    }

    /// The warnings and errors so far; they are not kept any longer.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.messages))
    }
}

impl Console for KeptMessages {
    fn tell(&self, level: MessageLevel, text: &str) {
        if matches!(level, MessageLevel::Error | MessageLevel::Warning) {
            lock(&self.messages).push(text.to_owned());
        }
    }

    fn begin(&self, _: Access<'_>) {}

    fn show(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn is_verbose(&self) -> bool {
        false
    }

    fn stdout(&self) -> Result<File> {
        Err(Error::usage("only the command line writes to standard output; name a file"))
    }

    fn watch(&self, _: &Watched<'_>, job: &mut dyn FnMut()) {
        job();
    }

    fn when_stopped(&self, _: Box<dyn FnOnce() + Send>) {}

    fn is_stopped(&self) -> bool {
        self.progress.is_stopped()
    }

    fn pass_begins(&self, total_bytes: Option<u64>) -> Arc<Progress> {
        self.progress.pass_begins(total_bytes)
    }
}

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

    /// The order in which the outcomes of days and sites become the one of a night: the highest counts.
    pub(crate) fn severity(self) -> u8 {
        match self {
            RunOutcome::Done => 0,
            RunOutcome::Violations => 1,
            RunOutcome::Incomplete => 2,
            _ => 3,
        }
    }
}

/// The name of standard output in messages.
pub(crate) const STDOUT_NAME: &str = "standard output";

/// The error for a failed write to standard output.
pub(crate) fn cannot_print(err: io::Error) -> Error {
    Error::io("cannot write to", Path::new(STDOUT_NAME), err)
}

/// A path in a text for people.
pub(crate) fn path_text(path: &Path) -> String {
    visible(path.as_os_str().as_encoded_bytes())
}
