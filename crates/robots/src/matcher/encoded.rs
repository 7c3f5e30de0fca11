//! Matches suffixes in which `%2A` and `%24` also stand for a character, for long paths.
//!
//! Shift-And (Baeza-Yates and Gonnet, 1992): one bit for each byte of a literal says whether the
//! path read so far ends in the literal up to that byte. An encoded character takes three bytes of
//! the path, or one and skips three bits. So the cost is a 64th of path length times literal
//! length, whereas trying each position in turn costs the whole product on texts like `aaaa`.

use crate::url::path::Dialect;

use super::pattern::{End, encoded_special};

/// Numbers on the stack, enough for a literal of about 300 bytes of ASCII. Only longer ones, which
/// no real file has, allocate memory for the search: at most as many bits per byte as they have
/// different bytes.
const STACK_WORDS: usize = 512;

/// Whether `suffix`, without `*` at its end, matches `path`.
pub fn is_match(suffix: &[u8], end: End, path: &[u8]) -> bool {
    let (mut on_stack, mut on_heap) = ([0; STACK_WORDS], Vec::new());
    let mut rest = path;
    let mut start = Start::Here;
    let mut literals = suffix.split(|byte| *byte == b'*').peekable();
    while let Some(literal) = literals.next() {
        let end = if literals.peek().is_none() { end } else { End::Open };
        let byte_rows = ByteRows::of(literal);
        let buffer = match on_stack.get_mut(..byte_rows.buffer_words(literal)) {
            Some(buffer) => buffer,
            None => {
                on_heap.resize(on_heap.len().max(byte_rows.buffer_words(literal)), 0);
                &mut on_heap[..byte_rows.buffer_words(literal)]
            }
        };
        buffer.fill(0);
        let (reached, buffer) = buffer.split_at_mut(words(literal));
        // The earliest end leaves the most text for the following literals.
        let Some(after) = Literal::new(literal, &byte_rows, buffer).find(rest, start, end, reached)
        else {
            return false;
        };
        rest = &rest[after..];
        start = Start::Anywhere;
    }
    true
}

/// The allowed positions of a literal.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Start {
    /// At the start of the path.
    Here,
    /// After a wildcard.
    Anywhere,
}

/// The distinct bytes of a literal.
struct ByteRows {
    /// For each byte, the number of its row of positions; row 0 is empty.
    row_of: [u8; 256],
    rows: usize,
}

impl ByteRows {
    fn of(literal: &[u8]) -> ByteRows {
        let (mut row_of, mut rows) = ([0; 256], 1);
        for byte in literal {
            let row = &mut row_of[usize::from(*byte)];
            if *row == 0 {
                *row = u8::try_from(rows).expect("no literal holds a *");
                rows += 1;
            }
        }
        ByteRows { row_of, rows }
    }

    /// The numbers for all bit sets: a row for each byte, the reached positions, and two for
    /// encoded characters.
    fn buffer_words(&self, literal: &[u8]) -> usize {
        (self.rows + 3) * words(literal)
    }
}

/// The numbers for one bit per byte of `literal`, and one more.
fn words(literal: &[u8]) -> usize {
    literal.len() / 64 + 1
}

/// Bit sets over the bytes of a literal, each in `words` numbers.
struct Literal<'r> {
    length: usize,
    words: usize,
    /// The bytes that a match can begin with.
    first: [u8; 2],
    row_of: &'r [u8; 256],
    rows: &'r [u64],
    /// The positions of encoded `*`, and of encoded `$`.
    stars: &'r [u64],
    dollars: &'r [u64],
}

