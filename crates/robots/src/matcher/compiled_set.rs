//! A table of prefixes with their suffixes, for many patterns.

use std::{ops::Range, sync::Arc};

use crate::url::path::Dialect;

use super::glob::{Shape, shape};
use super::prefix_table::{Continuation, PatternPrefix, PrefixEntry, PrefixTable, Rank};
use super::suffixes::{Suffix, Suffixes};
use super::{bloom::Bloom, decision::IndexedDecision, dfa_cache::DfaCache, limits::Limits};
use super::{pattern::End, precedence::RankedPattern};

/// Up to this many suffixes are searched directly, without computing the byte pairs of the path
/// first. That takes 20 to 30 ns, as long as two searches.
const SUFFIXES_WITHOUT_BLOOM_MAX: u32 = 2;

/// A decision with more searches than this is counted as slow.
pub const SEARCHES_MAX: u32 = 1000;

/// Patterns with their decisions, for one path at a time.
#[derive(Debug)]
pub(crate) struct CompiledSet {
    prefixes: PrefixTable,
    suffixes: Suffixes,
    /// Decisions by rank.
    decisions: Box<[IndexedDecision]>,
}

impl CompiledSet {
    pub(crate) fn new(
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

    #[inline]
    pub(crate) fn decide(&self, path: &[u8]) -> IndexedDecision {
        let Some(prefix) = self.prefixes.longest(path) else { return IndexedDecision::NO_RULE };
        let mut best = prefix.literal_rank(path);
        if prefix.best_suffix() < best {
            best = self.best_of_suffixes(prefix, best, path);
        }
        self.decisions.get(best as usize).copied().unwrap_or(IndexedDecision::NO_RULE)
    }

    fn best_of_suffixes(&self, longest: &PrefixEntry, best: Rank, path: &[u8]) -> Rank {
        self.suffixes.count_search();
        let count = longest.suffixes_count();
        let bloom = match count > SUFFIXES_WITHOUT_BLOOM_MAX {
            true => Bloom::of(path),
            false => Bloom::ALL,
        };
        match self.suffixes.marks(path, count) {
            Some(marks) => self.first_match(longest, best, path, |range| {
                self.suffixes.marked(range, &marks, bloom)
            }),
            None => self
                .first_match(longest, best, path, |range| self.suffixes.candidates(range, bloom)),
        }
    }

    /// The best rank of a suffix that matches, or `best` if none is better. `candidates` gives the
    /// suffixes of a range that are worth a search.
    #[inline]
    fn first_match<'a, I: Iterator<Item = &'a Suffix>>(
        &'a self,
        longest: &PrefixEntry,
        mut best: Rank,
        path: &[u8],
        candidates: impl Fn(Range<usize>) -> I,
    ) -> Rank {
        let mut searches = 0;
        for prefix in self.prefixes.with_suffixes(longest) {
            if prefix.best_suffix() >= best {
                break;
            }
            let rest = &path[prefix.length()..];
            for suffix in candidates(prefix.suffixes()) {
                if suffix.rank >= best {
                    break;
                }
                searches += 1;
                if self.suffixes.is_match(suffix, rest) {
                    best = suffix.rank;
                    break;
                }
            }
        }
        if searches > SEARCHES_MAX {
            self.suffixes.count_slow_decision();
        }
        best
    }

    /// Compiles the automata now.
    pub(crate) fn compile(&self) {
        self.suffixes.compile();
    }

    /// Bytes on the heap, including automata compiled so far.
    pub(crate) fn heap_bytes(&self) -> usize {
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

#[cfg(test)]
mod tests {
    use super::super::{compiled::CompiledPolicy, limits::Limits, select};
    use crate::robots::model::StarGroups;
    use crate::robots::parse::parse;
    use crate::url::path::Dialect;

    /// The table is sorted by the first sixteen bytes, which are no more than the beginning of a prefix.
    #[test]
    fn prefixes_with_the_same_beginning_are_distinct() {
        let begin = "/0123456789abcdef";
        let limits = Limits { ordered_patterns_max: 0, ..Limits::default() };
        for letters in ["abcdefghij", "jihgfedcba", "ab", "ba"] {
            let text: String =
                letters.chars().map(|letter| format!("Disallow: {begin}/{letter}\n")).collect();
            let text = format!("User-agent: *\n{text}Disallow: /0\n");
            let (robots, _) = parse(text.as_bytes());
            let selection = select::select(&robots, &["a"], StarGroups::Honoured);
            let policy = CompiledPolicy::new(&selection.rules(), Dialect::Google, &limits);
            let rule = |path: &str| policy.decide(format!("{begin}{path}").as_bytes()).rule();
            for (letter, expected) in letters.chars().zip(0..) {
                for path in [format!("/{letter}"), format!("/{letter}/x")] {
                    assert_eq!(rule(&path), Some(expected), "{path} of {letters}");
                }
            }
            for path in ["", "/", "/k", "0"] {
                assert_eq!(rule(path), Some(letters.len()), "{path} of {letters}");
            }
        }
    }

    /// The first path that meets a wildcard rule is compared without automata; a path that meets none compiles nothing.
    #[test]
    fn the_second_search_compiles_all_automata() {
        let rules: String =
            ('a'..'m').map(|letter| format!("Disallow: /{letter}*/{letter}page\n")).collect();
        let (robots, _) = parse(format!("User-agent: *\n{rules}").as_bytes());
        let selection = select::select(&robots, &["a"], StarGroups::Honoured);
        let policy = CompiledPolicy::new(&selection.rules(), Dialect::Google, &Limits::default());
        let size_after = |path: &[u8]| {
            policy.decide(path);
            policy.heap_bytes()
        };
        let before = policy.heap_bytes();
        assert_eq!([size_after(b"/x"), size_after(b"/y"), size_after(b"/a/b/c")], [before; 3]);
        let compiled = size_after(b"/b/c/d");
        assert!(compiled > before + 12 * 1024, "{compiled} after {before}");
        assert_eq!(size_after(b"/c/d/e"), compiled);
    }

    /// A judge forgets rules by this size.
    #[test]
    fn the_size_is_that_of_patterns_and_automata() {
        let size = |rules: usize| {
            let text: String = (0..rules)
                .map(|rule| format!("Disallow: /{rule:04}*abcdefgh{rule:04}ijkl\n"))
                .collect();
            let (robots, _) = parse(format!("User-agent: *\n{text}").as_bytes());
            let selection = select::select(&robots, &["a"], StarGroups::Honoured);
            let policy =
                CompiledPolicy::new(&selection.rules(), Dialect::Google, &Limits::default());
            let before = policy.heap_bytes();
            policy.compile();
            (before, policy.heap_bytes())
        };
        let ((few, few_compiled), (many, many_compiled)) = (size(20), size(200));
        assert!(many >= few + 180 * 24, "{few} {many}");
        assert!(few_compiled >= few + 20 * 100 && many_compiled > few_compiled, "{few_compiled}");
    }
}
