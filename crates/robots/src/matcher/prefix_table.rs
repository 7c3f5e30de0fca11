//! A sorted table of the literals at the start of patterns.
//!
//! One binary search finds the longest prefix of a path, and links lead from there to shorter ones.
//! The best rank of the plain prefixes on this chain is precomputed, so plain prefixes cost only
//! the search.

use std::ops::Range;

/// The index of a pattern in deciding order; the lowest one that matches decides.
pub(crate) type Rank = u32;

/// The rank of no pattern, worse than any other.
pub(crate) const NEVER: Rank = Rank::MAX;

const NONE: u32 = u32::MAX;

/// The bytes of a key.
const KEY_BYTES: usize = 16;

/// The bytes after those of the key that an entry holds itself. With them it fills one line of a processor's cache,
/// and most prefixes are no longer.
const OWN_BYTES: usize = 24;

/// After this many links to shorter prefixes, another search is cheaper. Real files need one or
/// two.
const STEPS_UP_MAX: u32 = 16;

/// One pattern of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternPrefix<'a> {
    /// The first bytes of the prefix as a number.
    key: u128,
    /// The literal at its start.
    pub(crate) prefix: &'a [u8],
    /// Its index in deciding order.
    pub(crate) rank: Rank,
    /// The rest of the pattern.
    pub(crate) rest: Continuation,
}

impl<'a> PatternPrefix<'a> {
    pub(crate) fn new(prefix: &'a [u8], rank: Rank, rest: Continuation) -> PatternPrefix<'a> {
        PatternPrefix { key: key(prefix), prefix, rank, rest }
    }
}

/// The part of a pattern after its prefix.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Continuation {
    /// Nothing: a plain prefix.
    Open,
    End,
    /// A wildcard and further text.
    Suffix,
}

/// All prefixes, sorted by their bytes.
#[derive(Debug)]
pub(crate) struct PrefixTable {
    /// The first bytes of each, so that most comparisons are integer comparisons.
    keys: Box<[u128]>,
    prefixes: Box<[PrefixEntry]>,
    /// The rest of those that are too long for their entries.
    bytes: Box<[u8]>,
}

/// One prefix and the patterns that begin with it.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct PrefixEntry {
    length: u32,
    /// The bytes after those of the key, unless there are more.
    own: [u8; OWN_BYTES],
    /// Where they begin in the bytes of the table, if there are more.
    start: u32,
    parent: u32,
    /// The best rank of a plain prefix, this one or a shorter one.
    open: Rank,
    /// The best rank of a pattern that is this prefix and the end of the path.
    exact: Rank,
    /// The suffixes after this prefix: a range of all suffixes in the order of the table.
    suffixes: (u32, u32),
    /// The nearest prefix with suffixes: this one or a shorter one.
    tailed: u32,
    /// The best rank of a suffix, here or at a shorter prefix.
    best_suffix: Rank,
    /// The number of suffixes here and at shorter prefixes.
    suffixes_count: u32,
}

