//! Decodes bodies as transferred: joins chunks and decompresses.
//!
//! Many archives keep the original header fields with an already decoded body. So a body that does
//! not have the coding in its header is used unchanged.

use crate::archive::snapshot::Failure;
use crate::net::coding::{self, ContentCoding};

/// The most bytes of an encoded body that are read: enough for the part that counts, in the
/// smallest chunks.
pub(crate) const RAW_BYTES_MAX: usize = 4 << 20;

/// The most content codings that are decoded.
const CODINGS_MAX: usize = 4;

/// Whether a body was deliberately cut; its coding may then end early.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BodyExtent {
    /// Complete.
    Whole,
    /// The end is missing.
    Cut,
}

/// Joins the chunks of `raw` (RFC 9112 section 7.1), if its transfer coding ends in `chunked`.
///
/// # Errors
/// If it begins with a chunk but continues with something else, or ends early.
pub fn unchunk(raw: Vec<u8>, coding: &[u8], extent: BodyExtent) -> Result<Vec<u8>, Failure> {
    let last = coding.rsplit(|byte| *byte == b',').next().unwrap_or_default();
    if !last.trim_ascii().eq_ignore_ascii_case(b"chunked") || chunk_size(&raw).is_none() {
        return Ok(raw);
    }
    let mut joined = Vec::with_capacity(raw.len());
    let mut rest = &raw[..];
    loop {
        let (size, after) = match (chunk_size(rest), extent) {
            (Some(chunk), _) => chunk,
            (None, BodyExtent::Cut) => return Ok(joined),
            (None, BodyExtent::Whole) if memchr::memchr(b'\n', rest).is_none() => {
                return Err(Failure::Interrupted);
            }
            (None, BodyExtent::Whole) => return Err(Failure::InvalidResponse),
        };
        if size == 0 {
            return Ok(joined);
        }
        let data = &after[..after.len().min(size)];
        joined.extend_from_slice(data);
        if data.len() < size {
            return if extent == BodyExtent::Cut { Ok(joined) } else { Err(Failure::Interrupted) };
        }
        let end = &after[size..];
        rest = match end.strip_prefix(b"\r\n").or_else(|| end.strip_prefix(b"\n")) {
            Some(rest) => rest,
            None if end.is_empty() || end == b"\r" => end,
            None => return Err(Failure::InvalidResponse),
        };
    }
}

/// Decodes the content codings of `body`, the last one first, up to `limit` bytes.
///
/// # Errors
/// If a coding cannot be decoded and the body is not plain text either.
pub fn decode(
    mut body: Vec<u8>,
    content_coding: &[u8],
    extent: BodyExtent,
    limit: usize,
) -> Result<Vec<u8>, Failure> {
    let codings: Vec<&[u8]> = coding::names(&[content_coding]).collect();
    if codings.len() > CODINGS_MAX {
        return Err(Failure::InvalidResponse);
    }
    for (index, coding) in codings.iter().enumerate().rev() {
        // Encoded bytes may be longer than the decoded ones.
        let limit = if index == 0 { limit } else { RAW_BYTES_MAX };
        body = decode_once(body, ContentCoding::named(coding), extent, limit)?;
    }
    // A text that was not encoded may be longer.
    body.truncate(limit);
    Ok(body)
}

fn decode_once(
    body: Vec<u8>,
    coding: Option<ContentCoding>,
    extent: BodyExtent,
    limit: usize,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let is_undone =
        coding.is_some_and(|coding| coding.decode(&body[..], limit as u64, &mut bytes).is_ok());
    if is_undone || (extent == BodyExtent::Cut && !bytes.is_empty()) {
        return Ok(bytes);
    }
    if looks_like_text(&body) { Ok(body) } else { Err(Failure::InvalidResponse) }
}

/// Whether the first bytes have no control characters other than those of text.
fn looks_like_text(body: &[u8]) -> bool {
    let start = &body[..body.len().min(512)];
    start.iter().all(|byte| !matches!(byte, 0..=8 | 14..=31 | 127))
}

