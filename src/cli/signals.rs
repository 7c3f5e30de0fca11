//! Ctrl-C, and the signals by which a system stops programs.
//!
//! A process has one handler and may do several jobs, one after the other: each says anew what is
//! to be put in order where it is stopped.

use std::fs;
use std::path::Path;
use std::process::exit;
use std::sync::Mutex;

use crate::mutex::lock;

/// What is done before the process ends, in the order in which it was said.
type Steps = Vec<Box<dyn FnOnce() + Send>>;

/// Of the job at hand.
static STEPS: Mutex<Steps> = Mutex::new(Steps::new());

/// The exit code of a run that was stopped.
const STOPPED: i32 = 130;

/// A new job begins: there is nothing to be put in order yet.
pub fn begin() {
    lock(&STEPS).clear();
}

/// From now on `step` is taken, after those that were said before, where the job is stopped.
pub fn when_stopped(step: impl FnOnce() + Send + 'static) {
    lock(&STEPS).push(Box::new(step));
    // There is a handler already where this is not the first step. Without any the run is stopped
    // all the same, and leaves hidden files that the next one clears.
    let _ = ctrlc::set_handler(|| {
        let mut steps = lock(&STEPS);
        std::mem::take(&mut *steps).into_iter().for_each(|step| step());
        exit(STOPPED);
    });
}

/// From now on the file `hidden`, if there is one, is removed where the job is stopped.
pub fn remove_when_stopped(hidden: Option<&Path>) {
    if let Some(hidden) = hidden.map(Path::to_owned) {
        when_stopped(move || drop(fs::remove_file(&hidden)));
    }
}
