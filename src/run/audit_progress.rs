//! The progress of an audit that an application runs.

use std::sync::{Arc, Mutex, atomic::Ordering};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::options::CHUNK_BYTES;
    use crate::config::audit_config::AuditConfig;
    use crate::run::library::Audit;

    #[test]
    fn the_lines_of_all_chunks_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let (robots, log) = (directory.path().join("robots.txt"), directory.path().join("log"));
        std::fs::write(&robots, "User-agent: *\nDisallow: /a\n").unwrap();
        let line =
            "192.0.2.1 - - [01/Nov/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"-\"\n";
        let lines = 2 * CHUNK_BYTES / line.len();
        std::fs::write(&log, line.repeat(lines)).unwrap();
        let audit = Audit::new(AuditConfig { robots: Some(robots), ..AuditConfig::default() });
        let progress = AuditProgress::default();
        audit.run_followed([&log], &progress).unwrap();
        assert_eq!(lock(&progress.0).pass.lines.load(Ordering::Relaxed), lines as u64);
    }
}
