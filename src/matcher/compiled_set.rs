//! A table of prefixes with their suffixes, for many patterns.

use crate::matcher::{
    bloom::Bloom,
    decision::IndexedDecision,
    dfa_cache::DfaCache,
    glob::{Shape, shape},
    limits::Limits,
    pattern::End,
    precedence::RankedPattern,
    prefix_table::{Continuation, PatternPrefix, PrefixEntry, PrefixTable, Rank},
    suffixes::Suffixes,
};
use crate::url::dialect::Dialect;

use std::sync::Arc;

/// Up to this many suffixes are searched directly, without computing the byte pairs of the path
/// first. That takes 20 to 30 ns, as long as two searches.
const SUFFIXES_WITHOUT_BLOOM_MAX: u32 = 2;

/// Patterns with their decisions, for one path at a time.
#[derive(Debug)]
pub struct CompiledSet {
    prefixes: PrefixTable,
    suffixes: Suffixes,
    /// Decisions by rank.
    decisions: Box<[IndexedDecision]>,
}

impl CompiledSet {
    /// Builds the set from `ranked`.
    pub fn new(
        ranked: &[RankedPattern<'_>],
        dialect: Dialect,
        limits: &Limits,
        dfa_cache: &Arc<DfaCache>,
    ) -> CompiledSet {
        let shapes: Vec<Shape<'_>> =
            ranked.iter().map(|ranked| shape(&ranked.pattern, dialect)).collect();
        let mut entries: Vec<PatternPrefix<'_>> = (0..).zip(&shapes).map(entry).collect();
        let prefixes = PrefixTable::new(&mut entries);
        let with_suffixes = entries.iter().filter(|entry| entry.rest == Continuation::Suffix);
        let suffixes: Vec<(Shape<'_>, Rank)> =
            with_suffixes.map(|entry| (shapes[entry.rank as usize], entry.rank)).collect();
        let suffixes = Suffixes::new(&suffixes, limits, dfa_cache);
        let decisions = ranked.iter().map(|ranked| ranked.decision).collect();
        CompiledSet { prefixes, suffixes, decisions }
    }

    /// Decides on a prepared path.
    #[inline]
    pub fn decide(&self, path: &[u8]) -> IndexedDecision {
        let Some(prefix) = self.prefixes.longest(path) else { return IndexedDecision::NO_RULE };
        let mut best = prefix.literal_rank(path);
        if prefix.best_suffix() < best {
            best = self.best_of_suffixes(prefix, best, path);
        }
        self.decisions.get(best as usize).copied().unwrap_or(IndexedDecision::NO_RULE)
    }

    fn best_of_suffixes(&self, longest: &PrefixEntry, mut best: Rank, path: &[u8]) -> Rank {
        let bloom = match longest.suffixes_count() > SUFFIXES_WITHOUT_BLOOM_MAX {
            true => Bloom::of(path),
            false => Bloom::ALL,
        };
        for prefix in self.prefixes.with_suffixes(longest) {
            if prefix.best_suffix() >= best {
                break;
            }
            let rest = &path[prefix.length()..];
            for suffix in self.suffixes.candidates(prefix.suffixes(), bloom) {
                if suffix.rank >= best {
                    break;
                }
                if self.suffixes.is_match(suffix, rest) {
                    best = suffix.rank;
                    break;
                }
            }
        }
        best
    }

    /// Compiles everything now that would otherwise be compiled after repeated use.
    pub fn compile(&self) {
        self.suffixes.compile();
    }

    /// Bytes on the heap, including automata compiled so far.
    pub fn heap_bytes(&self) -> usize {
        self.prefixes.heap_bytes() + self.suffixes.heap_bytes() + size_of_val(&*self.decisions)
    }
}

fn entry<'a>((rank, shape): (Rank, &Shape<'a>)) -> PatternPrefix<'a> {
    let rest = match (shape.suffix.is_empty(), shape.end) {
        (true, End::Open) => Continuation::Open,
        (true, End::Anchored) => Continuation::End,
        (false, _) => Continuation::Suffix,
    };
    PatternPrefix::new(shape.prefix, rank, rest)
}
