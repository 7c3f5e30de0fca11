//! Hashes of a content, by which it is recognised again: of the beginning of a log, and as a sketch.
//!
//! Names and inodes do not identify a log that rotates: `access.log` becomes `access.log.1` and
//! then `access.log.2.gz`. Its content stays. So a log is recognised by the hash of all lines read
//! so far, and by hashes of shorter beginnings, the [`Checkpoint::marks`], because other logs may
//! have the same beginning, or a part of it may be missing.
//!
//! By a sketch, a content and its copies are recognised where only sums of them are left, in tallies. Blocks at
//! growing distances are hashed, so that a sketch costs next to nothing and has under 100 hashes for any length. Two
//! contents with equal sketches are taken for equal, and one with the first hashes of a longer one for its beginning:
//! what is not known is at most a fifth of its end.

use memchr::memchr_iter;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

/// How far a log was read, in whole lines, and how it is known again.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Checkpoint {
    /// The bytes of the lines after decompression. Of a line over the limit, only the kept bytes
    /// count.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// The hash of all these bytes.
    pub hash: u128,
    /// Hashes of shorter beginnings.
    pub marks: Vec<u128>,
}

/// The lines of a log from its first, as they are read.
#[derive(Clone, Default)]
pub(crate) struct Prefix {
    hasher: Xxh3,
    bytes: u64,
    lines: u64,
    marks: Vec<u128>,
    next_mark: u64,
}

/// The line, from 1, of the next mark: there is one after each of the first eight lines, then one
/// after each further eighth of the lines. Ten million lines have 120.
fn next_mark_line(line: u64) -> u64 {
    line + 1.max(line / 8)
}

impl Prefix {
    /// An empty beginning.
    pub(crate) fn new() -> Prefix {
        Prefix { next_mark: 1, ..Prefix::default() }
    }

    /// Adds `bytes`, which may end within a line.
    pub(crate) fn absorb(&mut self, mut bytes: &[u8]) {
        loop {
            let wanted = usize::try_from(self.next_mark - self.lines).unwrap_or(usize::MAX);
            let Some(lf) = memchr_iter(b'\n', bytes).nth(wanted - 1) else { break };
            let (marked, rest) = bytes.split_at(lf + 1);
            self.hasher.update(marked);
            self.bytes += marked.len() as u64;
            self.lines = self.next_mark;
            self.marks.push(self.hasher.digest128());
            self.next_mark = next_mark_line(self.next_mark);
            bytes = rest;
        }
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whole lines so far.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// The hash of all bytes so far.
    pub(crate) fn hash(&self) -> u128 {
        self.hasher.digest128()
    }

    /// The marks that were passed.
    pub(crate) fn marks(&self) -> &[u128] {
        &self.marks
    }

    /// The position so far; valid after a whole line.
    pub(crate) fn reached(&self) -> Checkpoint {
        let marks = self.marks.clone();
        Checkpoint { bytes: self.bytes, lines: self.lines, hash: self.hash(), marks }
    }
}

/// The size of a block; a content with fewer bytes is short.
const BLOCK_BYTES: usize = 4 << 10;

/// The bits that are kept of the end of a short content.
const SHORT_END_MASK: u64 = 0xffff;

/// A sketch of a content.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ContentSketch {
    /// The length of the content.
    pub bytes: u64,
    /// The hash of each whole block and of those before it.
    pub marks: Vec<u64>,
    /// The hash of the last bytes, as many as a block has. Of a short content, which may be a single
    /// request, it has only some bits, so that nobody finds out an address by trying all of them.
    pub end: u64,
}

/// Makes a sketch while a content is read.
#[derive(Debug, Default)]
pub(crate) struct Sketcher {
    bytes: u64,
    marks: Vec<u64>,
    /// The bytes of the block that begins at `next`.
    block: Vec<u8>,
    next: u64,
    /// The last bytes so far.
    end: Vec<u8>,
}

impl ContentSketch {
    /// Whether the content is shorter than a block.
    pub(crate) fn is_short(&self) -> bool {
        self.marks.is_empty()
    }
}

impl Sketcher {
    /// Adds the next `bytes`.
    pub(crate) fn absorb(&mut self, bytes: &[u8]) {
        let start = self.bytes;
        self.bytes += bytes.len() as u64;
        self.keep_end(bytes);
        while self.next + (self.block.len() as u64) < self.bytes {
            let wanted = self.next + self.block.len() as u64;
            // It is among these bytes, because those before them were looked at.
            let from = usize::try_from(wanted.saturating_sub(start)).unwrap_or(usize::MAX);
            let part = &bytes[from.min(bytes.len())..];
            let part = &part[..part.len().min(BLOCK_BYTES - self.block.len())];
            self.block.extend_from_slice(part);
            if self.block.len() < BLOCK_BYTES {
                return;
            }
            self.marks.push(xxh3_64_with_seed(&self.block, self.last_mark()));
            self.block.clear();
            self.next += BLOCK_BYTES as u64 + self.next / 4;
        }
    }

