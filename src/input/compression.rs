//! The compressions, detected from the first bytes.

use std::path::Path;

use botaudit_robots::named_enum;

named_enum! {
    /// How a file is compressed.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Compression {
        /// RFC 1952.
        Gzip = "gzip",
        /// RFC 8878, also as written by seekable and parallel tools.
        Zstd = "zstd",
        /// As bzip2 1.0 writes it.
        Bzip2 = "bzip2",
        /// The `.xz` file format 1.2, not the older `.lzma`.
        Xz = "xz",
    }
}

/// The bytes that identify any compression.
pub(crate) const MAGIC_BYTES_MAX: usize = 6;

/// The window limit of a decoder. `zstd --ultra -22` and `zstd --long` need exactly this much, `xz
/// -9` half of it; larger windows need special options.
pub(crate) const MEMORY_BYTES_MAX: usize = 128 << 20;

impl Compression {
    /// The compression of a file, or of another member of it, that begins with `start`.
    pub fn of(start: &[u8]) -> Option<Compression> {
        match start {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            // A frame, or a skippable one, which tools use for tables of contents.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Compression::Zstd)
            }
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Compression::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            _ => None,
        }
    }

    /// That the name of `path` claims.
    pub(crate) fn claimed_by(path: &Path) -> Option<Compression> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "gz" => Some(Compression::Gzip),
            "zst" | "zstd" => Some(Compression::Zstd),
            "bz2" => Some(Compression::Bzip2),
            "xz" => Some(Compression::Xz),
            _ => None,
        }
    }

    /// The usual suffixes of such files.
    pub(crate) fn suffix(self) -> &'static str {
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
