//! The progress bar: polls the counters of a job, knows nothing else of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::error::Result;

use super::{shared::print_to, terminal::OutputStream};

/// Between two looks at the counters.
const INTERVAL: Duration = Duration::from_millis(100);

/// Columns in which a long bar and its numbers fit.
const COLUMNS_WIDE: usize = 100;

/// Whether to show progress.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Show {
    /// On standard error, if that is a terminal.
    OnTerminal,
    /// The same, and text, too: standard output is for data.
    BesideData,
    /// Never (`-q`).
    Nothing,
}

impl Show {
    /// On the terminal, but for a quiet run.
    pub fn unless(is_quiet: bool) -> Show {
        if is_quiet { Show::Nothing } else { Show::OnTerminal }
    }

    /// The same where standard output is for data, if `has_data`.
    pub fn beside_data(self, has_data: bool) -> Show {
        if has_data && self == Show::OnTerminal { Show::BesideData } else { self }
    }

    /// Where text goes.
    pub fn stream(self) -> OutputStream {
        match self {
            Show::OnTerminal | Show::Nothing => OutputStream::Stdout,
            Show::BesideData => OutputStream::Stderr,
        }
    }

    /// Prints `text`, unless nothing is to be shown.
    pub fn print(self, text: &str) -> Result<()> {
        if self == Show::Nothing { Ok(()) } else { print_to(self.stream(), text) }
    }
}

/// Runs `job` while a bar follows `bytes_done`, of `bytes_total` where that is known, and shows what
/// `message` says.
pub fn follow<T>(
    show: Show,
    bytes_total: Option<u64>,
    bytes_done: impl Fn() -> u64 + Sync,
    message: impl Fn() -> String + Sync,
    job: impl FnOnce() -> T,
) -> T {
    // The message has the room that is left.
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
        bar.set_message(message());
    };
    run(show, bar, template, look, job)
}

/// Runs `job` while a bar follows `items_done` of `items_total`.
pub fn follow_items<T>(
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
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                look(bar);
                thread::park_timeout(INTERVAL);
            }
            bar.finish_and_clear();
        });
        // Also where the job panics: a scope waits for its threads.
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
