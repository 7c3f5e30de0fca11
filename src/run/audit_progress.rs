//! The progress of an audit that an application runs.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use crate::audit::progress::Progress;
use crate::mutex::lock;

/// Follows an audit from another thread, and can stop it.
#[derive(Clone, Debug, Default)]
pub struct AuditProgress(Arc<Mutex<Followed>>);

#[derive(Debug, Default)]
struct Followed {
    /// The pass over the logs that runs now.
    pass: Arc<Progress>,
    total_bytes: Option<u64>,
    is_stopped: bool,
}

impl AuditProgress {
    /// The bytes of the logs that were read, and of all of them, if that is known. Some settings
    /// read the logs twice; then the bytes count from 0 again.
    pub fn bytes(&self) -> (u64, Option<u64>) {
        let followed = lock(&self.0);
        (followed.pass.bytes_read.load(Ordering::Relaxed), followed.total_bytes)
    }

    /// Makes the audit end with an error, as soon as its threads have judged the lines that they
    /// have.
    pub fn stop(&self) {
        let mut followed = lock(&self.0);
        followed.is_stopped = true;
        followed.pass.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether somebody stopped it.
    pub(super) fn is_stopped(&self) -> bool {
        lock(&self.0).is_stopped
    }

    /// The progress of a pass that begins now.
    pub(super) fn pass_begins(&self, total_bytes: Option<u64>) -> Arc<Progress> {
        let mut followed = lock(&self.0);
        followed.pass = Arc::default();
        followed.pass.is_stopped.store(followed.is_stopped, Ordering::Relaxed);
        followed.total_bytes = total_bytes;
        Arc::clone(&followed.pass)
    }
}
