//! A cache of automata by content, so that equal suffixes are compiled once for all files.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::automaton::Automaton;

/// A cache that policies share. One is enough for a run.
///
/// It is locked while the suffixes of a policy are compiled, once; never for a decision.
#[derive(Debug, Default)]
pub struct DfaCache {
    automata: Mutex<HashMap<Box<[u8]>, Arc<Automaton>>>,
    heap_bytes: AtomicUsize,
    slow_decisions: Arc<AtomicU64>,
}

impl DfaCache {
    /// An empty cache with the same count of slow decisions.
    pub fn emptied(&self) -> DfaCache {
        DfaCache { slow_decisions: Arc::clone(&self.slow_decisions), ..DfaCache::default() }
    }

    /// The automaton of `suffix`, which is built if there is none; `None` if it would take more
    /// than `bytes_max`.
    pub(crate) fn take(&self, suffix: &[u8], bytes_max: usize) -> Option<Arc<Automaton>> {
        // A poisoned map is still valid, because entries are inserted at once.
        let lock = || self.automata.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(automaton) = lock().get(suffix) {
            return Some(Arc::clone(automaton));
        }
        let built = Arc::new(Automaton::new(suffix, bytes_max)?);
        self.heap_bytes.fetch_add(built.heap_bytes() + suffix.len(), Ordering::Relaxed);
        Some(Arc::clone(lock().entry(suffix.into()).or_insert(built)))
    }

    /// Counts a decision that took many searches.
    pub(crate) fn count_slow_decision(&self) {
        self.slow_decisions.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of decisions so far that took many searches.
    pub fn slow_decisions(&self) -> u64 {
        self.slow_decisions.load(Ordering::Relaxed)
    }

    /// The number of automata.
    pub fn automata(&self) -> usize {
        self.automata.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The approximate bytes of all automata; one that two threads built at once counts twice.
    pub fn heap_bytes(&self) -> usize {
        self.heap_bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dropped automata are built again, but what was slow is still to be told.
    #[test]
    fn slow_decisions_are_counted_beyond_a_cache() {
        let cache = DfaCache::default();
        cache.slow_decisions.fetch_add(3, Ordering::Relaxed);
        let emptied = cache.emptied();
        emptied.slow_decisions.fetch_add(4, Ordering::Relaxed);
        assert_eq!((cache.slow_decisions(), emptied.slow_decisions()), (7, 7));
    }
}
