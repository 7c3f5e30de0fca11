//! What follows the heads of wildcard patterns.
//!
//! A tail is asked only if its rank can still win and the path holds the byte
//! pairs of its literals.

use crate::policy::{
    automaton::{FIXED_BYTES, bytes_max},
    bloom::Bloom,
    glob::{End, Shape, Spelling},
    heads::Rank,
    limits::Limits,
    shelf::{Shelf, Slot},
};

use std::sync::Arc;

const NONE: u32 = u32::MAX;

/// All tails of a policy, in the order of the table of heads.
#[derive(Debug)]
pub struct Tails {
    tails: Box<[Tail]>,
    bytes: Box<[u8]>,
    slots: Box<[Slot]>,
    limits: Limits,
    shelf: Arc<Shelf>,
}

/// One tail, and what must hold before it is searched for.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    needed: Bloom,
    /// Its place in deciding order.
    pub rank: Rank,
    start: u32,
    end: u32,
    /// Where the literals end that an automaton looks for; after them stands
    /// the one that the path must end in, if any.
    searched_end: u32,
    slot: u32,
    is_anchored: End,
    spelling: Spelling,
}

impl Tails {
    /// Takes the tails of `shapes`, which stand in the order of the table, with their ranks.
    ///
    /// Those that fit into the budget get a slot for an automaton, the best ranks first.
    pub fn new(shapes: &[(Shape<'_>, Rank)], limits: &Limits, shelf: &Arc<Shelf>) -> Tails {
        let mut bytes = Vec::with_capacity(shapes.iter().map(|(shape, _)| shape.tail.len()).sum());
        let mut tails: Vec<Tail> =
            shapes.iter().map(|(shape, rank)| Tail::new(shape, *rank, &mut bytes)).collect();
        let mut by_rank: Vec<usize> =
            (0..tails.len()).filter(|index| tails[*index].is_worth_an_automaton(&bytes)).collect();
        by_rank.sort_unstable_by_key(|index| tails[*index].rank);
        let mut budget = limits.automata_bytes_max;
        let mut slots_count = 0;
        for index in by_rank {
            if budget < FIXED_BYTES {
                break;
            }
            let tail = &mut tails[index];
            let cost = bytes_max(tail.searched(&bytes));
            if cost <= limits.automaton_bytes_max.min(budget) {
                budget -= cost;
                tail.slot = slots_count;
                slots_count += 1;
            }
        }
        Tails {
            tails: tails.into(),
            bytes: bytes.into(),
            slots: (0..slots_count).map(|_| Slot::default()).collect(),
            limits: *limits,
            shelf: Arc::clone(shelf),
        }
    }

    /// Some of the tails.
    #[inline]
    pub fn get(&self, range: std::ops::Range<usize>) -> &[Tail] {
        &self.tails[range]
    }

    /// Whether `tail` matches `rest`, what follows the head in a path.
    #[inline]
    pub fn is_match(&self, tail: &Tail, rest: &[u8]) -> bool {
        let Some(slot) = self.slots.get(tail.slot as usize) else {
            return tail.shape(&self.bytes).is_tail_match(rest);
        };
        let last = &self.bytes[tail.searched_end as usize..tail.end as usize];
        let last = &last[memchr::memrchr(b'*', last).map_or(0, |star| star + 1)..];
        let Some(rest) = rest.strip_suffix(last) else { return false };
        slot.is_match(tail.searched(&self.bytes), rest, &self.limits, &self.shelf)
    }

    /// Compiles everything that would be compiled once it is hot.
    pub fn compile(&self) {
        for tail in &self.tails {
            if let Some(slot) = self.slots.get(tail.slot as usize) {
                slot.compile(tail.searched(&self.bytes), &self.limits, &self.shelf);
            }
        }
    }

    /// Bytes on the heap, as far as compiled by now; shared automata count.
    pub fn heap_bytes(&self) -> usize {
        let automata: usize = self.slots.iter().map(Slot::heap_bytes).sum();
        size_of_val(&*self.tails) + self.bytes.len() + size_of_val(&*self.slots) + automata
    }
}

impl Tail {
    fn new(shape: &Shape<'_>, rank: Rank, bytes: &mut Vec<u8>) -> Tail {
        let to_u32 = |length: usize| u32::try_from(length).expect("patterns of 500 KiB");
        let start = bytes.len();
        bytes.extend_from_slice(shape.tail);
        let last = match shape.end {
            End::Open => shape.tail.len(),
            End::Anchored => memchr::memrchr(b'*', shape.tail).unwrap_or(0),
        };
        let stars = shape.tail[..last].iter().rev().take_while(|byte| **byte == b'*').count();
        let needed = match shape.spelling {
            Spelling::Plain => Bloom::of_literals(shape.tail),
            Spelling::Encoded => Bloom::default(),
        };
        Tail {
            needed,
            rank,
            start: to_u32(start),
            end: to_u32(bytes.len()),
            searched_end: to_u32(start + last - stars),
            slot: NONE,
            is_anchored: shape.end,
            spelling: shape.spelling,
        }
    }

    /// One literal of one byte is found faster by itself, and none need not be searched for.
    fn is_worth_an_automaton(&self, bytes: &[u8]) -> bool {
        self.spelling == Spelling::Plain && self.searched(bytes).len() > 2
    }

    fn searched<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..self.searched_end as usize]
    }

    fn shape<'a>(&self, bytes: &'a [u8]) -> Shape<'a> {
        let tail = &bytes[self.start as usize..self.end as usize];
        Shape { head: b"", tail, end: self.is_anchored, spelling: self.spelling }
    }

    /// Whether a path with these byte pairs may match.
    #[inline]
    pub fn may_match(&self, path: &Bloom) -> bool {
        path.may_hold(&self.needed)
    }
}