impl<'r> Literal<'r> {
    /// Writes the bit sets into `buffer`, which must be zero.
    fn new(literal: &[u8], byte_rows: &'r ByteRows, buffer: &'r mut [u64]) -> Literal<'r> {
        let words = words(literal);
        let (stars, buffer) = buffer.split_at_mut(words);
        let (dollars, rows) = buffer.split_at_mut(words);
        for (at, byte) in literal.iter().enumerate() {
            let row = usize::from(byte_rows.row_of[usize::from(*byte)]);
            let (word, bit) = (at / 64, 1 << (at % 64));
            rows[row * words + word] |= bit;
            match encoded_special(&literal[at..], Dialect::Rfc9309) {
                Some((_, b'*')) => stars[word] |= bit,
                Some(_) => dollars[word] |= bit,
                None => {}
            }
        }
        let first = literal.first().copied().unwrap_or_default();
        let plain = encoded_special(literal, Dialect::Rfc9309).map_or(first, |(_, plain)| plain);
        let first = [first, plain];
        Literal {
            length: literal.len(),
            words,
            first,
            row_of: &byte_rows.row_of,
            rows,
            stars,
            dollars,
        }
    }

    /// The end of the literal in `path`: the first one, or, if anchored, that of the path.
    /// `reached` must be zero, and is undefined afterwards.
    fn find(&self, path: &[u8], start: Start, end: End, reached: &mut [u64]) -> Option<usize> {
        reached[0] = 1;
        let mut is_at_start = true;
        let mut at = 0;
        while at < path.len() && !(end == End::Open && self.is_found(reached)) {
            if is_at_start && start == Start::Anywhere && self.length > 0 {
                at += memchr::memchr2(self.first[0], self.first[1], &path[at..])?;
            }
            is_at_start = self.read(path[at], reached) == 0;
            match start {
                Start::Anywhere => reached[0] |= 1,
                Start::Here if is_at_start => return None,
                Start::Here => {}
            }
            at += 1;
        }
        self.is_found(reached).then_some(at)
    }

    fn is_found(&self, reached: &[u64]) -> bool {
        reached[self.length / 64] >> (self.length % 64) & 1 == 1
    }

    /// Updates the bits for `byte`; returns 0 if none is left.
    fn read(&self, byte: u8, reached: &mut [u64]) -> u64 {
        let row = usize::from(self.row_of[usize::from(byte)]) * self.words;
        let row = &self.rows[row..row + self.words];
        match byte {
            b'*' => shift(reached, row, self.stars),
            b'$' => shift(reached, row, self.dollars),
            _ => shift(reached, row, &self.rows[..self.words]),
        }
    }
}

/// Moves the bits of `reached` that are in `ones` by one and those in `threes` by three, drops the
/// others, and returns the union of its numbers.
fn shift(reached: &mut [u64], ones: &[u64], threes: &[u64]) -> u64 {
    let (mut one_before, mut three_before, mut all) = (0, 0, 0);
    for ((bits, ones), threes) in reached.iter_mut().zip(ones).zip(threes) {
        let (one, three) = (*bits & ones, *bits & threes);
        *bits = one << 1 | one_before >> 63 | three << 3 | three_before >> 61;
        (one_before, three_before, all) = (one, three, all | *bits);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::reference;

    const PARTS: [&str; 7] = ["%2A", "%24", "*", "a", "$", "%", "2A"];

    fn text(number: usize) -> String {
        (0..3).map(|digit| PARTS[number / 7_usize.pow(digit) % 7]).collect()
    }

    /// Tests suffixes of up to `parts` parts after `letters` letters, with paths of parts after the
    /// same letters.
    fn check(letters: usize, parts: usize, end: End, paths: impl Iterator<Item = usize>) {
        let suffix = "a".repeat(letters) + &text(parts);
        let suffix = suffix.trim_end_matches('*');
        let pattern = match (suffix.strip_suffix('$'), end) {
            // A `$` at the end of the pattern would be its anchor.
            (Some(_), End::Open) => return,
            (_, End::Open) => suffix.to_owned(),
            (_, End::Anchored) => suffix.to_owned() + "$",
        };
        for path in paths {
            let path = "a".repeat(letters) + &text(path);
            let expected =
                reference::is_match(pattern.as_bytes(), Dialect::Rfc9309, path.as_bytes());
            let found = is_match(suffix.as_bytes(), end, path.as_bytes());
            assert_eq!(found, expected, "{pattern} {path}");
        }
    }

    /// As many letters as are needed to move the bits to the next number.
    #[test]
    fn finds_what_the_reference_finds() {
        for parts in 0..7_usize.pow(3) {
            for letters in [0, 61, 130] {
                for end in [End::Open, End::Anchored] {
                    check(letters, parts, end, (0..7_usize.pow(3)).step_by(11));
                }
            }
        }
    }

    #[test]
    fn literals_that_do_not_fit_on_the_stack() {
        let letters = 64 * STACK_WORDS / 4;
        for parts in (0..7_usize.pow(3)).step_by(19) {
            check(letters, parts, End::Open, [parts, parts + 1].into_iter());
        }
    }
}
