//! Lines with the places of their quotes, found for many lines at once.
//!
//! One pass over 64 KiB finds each quote, backslash and LF, 64 bytes at a time, by the widest vectors
//! of the processor; that costs less than a search for each field of each line. A line is usual if it
//! has six quotes, and no backslash before the last of them. Of all others only the end is known, and
//! they are searched as before.

use fearless_simd::{Level, dispatch, prelude::*, u8x64};
use memchr::{memchr, memrchr};

use super::lines::lines;

/// A text, where a line starts in it, and where the quotes of the line are in it: those of request, referer
/// and user agent in the common formats.
pub(crate) type SixQuotes<'a> = (&'a [u8], usize, [u32; 6]);

/// The text that is searched at once. Its marks stay in the processor's first cache.
const PART_BYTES: usize = 64 << 10;

/// The bytes whose marks are found together: as many as a word has bits.
const BLOCK_BYTES: usize = 64;

/// The places of a block that are written in any case. Few blocks have more marks, so that a processor
/// foresees where the loop over them ends.
const PLACES_AT_ONCE: usize = 4;

/// Memory for marks, which is used again.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Only the first `count` are of the text that was searched last.
    places: Vec<u32>,
    count: usize,
    /// One for each byte of the text that was searched last.
    bits: Vec<u64>,
}

/// Which marks of lines are searched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MarkKind {
    /// None but the ends of lines.
    None,
    /// The places of quotes, backslashes and LF.
    Places,
    /// A bit for each byte: set for quotes, backslashes and LF, and for no others.
    Bits,
}

/// The lines of a chunk, as [`lines`] gives them, and the quotes of those that are usual.
pub(crate) struct MarkedLines<'a, 'm> {
    all: &'a [u8],
    /// The text after the part.
    rest: &'a [u8],
    /// Whole lines.
    part: &'a [u8],
    /// Where the next line starts in the part.
    start: usize,
    /// The marks of the part.
    marks: &'m mut Marks,
    /// The first mark of the next line.
    next: usize,
    kind: MarkKind,
}

impl<'a, 'm> MarkedLines<'a, 'm> {
    /// The lines of `bytes`; `marks` is memory that is used again. Without places, no line has quotes.
    pub(crate) fn new(
        bytes: &'a [u8],
        marks: &'m mut Marks,
        kind: MarkKind,
    ) -> MarkedLines<'a, 'm> {
        MarkedLines { all: bytes, rest: bytes, part: &[], start: 0, marks, next: 0, kind }
    }

    /// Goes on with the next whole lines; `None` at the end.
    fn take_part(&mut self) -> Option<()> {
        if self.rest.is_empty() {
            return None;
        }
        let near = &self.rest[..self.rest.len().min(PART_BYTES)];
        let end = if near.len() == self.rest.len() {
            near.len()
        } else if let Some(lf) = memrchr(b'\n', near) {
            lf + 1
        } else {
            memchr(b'\n', self.rest).map_or(self.rest.len(), |lf| lf + 1)
        };
        (self.part, self.rest) = self.rest.split_at(end);
        (self.start, self.next) = (0, 0);
        if self.kind == MarkKind::Bits {
            // A single long line has none.
            self.marks.find_bits(if end > PART_BYTES { &[] } else { self.part });
            return Some(());
        }
        match self.part {
            // A single line, which needs no memory for its marks.
            [.., b'\n'] if end > PART_BYTES => self.marks.set(&[end as u32 - 1]),
            _ if end > PART_BYTES => self.marks.set(&[]),
            part => self.marks.find(part),
        }
        Some(())
    }

    /// Takes the next line if it is usual.
    #[inline(always)]
    fn usual(&mut self) -> Option<(&'a [u8], SixQuotes<'a>)> {
        let (&places, after) = self.marks.get()[self.next..].split_first_chunk::<6>()?;
        let (text, start) = (self.part, self.start);
        let [a, b, c, d, e, f] = places;
        let is_quote = |at: u32| text[at as usize] == b'"';
        // One after the other: to compute all answers, and then all of them together, takes longer.
        if !is_quote(a)
            || !is_quote(b)
            || !is_quote(c)
            || !is_quote(d)
            || !is_quote(e)
            || !is_quote(f)
        {
            return None;
        }
        // Nearly always the first of them.
        let lf = match after {
            [first, ..] if text[*first as usize] == b'\n' => 0,
            _ => after.iter().position(|at| text[*at as usize] == b'\n')?,
        };
        let end = after[lf] as usize;
        self.start = end + 1;
        self.next += places.len() + lf + 1;
        Some((&text[start..end], (text, start, places)))
    }

