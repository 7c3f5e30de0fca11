//! Finds the needed keys: in a tree, in which one probe of a hash table finds each, and before that by prediction.
//!
//! A program writes the same keys line after line. If the bytes before a value equal those at this
//! position in an earlier line, the key and its meaning are known without a search.

use std::ops::Index;

/// A needed value of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ValueSlot {
    /// The index of the caller's slot.
    pub slot: u8,
    /// If several values have the same slot, the lowest rank wins.
    pub rank: u8,
}

/// An object in the tree of needed keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Node(u16);

impl Node {
    /// The top-level object.
    pub(crate) const ROOT: Node = Node(0);
}

/// A key on the path to a needed value.
#[derive(Clone, Debug)]
pub(crate) struct TreeKey {
    parent: Node,
    name: Box<[u8]>,
    /// `None` if only values inside it are needed.
    pub value_slot: Option<ValueSlot>,
    /// `None` if no value inside it is needed.
    pub node: Option<Node>,
}

/// The tree of needed keys. It is built once and read for every line.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyTree {
    keys: Vec<TreeKey>,
    /// Indexes in `keys` plus one; 0 is free. The length is a power of two, and at most a quarter
    /// of the cells is used, so that an unneeded key mostly finds a free cell at once.
    cells: Vec<u16>,
    /// Whether arrays of named objects are read: see [`KeyTree::pair`].
    has_pairs: bool,
}

/// The mark before the name of an object in an array.
const PAIR_MARK: u8 = b'*';

/// The longest such name, with its mark.
const PAIR_BYTES_MAX: usize = 80;

impl KeyTree {
    /// Each path is a list of keys with dots in between. Keys may contain dots themselves, as in
    /// the Elastic Common Schema, so the whole path is also looked up as one key.
    pub(crate) fn new<'p>(paths: impl IntoIterator<Item = (&'p str, ValueSlot)>) -> KeyTree {
        let mut wanted = KeyTree::default();
        for (path, value_slot) in paths {
            wanted.has_pairs |= path.contains(".*");
            wanted.add(path.split('.'), value_slot);
            if path.contains('.') {
                wanted.add([path], value_slot);
            }
        }
        wanted.cells = vec![0; (wanted.keys.len() * 4).next_power_of_two()];
        for at in 0..wanted.keys.len() {
            let mut cell = wanted.cell(wanted.keys[at].parent, &wanted.keys[at].name);
            while wanted.cells[cell] != 0 {
                cell = (cell + 1) & (wanted.cells.len() - 1);
            }
            wanted.cells[cell] = at as u16 + 1;
        }
        wanted
    }

    /// Earlier paths have precedence.
    fn add<'p>(&mut self, names: impl IntoIterator<Item = &'p str>, value_slot: ValueSlot) {
        let mut parent = Node::ROOT;
        let mut names = names.into_iter().peekable();
        while let Some(name) = names.next() {
            let known = self
                .keys
                .iter()
                .position(|key| key.parent == parent && *key.name == *name.as_bytes());
            let at = known.unwrap_or_else(|| {
                let name = name.as_bytes().into();
                self.keys.push(TreeKey { parent, name, value_slot: None, node: None });
                self.keys.len() - 1
            });
            let key = &mut self.keys[at];
            if names.peek().is_none() {
                key.value_slot.get_or_insert(value_slot);
            } else {
                parent = *key.node.get_or_insert(Node(at as u16 + 1));
            }
        }
    }

    /// The key `name` in the object at `parent`.
    #[inline]
    pub(crate) fn find(&self, parent: Node, name: &[u8]) -> Option<&TreeKey> {
        if name.is_empty() || self.cells.is_empty() {
            return None;
        }
        let mut cell = self.cell(parent, name);
        loop {
            let key = self.keys.index((*self.cells.get(cell)?).checked_sub(1)? as usize);
            if key.parent == parent && *key.name == *name {
                return Some(key);
            }
            cell = (cell + 1) & (self.cells.len() - 1);
        }
    }

    /// Whether arrays of named objects are read.
    #[inline]
    pub(crate) fn has_pairs(&self) -> bool {
        self.has_pairs
    }

    /// The slot of the object called `name`, in any case, in the array at `parent`.
    pub(crate) fn pair(&self, parent: Node, name: &[u8]) -> Option<ValueSlot> {
        let mut key = [PAIR_MARK; PAIR_BYTES_MAX];
        let key = key.get_mut(..=name.len())?;
        key[1..].copy_from_slice(name);
        key.make_ascii_lowercase();
        self.find(parent, key)?.value_slot
    }

    /// The first cell to probe. Lengths and last bytes distinguish the names that servers use.
    #[inline]
    fn cell(&self, parent: Node, name: &[u8]) -> usize {
        let (first, last) = (name.first().unwrap_or(&0), name.last().unwrap_or(&0));
        let middle = name.get(name.len() / 2).unwrap_or(&0);
        let mixed = usize::from(*first) * 3
            + usize::from(*last) * 19
            + usize::from(*middle) * 7
            + name.len() * 37
            + usize::from(parent.0) * 101;
        mixed & (self.cells.len() - 1)
    }
}

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

    #[test]
    fn keys_are_found_under_their_parents() {
        let value_slot = |slot| ValueSlot { slot, rank: 0 };
        let paths = [("a", 0), ("b.c", 1), ("b.d.e", 2), ("a", 3), ("b", 4), ("c", 5)];
        let wanted = KeyTree::new(paths.map(|(path, slot)| (path, value_slot(slot))));
        let find = |parent, name: &str| wanted.find(parent, name.as_bytes());
        assert_eq!(find(Node::ROOT, "a").unwrap().value_slot, Some(value_slot(0)));
        let b = find(Node::ROOT, "b").unwrap();
        assert_eq!(b.value_slot, Some(value_slot(4)));
        let b = b.node.unwrap();
        assert_eq!(find(b, "c").unwrap().value_slot, Some(value_slot(1)));
        let d = find(b, "d").unwrap();
        assert_eq!(d.value_slot, None);
        assert_eq!(find(d.node.unwrap(), "e").unwrap().value_slot, Some(value_slot(2)));
        assert_eq!(find(Node::ROOT, "c").unwrap().value_slot, Some(value_slot(5)));
        assert_eq!(find(Node::ROOT, "b.c").unwrap().value_slot, Some(value_slot(1)));
        for name in ["", "e", "d", "aa", "b.d", "b.d.e.f"] {
            assert!(find(Node::ROOT, name).is_none(), "{name}");
        }
        assert!(KeyTree::new([]).find(Node::ROOT, b"a").is_none());
        assert!(!wanted.has_pairs());
    }

    #[test]
    fn objects_of_an_array_are_found_by_their_names() {
        let value_slot = ValueSlot { slot: 7, rank: 0 };
        let wanted = KeyTree::new([("a.headers.*user-agent", value_slot)]);
        assert!(wanted.has_pairs());
        let headers = wanted.find(Node::ROOT, b"a").and_then(|a| a.node).unwrap();
        let headers = wanted.find(headers, b"headers").and_then(|headers| headers.node).unwrap();
        assert_eq!(wanted.pair(headers, b"User-Agent"), Some(value_slot));
        for name in [&b""[..], b"*user-agent", b"agent", &[b'x'; 80], &[b'x'; 79]] {
            assert_eq!(wanted.pair(headers, name), None);
        }
    }

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