    /// The sketch of all bytes so far; `None` of no byte.
    pub(crate) fn sketch(&self) -> Option<ContentSketch> {
        let kept = if self.marks.is_empty() { SHORT_END_MASK } else { u64::MAX };
        let end = xxh3_64_with_seed(&self.end, self.last_mark()) & kept;
        let sketch = ContentSketch { bytes: self.bytes, marks: self.marks.clone(), end };
        (self.bytes > 0).then_some(sketch)
    }

    fn last_mark(&self) -> u64 {
        self.marks.last().copied().unwrap_or_default()
    }

    fn keep_end(&mut self, bytes: &[u8]) {
        let new = &bytes[bytes.len().saturating_sub(BLOCK_BYTES)..];
        let old = self.end.len().min(BLOCK_BYTES - new.len());
        self.end.drain(..self.end.len() - old);
        self.end.extend_from_slice(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_bytes_are_cut_does_not_show() {
        let text: Vec<u8> =
            (0..3_000).flat_map(|n| format!("{}\n", "x".repeat(n % 97)).into_bytes()).collect();
        let whole = {
            let mut prefix = Prefix::new();
            prefix.absorb(&text);
            prefix.reached()
        };
        assert_eq!((whole.lines, whole.bytes), (3_000, text.len() as u64));
        for size in [1, 7, 1_000] {
            let mut prefix = Prefix::new();
            text.chunks(size).for_each(|part| prefix.absorb(part));
            assert_eq!(prefix.reached(), whole);
        }
    }

    fn mark_line(index: usize) -> u64 {
        (0..index).fold(1, |line, _| next_mark_line(line))
    }

    #[test]
    fn a_mark_is_the_hash_of_the_lines_before_it() {
        let lines: Vec<String> = (0..200).map(|n| format!("line {n}\n")).collect();
        let mut prefix = Prefix::new();
        prefix.absorb(lines.concat().as_bytes());
        let Checkpoint { marks, .. } = prefix.reached();
        for (index, mark) in marks.iter().enumerate() {
            let count = usize::try_from(mark_line(index)).unwrap();
            let mut shorter = Prefix::new();
            shorter.absorb(lines[..count].concat().as_bytes());
            assert_eq!(shorter.hash(), *mark, "{count} lines");
        }
        assert!(mark_line(marks.len()) > 200);
    }

    fn sketch(bytes: &[u8], step: usize) -> ContentSketch {
        let mut sketcher = Sketcher::default();
        bytes.chunks(step).for_each(|part| sketcher.absorb(part));
        sketcher.sketch().unwrap()
    }

    fn text(lines: usize) -> Vec<u8> {
        (0..lines).flat_map(|n| format!("line {n}\n").into_bytes()).collect()
    }

    #[test]
    fn where_bytes_are_cut_does_not_show_in_a_sketch() {
        for bytes in [text(1), text(1_000), text(40_000)] {
            let whole = sketch(&bytes, bytes.len());
            assert_eq!(whole.bytes, bytes.len() as u64);
            for step in [1, 7, 4095, 4096, 4097, 10_000] {
                assert_eq!(sketch(&bytes, step), whole, "{step}");
            }
        }
        assert_eq!(Sketcher::default().sketch(), None);
    }

    #[test]
    fn a_beginning_has_the_first_marks() {
        let bytes = text(40_000);
        let whole = sketch(&bytes, 1 << 16);
        assert!(whole.marks.len() > 12, "{}", whole.marks.len());
        for length in [1, 4095, 4096, 8191, 100_000, bytes.len() - 1] {
            let part = sketch(&bytes[..length], 1 << 16);
            assert!(whole.marks.starts_with(&part.marks), "{length}");
            assert_ne!(part.end, whole.end);
            assert_eq!(part.is_short(), length < 4096);
        }
    }

    #[test]
    fn a_difference_in_a_block_shows_in_all_later_marks() {
        let bytes = text(40_000);
        let whole = sketch(&bytes, 1 << 16);
        for at in [0, 4000, 4100, bytes.len() - 1] {
            let mut other = bytes.clone();
            other[at] ^= 1;
            let other = sketch(&other, 1 << 16);
            assert_ne!(other, whole, "{at}");
            let is_before_all = at < 4096;
            let is_equal = |(left, right): (&u64, &u64)| left == right;
            assert_eq!(whole.marks.iter().zip(&other.marks).any(is_equal), !is_before_all, "{at}");
        }
    }

    #[test]
    fn a_sketch_stays_small() {
        let (mut next, mut marks) = (0u64, 0);
        while next < 1 << 40 {
            next += BLOCK_BYTES as u64 + next / 4;
            marks += 1;
        }
        assert!(marks < 100, "{marks}");
    }
}
