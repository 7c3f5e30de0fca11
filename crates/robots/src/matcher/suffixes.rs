//! The parts of wildcard patterns after their prefixes.
//!
//! A suffix is matched only if its rank can still win and the path has the byte pairs of its
//! literals.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::automaton::{Automaton, FIXED_BYTES, bytes_max};
use super::dfa_cache::DfaCache;
use super::glob::{Shape, WildcardSpelling};
use super::window_index::{Marks, WindowIndex};
use super::{bloom::Bloom, limits::Limits, pattern::End, prefix_table::Rank};

const NONE: u32 = u32::MAX;

/// All suffixes of a policy, in the order of the prefix table.
#[derive(Debug)]
pub(crate) struct Suffixes {
    /// The byte pairs of each suffix, in one array, because most suffixes need no other data.
    needed: Box<[Bloom]>,
    suffixes: Box<[Suffix]>,
    bytes: Box<[u8]>,
    /// How many paths were searched while there were no automata.
    searches: AtomicU32,
    /// The set of automata, one for each suffix within the budget; `None` for one that is too large.
    automata: OnceLock<Box<[Option<Arc<Automaton>>]>>,
    /// For many suffixes only.
    windows: Option<WindowIndex>,
    limits: Limits,
    dfa_cache: Arc<DfaCache>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Suffix {
    /// Its index in deciding order.
    pub(crate) rank: Rank,
    start: u32,
    end: u32,
    /// The end of the literals that an automaton searches for; after them is the literal that the
    /// path must end in, if there is one.
    searched_end: u32,
    /// Its index among the automata; [`NONE`] for a suffix without one.
    automaton: u32,
    is_anchored: End,
    spelling: WildcardSpelling,
}

impl Suffixes {
    /// Builds the suffixes of `shapes`, which are in the order of the table, with their ranks.
    ///
    /// The suffixes that fit into the budget get an automaton, the best ranks first.
    pub(crate) fn new(
        shapes: &[(Shape<'_>, Rank)],
        limits: &Limits,
        dfa_cache: &Arc<DfaCache>,
    ) -> Suffixes {
        let mut bytes =
            Vec::with_capacity(shapes.iter().map(|(shape, _)| shape.suffix.len()).sum());
        let needed = shapes.iter().map(|(shape, _)| needed(shape)).collect();
        let mut suffixes: Vec<Suffix> =
            shapes.iter().map(|(shape, rank)| Suffix::new(shape, *rank, &mut bytes)).collect();
        let mut by_rank: Vec<usize> = (0..suffixes.len())
            .filter(|index| suffixes[*index].is_worth_an_automaton(&bytes))
            .collect();
        by_rank.sort_unstable_by_key(|index| suffixes[*index].rank);
        let mut budget = limits.automata_bytes_max;
        let mut count = 0;
        for index in by_rank {
            if budget < FIXED_BYTES {
                break;
            }
            let suffix = &mut suffixes[index];
            let cost = bytes_max(suffix.searched(&bytes));
            if cost <= limits.automaton_bytes_max.min(budget) {
                budget -= cost;
                suffix.automaton = count;
                count += 1;
            }
        }
        let is_indexed = suffixes.len() >= limits.suffixes_to_index_min;
        let windows = is_indexed.then(|| WindowIndex::new(shapes.iter().map(literals))).flatten();
        Suffixes {
            needed,
            suffixes: suffixes.into(),
            bytes: bytes.into(),
            searches: AtomicU32::new(0),
            automata: OnceLock::new(),
            limits: *limits,
            windows,
            dfa_cache: Arc::clone(dfa_cache),
        }
    }

    /// The suffixes that `path` may match by its windows; `None` if the `count` of suffixes that it
    /// can reach is small.
    pub(crate) fn marks(&self, path: &[u8], count: u32) -> Option<Marks> {
        let windows = self.windows.as_ref()?;
        (count as usize >= self.limits.suffixes_to_index_min).then(|| windows.marks(path))
    }

    /// As [`Suffixes::candidates`], but only those with a mark.
    pub(crate) fn marked(
        &self,
        range: Range<usize>,
        marks: &Marks,
        path: Bloom,
    ) -> impl Iterator<Item = &Suffix> {
        let marked = marks.within(range).filter(move |index| path.may_hold(&self.needed[*index]));
        marked.map(|index| &self.suffixes[index])
    }

    /// The suffixes in `range` that a path with the byte pairs of `path` may match.
    #[inline]
    pub(crate) fn candidates(
        &self,
        range: Range<usize>,
        path: Bloom,
    ) -> impl Iterator<Item = &Suffix> {
        let (needed, suffixes) = (&self.needed[range.clone()], &self.suffixes[range]);
        let pairs = needed.iter().zip(suffixes);
        pairs.filter(move |(needed, _)| path.may_hold(needed)).map(|(_, suffix)| suffix)
    }

    /// Whether `suffix` matches `rest`, the path after the prefix.
    #[inline]
    pub(crate) fn is_match(&self, suffix: &Suffix, rest: &[u8]) -> bool {
        let automata = self.automata.get().map_or(&[][..], |automata| automata);
        let Some(Some(automaton)) = automata.get(suffix.automaton as usize) else {
            return suffix.shape(&self.bytes).is_suffix_match(rest);
        };
        let last = &self.bytes[suffix.searched_end as usize..suffix.end as usize];
        let last = &last[memchr::memrchr(b'*', last).map_or(0, |star| star + 1)..];
        rest.strip_suffix(last).is_some_and(|rest| automaton.is_match(rest))
    }

    /// Counts a path that is about to be searched, and compiles the automata if there were some before.
    #[inline]
    pub(crate) fn count_search(&self) {
        if self.automata.get().is_none()
            && self.searches.fetch_add(1, Ordering::Relaxed)
                >= self.limits.searches_before_compiling
        {
            self.compile();
        }
    }

    /// Counts a decision that took many searches.
    pub(crate) fn count_slow_decision(&self) {
        self.dfa_cache.count_slow_decision();
    }

    /// Compiles the automata now. Other threads that need them wait.
    pub(crate) fn compile(&self) {
        self.automata.get_or_init(|| {
            let with_automaton = self.suffixes.iter().filter(|suffix| suffix.automaton != NONE);
            let mut in_order: Vec<&Suffix> = with_automaton.collect();
            in_order.sort_unstable_by_key(|suffix| suffix.automaton);
            let bytes_max = self.limits.automaton_bytes_max;
            let automaton =
                |suffix: &Suffix| self.dfa_cache.take(suffix.searched(&self.bytes), bytes_max);
            in_order.into_iter().map(automaton).collect()
        });
    }

    /// Bytes on the heap, including automata compiled so far, also shared ones.
    pub(crate) fn heap_bytes(&self) -> usize {
        let automata = self.automata.get().into_iter().flatten().flatten();
        let automata: usize = automata.map(|automaton| automaton.heap_bytes()).sum();
        let tables = size_of_val(&*self.needed) + size_of_val(&*self.suffixes);
        let windows = self.windows.as_ref().map_or(0, WindowIndex::heap_bytes);
        tables + windows + self.bytes.len() + automata
    }
}

impl Suffix {
    fn new(shape: &Shape<'_>, rank: Rank, bytes: &mut Vec<u8>) -> Suffix {
        let to_u32 = |length: usize| u32::try_from(length).expect("patterns of 500 KiB");
        let start = bytes.len();
        bytes.extend_from_slice(shape.suffix);
        let last = match shape.end {
            End::Open => shape.suffix.len(),
            End::Anchored => memchr::memrchr(b'*', shape.suffix).unwrap_or(0),
        };
        let stars = shape.suffix[..last].iter().rev().take_while(|byte| **byte == b'*').count();
        Suffix {
            rank,
            start: to_u32(start),
            end: to_u32(bytes.len()),
            searched_end: to_u32(start + last - stars),
            automaton: NONE,
            is_anchored: shape.end,
            spelling: shape.spelling,
        }
    }

    /// A single literal of one byte is found faster without an automaton, and no literal needs no
    /// search.
    fn is_worth_an_automaton(&self, bytes: &[u8]) -> bool {
        self.spelling == WildcardSpelling::Plain && self.searched(bytes).len() > 2
    }

    fn searched<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..self.searched_end as usize]
    }

    fn shape<'a>(&self, bytes: &'a [u8]) -> Shape<'a> {
        let suffix = &bytes[self.start as usize..self.end as usize];
        Shape { prefix: b"", suffix, end: self.is_anchored, spelling: self.spelling }
    }
}

/// The byte pairs that every match contains.
fn needed(shape: &Shape<'_>) -> Bloom {
    match shape.spelling {
        WildcardSpelling::Plain => Bloom::of_literals(shape.suffix),
        WildcardSpelling::Encoded => Bloom::default(),
    }
}

/// The literals that every match contains.
fn literals<'a>(
    (shape, _): &(Shape<'a>, Rank),
) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
    let plain = match shape.spelling {
        WildcardSpelling::Plain => shape.suffix,
        WildcardSpelling::Encoded => b"",
    };
    plain.split(|byte| *byte == b'*')
}
