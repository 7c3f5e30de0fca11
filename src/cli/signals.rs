//! Ctrl-C and the signals that stop a process.

use std::process::exit;
use std::sync::Mutex;

use crate::mutex::lock;
use crate::staged::hidden::remove_unfinished;

use super::shared::note;

/// Cleanup steps before the exit, in the order of registration.
type Steps = Vec<Box<dyn FnOnce() + Send>>;

static STEPS: Mutex<Steps> = Mutex::new(Steps::new());

/// The exit code of a run that was stopped.
const STOPPED: i32 = 130;

/// Begins to handle signals. Must be called before the first thread starts.
pub fn begin() {
    // A write beyond the limit of `ulimit -f` then fails instead of killing the process.
    #[cfg(unix)]
    {
        let mut file_size = nix::sys::signal::SigSet::empty();
        file_size.add(nix::sys::signal::Signal::SIGXFSZ);
        let _ = file_size.thread_block();
    }
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

/// Registers `step`, which runs after earlier steps if the run is stopped.
pub fn when_stopped(step: impl FnOnce() + Send + 'static) {
    lock(&STEPS).push(Box::new(step));
}
