//! A cache of automata by content, so that equal suffixes are compiled once for all files.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::glob::{Shape, WildcardSpelling};
use super::{automaton::Automaton, limits::Limits, pattern::End};

/// A cache that policies share. One is enough for a run.
///
/// It is locked when a suffix is compiled, which happens once for each suffix of a policy; never
/// for a decision.
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
    fn take(&self, suffix: &[u8], bytes_max: usize) -> Option<Arc<Automaton>> {
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

    /// The approximate bytes of all automata; one that two threads built at once counts twice.
    pub fn heap_bytes(&self) -> usize {
        self.heap_bytes.load(Ordering::Relaxed)
    }
}

/// A slot for an automaton that is compiled after repeated use; until then, its suffix is matched
/// as a glob.
#[derive(Debug, Default)]
pub(crate) struct DfaSlot {
    searches: AtomicU32,
    automaton: OnceLock<Option<Arc<Automaton>>>,
}

impl DfaSlot {
    /// Whether `text` has the literals of `suffix`, in order and without overlap. `suffix` must be
    /// the same in each call.
    #[inline]
    pub fn is_match(
        &self,
        suffix: &[u8],
        text: &[u8],
        limits: &Limits,
        dfa_cache: &DfaCache,
    ) -> bool {
        match self.automaton(suffix, limits, dfa_cache) {
            Some(automaton) => automaton.is_match(text),
            None => {
                let (end, spelling) = (End::Open, WildcardSpelling::Plain);
                Shape { prefix: b"", suffix, end, spelling }.is_suffix_match(text)
            }
        }
    }

    #[inline]
    fn automaton(
        &self,
        suffix: &[u8],
        limits: &Limits,
        dfa_cache: &DfaCache,
    ) -> Option<&Automaton> {
        let compiled = match self.automaton.get() {
            Some(compiled) => compiled,
            None => {
                let searches = self.searches.fetch_add(1, Ordering::Relaxed);
                if searches < limits.searches_before_compiling {
                    return None;
                }
                self.compile(suffix, limits, dfa_cache)
            }
        };
        compiled.as_deref()
    }

    /// Compiles now, or takes the automaton from the cache; `None` if it would be too large.
    pub fn compile(
        &self,
        suffix: &[u8],
        limits: &Limits,
        dfa_cache: &DfaCache,
    ) -> &Option<Arc<Automaton>> {
        self.automaton.get_or_init(|| dfa_cache.take(suffix, limits.automaton_bytes_max))
    }

    /// Bytes on the heap, including an automaton compiled so far.
    pub fn heap_bytes(&self) -> usize {
        let automaton = self.automaton.get().and_then(Option::as_ref);
        automaton.map_or(0, |automaton| automaton.heap_bytes())
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
