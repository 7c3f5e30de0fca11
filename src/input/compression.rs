//! The compressions, told by their first bytes.

use std::path::Path;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878, also in the dress of seekable and parallel tools.
    Zstd,
    /// As bzip2 1.0 writes it.
    Bzip2,
    /// The `.xz` file format 1.2, not the older `.lzma`.
    Xz,
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

    /// The name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
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
#[expect(missing_docs, reason = "for the tests of this room")]
pub mod tests {
    use std::io::Write;

    use super::*;

    /// Every compression, each of which is put to the same tests.
    pub const ALL: [Compression; 4] =
        [Compression::Gzip, Compression::Zstd, Compression::Bzip2, Compression::Xz];

    /// `text` as one member, with a checksum.
    pub fn member(kind: Compression, text: &[u8]) -> Vec<u8> {
        fn written<W: Write>(mut encoder: W, text: &[u8]) -> W {
            encoder.write_all(text).unwrap();
            encoder
        }
        match kind {
            Compression::Gzip => {
                let level = flate2::Compression::default();
                let encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                written(encoder, text).finish().unwrap()
            }
            Compression::Zstd => {
                let mut compressor = zstd::bulk::Compressor::default();
                compressor.include_checksum(true).unwrap();
                compressor.compress(text).unwrap()
            }
            Compression::Bzip2 => {
                let encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
                written(encoder, text).finish().unwrap()
            }
            Compression::Xz => {
                let encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
                written(encoder, text).finish().unwrap()
            }
        }
    }

    #[test]
    fn names_claim_in_any_case() {
        let check = |path: &str, expected| {
            assert_eq!(Compression::claimed_by(Path::new(path)), expected, "{path}");
        };
        check("/var/log/access.log.2.gz", Some(Compression::Gzip));
        check("ACCESS.LOG.GZ", Some(Compression::Gzip));
        check("access.log-20260101.zst", Some(Compression::Zstd));
        check("access.log.bz2", Some(Compression::Bzip2));
        check("access.xz", Some(Compression::Xz));
        check("gz", None);
        check("access.log", None);
    }

    #[test]
    fn lines_of_logs_are_not_compressed() {
        for start in [&b""[..], b"\x1f", b"BZh0", b"BZ", b"127.0.0.1 - -", b"{\"ts\":1", b"(\xb5/"]
        {
            assert_eq!(Compression::of(start), None);
        }
    }
}
