//! The compressions, told by their first bytes.

use std::path::Path;

use crate::named_enum::named_enum;

named_enum! {
    /// How a file is compressed.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Compression {
        /// RFC 1952.
        Gzip = "gzip",
        /// RFC 8878, also in the dress of seekable and parallel tools.
        Zstd = "zstd",
        /// As bzip2 1.0 writes it.
        Bzip2 = "bzip2",
        /// The `.xz` file format 1.2, not the older `.lzma`.
        Xz = "xz",
    }
}

/// So many bytes tell any compression.
pub const MAGIC_BYTES_MAX: usize = 6;

/// What a decoder may keep of what it has put out. `zstd --ultra -22` and `zstd --long` ask for
/// just as much, `xz -9` for half of it; more has to be asked for by hand.
pub const MEMORY_BYTES_MAX: usize = 128 << 20;

impl Compression {
    /// Of a file, or of one more member of a file, that begins with `start`.
    pub fn of(start: &[u8]) -> Option<Compression> {
        match start {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            // A frame, or one to be skipped: tools put tables of contents into these.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Compression::Zstd)
            }
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Compression::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            _ => None,
        }
    }

    /// That the name of `path` claims.
    pub fn claimed_by(path: &Path) -> Option<Compression> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "gz" => Some(Compression::Gzip),
            "zst" | "zstd" => Some(Compression::Zstd),
            "bz2" => Some(Compression::Bzip2),
            "xz" => Some(Compression::Xz),
            _ => None,
        }
    }

    /// How names of such files usually end.
    pub fn suffix(self) -> &'static str {
        match self {
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
            Compression::Bzip2 => ".bz2",
            Compression::Xz => ".xz",
        }
    }
}

#[cfg(test)]
pub mod tests;