    /// The next line, and whether `find` has found its end. It gets the text of some lines, where the next one
    /// starts in it, and the bits of its marks, and gives the place of the LF.
    #[inline(always)]
    pub(crate) fn next_by(
        &mut self,
        find: impl FnOnce((&'a [u8], usize, &[u64])) -> Option<usize>,
    ) -> Option<(&'a [u8], bool)> {
        if self.kind == MarkKind::None {
            return Some((self.next()?.0, false));
        }
        if self.start == self.part.len() {
            self.take_part()?;
        }
        let Some(end) = find((self.part, self.start, &self.marks.bits)) else {
            return Some((lines(self.any()).next()?, false));
        };
        let line = &self.part[self.start..end];
        self.start = end + 1;
        Some((line.strip_suffix(b"\r").unwrap_or(line), true))
    }

    /// The next line, with the places of its quotes if it is usual and has them.
    pub(crate) fn next_of_any_kind(&mut self) -> Option<(&'a [u8], Option<SixQuotes<'a>>)> {
        match self.kind {
            MarkKind::Bits => self.next_by(|_| None).map(|(line, _)| (line, None)),
            MarkKind::Places | MarkKind::None => self.next(),
        }
    }

    /// The text of the last line and of some others.
    #[inline(always)]
    pub(crate) fn text(&self) -> &'a [u8] {
        self.part
    }

    /// Searches no further marks.
    pub(crate) fn unmark(&mut self) {
        let read = self.all.len() - self.rest.len() - (self.part.len() - self.start);
        self.rest = &self.all[read..];
        self.kind = MarkKind::None;
    }

    /// Takes the next line, whatever it has.
    #[inline(never)]
    fn any(&mut self) -> &'a [u8] {
        if self.kind == MarkKind::Bits {
            let rest = &self.part[self.start..];
            let line = &rest[..memchr(b'\n', rest).map_or(rest.len(), |lf| lf + 1)];
            self.start += line.len();
            return line;
        }
        let marks = &self.marks.get()[self.next..];
        let lf = marks.iter().position(|at| self.part[*at as usize] == b'\n');
        let end = lf.map_or(self.part.len(), |lf| marks[lf] as usize + 1);
        self.next += lf.map_or(marks.len(), |lf| lf + 1);
        let line = &self.part[self.start..end];
        self.start = end;
        line
    }
}

impl<'a> Iterator for MarkedLines<'a, '_> {
    type Item = (&'a [u8], Option<SixQuotes<'a>>);

    #[inline(always)]
    fn next(&mut self) -> Option<(&'a [u8], Option<SixQuotes<'a>>)> {
        if self.kind != MarkKind::Places {
            let mut reader = lines(self.rest);
            let line = reader.next()?;
            self.rest = reader.rest();
            return Some((line, None));
        }
        if self.start == self.part.len() {
            self.take_part()?;
        }
        match self.usual() {
            // It is not too long.
            Some((line, quotes)) => Some((line.strip_suffix(b"\r").unwrap_or(line), Some(quotes))),
            None => lines(self.any()).next().map(|line| (line, None)),
        }
    }
}

impl Marks {
    #[inline(always)]
    fn get(&self) -> &[u32] {
        &self.places[..self.count]
    }

    fn set(&mut self, places: &[u32]) {
        self.reserve(places.len());
        self.places[..places.len()].copy_from_slice(places);
        self.count = places.len();
    }

    fn reserve(&mut self, places: usize) {
        if self.places.len() < places {
            self.places = vec![0; places];
        }
    }

