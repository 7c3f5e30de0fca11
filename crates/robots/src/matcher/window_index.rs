//! An index of many suffixes by one window of bytes each.
//!
//! A path that matches a suffix contains all of its literals, and so every window of each literal.
//! Each suffix is listed under the window that fewest suffixes have. One look at each window of a
//! path then marks the few suffixes that are worth a search, instead of testing thousands one by
//! one.

/// The widths of windows in bytes. Wide ones tell words of few letters apart.
const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];

/// The most windows of each width that are counted for one suffix.
const WINDOWS_MAX: usize = 128;

/// The most suffixes of an index; a body of 500 KiB has fewer.
const SUFFIXES_MAX: usize = 1 << 16;

/// Odd numbers with bits that look random, from the digits of pi.
const MULTIPLIERS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345];

/// Suffixes by window.
#[derive(Debug)]
pub(crate) struct WindowIndex {
    /// Whether any suffix is listed under a window of this width.
    has_width: [bool; WIDTHS.len()],
    /// Selects the list of a hash.
    shift: u32,
    /// Where the list of each hash begins in `listed`, and the end of the last one.
    starts: Box<[u32]>,
    listed: Box<[u32]>,
    /// The suffixes without a window, which any path may match.
    unlisted: Box<[u32]>,
}

/// Suffixes that are worth a search, as bits.
#[derive(Debug)]
pub(crate) struct Marks([u64; SUFFIXES_MAX / 64]);

impl WindowIndex {
    /// The index of suffixes with these literals; `None` for more suffixes than a file can have.
    /// A suffix without literals is always marked.
    pub(crate) fn new<'a, L>(
        suffixes: impl ExactSizeIterator<Item = L> + Clone,
    ) -> Option<WindowIndex>
    where
        L: Iterator<Item = &'a [u8]> + Clone,
    {
        let suffixes_count = suffixes.len();
        if suffixes_count > SUFFIXES_MAX {
            return None;
        }
        // A few slots for each suffix keep windows of different suffixes apart.
        let shift = 64 - (suffixes_count * 4).next_power_of_two().trailing_zeros().max(1);
        let mut counts = vec![0_u16; 1 << (64 - shift)];
        for literals in suffixes.clone() {
            each_window(literals, |_, hash| {
                let count = &mut counts[(hash >> shift) as usize];
                *count = count.saturating_add(1);
            });
        }
        let mut has_width = [false; WIDTHS.len()];
        let (mut pairs, mut unlisted) = (Vec::with_capacity(suffixes_count), Vec::new());
        for (index, literals) in (0_u32..).zip(suffixes) {
            let mut rarest = None;
            each_window(literals, |width, hash| {
                let slot = hash >> shift;
                let found = (counts[slot as usize], width, slot);
                // Of equally rare windows, the narrowest one: fewer widths are looked up.
                rarest = Some(rarest.map_or(found, |other| found.min(other)));
            });
            match rarest {
                Some((_, width, slot)) => {
                    has_width[width] = true;
                    pairs.push((slot, index));
                }
                None => unlisted.push(index),
            }
        }
        pairs.sort_unstable();
        let starts = (0..=1_u64 << (64 - shift))
            .scan(0, |at, slot| {
                *at += pairs[*at..].iter().take_while(|(other, _)| *other < slot).count();
                u32::try_from(*at).ok()
            })
            .collect();
        let listed = pairs.into_iter().map(|(_, index)| index).collect();
        Some(WindowIndex { has_width, shift, starts, listed, unlisted: unlisted.into() })
    }

    /// The suffixes that `path` may match.
    pub(crate) fn marks(&self, path: &[u8]) -> Marks {
        let mut marks = Marks([0; SUFFIXES_MAX / 64]);
        self.unlisted.iter().for_each(|index| marks.insert(*index));
        for (width, _) in self.has_width.iter().enumerate().filter(|(_, has_width)| **has_width) {
            each_hash(width, path, usize::MAX, |hash| {
                let slot = (hash >> self.shift) as usize;
                let list = self.starts[slot] as usize..self.starts[slot + 1] as usize;
                match &self.listed[list] {
                    // A list is marked as a whole, so a repeated window costs one test.
                    [first, ..] if marks.has(*first) => {}
                    list => list.iter().for_each(|index| marks.insert(*index)),
                }
            });
        }
        marks
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.listed) + size_of_val(&*self.unlisted)
    }
}

impl Marks {
    fn insert(&mut self, index: u32) {
        self.0[index as usize / 64] |= 1 << (index % 64);
    }

    fn has(&self, index: u32) -> bool {
        self.0[index as usize / 64] >> (index % 64) & 1 == 1
    }

    /// The marked indexes of `range`, in order.
    pub(crate) fn within(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = usize> {
        let words = range.start / 64..range.end.div_ceil(64);
        let bits = words.flat_map(|word| {
            let next = |bits: &u64| Some(bits & bits.wrapping_sub(1)).filter(|bits| *bits != 0);
            let first = Some(self.0[word]).filter(|bits| *bits != 0);
            std::iter::successors(first, next)
                .map(move |bits| word * 64 + bits.trailing_zeros() as usize)
        });
        bits.skip_while(move |index| *index < range.start)
            .take_while(move |index| *index < range.end)
    }
}

/// Calls `use_it` with the index of each width and the hash of each window of each literal.
fn each_window<'a>(
    literals: impl Iterator<Item = &'a [u8]> + Clone,
    mut use_it: impl FnMut(usize, u64),
) {
    for width in 0..WIDTHS.len() {
        let mut left = WINDOWS_MAX;
        for literal in literals.clone() {
            left -= each_hash(width, literal, left, |hash| use_it(width, hash));
        }
    }
}

