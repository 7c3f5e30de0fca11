//! Confines the process unless the user wants it otherwise, and handles Ctrl-C and the signals that stop a process.

use std::{process::exit, sync::Mutex};

use crate::mutex::lock;
use crate::report::outputs::Outputs;
use crate::run::sandbox::{self, access_rights::TcpUse};
use crate::staged::hidden::remove_unfinished;

use super::shared::note;
use super::terminal::{is_confined, is_verbose};

/// Cleanup steps before the exit, in the order of registration.
type Steps = Vec<Box<dyn FnOnce() + Send>>;

static STEPS: Mutex<Steps> = Mutex::new(Steps::new());

/// The exit code of a run that was stopped.
const STOPPED: i32 = 130;

/// Handles signals from now on, in a thread of its own: a run that confines itself does so first.
pub(crate) fn handle() {
    // Without a handler, the run is stopped as well, and the next run clears its hidden files.
    let _ = ctrlc::set_handler(|| {
        let mut steps = lock(&STEPS);
        std::mem::take(&mut *steps).into_iter().for_each(|step| step());
        if remove_unfinished() {
            note("stopped; unfinished outputs were removed");
        }
        exit(STOPPED);
    });
}

/// Blocks the signals that this process must not act on. Must be called before the first thread
/// starts.
pub(crate) fn block() {
    #[cfg(unix)]
    block_ignored();
}

#[cfg(unix)]
fn block_ignored() {
    use nix::sys::signal::{SigSet, Signal};
    let mut blocked = SigSet::empty();
    // A write beyond the limit of `ulimit -f` then fails instead of killing the process.
    blocked.add(Signal::SIGXFSZ);
    // The handler would replace what `nohup` set.
    let ignored = ignored_signals();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        if ignored >> (signal as u32 - 1) & 1 == 1 {
            blocked.add(signal);
        }
    }
    let _ = blocked.thread_block();
}

/// The signals that this process ignores since its start, one bit each, on Linux.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Registers `step`, which runs after earlier steps if the run is stopped.
pub(crate) fn when_stopped(step: impl FnOnce() + Send + 'static) {
    lock(&STEPS).push(Box::new(step));
}

/// Confines the process to the files of `outputs`, unless `--no-sandbox` is given. Then signals are
/// handled. Must be called before the first thread is started.
pub(crate) fn confine(outputs: &Outputs, tcp: TcpUse) {
    if is_confined() {
        let held = sandbox::confine(outputs, tcp);
        held.iter().filter(|_| is_verbose()).for_each(|what| note(what));
    }
    handle();
}