/// The size of the chunk at the start, and the text after that line.
fn chunk_size(text: &[u8]) -> Option<(usize, &[u8])> {
    let end = memchr::memchr(b'\n', text)?;
    let line = text[..end].split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let is_size = (1..=16).contains(&line.len()) && line.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(line).ok().filter(|_| is_size)?;
    Some((usize::from_str_radix(digits, 16).ok()?, &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const TEXT: &[u8] = b"User-agent: *\nDisallow: /private\n";

    #[test]
    fn chunks_are_joined() {
        use Failure::*;
        let check = |raw: &[u8], extent, expected: Result<&[u8], Failure>| {
            let joined = unchunk(raw.to_vec(), b"gzip, Chunked", extent);
            assert_eq!(
                joined.as_deref().map_err(|failure| *failure),
                expected,
                "{:?}",
                raw.escape_ascii().to_string()
            );
        };
        check(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", BodyExtent::Whole, Ok(b"abcde"));
        check(b"3\nabc\n0\n\n", BodyExtent::Whole, Ok(b"abc"));
        check(b"A\r\n0123456789\r\n0\r\nX: y\r\n\r\n", BodyExtent::Whole, Ok(b"0123456789"));
        check(b"0\r\n\r\n", BodyExtent::Whole, Ok(b""));
        check(TEXT, BodyExtent::Whole, Ok(TEXT));
        check(b"", BodyExtent::Whole, Ok(b""));
        check(b"3\r\nabc\r\n", BodyExtent::Whole, Err(Interrupted));
        check(b"5\r\nabc", BodyExtent::Whole, Err(Interrupted));
        check(b"5\r\nabc", BodyExtent::Cut, Ok(b"abc"));
        check(b"3\r\nabc\r\n", BodyExtent::Cut, Ok(b"abc"));
        check(b"2\r\nabc\r\n0\r\n\r\n", BodyExtent::Whole, Err(InvalidResponse));
        check(b"2\r\nab\r\nzz\r\n", BodyExtent::Whole, Err(InvalidResponse));
        check(b"ffffffffffffffff\r\nab", BodyExtent::Whole, Err(Interrupted));
        assert_eq!(
            unchunk(b"1\r\na\r\n0\r\n\r\n".to_vec(), b"", BodyExtent::Whole).unwrap().len(),
            11
        );
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// A window of 64 KiB, one stored block, an empty last block.
    fn brotli(text: &[u8]) -> Vec<u8> {
        let head = 1_u32 << 20 | u32::try_from(text.len() - 1).unwrap() << 4;
        [&head.to_le_bytes()[..3], text, &[0x03]].concat()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(text, 3).unwrap()
    }

    #[test]
    fn codings_are_undone_or_were_already() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(TEXT).unwrap();
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(TEXT).unwrap();
        let cases: [(&str, Vec<u8>); 14] = [
            ("gzip", gzip(TEXT)),
            ("X-GZIP", gzip(TEXT)),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", deflate.finish().unwrap()),
            ("gzip, identity, gzip", gzip(&gzip(TEXT))),
            ("gzip", TEXT.to_vec()),
            ("br", brotli(TEXT)),
            ("br, gzip", gzip(&brotli(TEXT))),
            ("br", TEXT.to_vec()),
            ("compress", TEXT.to_vec()),
            ("zstd", zstd(TEXT)),
            ("zstd", [zstd(&TEXT[..9]), zstd(&TEXT[9..])].concat()),
            ("gzip, zstd", zstd(&gzip(TEXT))),
            ("zstd", TEXT.to_vec()),
        ];
        for (coding, body) in cases {
            let decoded = decode(body, coding.as_bytes(), BodyExtent::Whole, 1000);
            assert_eq!(decoded.as_deref(), Ok(TEXT), "{coding}");
        }
    }

    #[test]
    fn what_cannot_be_undone_is_no_valid_response() {
        let cut = gzip(TEXT)[..20].to_vec();
        assert_eq!(
            decode(cut.clone(), b"gzip", BodyExtent::Whole, 99),
            Err(Failure::InvalidResponse)
        );
        assert!(decode(b"\x00\x01\x02".to_vec(), b"br", BodyExtent::Whole, 99).is_err());
        assert!(decode(TEXT.to_vec(), b"gzip,gzip,gzip,gzip,gzip", BodyExtent::Whole, 99).is_err());
        let cut = zstd(TEXT)[..20].to_vec();
        assert_eq!(decode(cut, b"zstd", BodyExtent::Whole, 99), Err(Failure::InvalidResponse));
        let text = TEXT.repeat(20_000);
        let cut = zstd(&text);
        let cut = decode(cut[..cut.len() - 9].to_vec(), b"zstd", BodyExtent::Cut, 1 << 20).unwrap();
        assert!(!cut.is_empty() && text.starts_with(&cut));
        // A window of 16 MiB, which is too large.
        let wide = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 0x01, 0, 0].to_vec();
        assert!(decode(wide, b"zstd", BodyExtent::Whole, 99).is_err());
        let bomb = zstd(&vec![0; 10 << 20]);
        assert_eq!(decode(bomb, b"zstd", BodyExtent::Whole, 1000).unwrap().len(), 1000);
        let cut = brotli(TEXT)[..20].to_vec();
        assert_eq!(decode(cut.clone(), b"br", BodyExtent::Cut, 99).unwrap(), TEXT[..17]);
        assert_eq!(decode(cut, b"br", BodyExtent::Whole, 99), Err(Failure::InvalidResponse));
        assert_eq!(decode(brotli(TEXT), b"br", BodyExtent::Whole, 5).unwrap(), TEXT[..5]);
        assert_eq!(decode(TEXT.to_vec(), b"gzip", BodyExtent::Whole, 5).unwrap(), TEXT[..5]);
        let bomb = gzip(&vec![0; 10 << 20]);
        assert_eq!(decode(bomb, b"gzip", BodyExtent::Whole, 1000).unwrap().len(), 1000);
    }
}
