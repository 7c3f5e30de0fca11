//! Ctrl-C, and the signals by which a system stops programs.
//!
//! A process has one handler, and may do several jobs one after the other: what the handler does is
//! said anew for each job.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::report::directory::Staging;

use super::shared::complain;

/// What the job at hand must not leave behind where it is stopped.
static LEAVINGS: Mutex<Leavings> = Mutex::new(Leavings { staging: None, staged: None });

struct Leavings {
    staging: Option<Arc<Staging>>,
    /// A file that is renamed once it is whole.
    staged: Option<PathBuf>,
}

/// From now on a run that is stopped leaves the previous report as it was.
pub fn give_up_on_signals(staging: &Arc<Staging>) {
    *leavings() = Leavings { staging: Some(Arc::clone(staging)), staged: None };
    // There is one already where this is not the first job. Without any the run is stopped all the
    // same, and the next one clears what it leaves.
    let _ = ctrlc::set_handler(stop);
}

/// And removes `staged`, which stands outside of the report.
pub fn also_remove_on_signals(staged: Option<PathBuf>) {
    leavings().staged = staged;
}

fn stop() {
    let leavings = leavings();
    let was_open = leavings.staging.as_ref().is_some_and(|staging| staging.discard());
    if let Some(path) = &leavings.staged {
        let _ = std::fs::remove_file(path);
    }
    if was_open {
        complain("stopped; the previous report, if there was one, is as it was");
    }
    std::process::exit(130);
}

fn leavings() -> MutexGuard<'static, Leavings> {
    LEAVINGS.lock().unwrap_or_else(PoisonError::into_inner)
}