impl PrefixTable {
    /// Sorts `entries` and builds the table. Suffixes are numbered in the new order.
    pub(crate) fn new(entries: &mut [PatternPrefix<'_>]) -> PrefixTable {
        sort(entries);
        let groups = || entries.chunk_by(|a, b| a.prefix == b.prefix);
        let count = groups().count();
        // All of it is kept.
        let mut prefixes: Vec<PrefixEntry> = Vec::with_capacity(count);
        let mut keys = Vec::with_capacity(count);
        let mut texts: Vec<&[u8]> = Vec::with_capacity(count);
        let mut bytes = Vec::new();
        let mut suffixes_start = 0;
        for group in groups() {
            let text = group[0].prefix;
            let parent = parent(&prefixes, &texts, text);
            let mut prefix = PrefixEntry::new(group, suffixes_start);
            prefix.inherit(parent, prefixes.get(parent as usize), to_u32(prefixes.len()));
            suffixes_start = prefix.suffixes.1;
            let rest = text.get(KEY_BYTES..).unwrap_or_default();
            match prefix.own.get_mut(..rest.len()) {
                Some(own) => own.copy_from_slice(rest),
                None => {
                    prefix.start = to_u32(bytes.len());
                    bytes.extend_from_slice(rest);
                }
            }
            keys.push(group[0].key);
            texts.push(text);
            prefixes.push(prefix);
        }
        PrefixTable { keys: keys.into(), prefixes: prefixes.into(), bytes: bytes.into() }
    }

    /// The longest prefix that `path` starts with.
    #[inline]
    pub(crate) fn longest(&self, path: &[u8]) -> Option<&PrefixEntry> {
        let (mut prefix, mut common) = self.last_up_to(path)?;
        let mut steps = 0;
        while prefix.length() > common {
            steps += 1;
            if steps == STEPS_UP_MAX {
                // The links are hundreds deep: search for the common part instead. Only once,
                // because the next prefix may differ from the path a byte earlier, and so on.
                (prefix, common) = self.last_up_to(&path[..common])?;
            } else {
                prefix = self.prefixes.get(prefix.parent as usize)?;
            }
        }
        Some(prefix)
    }

    /// The last prefix that sorts before `path` or equals it, and the length of their common beginning.
    #[inline]
    fn last_up_to(&self, path: &[u8]) -> Option<(&PrefixEntry, usize)> {
        let key = key(path);
        let mut after = self.keys.partition_point(|other| *other <= key);
        if self.keys[..after].last() == Some(&key) {
            let first = self.keys[..after].partition_point(|other| *other < key);
            let (ties, rest) = (&self.prefixes[first..after], path.get(KEY_BYTES..));
            after = first
                + ties.partition_point(|prefix| self.rest(prefix) <= rest.unwrap_or_default());
        }
        let at = after.checked_sub(1)?;
        let prefix = &self.prefixes[at];
        let common = (self.keys[at] ^ key).leading_zeros() as usize / 8;
        Some(match path.get(KEY_BYTES..) {
            Some(rest) if common == KEY_BYTES => {
                (prefix, prefix.length().min(KEY_BYTES) + common_bytes(self.rest(prefix), rest))
            }
            // Keys of short texts are filled up.
            _ => (prefix, common.min(prefix.length()).min(path.len())),
        })
    }

    /// The prefixes with suffixes, from `prefix` to shorter ones.
    #[inline]
    pub(crate) fn with_suffixes(&self, prefix: &PrefixEntry) -> impl Iterator<Item = &PrefixEntry> {
        let find = |index: u32| self.prefixes.get(index as usize);
        std::iter::successors(find(prefix.tailed), move |prefix| find(find(prefix.parent)?.tailed))
    }

    /// The bytes of a prefix after those of its key.
    #[inline]
    fn rest<'a>(&'a self, prefix: &'a PrefixEntry) -> &'a [u8] {
        let length = prefix.length().saturating_sub(KEY_BYTES);
        match prefix.own.get(..length) {
            Some(own) => own,
            None => &self.bytes[prefix.start as usize..][..length],
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.keys) + size_of_val(&*self.prefixes) + self.bytes.len()
    }
}

impl PrefixEntry {
    /// The entry of `group`, sorted by rank, without inherited values.
    fn new(group: &[PatternPrefix<'_>], suffixes_start: u32) -> PrefixEntry {
        let best = |rest: Continuation| {
            group.iter().find(|entry| entry.rest == rest).map_or(NEVER, |entry| entry.rank)
        };
        let suffixes_count =
            to_u32(group.iter().filter(|entry| entry.rest == Continuation::Suffix).count());
        PrefixEntry {
            length: to_u32(group[0].prefix.len()),
            own: [0; OWN_BYTES],
            start: 0,
            parent: NONE,
            open: best(Continuation::Open),
            exact: best(Continuation::End),
            suffixes: (suffixes_start, suffixes_start + suffixes_count),
            tailed: NONE,
            best_suffix: best(Continuation::Suffix),
            suffixes_count,
        }
    }

    fn inherit(&mut self, index: u32, parent: Option<&PrefixEntry>, own_index: u32) {
        if self.suffixes_count > 0 {
            self.tailed = own_index;
        }
        if let Some(parent) = parent {
            self.parent = index;
            self.open = self.open.min(parent.open);
            self.best_suffix = self.best_suffix.min(parent.best_suffix);
            if self.suffixes_count == 0 {
                self.tailed = parent.tailed;
            }
            self.suffixes_count += parent.suffixes_count;
        }
    }

    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.length as usize
    }

    /// The best rank of the patterns without wildcards that match `path`, for which this is the
    /// longest prefix.
    #[inline]
    pub(crate) fn literal_rank(&self, path: &[u8]) -> Rank {
        if path.len() == self.length() { self.open.min(self.exact) } else { self.open }
    }

    /// The best rank that any suffix here or at a shorter prefix can give.
    #[inline]
    pub(crate) fn best_suffix(&self) -> Rank {
        self.best_suffix
    }

