//! Resolves revisit records of WARC files, which refer to the body of an earlier record.

use std::collections::HashMap;

use crate::digest::Digest;

/// The most remembered payloads; then all are forgotten and the archive is searched.
const REMEMBERED_MAX: usize = 1 << 18;

/// Longer digests are not valid.
const NAME_BYTES_MAX: usize = 128;

/// Bodies by the payload digest in their records, which may use any hash function.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    known: HashMap<Box<[u8]>, Digest>,
}

impl Payloads {
    /// Remembers that the payload `name` is the body of `digest`.
    pub(crate) fn remember(&mut self, name: Option<&[u8]>, digest: Digest) {
        let Some(name) = name.filter(|name| name.len() <= NAME_BYTES_MAX) else { return };
        if self.known.len() >= REMEMBERED_MAX {
            self.known.clear();
        }
        self.known.insert(name.into(), digest);
    }

    /// The body of the payload `name`.
    pub(crate) fn find(&self, name: Option<&[u8]>) -> Option<Digest> {
        self.known.get(name?).copied()
    }
}
