//! The summary of a night, and its recipients.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::report::night_text::{SiteNight, night_text};
use crate::report::nights::EventRow;
use crate::run::console::Console;
use crate::staged::{is_stdout, replace};

/// How long the command of `--notify-cmd` may take.
const NOTIFY_TIME_MAX: Duration = Duration::from_secs(60);

/// How often the job looks whether that command has ended.
const NOTIFY_POLL: Duration = Duration::from_millis(20);

/// Where the summary of a night goes.
#[derive(Clone, Debug)]
pub(crate) struct Notification {
    /// A file; - is standard output.
    pub mail_summary: Option<PathBuf>,
    /// A shell command that gets the summary as its standard input if there is news.
    pub command: Option<String>,
    /// Whether standard output gets the summary only if there is news.
    pub only_news: bool,
}

impl Notification {
    /// Makes paths absolute, because they are relative to the directory of the user.
    ///
    /// # Errors
    /// If the current directory is gone.
    pub(crate) fn absolute(mut self) -> Result<Notification> {
        if let Some(path) = self.mail_summary.as_mut().filter(|path| !is_stdout(path)) {
            let absolute = std::path::absolute(&*path);
            *path = absolute.map_err(|err| Error::io("cannot write --mail-summary", path, err))?;
        }
        Ok(self)
    }

    /// The file of the summary.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.mail_summary.as_deref().filter(|path| !is_stdout(path))
    }

    /// Whether the summary goes to standard output.
    pub(crate) fn has_stdout(&self) -> bool {
        self.mail_summary.as_deref().is_some_and(is_stdout)
    }

    /// Sends the summary to its file, to standard output and to the command.
    pub(crate) fn send(
        &self,
        nights: &[SiteNight],
        events: &[EventRow],
        console: &dyn Console,
    ) -> Result<()> {
        let text = night_text(nights, events);
        let has_events = !events.is_empty() || nights.iter().any(|night| night.is_news());
        if let Some(path) = self.file() {
            replace(path, text.as_bytes())?;
        } else if self.has_stdout() && (has_events || !self.only_news) {
            console.print(&text)?;
        }
        match &self.command {
            Some(command) if has_events => notify(command, &text, NOTIFY_TIME_MAX),
            Some(_) | None => Ok(()),
        }
    }
}

fn notify(command: &str, text: &str, time_max: Duration) -> Result<()> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let cannot = |err| Error::io("cannot run --notify-cmd", Path::new(command), err);
    let child = Command::new(shell).arg(flag).arg(command).stdin(Stdio::piped()).spawn();
    let mut child = child.map_err(cannot)?;
    if let Some(mut stdin) = child.stdin.take() {
        let text = text.to_owned();
        // A command that does not read its input may have no need of it, but must not block the job.
        let write = std::thread::Builder::new().spawn(move || stdin.write_all(text.as_bytes()));
        if let Err(err) = write {
            child.kill().and_then(|()| child.wait()).map_err(cannot)?;
            return Err(cannot(err));
        }
    }
    let end = Instant::now() + time_max;
    loop {
        match child.try_wait().map_err(cannot)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(Error::usage(format!("--notify-cmd {command}: {status}"))),
            None if Instant::now() >= end => {
                child.kill().map_err(cannot)?;
                child.wait().map_err(cannot)?;
                let limit = time_max.as_secs();
                let why = format!("stopped after {limit} seconds; run long work in the background");
                return Err(Error::usage(format!("--notify-cmd {command}: {why}")));
            }
            None => std::thread::sleep(NOTIFY_POLL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_command_that_does_not_end_is_stopped() {
        let text = "x".repeat(1 << 20);
        let err = notify("exec sleep 60", &text, Duration::ZERO).unwrap_err();
        assert!(err.to_string().contains("stopped after 0 seconds"), "{err}");
        // A command that reads nothing does not keep the job waiting.
        notify("true", &text, NOTIFY_TIME_MAX).unwrap();
    }
}
