//! Predicts the next key from the keys of previous lines.
//!
//! A program writes the same keys line after line. If the bytes before a value equal those at this
//! position in an earlier line, the key and its meaning are known without a search.

use crate::logs::json::key_tree::{Node, ValueSlot};

/// The most remembered keys. Loggers write 8 to 60. The limit protects against hostile logs.
const KEYS_MAX: usize = 96;

/// The longest remembered key, in bytes up to its value.
const KEY_BYTES_MAX: usize = 56;

/// How many of the next keys a line may lack, such as optional headers.
const GAP_MAX: usize = 4;

/// The expected keys of a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyPredictor {
    keys: Vec<Known>,
    /// The next expected key.
    next: usize,
}

/// The meaning of a key in an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Meaning {
    /// The destination of its value; `None` if it is not needed.
    pub value_slot: Option<ValueSlot>,
    /// The node for the content; `None` if nothing in it is needed.
    pub node: Option<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// The first bytes of `text` as a number, and a mask of the valid bits.
    head: u64,
    mask: u64,
    text: [u8; KEY_BYTES_MAX],
    length: u8,
    /// The object that contains it.
    object: Option<Node>,
    meaning: Meaning,
}

impl KeyPredictor {
    /// Starts a new line.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.next = 0;
    }

    /// The length and meaning of the key in `object` at the start of `bytes`, with all bytes up to
    /// its value except some white space; `None` if it was not expected.
    #[inline]
    pub(crate) fn find(&mut self, object: Option<Node>, bytes: &[u8]) -> Option<(usize, Meaning)> {
        let head = u64::from_le_bytes(*bytes.first_chunk()?);
        let expected = self.keys.get(self.next..)?;
        let (at, known) = expected.iter().take(GAP_MAX + 1).enumerate().find(|(_, known)| {
            head & known.mask == known.head && known.object == object && known.begins(bytes)
        })?;
        self.next += at + 1;
        Some((usize::from(known.length), known.meaning))
    }

    /// Remembers a key that was not expected.
    pub(crate) fn learn(&mut self, object: Option<Node>, text: &[u8], meaning: Meaning) {
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
