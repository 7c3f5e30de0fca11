//! Finds many short texts in a user agent.
//!
//! A text is filed by the hash of three of its bytes, and a search asks for each three bytes of the user agent
//! whether a text is filed there. Most have none.

/// What user agents of browsers consist of, in lower case. Texts are not filed under such parts if they have
/// others, because most user agents are those of browsers.
const BROWSER_PARTS: &[u8] = include_bytes!("browsers.txt");

/// The shortest text, in bytes.
pub(super) const NEEDLE_BYTES_MIN: usize = 3;

/// The hashes of three bytes: far more than texts. So many that the bytes before the last three do not matter
/// in [`rolled`].
const HASHES: usize = 1 << 15;

/// Texts to be found.
#[derive(Debug)]
pub(super) struct Needles {
    /// By hash: one more than the index of the first text in `filed`.
    first: Box<[u32; HASHES]>,
    filed: Vec<Filed>,
    /// Whether the user agents of browsers have this hash.
    in_browsers: Vec<bool>,
}

#[derive(Debug)]
struct Filed {
    /// What the caller calls the text.
    name: u32,
    /// Where the three bytes stand in it.
    part_at: u32,
    /// The next text with that hash, as in [`Needles::first`].
    next: u32,
}

impl Needles {
    /// No texts yet.
    pub(super) fn new() -> Needles {
        let first = vec![0; HASHES].into_boxed_slice().try_into();
        let first = first.expect("the length is that of the array");
        let mut in_browsers = vec![false; HASHES];
        let parts = BROWSER_PARTS.windows(NEEDLE_BYTES_MIN);
        parts.for_each(|part| in_browsers[hash(part)] = true);
        Needles { first, filed: Vec::new(), in_browsers }
    }

    /// Files `needle`, of at least [`NEEDLE_BYTES_MIN`] bytes, under three of them that no other one has and
    /// browsers do not send, if there are any.
    pub(super) fn add(&mut self, needle: &[u8], name: u32) {
        let parts = needle.windows(NEEDLE_BYTES_MIN).map(hash).zip(0_u32..);
        let cost = |(part, _): &(usize, u32)| (self.in_browsers[*part], self.first[*part] != 0);
        let best = parts.clone().find(|part| cost(part) == (false, false));
        let Some((part, part_at)) = best.or_else(|| parts.min_by_key(cost)) else { return };
        self.filed.push(Filed { name, part_at, next: self.first[part] });
        self.first[part] = u32::try_from(self.filed.len()).expect("a list is below 16 MiB");
    }

    /// Gives each text that may stand in `text`, and the rest of `text` from where it would begin, to `found`.
    #[inline]
    pub(super) fn find<'t>(&self, text: &'t [u8], mut found: impl FnMut(u32, &'t [u8])) {
        let (start, rest) = text.split_at(text.len().min(NEEDLE_BYTES_MIN - 1));
        let mut search = Search { last: hash(start), rest: rest.iter() };
        while let Some(mut next) = search.next(&self.first) {
            let at = text.len() - search.rest.len() - NEEDLE_BYTES_MIN;
            while next != 0 {
                let Filed { name, part_at, next: after } = &self.filed[next as usize - 1];
                next = *after;
                if let Some(begin) = at.checked_sub(*part_at as usize) {
                    found(*name, &text[begin..]);
                }
            }
        }
    }
}

/// A search that goes on after each find.
struct Search<'t> {
    /// The hash of the bytes before `rest`.
    last: usize,
    rest: std::slice::Iter<'t, u8>,
}

impl Search<'_> {
    /// What is filed under the next three bytes under which there is something. In a function of its own, the loop
    /// takes half of the instructions.
    #[inline(never)]
    fn next(&mut self, first: &[u32; HASHES]) -> Option<u32> {
        let (mut last, mut rest) = (self.last, self.rest.clone());
        let mut found = None;
        for &byte in rest.by_ref() {
            last = rolled(last, byte);
            if first[last] != 0 {
                found = Some(first[last]);
                break;
            }
        }
        (self.last, self.rest) = (last, rest);
        found
    }
}

/// The hash of all bytes; of three, an index of [`Needles::first`].
fn hash(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |hash, byte| rolled(hash, *byte))
}

/// The hash of the last three bytes, after that of the three before `byte`.
#[inline]
fn rolled(hash: usize, byte: u8) -> usize {
    (hash << 5 ^ usize::from(byte)) % HASHES
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::Random;

    /// As a search for one text after the other does, in texts of few letters.
    #[test]
    fn all_texts_are_found_wherever_they_stand() {
        let mut random = Random::new();
        let text = |random: &mut Random, length: usize| -> Vec<u8> {
            (0..length).map(|_| b"ab-z"[random.below(4)]).collect()
        };
        let mut needles = Needles::new();
        let mut all = Vec::new();
        for name in 0..60 {
            let length = NEEDLE_BYTES_MIN + random.below(5);
            let needle = text(&mut random, length);
            needles.add(&needle, name);
            all.push(needle);
        }
        for length in (0..2_000).map(|at| at % 40) {
            let text = text(&mut random, length);
            let mut found = BTreeSet::new();
            needles.find(&text, |name, rest| {
                if rest.starts_with(&all[name as usize]) {
                    found.insert((name, text.len() - rest.len()));
                }
            });
            let stands = |needle: &[u8], at: usize| text[at..].starts_with(needle);
            let expected: BTreeSet<(u32, usize)> = (0..60)
                .flat_map(|name| (0..text.len()).map(move |at| (name, at)))
                .filter(|&(name, at)| stands(&all[name as usize], at))
                .collect();
            assert_eq!(found, expected, "{}", text.escape_ascii());
        }
    }
}
