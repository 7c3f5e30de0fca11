//! Ordered globs: each pattern tried in deciding order.
//!
//! The plainest way that is not slow, and the cheapest to build. It decides
//! for small sets, and it is what everything else is measured against.

use crate::policy::{
    glob::{End, Shape, Spelling, shape},
    heads::key,
    ranked::{Outcome, Ranked},
    verdict::Decision,
};
use crate::url::dialect::Dialect;

/// Patterns in deciding order, in one block of memory.
#[derive(Debug)]
pub struct OrderedGlobs {
    bytes: Box<[u8]>,
    globs: Box<[Glob]>,
}

#[derive(Debug)]
struct Glob {
    /// The first bytes of the head, and which bits of a path's they take: most
    /// paths are told apart by them.
    key: u64,
    key_mask: u64,
    head_start: u32,
    tail_start: u32,
    tail_end: u32,
    end: End,
    spelling: Spelling,
    outcome: Outcome,
}

impl OrderedGlobs {
    /// Takes `ranked` as it stands.
    pub fn new(ranked: &[Ranked<'_>], dialect: Dialect) -> OrderedGlobs {
        let mut bytes = Vec::with_capacity(ranked.iter().map(|ranked| ranked.pattern.len()).sum());
        let mut push = |text: &[u8]| {
            bytes.extend_from_slice(text);
            u32::try_from(bytes.len()).expect("patterns of 500 KiB")
        };
        let mut head_start = 0;
        let glob = |ranked: &Ranked<'_>| {
            let Shape { head, tail, end, spelling } = shape(&ranked.pattern, dialect);
            let tail_start = push(head);
            let tail_end = push(tail);
            let outcome = ranked.outcome;
            let key_bits = 8 * head.len().min(8) as u32;
            let key_mask = !u64::MAX.checked_shr(key_bits).unwrap_or(0);
            let key = key(head);
            let glob =
                Glob { key, key_mask, head_start, tail_start, tail_end, end, spelling, outcome };
            head_start = tail_end;
            glob
        };
        let globs = ranked.iter().map(glob).collect();
        OrderedGlobs { bytes: bytes.into(), globs }
    }

    /// Decides on a prepared path.
    pub fn decide(&self, path: &[u8]) -> Decision {
        let key = key(path);
        for glob in &self.globs {
            if key & glob.key_mask == glob.key && glob.shape(&self.bytes).is_match(path) {
                return glob.outcome.decision();
            }
        }
        Decision::NO_RULE
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.bytes.len() + std::mem::size_of_val(&*self.globs)
    }
}

impl Glob {
    #[inline]
    fn shape<'a>(&self, bytes: &'a [u8]) -> Shape<'a> {
        let slice = |start: u32, end: u32| &bytes[start as usize..end as usize];
        Shape {
            head: slice(self.head_start, self.tail_start),
            tail: slice(self.tail_start, self.tail_end),
            end: self.end,
            spelling: self.spelling,
        }
    }
}
