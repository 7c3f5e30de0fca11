//! Ctrl-C and the signals that stop a process.
//!
//! A process has one handler and may run several jobs in sequence. Each job registers its own
//! cleanup steps.

use std::fs;
use std::path::Path;
use std::process::exit;
use std::sync::Mutex;

use crate::mutex::lock;

/// Cleanup steps before the exit, in the order of registration.
type Steps = Vec<Box<dyn FnOnce() + Send>>;

/// The steps of the current job.
static STEPS: Mutex<Steps> = Mutex::new(Steps::new());

/// The exit code of a run that was stopped.
const STOPPED: i32 = 130;

/// Clears all steps at the start of a new job.
pub fn begin() {
    lock(&STEPS).clear();
}

/// Registers `step`, which runs after earlier steps if the job is stopped.
pub fn when_stopped(step: impl FnOnce() + Send + 'static) {
    lock(&STEPS).push(Box::new(step));
    // The handler exists already, unless this is the first step. Without a handler, the run is
    // stopped as well, and the next run clears its hidden files.
    let _ = ctrlc::set_handler(|| {
        let mut steps = lock(&STEPS);
        std::mem::take(&mut *steps).into_iter().for_each(|step| step());
        exit(STOPPED);
    });
}

/// Registers the removal of the file `hidden`, if there is one.
pub fn remove_when_stopped(hidden: Option<&Path>) {
    if let Some(hidden) = hidden.map(Path::to_owned) {
        when_stopped(move || drop(fs::remove_file(&hidden)));
    }
}
