//! What a judge has read so far.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::digest::Digest;
use crate::robots::foreign::Foreign;
use crate::url::origin::Origin;

use super::{origin_history::OriginHistory, robots::Robots};

/// The most failures, and the most files that are not a robots.txt, that are kept.
pub(super) const FAILURES_MAX: usize = 1000;

/// The files and histories that were read so far.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// By the name of the file; `None` if it could not be read.
    pub(super) sources: BTreeMap<String, Option<Arc<Robots>>>,
    pub(super) by_digest: HashMap<Digest, Arc<Robots>>,
    pub(super) versions: Vec<Arc<Robots>>,
    /// The histories of the origins that were looked up in an archive.
    pub(super) histories: HashMap<Origin, Arc<OriginHistory>>,
    /// By the name of the file, or the reason itself for an archive: why it could not be read.
    pub(super) failures: BTreeMap<String, String>,
    /// By the name of the file: what it is instead of a robots.txt.
    pub(super) foreign: BTreeMap<String, Foreign>,
}

impl Loaded {
    pub(super) fn note_foreign(&mut self, source: String, robots: &Robots) {
        if let Some(what) = robots.foreign.filter(|_| self.foreign.len() < FAILURES_MAX) {
            self.foreign.insert(source, what);
        }
    }

    /// Of too many failures of an archive, always the same ones are reported.
    pub(super) fn fail(&mut self, why: String) {
        self.failures.insert(why.clone(), why);
        if self.failures.len() > FAILURES_MAX {
            self.failures.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_failures_the_first_by_name_stay() {
        let mut loaded = Loaded::default();
        (0..=FAILURES_MAX).rev().for_each(|number| loaded.fail(format!("{number:04}")));
        assert_eq!(loaded.failures.len(), FAILURES_MAX);
        assert_eq!(loaded.failures.last_key_value().unwrap().0, "0999");
    }
}
