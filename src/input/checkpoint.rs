//! Hashes of the beginning of a log, to recognise it again.
//!
//! Names and inodes do not identify a log that rotates: `access.log` becomes `access.log.1` and
//! then `access.log.2.gz`. Its content stays. So a log is recognised by the hash of all lines read
//! so far, and by hashes of shorter beginnings, the [`Checkpoint::marks`], because other logs may
//! have the same beginning, or a part of it may be missing.

use memchr::memchr_iter;
use xxhash_rust::xxh3::Xxh3;

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
        self.lines += bytecount::count(bytes, b'\n') as u64;
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
}
