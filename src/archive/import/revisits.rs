//! What revisit records of WARC files refer to: bodies that stood in a record before.

use std::collections::HashMap;

use crate::digest::Digest;

/// Payloads that are remembered; past it, all are forgotten and the archive itself is asked.
const REMEMBERED_MAX: usize = 1 << 18;

/// Digests longer than this are no digests.
const NAME_BYTES_MAX: usize = 128;

/// Bodies by the digest that their records state, in whatever function.
#[derive(Debug, Default)]
pub struct Payloads {
    known: HashMap<Box<[u8]>, Digest>,
}

impl Payloads {
    /// Remembers that the payload `name` is the body of `digest`.
    pub fn remember(&mut self, name: Option<&[u8]>, digest: Digest) {
        let Some(name) = name.filter(|name| name.len() <= NAME_BYTES_MAX) else { return };
        if self.known.len() >= REMEMBERED_MAX {
            self.known.clear();
        }
        self.known.insert(name.into(), digest);
    }

    /// The body of the payload `name`.
    pub fn find(&self, name: Option<&[u8]>) -> Option<Digest> {
        self.known.get(name?).copied()
    }
}
