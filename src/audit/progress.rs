//! The progress of an audit, and whether to go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// The progress of an audit.
#[derive(Debug, Default)]
pub struct Progress {
    /// The bytes read from disk.
    pub bytes_read: Arc<AtomicU64>,
    /// Lines looked at.
    pub lines: AtomicU64,
    /// Whether the audit ends with an error as soon as it can.
    pub is_stopped: AtomicBool,
}

impl Progress {
    /// Whether nobody waits for the audit any longer, as an error.
    pub(super) fn check(&self) -> Result<()> {
        match self.is_stopped.load(Ordering::Relaxed) {
            true => Err(Error::system("the audit was stopped")),
            false => Ok(()),
        }
    }
}
