//! Versions of a robots.txt that are kept beside sums which name their rules.

use std::path::Path;
use std::sync::Arc;

use crate::archive::Store;
use crate::archive::snapshot::{Digest, Snapshot, SnapshotOutcome};
use crate::error::{Error, Result};
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::Judge;
use super::origin_history::SnapshotRef;
use super::robots::{Robots, RobotsId};

/// A version of a robots.txt, by which a judge can name its rules again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeptRobots {
    /// Of all its bytes.
    pub digest: Digest,
    /// Its bytes, as far as they count.
    pub body: Vec<u8>,
}

impl KeptRobots {
    /// A version whose bytes are `body`.
    pub fn new(body: Vec<u8>) -> KeptRobots {
        KeptRobots { digest: Digest::of(&body), body }
    }
}

/// The digest that `text`, 64 hexadecimal digits, names.
pub fn digest_of(text: &str) -> Option<Digest> {
    let text = text.strip_prefix("sha256:").unwrap_or(text);
    let digits = (0..64).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok());
    let bytes: Vec<u8> = digits.collect::<Option<_>>()?;
    Some(Digest::from(<[u8; 32]>::try_from(bytes).ok()?))
}

/// A snapshot as it was told: its time and what came of it, as [`SnapshotOutcome`] is written.
pub fn seen_of(fetched_at: UtcTime, outcome: &str) -> Option<SnapshotRef> {
    Some(SnapshotRef { fetched_at, outcome: SnapshotOutcome::parse(outcome)? })
}

impl Judge {
    /// The digest of version `robots`.
    pub fn digest(&self, robots: RobotsId) -> Digest {
        self.version(robots).digest
    }

    /// Makes `kept` a version of this judge, if it is none yet. It governs nothing by that.
    pub fn intern(&self, kept: &KeptRobots) -> Arc<Robots> {
        self.version_of(kept.digest, &kept.body)
    }

    /// The version that `digest` is written of, if this judge has met it.
    pub fn interned(&self, digest: &str) -> Option<Arc<Robots>> {
        self.loaded().by_digest.get(&digest_of(digest)?).cloned()
    }

    /// The bytes of the version that `digest` is written of, of what governs `origin`.
    ///
    /// # Errors
    /// Where they cannot be read, or are not those any more by which was judged.
    pub fn body(&self, origin: Option<&Origin>, digest: &str) -> Result<KeptRobots> {
        let digest = digest_of(digest);
        let kept = match (&self.store, origin) {
            (Store::File(path), _) => Some(KeptRobots::new(Snapshot::from_file(path)?.body)),
            (Store::Directory(_), Some(origin)) => {
                self.store.snapshot(origin)?.map(|snapshot| KeptRobots::new(snapshot.body))
            }
            (Store::Archive(archive), Some(origin)) => {
                let entries = archive.history(origin)?;
                let mut keys = entries.iter().filter_map(|entry| entry.body);
                // An archive may hold the beginning only; the digest is of all.
                let key = keys.find(|key| Some(key.digest) == digest);
                let body = key.map(|key| archive.body(key)).transpose()?;
                digest.zip(body).map(|(digest, body)| KeptRobots { digest, body })
            }
            (Store::Directory(_) | Store::Archive(_), None) => None,
        };
        kept.filter(|kept| Some(kept.digest) == digest).ok_or_else(|| {
            let source = self.source(origin).unwrap_or_default();
            let why = "changed while logs were judged by it; nothing of that was kept: run again";
            Error::invalid_file(Path::new(&source), why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let digest = Digest::of(b"User-agent: *\n");
        assert_eq!(digest_of(&digest.to_string()), Some(digest));
        for wrong in ["", "sha256:", "sha256:0g", &"0".repeat(63), &"é".repeat(64)] {
            assert_eq!(digest_of(wrong), None, "{wrong}");
        }
    }
}
