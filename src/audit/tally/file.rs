//! A tally as a file: `report.tally`, used for reports, merging and the state of a nightly job.
//!
//! The header describes the run, and the body has the counts.

use std::path::Path;

use memchr::memchr2_iter;

use crate::error::{Error, Result};

use super::super::memory_limit::{MEMORY_DEFAULT, MemoryLimit};
use super::super::packed::{self, Encoded, Unreadable};
use super::header::{Header, SCHEMA_VERSION};
use super::{Tally, counts::Counts};

/// The name of the tally in a report directory.
pub(crate) const TALLY: &str = "report.tally";

/// The first bytes of a tally, with the version of its form.
const MAGIC: &[u8] = b"botaudit tally 2 ";

/// The first bytes of every version.
const MAGIC_OF_ANY_VERSION: &[u8] = b"botaudit tally ";

/// What a line of a robots.txt takes once it is parsed.
const ROBOTS_LINE_BYTES: usize = 128;

/// What to do about a tally that is damaged.
pub(crate) const DAMAGED: &str = "is a damaged tally; create it again";

/// A tally with its header unpacked.
#[derive(Clone, Debug)]
pub(crate) struct PackedTally {
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
    pub(crate) fn encoded(&self) -> Encoded {
        Encoded::new(MAGIC, &self.header, &self.counts)
    }

    /// Reads the result of [`Tally::to_bytes`]; `path` is for errors.
    ///
    /// # Errors
    /// If it is not a tally, is damaged, of another version, or too large for the memory that is
    /// allowed by default.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Tally> {
        Tally::within(bytes, path, MEMORY_DEFAULT)
    }

    /// The same with at most `memory_bytes` of memory.
    ///
    /// # Errors
    /// As [`Tally::from_bytes`].
    pub(crate) fn within(bytes: &[u8], path: &Path, memory_bytes: usize) -> Result<Tally> {
        let memory = MemoryLimit::new(memory_bytes);
        let packed = PackedTally::from_bytes(bytes, path, &memory)?;
        let counts = packed.unpack(&memory);
        let counts = counts.map_err(|why| unreadable(path, why, &memory))?;
        Ok(Tally { header: packed.header, counts })
    }
}

impl PackedTally {
    /// Reads the tally at `path`, a file or a report directory.
    ///
    /// # Errors
    /// If it cannot be read, is not a tally, is damaged, of another version, or takes more memory
    /// than is left.
    pub(crate) fn read(path: &Path, memory: &MemoryLimit) -> Result<PackedTally> {
        if !path.exists() && path.extension().is_none() {
            let name = path.display();
            return Err(Error::usage(format!(
                "no report in {name}; to write one, run: botaudit audit --robots robots.txt -o {name} LOG"
            )));
        }
        let file = match path.is_dir() {
            true => path.join(TALLY),
            false => path.to_owned(),
        };
        if path.is_dir() && !file.exists() {
            let why = format!(
                "has no {TALLY}; name a report of botaudit audit or botaudit nightly, or audit \
                 the logs again"
            );
            return Err(Error::tally(path, why));
        }
        PackedTally::from_bytes(&packed::read_file("the tally", &file, memory)?, &file, memory)
    }

    /// Unpacks the bytes of a file.
    ///
    /// # Errors
    /// As [`PackedTally::read`].
    pub(crate) fn from_bytes(
        bytes: &[u8],
        path: &Path,
        memory: &MemoryLimit,
    ) -> Result<PackedTally> {
        let Some(frames) = bytes.strip_prefix(MAGIC) else {
            return Err(Error::tally(path, not_ours(bytes)));
        };
        let refused = |why| unreadable(path, why, memory);
        let frames = packed::frames(frames).ok_or(Unreadable::Damaged);
        let (header, counts) = frames.map_err(refused)?;
        let header: Header = packed::unpacked(header, memory).map_err(refused)?;
        if header.schema_version != SCHEMA_VERSION {
            let why = format!(
                "is a tally of botaudit {}, and this version ({}) cannot read it; merge it with \
                 that version",
                header.version,
                env!("CARGO_PKG_VERSION")
            );
            return Err(Error::tally(path, why));
        }
        let bodies = header.robots.iter().filter_map(|version| version.body.as_ref());
        let lines: usize =
            bodies.map(|body| memchr2_iter(b'\n', b'\r', body.bytes()).count()).sum();
        if !memory.take(lines.saturating_mul(ROBOTS_LINE_BYTES)) {
            return Err(refused(Unreadable::TooLarge));
        }
        let hash = xxhash_rust::xxh3::xxh3_128(bytes);
        Ok(PackedTally { header, counts: counts.to_vec(), hash })
    }

    /// The counts.
    ///
    /// # Errors
    /// If they are damaged, or take more memory than is left.
    pub(crate) fn unpack(&self, memory: &MemoryLimit) -> std::result::Result<Counts, Unreadable> {
        let counts: Counts = packed::unpacked(&self.counts, memory)?;
        let is_whole = counts.inputs.len() == self.header.inputs.len();
        is_whole.then_some(counts).ok_or(Unreadable::Damaged)
    }
}

/// The error for the tally at `path` that could not be unpacked.
pub(crate) fn unreadable(path: &Path, why: Unreadable, memory: &MemoryLimit) -> Error {
    match why {
        Unreadable::Damaged => Error::tally(path, DAMAGED),
        Unreadable::TooLarge => packed::too_large(path, memory),
    }
}

/// Whether a file with this beginning is a tally of any version.
pub(crate) fn is_tally(head: &[u8]) -> bool {
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
