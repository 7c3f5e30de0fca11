//! Automata by content, so that equal tails are compiled once for all files.

use crate::policy::automaton::Automaton;
use crate::policy::glob::{End, Shape, Spelling};

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Where policies find the automata of others. One for each run is enough.
///
/// It is locked while a policy is made, never while one decides.
#[derive(Debug, Default)]
pub struct Shelf {
    automata: Mutex<HashMap<Box<[u8]>, Arc<LazyAutomaton>>>,
}

impl Shelf {
    /// The automata of `tails`, in that order, new ones where there were none.
    pub fn take<'t>(&self, tails: impl Iterator<Item = &'t [u8]>) -> Box<[Arc<LazyAutomaton>]> {
        // A poisoned map is whole: entries are put in at once.
        let mut automata = self.automata.lock().unwrap_or_else(PoisonError::into_inner);
        let mut take = |tail: &[u8]| match automata.get(tail) {
            Some(automaton) => Arc::clone(automaton),
            None => Arc::clone(automata.entry(tail.into()).or_default()),
        };
        tails.map(&mut take).collect()
    }
}

/// An automaton that is compiled once it pays; until then the glob is searched for.
#[derive(Debug, Default)]
pub struct LazyAutomaton {
    searches: AtomicU32,
    automaton: OnceLock<Option<Box<Automaton>>>,
}

impl LazyAutomaton {
    /// Whether the literals of `tail` stand in `text`. `tail` must be what it
    /// was taken from the shelf for.
    #[inline]
    pub fn is_match(&self, tail: &[u8], text: &[u8], searches_max: u32, bytes_max: usize) -> bool {
        match self.automaton.get() {
            Some(Some(automaton)) => automaton.is_match(text),
            Some(None) => is_glob_match(tail, text),
            None if self.searches.fetch_add(1, Ordering::Relaxed) < searches_max => {
                is_glob_match(tail, text)
            }
            None => {
                self.compile(tail, bytes_max);
                is_glob_match(tail, text)
            }
        }
    }

    /// Compiles now.
    pub fn compile(&self, tail: &[u8], bytes_max: usize) {
        self.automaton.get_or_init(|| Automaton::new(tail, bytes_max).map(Box::new));
    }

    /// Bytes on the heap, as far as compiled by now.
    pub fn heap_bytes(&self) -> usize {
        let automaton = self.automaton.get().and_then(Option::as_deref);
        size_of::<LazyAutomaton>() + automaton.map_or(0, Automaton::heap_bytes)
    }
}

fn is_glob_match(tail: &[u8], text: &[u8]) -> bool {
    Shape { head: b"", tail, end: End::Open, spelling: Spelling::Plain }.is_tail_match(text)
}
