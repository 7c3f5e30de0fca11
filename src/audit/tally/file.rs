//! A tally as a file: `report.tally`, used for reports, merging and the state of a nightly job.
//!
//! The header describes the run, and the body has the counts.

use std::path::Path;

use crate::error::{Error, Result};

use super::super::packed::{self, Encoded};
use super::header::{Header, SCHEMA_VERSION};
use super::{Tally, counts::Counts};

/// The name of the tally in a report directory.
pub const TALLY: &str = "report.tally";

/// The first bytes of a tally, with the version of its form.
const MAGIC: &[u8] = b"botaudit tally 2 ";

/// The first bytes of every version.
const MAGIC_OF_ANY_VERSION: &[u8] = b"botaudit tally ";

/// A tally with its header unpacked.
#[derive(Clone, Debug)]
pub struct PackedTally {
    /// The header.
    pub header: Header,
    /// The packed counts.
    counts: Vec<u8>,
    /// The hash of all its bytes: equal tallies have equal hashes.
    pub hash: u128,
}

impl Tally {
    /// The bytes of the file. Equal tallies give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.encoded().packed()
    }

    /// The file before it is compressed.
    pub fn encoded(&self) -> Encoded {
        Encoded::new(MAGIC, &self.header, &self.counts)
    }

    /// Reads the result of [`Tally::to_bytes`]; `path` is for errors.
    ///
    /// # Errors
    /// If it is not a tally, is damaged, or is of another version.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Tally> {
        PackedTally::from_bytes(bytes, path)?.unpack(path)
    }
}

impl PackedTally {
    /// Reads the tally at `path`, a file or a report directory.
    ///
    /// # Errors
    /// If it cannot be read, is not a tally, is damaged, or is of another version.
    pub fn read(path: &Path) -> Result<PackedTally> {
        let file = match path.is_dir() {
            true => path.join(TALLY),
            false => path.to_owned(),
        };
        if path.is_dir() && !file.exists() {
            let why = format!(
                "has no {TALLY}; name a report of botaudit audit or botaudit nightly, or audit \
                 the logs again"
            );
            return Err(Error::invalid_file(path, why));
        }
        PackedTally::from_bytes(&packed::read_file("the tally", &file)?, &file)
    }

    /// Unpacks the bytes of a file.
    ///
    /// # Errors
    /// As [`PackedTally::read`].
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<PackedTally> {
        let Some(frames) = bytes.strip_prefix(MAGIC) else {
            return Err(Error::invalid_file(path, not_ours(bytes)));
        };
        let damaged = || Error::invalid_file(path, "is a damaged tally; create it again");
        let (header, counts) = packed::frames(frames).ok_or_else(damaged)?;
        let header: Header = packed::unpacked(header).ok_or_else(damaged)?;
        if header.schema_version != SCHEMA_VERSION {
            let why = format!(
                "is a tally of botaudit {}, and this version ({}) cannot read it; merge it with \
                 that version",
                header.version,
                env!("CARGO_PKG_VERSION")
            );
            return Err(Error::invalid_file(path, why));
        }
        let hash = xxhash_rust::xxh3::xxh3_128(bytes);
        Ok(PackedTally { header, counts: counts.to_vec(), hash })
    }

    /// The whole tally.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn unpack(self, path: &Path) -> Result<Tally> {
        let PackedTally { header, counts, .. } = self;
        let counts = packed::unpacked::<Counts>(&counts)
            .filter(|counts| counts.inputs.len() == header.inputs.len())
            .ok_or_else(|| Error::invalid_file(path, "is a damaged tally; create it again"))?;
        Ok(Tally { header, counts })
    }
}

/// Whether a file with this beginning is a tally of any version.
pub fn is_tally(head: &[u8]) -> bool {
    head.starts_with(MAGIC_OF_ANY_VERSION)
}

fn not_ours(bytes: &[u8]) -> &'static str {
    match bytes.starts_with(MAGIC_OF_ANY_VERSION) {
        true => {
            "is a tally of another version of botaudit; merge it with that version, or audit its \
             logs again"
        }
        false => "is not a tally; name a report directory, or a file of audit --partial",
    }
}
