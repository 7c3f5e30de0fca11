//! Tries all patterns in deciding order.
//!
//! This is the simplest reasonably fast way, and the cheapest to build. It is used for small sets,
//! and as the baseline for measurements.

use crate::url::path::Dialect;

use super::glob::{Shape, WildcardSpelling, shape};
use super::{
    decision::IndexedDecision, pattern::End, precedence::RankedPattern, prefix_table::key,
};

/// Patterns in deciding order, in one block of memory.
#[derive(Debug)]
pub struct LinearGlobs {
    bytes: Box<[u8]>,
    globs: Box<[Glob]>,
}

#[derive(Debug)]
struct Glob {
    /// The first bytes of the prefix, and the mask of the compared bits of a path: most paths
    /// differ there.
    key: u128,
    key_mask: u128,
    prefix_start: u32,
    suffix_start: u32,
    suffix_end: u32,
    end: End,
    spelling: WildcardSpelling,
    decision: IndexedDecision,
}

impl LinearGlobs {
    pub fn new(ranked: &[RankedPattern<'_>], dialect: Dialect) -> LinearGlobs {
        let mut bytes = Vec::with_capacity(ranked.iter().map(|ranked| ranked.pattern.len()).sum());
        let mut push = |text: &[u8]| {
            bytes.extend_from_slice(text);
            u32::try_from(bytes.len()).expect("patterns of 500 KiB")
        };
        let mut prefix_start = 0;
        let glob = |ranked: &RankedPattern<'_>| {
            let Shape { prefix, suffix, end, spelling } = shape(&ranked.pattern, dialect);
            let suffix_start = push(prefix);
            let suffix_end = push(suffix);
            let decision = ranked.decision;
            let key_bits = 8 * prefix.len().min(16) as u32;
            let key_mask = !u128::MAX.checked_shr(key_bits).unwrap_or(0);
            let key = key(prefix);
            let glob = Glob {
                key,
                key_mask,
                prefix_start,
                suffix_start,
                suffix_end,
                end,
                spelling,
                decision,
            };
            prefix_start = suffix_end;
            glob
        };
        let globs = ranked.iter().map(glob).collect();
        LinearGlobs { bytes: bytes.into(), globs }
    }

    pub fn decide(&self, path: &[u8]) -> IndexedDecision {
        let key = key(path);
        for glob in &self.globs {
            if key & glob.key_mask == glob.key && glob.shape(&self.bytes).is_match(path) {
                return glob.decision;
            }
        }
        IndexedDecision::NO_RULE
    }

    pub fn heap_bytes(&self) -> usize {
        self.bytes.len() + std::mem::size_of_val(&*self.globs)
    }
}

impl Glob {
    #[inline]
    fn shape<'a>(&self, bytes: &'a [u8]) -> Shape<'a> {
        let slice = |start: u32, end: u32| &bytes[start as usize..end as usize];
        Shape {
            prefix: slice(self.prefix_start, self.suffix_start),
            suffix: slice(self.suffix_start, self.suffix_end),
            end: self.end,
            spelling: self.spelling,
        }
    }
}
