//! The keys of the lines before, in the order in which they came.
//!
//! A program writes the same keys line after line. Where the bytes before a value are those that
//! stood there in a line before, neither the end of the key nor its meaning has to be looked for.

use crate::logs::json::key_tree::{Node, ValueSlot};

/// Keys that are remembered. Loggers write 8 to 60; a flood of others must not grow it.
const KEYS_MAX: usize = 96;

/// Longer keys, in bytes with all up to the value, are not remembered.
const KEY_BYTES_MAX: usize = 56;

/// How many of the next keys a line may lack, as those of optional headers.
const GAP_MAX: usize = 4;

/// The keys that are expected in a line.
#[derive(Clone, Debug, Default)]
pub struct KeyPredictor {
    keys: Vec<Known>,
    /// The one that is expected next.
    next: usize,
}

/// What a key means that stands in an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Meaning {
    /// Where its value goes; `None` where nobody wants it.
    pub value_slot: Option<ValueSlot>,
    /// Where what is inside is looked up; `None` where nobody wants that.
    pub node: Option<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// The first bytes of `text` as a number, and which of its bits say anything.
    head: u64,
    mask: u64,
    text: [u8; KEY_BYTES_MAX],
    length: u8,
    /// The object in which it stands.
    object: Option<Node>,
    meaning: Meaning,
}

impl KeyPredictor {
    /// Goes to the start of a line.
    #[inline]
    pub fn begin(&mut self) {
        self.next = 0;
    }

    /// The length and meaning of the key in `object` at the start of `bytes`, with all up to its
    /// value but for some white space; `None` where it was not expected.
    #[inline]
    pub fn find(&mut self, object: Option<Node>, bytes: &[u8]) -> Option<(usize, Meaning)> {
        let head = u64::from_le_bytes(*bytes.first_chunk()?);
        let expected = self.keys.get(self.next..)?;
        let (at, known) = expected.iter().take(GAP_MAX + 1).enumerate().find(|(_, known)| {
            head & known.mask == known.head && known.object == object && known.begins(bytes)
        })?;
        self.next += at + 1;
        Some((usize::from(known.length), known.meaning))
    }

    /// Remembers what was found to stand where no other key was expected.
    pub fn learn(&mut self, object: Option<Node>, text: &[u8], meaning: Meaning) {
        if self.keys.len() == KEYS_MAX || text.len() > KEY_BYTES_MAX {
            return;
        }
        let mut known =
            Known { head: 0, mask: 0, text: [0; KEY_BYTES_MAX], length: 0, object, meaning };
        known.text[..text.len()].copy_from_slice(text);
        known.length = text.len() as u8;
        let (mut head, mut mask) = ([0; 8], [0; 8]);
        for ((head, mask), byte) in head.iter_mut().zip(&mut mask).zip(text) {
            (*head, *mask) = (*byte, 0xff);
        }
        (known.head, known.mask) = (u64::from_le_bytes(head), u64::from_le_bytes(mask));
        self.keys.insert(self.next, known);
        self.next += 1;
    }
}

impl Known {
    #[inline]
    fn begins(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&self.text[..usize::from(self.length)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODYS: Meaning = Meaning { value_slot: None, node: None };

    fn value_slot(slot: u8) -> Meaning {
        Meaning { value_slot: Some(ValueSlot { slot, rank: 0 }), node: None }
    }

    #[test]
    fn keys_are_known_where_they_stood() {
        let mut predictor = KeyPredictor::default();
        predictor.begin();
        for (slot, text) in [(0, "\"a\":"), (1, "\"long name\": "), (2, "\"c\":")] {
            predictor.learn(None, text.as_bytes(), value_slot(slot));
        }
        predictor.begin();
        assert_eq!(predictor.find(None, b"\"a\":1,\"long"), Some((4, value_slot(0))));
        assert_eq!(predictor.find(None, b"\"long nose\": 1"), None);
        assert_eq!(predictor.find(Some(Node::ROOT), b"\"c\":12345"), None);
        assert_eq!(
            predictor.find(None, b"\"c\":12345"),
            Some((4, value_slot(2))),
            "one is missing"
        );
        assert_eq!(predictor.find(None, b"\"a\":12345"), None, "it was passed");
    }

    #[test]
    fn a_flood_of_keys_is_not_remembered() {
        let mut predictor = KeyPredictor::default();
        for number in 0..1000 {
            predictor.learn(None, format!("\"{number}\":").as_bytes(), NOBODYS);
        }
        predictor.learn(None, &[b'x'; KEY_BYTES_MAX + 1], NOBODYS);
        assert_eq!(predictor.keys.len(), KEYS_MAX);
    }
}