    /// Finds the places of all quotes, backslashes and LF of `text`.
    fn find(&mut self, text: &[u8]) {
        // A block writes into room for all of its places. Of memory that is not used, no page is taken.
        self.reserve(text.len().next_multiple_of(BLOCK_BYTES) + BLOCK_BYTES);
        let places = &mut self.places;
        self.count = dispatch!(Level::new(), simd => find_places(simd, text, places));
    }

    /// Finds the bits of all quotes, backslashes and LF of `text`.
    fn find_bits(&mut self, text: &[u8]) {
        self.bits.resize(text.len() / BLOCK_BYTES + 1, 0);
        let bits = &mut self.bits;
        dispatch!(Level::new(), simd => find_bits(simd, text, bits));
    }
}

/// Writes the places of the marks of `text`, and gives how many there are.
#[inline(always)]
fn find_places<S: Simd>(simd: S, text: &[u8], places: &mut [u32]) -> usize {
    let (blocks, rest) = text.as_chunks();
    let mut count = 0;
    for (number, block) in blocks.iter().enumerate() {
        count +=
            put_places((number * BLOCK_BYTES) as u32, marks(simd, block), &mut places[count..]);
    }
    let start = (text.len() - rest.len()) as u32;
    count + put_places(start, marks(simd, &padded(rest)), &mut places[count..])
}

/// Writes the places of a block that starts there, and gives how many there are.
#[inline(always)]
fn put_places(start: u32, mut marks: u64, places: &mut [u32]) -> usize {
    let places: &mut [u32; BLOCK_BYTES] =
        places.first_chunk_mut().expect("a block has room for all of its places");
    let count = marks.count_ones() as usize;
    for place in &mut places[..PLACES_AT_ONCE] {
        *place = start + marks.trailing_zeros();
        marks &= marks.wrapping_sub(1);
    }
    if count > PLACES_AT_ONCE {
        for place in &mut places[PLACES_AT_ONCE..count] {
            *place = start + marks.trailing_zeros();
            marks &= marks.wrapping_sub(1);
        }
    }
    count
}

/// Writes the bits of the marks of `text`.
#[inline(always)]
fn find_bits<S: Simd>(simd: S, text: &[u8], bits: &mut [u64]) {
    let (blocks, rest) = text.as_chunks();
    for (bits, block) in bits.iter_mut().zip(blocks) {
        *bits = marks(simd, block);
    }
    bits[blocks.len()] = marks(simd, &padded(rest));
}

/// The bits of the bytes of `block` that are marks.
#[inline(always)]
fn marks<S: Simd>(simd: S, block: &[u8; BLOCK_BYTES]) -> u64 {
    let block = u8x64::from_slice(simd, block);
    // A closure for `array::map` would be compiled without the processor's vectors.
    let quote = block.simd_eq(u8x64::splat(simd, b'"'));
    let lf = block.simd_eq(u8x64::splat(simd, b'\n'));
    let backslash = block.simd_eq(u8x64::splat(simd, b'\\'));
    (quote | lf | backslash).to_bitmask()
}

