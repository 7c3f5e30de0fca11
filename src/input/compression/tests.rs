//! Helpers for the tests of this folder, and tests of names and magic numbers.

use std::io::Write;

use super::*;

/// All compressions, for the same tests.
pub(crate) const ALL: [Compression; 4] =
    [Compression::Gzip, Compression::Zstd, Compression::Bzip2, Compression::Xz];

/// `text` as one member, with a checksum.
pub(crate) fn member(kind: Compression, text: &[u8]) -> Vec<u8> {
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
    for start in [&b""[..], b"\x1f", b"BZh0", b"BZ", b"127.0.0.1 - -", b"{\"ts\":1", b"(\xb5/"] {
        assert_eq!(Compression::of(start), None);
    }
}
