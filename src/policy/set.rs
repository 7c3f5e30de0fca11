//! A table of heads and the tails that hang on them: many patterns, one look.

use crate::policy::{
    bloom::Bloom,
    glob::{End, Shape, shape},
    heads::{Entry, Head, Heads, Rank, Rest},
    limits::Limits,
    ranked::{Outcome, Ranked},
    shelf::Shelf,
    tails::Tails,
    verdict::Decision,
};
use crate::url::dialect::Dialect;

use std::sync::Arc;

/// Tails that are searched for at once, without asking for byte pairs first:
/// finding those of a path takes 20 to 30 ns, as long as two searches.
const TAILS_WITHOUT_BLOOM_MAX: u32 = 2;

/// Patterns with their outcomes, arranged for one path at a time.
#[derive(Debug)]
pub struct PatternSet {
    heads: Heads,
    tails: Tails,
    /// By rank.
    outcomes: Box<[Outcome]>,
}

impl PatternSet {
    /// Arranges `ranked`.
    pub fn new(
        ranked: &[Ranked<'_>],
        dialect: Dialect,
        limits: &Limits,
        shelf: &Arc<Shelf>,
    ) -> PatternSet {
        let shapes: Vec<Shape<'_>> =
            ranked.iter().map(|ranked| shape(&ranked.pattern, dialect)).collect();
        let mut entries: Vec<Entry<'_>> = (0..).zip(&shapes).map(entry).collect();
        let heads = Heads::new(&mut entries);
        let with_tails = entries.iter().filter(|entry| entry.rest == Rest::Tail);
        let tails: Vec<(Shape<'_>, Rank)> =
            with_tails.map(|entry| (shapes[entry.rank as usize], entry.rank)).collect();
        let tails = Tails::new(&tails, limits, shelf);
        let outcomes = ranked.iter().map(|ranked| ranked.outcome).collect();
        PatternSet { heads, tails, outcomes }
    }

    /// Decides on a prepared path.
    #[inline]
    pub fn decide(&self, path: &[u8]) -> Decision {
        let Some(head) = self.heads.longest(path) else { return Decision::NO_RULE };
        let mut best = head.literal_rank(path);
        if head.best_tail() < best {
            best = self.best_of_tails(head, best, path);
        }
        self.outcomes.get(best as usize).map_or(Decision::NO_RULE, |outcome| outcome.decision())
    }

    fn best_of_tails(&self, longest: &Head, mut best: Rank, path: &[u8]) -> Rank {
        let bloom = (longest.tails_count() > TAILS_WITHOUT_BLOOM_MAX).then(|| Bloom::of(path));
        for head in self.heads.tailed(longest) {
            if head.best_tail() >= best {
                break;
            }
            let rest = &path[head.length()..];
            for tail in self.tails.get(head.tails()) {
                if tail.rank >= best {
                    break;
                }
                let may_match = bloom.as_ref().is_none_or(|bloom| tail.may_match(bloom));
                if may_match && self.tails.is_match(tail, rest) {
                    best = tail.rank;
                    break;
                }
            }
        }
        best
    }

    /// Compiles everything that would be compiled once it is hot.
    pub fn compile(&self) {
        self.tails.compile();
    }

    /// Bytes on the heap, as far as compiled by now.
    pub fn heap_bytes(&self) -> usize {
        self.heads.heap_bytes() + self.tails.heap_bytes() + size_of_val(&*self.outcomes)
    }
}

fn entry<'a>((rank, shape): (Rank, &Shape<'a>)) -> Entry<'a> {
    let rest = match (shape.tail.is_empty(), shape.end) {
        (true, End::Open) => Rest::Open,
        (true, End::Anchored) => Rest::End,
        (false, _) => Rest::Tail,
    };
    Entry::new(shape.head, rank, rest)
}
