//! Bodies as they came over the wire to what they say: chunks joined, compression undone.
//!
//! Many archives keep the header fields of the wire beside a body that was decoded already. So
//! what does not look like what the fields say is taken as it stands.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

use crate::archive::snapshot::Failure;

/// Bytes of a body as it came that are looked at: enough for what counts, in the smallest chunks.
pub const RAW_BYTES_MAX: usize = 4 << 20;

/// With these a frame of zstd begins.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A window of 8 MiB, which is all that a server may ask for (RFC 9659).
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Content codings that are undone, at the most.
const CODINGS_MAX: usize = 4;

/// Whether the body was cut before its end, on purpose: then its coding may end early.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BodyExtent {
    /// It is all there.
    Whole,
    /// Its end is missing.
    Cut,
}

/// Joins the chunks of `raw` (RFC 9112 section 7.1), if its transfer coding ends in `chunked`.
///
/// # Errors
/// Where it begins as chunks do and goes on otherwise, or stops.
pub fn unchunk(
    raw: Vec<u8>,
    transfer_coding: &[u8],
    extent: BodyExtent,
) -> Result<Vec<u8>, Failure> {
    let last = transfer_coding.rsplit(|byte| *byte == b',').next().unwrap_or_default();
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

/// Undoes the content codings of `body`, the last first; at most `limit` bytes are given.
///
/// # Errors
/// Where a coding cannot be undone and what is there is no text either.
pub fn decode(
    mut body: Vec<u8>,
    content_coding: &[u8],
    extent: BodyExtent,
    limit: usize,
) -> Result<Vec<u8>, Failure> {
    let codings: Vec<&[u8]> = content_coding
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
        .collect();
    if codings.len() > CODINGS_MAX {
        return Err(Failure::InvalidResponse);
    }
    for (index, coding) in codings.iter().enumerate().rev() {
        // What is still coded may be longer than what comes of it.
        let limit = if index == 0 { limit } else { RAW_BYTES_MAX };
        body = decode_once(body, &coding.to_ascii_lowercase(), extent, limit)?;
    }
    Ok(body)
}

fn decode_once(
    body: Vec<u8>,
    coding: &[u8],
    extent: BodyExtent,
    limit: usize,
) -> Result<Vec<u8>, Failure> {
    let read = match coding {
        b"gzip" | b"x-gzip" if body.starts_with(&[0x1f, 0x8b]) => {
            inflate(MultiGzDecoder::new(&body[..]), limit)
        }
        b"deflate" if is_zlib(&body) => inflate(ZlibDecoder::new(&body[..]), limit),
        b"deflate" => inflate(DeflateDecoder::new(&body[..]), limit),
        b"zstd" if body.starts_with(&ZSTD_MAGIC) => inflate(Zstd::new(&body), limit),
        b"br" => inflate(brotli_decompressor::Decompressor::new(&body[..], 4096), limit),
        _ => Inflated { bytes: Vec::new(), ended_well: false },
    };
    match read {
        Inflated { bytes, ended_well: true } => Ok(bytes),
        Inflated { bytes, .. } if extent == BodyExtent::Cut && !bytes.is_empty() => Ok(bytes),
        _ if looks_like_text(&body) => Ok(body),
        _ => Err(Failure::InvalidResponse),
    }
}

/// The frames of a body in zstd (RFC 8878), one after the other.
struct Zstd<'a> {
    context: DCtx<'static>,
    input: InBuffer<'a>,
    /// Whether a frame has begun that has not ended.
    is_within: bool,
}

impl<'a> Zstd<'a> {
    fn new(body: &'a [u8]) -> Zstd<'a> {
        let mut context = DCtx::create();
        let limit = DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX);
        context.set_parameter(limit).expect("between 10 and 31");
        Zstd { context, input: InBuffer::around(body), is_within: false }
    }
}

impl Read for Zstd<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut output = OutBuffer::around(out);
        while output.pos() == 0 {
            let is_at_end = self.input.pos() == self.input.src.len();
            if is_at_end && !self.is_within {
                return Ok(0);
            }
            let wanted = self.context.decompress_stream(&mut output, &mut self.input);
            let wanted = wanted.map_err(|code| io::Error::other(get_error_name(code)))?;
            self.is_within = wanted > 0;
            if is_at_end && self.is_within && output.pos() == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(output.pos())
    }
}

struct Inflated {
    bytes: Vec<u8>,
    ended_well: bool,
}

fn inflate(decoder: impl Read, limit: usize) -> Inflated {
    let mut bytes = Vec::new();
    let ended_well = decoder.take(limit as u64).read_to_end(&mut bytes).is_ok();
    Inflated { bytes, ended_well }
}

/// RFC 1950 section 2.2: method 8, and a check over the first two bytes.
fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [first, second, ..] if first & 0x0f == 8
        && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

/// No control characters but those of text among its first bytes.
fn looks_like_text(body: &[u8]) -> bool {
    let start = &body[..body.len().min(512)];
    start.iter().all(|byte| !matches!(byte, 0..=8 | 14..=31 | 127))
}

/// The size that a chunk begins with, and what follows that line.
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

    fn zstd(text: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; zstd_safe::compress_bound(text.len())];
        let length = zstd_safe::compress(&mut frame[..], text, 3).unwrap();
        frame.truncate(length);
        frame
    }

    #[test]
    fn codings_are_undone_or_were_already() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(TEXT).unwrap();
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(TEXT).unwrap();
        // An uncompressed brotli stream: a window, one stored block, an empty last block.
        let brotli = [&[0x0f, 0x10, 0x80][..], TEXT, &[0x03]].concat();
        let cases: [(&str, Vec<u8>); 12] = [
            ("gzip", gzip(TEXT)),
            ("X-GZIP", gzip(TEXT)),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", deflate.finish().unwrap()),
            ("gzip, identity, gzip", gzip(&gzip(TEXT))),
            ("gzip", TEXT.to_vec()),
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
        let _ = decode(brotli, b"br", BodyExtent::Whole, 1000);
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
        // A window of 16 MiB, of which nothing is taken.
        let wide = [&ZSTD_MAGIC[..], &[0x00, 0x70, 0x01, 0, 0]].concat();
        assert!(decode(wide, b"zstd", BodyExtent::Whole, 99).is_err());
        let bomb = zstd(&vec![0; 10 << 20]);
        assert_eq!(decode(bomb, b"zstd", BodyExtent::Whole, 1000).unwrap().len(), 1000);
        let bomb = gzip(&vec![0; 10 << 20]);
        assert_eq!(decode(bomb, b"gzip", BodyExtent::Whole, 1000).unwrap().len(), 1000);
    }
}