    /// The number of suffixes here and at shorter prefixes.
    #[inline]
    pub(crate) fn suffixes_count(&self) -> u32 {
        self.suffixes_count
    }

    /// The suffixes of this prefix, in deciding order.
    #[inline]
    pub(crate) fn suffixes(&self) -> Range<usize> {
        self.suffixes.0 as usize..self.suffixes.1 as usize
    }
}

/// The last of `prefixes`, with these `texts`, that `text` starts with; `text` sorts after all of them.
fn parent(prefixes: &[PrefixEntry], texts: &[&[u8]], text: &[u8]) -> u32 {
    let mut at = to_u32(prefixes.len()).wrapping_sub(1);
    while let Some(prefix) = prefixes.get(at as usize) {
        if text.starts_with(texts[at as usize]) {
            return at;
        }
        at = prefix.parent;
    }
    NONE
}

/// Sorts entries by prefix, then by rank.
///
/// Numbers with twelve bytes of the prefix and the index of the entry are sorted first: comparing
/// and moving them takes a third of the time of entries.
fn sort(entries: &mut [PatternPrefix<'_>]) {
    const PLACE: u128 = u32::MAX as u128;
    let number = |(entry, at): (&PatternPrefix<'_>, u32)| entry.key & !PLACE | u128::from(at);
    let mut order: Vec<u128> = entries.iter().zip(0..).map(number).collect();
    order.sort_unstable();
    let sorted: Vec<PatternPrefix<'_>> =
        order.iter().map(|number| entries[(number & PLACE) as usize]).collect();
    entries.copy_from_slice(&sorted);
    for tied in entries.chunk_by_mut(|a, b| a.key | PLACE == b.key | PLACE) {
        if tied.len() > 1 {
            tied.sort_unstable_by(|a, b| (a.prefix, a.rank).cmp(&(b.prefix, b.rank)));
        }
    }
}

/// The first [`KEY_BYTES`] as a number with the same order, filled up with zeros.
#[inline]
pub(crate) fn key(text: &[u8]) -> u128 {
    match text.first_chunk() {
        Some(chunk) => u128::from_be_bytes(*chunk),
        None => {
            let mut chunk = [0; KEY_BYTES];
            chunk[..text.len()].copy_from_slice(text);
            u128::from_be_bytes(chunk)
        }
    }
}

/// The length of the common beginning of two texts.
#[inline]
fn common_bytes(a: &[u8], b: &[u8]) -> usize {
    let (a_chunks, _) = a.as_chunks::<8>();
    let (b_chunks, _) = b.as_chunks::<8>();
    let equal = a_chunks.iter().zip(b_chunks).take_while(|(a, b)| a == b).count() * 8;
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(a, b)| a == b).count()
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("a robots.txt of 500 KiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that share long beginnings, around the lengths of a key and of an entry.
    fn text(seed: &mut u64) -> Vec<u8> {
        let mut next = |below: u64| {
            // Numbers that look random: Knuth's MMIX.
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*seed >> 33) % below
        };
        let own = KEY_BYTES + OWN_BYTES;
        let around = [0, KEY_BYTES, KEY_BYTES, own, own][next(5) as usize];
        let length = (around + next(5) as usize).saturating_sub(2);
        let mut text = vec![b'a'; length];
        for _ in 0..next(3) {
            if let Some(byte) = text.len().checked_sub(1 + next(4) as usize) {
                text[byte] = b"\0ab\xff"[next(4) as usize];
            }
        }
        text
    }

    #[test]
    fn the_longest_prefix_is_what_a_look_at_all_gives() {
        let seed = &mut 1;
        for count in (1..40).chain([400]) {
            let texts: Vec<Vec<u8>> = (0..count).map(|_| text(seed)).collect();
            let mut entries: Vec<PatternPrefix<'_>> = (0..)
                .zip(&texts)
                .map(|(rank, text)| PatternPrefix::new(text, rank, Continuation::Open))
                .collect();
            let table = PrefixTable::new(&mut entries);
            for path in (0..300).map(|_| text(seed)).chain(texts.clone()) {
                let begin = |text: &&Vec<u8>| path.starts_with(text);
                let expected = texts.iter().filter(begin).map(Vec::len).max();
                let found = table.longest(&path).map(PrefixEntry::length);
                assert_eq!(found, expected, "{path:?} {texts:?}");
            }
        }
    }
}
