//! The terminal as the console of a run, and its progress bar, which reads the counters of a job and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs::File, thread, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::error::Result;
use crate::run::console::{Access, Console, MessageLevel, SharedConsole, Watched};
use crate::table::escape::spelled_out;

use super::shared::{error, note, print_to, say, stdout_file, warn};
use super::signals::{self, confine};
use super::terminal::{self, OutputStream};

/// The terminal, with the result shown as `Show` says.
#[derive(Debug)]
struct Terminal(Show);

/// The console of a run that shows its result and progress as `show` says.
pub(crate) fn console(show: Show) -> SharedConsole {
    Arc::new(Terminal(show))
}

impl Console for Terminal {
    fn tell(&self, level: MessageLevel, text: &str) {
        match level {
            MessageLevel::Error => error(text),
            MessageLevel::Warning => warn(text),
            MessageLevel::Note => note(text),
            MessageLevel::Plain if self.0 == Show::Nothing => {}
            MessageLevel::Plain => say(text),
        }
    }

    fn begin(&self, access: Access<'_>) {
        match access {
            Access::Files(files, tcp) => confine(files, tcp),
            Access::Any => signals::handle(),
        }
    }

    fn show(&self, text: &str) -> Result<()> {
        self.0.print(text)
    }

    fn is_verbose(&self) -> bool {
        terminal::is_verbose()
    }

    fn stdout(&self) -> Result<File> {
        stdout_file()
    }

    fn watch(&self, watched: &Watched<'_>, job: &mut dyn FnMut()) {
        match *watched {
            Watched::Bytes { total, done, text } => follow(self.0, total, done, text, job),
            Watched::Items { total, done } => follow_items(self.0, total, done, job),
        }
    }

    fn when_stopped(&self, step: Box<dyn FnOnce() + Send>) {
        signals::when_stopped(step);
    }
}

/// The interval between two updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// The width in which a long bar and its numbers fit.
const COLUMNS_WIDE: usize = 100;

/// Whether to show progress.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Show {
    /// On standard error if it is a terminal.
    OnTerminal,
    /// As `OnTerminal`; text goes to standard error, too, because standard output is for data.
    BesideData,
    /// Never (`-q`).
    Nothing,
}

impl Show {
    /// Progress on the terminal, unless the run is quiet.
    pub(crate) fn unless(is_quiet: bool) -> Show {
        if is_quiet { Show::Nothing } else { Show::OnTerminal }
    }

    /// If `has_data`, the variant for data on standard output.
    pub(crate) fn beside_data(self, has_data: bool) -> Show {
        if has_data && self == Show::OnTerminal { Show::BesideData } else { self }
    }

    /// The stream for text.
    pub(crate) fn stream(self) -> OutputStream {
        match self {
            Show::OnTerminal | Show::Nothing => OutputStream::Stdout,
            Show::BesideData => OutputStream::Stderr,
        }
    }

    /// Prints `text`, unless nothing is shown.
    pub(crate) fn print(self, text: &str) -> Result<()> {
        if self == Show::Nothing { Ok(()) } else { print_to(self.stream(), text) }
    }
}

/// Runs `job` with a progress bar of `bytes_done`, of `bytes_total` if that is known, and the text
/// of `message`.
pub(crate) fn follow<T>(
    show: Show,
    bytes_total: Option<u64>,
    bytes_done: impl Fn() -> u64 + Sync,
    message: impl Fn() -> String + Sync,
    job: impl FnOnce() -> T,
) -> T {
    // The message gets the remaining width.
    let (bar, template) = match bytes_total {
        Some(total) => (
            ProgressBar::new(total),
            match OutputStream::Stderr.columns() {
                COLUMNS_WIDE.. => {
                    "{bar:30} {percent:>3}%  {bytes} of {total_bytes}  {bytes_per_sec}  \
                     {eta} left  {wide_msg}"
                }
                _ => "{bar:10} {percent:>3}%  {bytes_per_sec}  {eta} left  {wide_msg}",
            },
        ),
        None => {
            (ProgressBar::no_length(), "{spinner} {bytes}  {bytes_per_sec}  {elapsed}  {wide_msg}")
        }
    };
    let look = |bar: &ProgressBar| {
        bar.set_position(bytes_done());
        bar.set_message(spelled_out(&message()));
    };
    run(show, bar, template, look, job)
}

/// Runs `job` with a progress bar of `items_done` of `items_total`.
pub(crate) fn follow_items<T>(
    show: Show,
    items_total: u64,
    items_done: impl Fn() -> u64 + Sync,
    job: impl FnOnce() -> T,
) -> T {
    let template = match OutputStream::Stderr.columns() {
        COLUMNS_WIDE.. => "{bar:30} {percent:>3}%  {pos} of {len}  {per_sec}  {eta} left",
        _ => "{bar:10} {percent:>3}%  {pos} of {len}  {eta} left",
    };
    run(show, ProgressBar::new(items_total), template, |bar| bar.set_position(items_done()), job)
}

fn run<T>(
    show: Show,
    bar: ProgressBar,
    template: &str,
    look: impl Fn(&ProgressBar) + Sync,
    job: impl FnOnce() -> T,
) -> T {
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    let bar = &bar.with_style(style);
    if show == Show::Nothing || bar.is_hidden() {
        return job();
    }
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let draw = || {
            while !is_done.load(Ordering::Relaxed) {
                look(bar);
                thread::park_timeout(INTERVAL);
            }
            bar.finish_and_clear();
        };
        // Without a thread for it, nothing is drawn.
        let _ = thread::Builder::new().spawn_scoped(scope, draw);
        // This also runs if the job panics, because a scope waits for its threads.
        let _stop = StopOnDrop(&is_done);
        job()
    })
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