/// Less than a block, with zeros after it.
#[inline(always)]
fn padded(rest: &[u8]) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    block[..rest.len()].copy_from_slice(rest);
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The lines and quotes by definition.
    fn slowly(bytes: &[u8]) -> Vec<(&[u8], Option<[u32; 6]>)> {
        let quotes = |line: &[u8]| {
            let marks = (0..line.len()).filter(|at| matches!(line[*at], b'"' | b'\\'));
            let first: Vec<u32> = marks.take(6).map(|at| at as u32).collect();
            let quotes = <[u32; 6]>::try_from(first).ok()?;
            quotes.iter().all(|at| line[*at as usize] == b'"').then_some(quotes)
        };
        lines(bytes).map(|line| (line, quotes(line))).collect()
    }

    /// The lines are the same if the ends of some are found by their marks, and if the search for marks ends.
    fn check_bits(bytes: &[u8], marks: &mut Marks, expected: &[(&[u8], Option<[u32; 6]>)]) {
        let mut random = Random::new();
        let unmarked_from = random.below(2 * expected.len() + 2);
        let mut reader = MarkedLines::new(bytes, marks, MarkKind::Bits);
        for (number, (line, _)) in expected.iter().enumerate() {
            if number == unmarked_from {
                reader.unmark();
            }
            let is_to_find = random.below(2) == 0;
            let find = |(text, start, bits): (&[u8], usize, &[u64])| {
                let end = text[start..].iter().position(|byte| *byte == b'\n')? + start;
                let is_set =
                    |at: &usize| bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
                let is_mark = |at: &usize| matches!(text[*at], b'"' | b'\\' | b'\n');
                // A very long line has no marks.
                let is_marked = text.len() <= PART_BYTES;
                assert!((start..=end).all(|at| is_set(&at) == (is_marked && is_mark(&at))));
                Some(end).filter(|_| is_to_find && is_marked)
            };
            let (found, is_found) = reader.next_by(find).unwrap();
            assert_eq!(found, *line);
            assert!(!is_found || is_to_find && number < unmarked_from);
        }
        assert!(reader.next_by(|_| None).is_none());
    }

    #[track_caller]
    fn check(bytes: &[u8]) {
        let mut marks = Marks::default();
        let expected = slowly(bytes);
        let in_line = |(_, start, places): SixQuotes<'_>| places.map(|at| at - start as u32);
        let found = MarkedLines::new(bytes, &mut marks, MarkKind::Places);
        let found: Vec<_> = found.map(|(line, quotes)| (line, quotes.map(in_line))).collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.0, expected.0);
            // A line that is very long or lacks its LF counts as unusual.
            if found.1.is_some() || expected.0.len() < PART_BYTES && bytes.ends_with(b"\n") {
                assert_eq!(found.1, expected.1, "{}", expected.0.escape_ascii());
            }
        }
        check_bits(bytes, &mut marks, &expected);
        let unmarked = MarkedLines::new(bytes, &mut marks, MarkKind::None);
        assert!(unmarked.eq(expected.iter().map(|(line, _)| (*line, None))));
        assert!(marks.places.capacity() <= 2 * PART_BYTES, "{}", marks.places.capacity());
    }

    #[test]
    fn lines_of_any_bytes_are_those_of_the_slow_way() {
        let pieces = [
            "\"",
            "\"",
            "\"",
            "\"\"\"",
            "\\",
            "\n",
            "\n",
            "\r\n",
            "*",
            "\u{2}",
            "bcd efg hijklmno",
            "",
        ];
        let mut random = Random::new();
        for _ in 0..3000 {
            let count = random.below(60);
            let text: String = (0..count).map(|_| pieces[random.below(pieces.len())]).collect();
            check(text.as_bytes());
            check(format!("{text}\n").as_bytes());
        }
        let text: String = (0..60_000).map(|_| pieces[random.below(pieces.len())]).collect();
        assert!(text.len() > 2 * PART_BYTES);
        check(text.as_bytes());
    }

    #[test]
    fn a_line_may_be_longer_than_what_is_searched_at_once() {
        let usual = "a \"b\" c \"d\" \"e\" f\n";
        for length in [PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES, (1 << 20) + 5] {
            for byte in ["x", "\"", "\\"] {
                let long = byte.repeat(length);
                check(format!("{usual}{long}\n{usual}").as_bytes());
                check(format!("{long}\n{usual}{long}").as_bytes());
            }
        }
    }

    /// The processor decides which instructions are used. All that it has give the same marks.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_marks_are_the_same_by_all_instructions() {
        let (level, mut random) = (Level::new(), Random::new());
        for _ in 0..3000 {
            let block = std::array::from_fn(|_| match random.below(4) {
                0 => b"\"\\\n"[random.below(3)],
                _ => random.below(256) as u8,
            });
            let is_mark = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\n');
            let bits = block.iter().enumerate().map(|(at, byte)| u64::from(is_mark(byte)) << at);
            let expected = bits.fold(0, |bits, bit| bits | bit);
            let by_level = [
                level.as_sse2().map(|simd| marks(simd, &block)),
                level.as_sse4_2().map(|simd| marks(simd, &block)),
                level.as_avx2().map(|simd| marks(simd, &block)),
                level.as_avx512().map(|simd| marks(simd, &block)),
            ];
            assert!(by_level[0].is_some());
            assert!(by_level.into_iter().flatten().all(|found| found == expected), "{block:?}");
        }
    }
}
