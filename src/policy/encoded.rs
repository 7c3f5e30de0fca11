//! Tails in which `%2A` and `%24` also stand for a character, against long paths.
//!
//! Shift-And (Baeza-Yates and Gonnet, 1992): one bit for each byte of a literal
//! says whether the path, as far as it was read, ends in the literal up to
//! there. An encoded character takes three bytes of the path, or one and skips
//! three bits. So the cost is a 64th of path times literal, where trying each
//! place in turn costs all of it on texts like `aaaa`.

use crate::policy::glob::End;
use crate::policy::pattern::encoded_special;
use crate::url::dialect::Dialect;

/// Whether `tail`, without `*` at its end, matches `path`. Takes memory for as
/// long as it runs: at most as many bits for each byte of a literal as the
/// literal has different bytes.
pub fn is_match(tail: &[u8], end: End, path: &[u8]) -> bool {
    let mut rest = path;
    let mut start = Start::Here;
    let mut literals = tail.split(|byte| *byte == b'*').peekable();
    while let Some(literal) = literals.next() {
        let end = if literals.peek().is_none() { end } else { End::Open };
        // What ends first leaves the most room for what follows.
        let Some(after) = Literal::new(literal).find(rest, start, end) else { return false };
        rest = &rest[after..];
        start = Start::Anywhere;
    }
    true
}

/// Where a literal may stand.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Start {
    /// At the start of the path.
    Here,
    /// Behind a wildcard.
    Anywhere,
}

/// Bit sets over the bytes of a literal, one in [`Literal::words`] numbers each.
struct Literal {
    length: usize,
    words: usize,
    /// What a place where the literal stands can start with.
    first: [u8; 2],
    /// By byte, which of `rows` tells where the byte stands; row 0 is empty.
    row_of: [u8; 256],
    rows: Vec<u64>,
    /// Where an encoded `*` and an encoded `$` start.
    stars: Vec<u64>,
    dollars: Vec<u64>,
}

impl Literal {
    fn new(literal: &[u8]) -> Literal {
        let words = literal.len() / 64 + 1;
        let (mut row_of, mut rows) = ([0; 256], vec![0; words]);
        let (mut stars, mut dollars) = (vec![0; words], vec![0; words]);
        for (at, byte) in literal.iter().enumerate() {
            let row = &mut row_of[usize::from(*byte)];
            if *row == 0 {
                *row = u8::try_from(rows.len() / words).expect("no literal holds a *");
                rows.resize(rows.len() + words, 0);
            }
            let (word, bit) = (at / 64, 1 << (at % 64));
            rows[usize::from(*row) * words + word] |= bit;
            match encoded_special(&literal[at..], Dialect::Rfc9309) {
                Some((_, b'*')) => stars[word] |= bit,
                Some(_) => dollars[word] |= bit,
                None => {}
            }
        }
        let first = literal.first().copied().unwrap_or_default();
        let plain = encoded_special(literal, Dialect::Rfc9309).map_or(first, |(_, plain)| plain);
        let first = [first, plain];
        Literal { length: literal.len(), words, first, row_of, rows, stars, dollars }
    }

    /// The end of the literal in `path`: the first, or, anchored, that of the path.
    fn find(&self, path: &[u8], start: Start, end: End) -> Option<usize> {
        let mut reached = vec![0; self.words];
        reached[0] = 1;
        let mut is_at_start = true;
        let mut at = 0;
        while at < path.len() && !(end == End::Open && self.is_found(&reached)) {
            if is_at_start && start == Start::Anywhere && self.length > 0 {
                at += memchr::memchr2(self.first[0], self.first[1], &path[at..])?;
            }
            is_at_start = self.read(path[at], &mut reached) == 0;
            match start {
                Start::Anywhere => reached[0] |= 1,
                Start::Here if is_at_start => return None,
                Start::Here => {}
            }
            at += 1;
        }
        self.is_found(&reached).then_some(at)
    }

    fn is_found(&self, reached: &[u64]) -> bool {
        reached[self.length / 64] >> (self.length % 64) & 1 == 1
    }

    /// From the bits before `byte` was read to those after it; 0 if none is left.
    fn read(&self, byte: u8, reached: &mut [u64]) -> u64 {
        let row = usize::from(self.row_of[usize::from(byte)]) * self.words;
        let row = &self.rows[row..row + self.words];
        match byte {
            b'*' => shift(reached, row, &self.stars),
            b'$' => shift(reached, row, &self.dollars),
            _ => shift(reached, row, &self.rows[..self.words]),
        }
    }
}

/// Moves those bits of `reached` that are in `ones` by one and those in `threes`
/// by three, drops the others, and gives the union of its numbers.
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
    use crate::policy::reference;

    /// Every pattern of a few parts against every path of a few parts, behind
    /// as many letters as move the bits from one number to the next.
    #[test]
    fn finds_what_the_reference_finds() {
        let parts = ["%2A", "%24", "*", "a", "$", "%", "2A"];
        let text = |number: usize| -> String {
            (0..3).map(|place| parts[number / 7_usize.pow(place) % 7]).collect()
        };
        for number in 0..7_usize.pow(3) {
            for letters in [0, 61, 64, 130] {
                let tail = "a".repeat(letters) + &text(number);
                let tail = tail.trim_end_matches('*');
                for end in [End::Open, End::Anchored] {
                    let anchor = if end == End::Anchored { "$" } else { "" };
                    // A `$` that ends the pattern would be read as its anchor.
                    let pattern = match (tail.strip_suffix('$'), end) {
                        (Some(_), End::Open) => continue,
                        _ => tail.to_owned() + anchor,
                    };
                    for path in (0..7_usize.pow(3)).step_by(5) {
                        let path = "a".repeat(letters) + &text(path);
                        let expected = reference::is_match(
                            pattern.as_bytes(),
                            Dialect::Rfc9309,
                            path.as_bytes(),
                        );
                        let found = is_match(tail.as_bytes(), end, path.as_bytes());
                        assert_eq!(found, expected, "{pattern} {path}");
                    }
                }
            }
        }
    }
}