/// Calls `use_it` with the hashes of the first `windows_max` windows of `text`, and returns how
/// many there were.
#[inline]
fn each_hash(width: usize, text: &[u8], windows_max: usize, use_it: impl FnMut(u64)) -> usize {
    fn each<const BYTES: usize>(
        text: &[u8],
        windows_max: usize,
        mut use_it: impl FnMut(u64),
    ) -> usize {
        let windows = text.windows(BYTES).take(windows_max);
        let hashed = windows.len();
        windows.for_each(|window| use_it(hash::<BYTES>(window)));
        hashed
    }
    match WIDTHS[width] {
        1 => each::<1>(text, windows_max, use_it),
        2 => each::<2>(text, windows_max, use_it),
        4 => each::<4>(text, windows_max, use_it),
        8 => each::<8>(text, windows_max, use_it),
        _ => each::<16>(text, windows_max, use_it),
    }
}

/// A hash of a window, of which the upper bits are used.
#[inline]
fn hash<const BYTES: usize>(window: &[u8]) -> u64 {
    let mut bytes = [0; 16];
    bytes[..BYTES].copy_from_slice(&window[..BYTES]);
    let number = u128::from_le_bytes(bytes);
    let (low, high) = (number as u64 ^ BYTES as u64, (number >> 64) as u64);
    let mixed =
        low.wrapping_mul(MULTIPLIERS[0]) ^ high.wrapping_mul(MULTIPLIERS[1]).rotate_left(29);
    (mixed ^ mixed >> 32).wrapping_mul(MULTIPLIERS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(suffixes: &[&[u8]], path: &[u8]) -> Vec<usize> {
        let literals = suffixes.iter().map(|suffix| suffix.split(|byte| *byte == b'*'));
        let index = WindowIndex::new(literals).unwrap();
        index.marks(path).within(0..suffixes.len()).collect()
    }

    #[test]
    fn marks_what_may_match() {
        let suffixes: Vec<String> =
            (0..200).map(|number| format!("*word-{number:03}-*x")).collect();
        let mut suffixes: Vec<&[u8]> = suffixes.iter().map(String::as_bytes).collect();
        suffixes.extend([&b"*"[..], b"*a", b"*word-1*y"]);
        let found = marked(&suffixes, b"/a/word-117-and/word-119-/x");
        for index in [117, 119, 200, 201] {
            assert!(found.contains(&index), "{index}: {found:?}");
        }
        assert!(found.len() < 20, "{found:?}");
        assert_eq!(marked(&suffixes, b""), [200]);
        assert!(WindowIndex::new((0..65_537).map(|_| std::iter::empty())).is_none());
    }

    /// A judge forgets rules by this size.
    #[test]
    fn each_suffix_has_a_size() {
        let size = |count: usize| {
            let words: Vec<String> = (0..count).map(|number| format!("word-{number:04}")).collect();
            let literals = words.iter().map(|word| std::iter::once(word.as_bytes()));
            WindowIndex::new(literals).unwrap().heap_bytes()
        };
        let (few, many) = (size(1000), size(2000));
        assert!(many >= few + 1000 * size_of::<u32>(), "{few} {many}");
    }

    #[test]
    fn never_marks_too_few() {
        let suffixes: Vec<Vec<u8>> = (0..4_u32.pow(6))
            .map(|number| (0..6).map(move |place| b"ab*\xff"[(number >> (2 * place) & 3) as usize]))
            .map(Iterator::collect)
            .collect();
        let suffixes: Vec<&[u8]> = suffixes.iter().map(Vec::as_slice).collect();
        let literals = suffixes.iter().map(|suffix| suffix.split(|byte| *byte == b'*'));
        let index = WindowIndex::new(literals).unwrap();
        for path in [&b"/aab\xffba\xffabba"[..], b"a", b"\xff\xff\xffab", b"bbbbbbbbbbbbbbbbbb"] {
            let marks = index.marks(path);
            for (at, suffix) in suffixes.iter().enumerate() {
                let mut literals = suffix.split(|byte| *byte == b'*');
                let is_in = |literal: &[u8]| {
                    literal.is_empty() || path.windows(literal.len()).any(|part| part == literal)
                };
                let is_marked = marks.within(at..at + 1).next() == Some(at);
                assert!(is_marked || !literals.all(is_in), "{suffix:?} {path:?}");
            }
            let all: Vec<usize> = marks.within(0..4096).collect();
            // Also ranges that end at a mark.
            let ends = all.iter().filter(|index| *index % 64 != 0).take(9);
            let ranges = [0..64, 10..70, 63..65, 100..4096];
            for range in ranges.into_iter().chain(ends.map(|end| 0..*end)) {
                let expected: Vec<usize> =
                    all.iter().copied().filter(|index| range.contains(index)).collect();
                assert_eq!(marks.within(range).collect::<Vec<_>>(), expected);
            }
        }
    }
}
