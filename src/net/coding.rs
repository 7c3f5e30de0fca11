//! Decodes content codings (RFC 9110 section 8.4.1) of bodies from servers and archives, with
//! limits on input and output.

use std::io::{self, BufRead, BufReader, Read};

use brotli_decompressor::Decompressor as Brotli;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use zstd::stream::read::Decoder as Zstd;

use super::outcome::{FailureKind, Problem, excerpt};

/// The value of `Accept-Encoding`.
pub(super) const OFFERED: &str = "gzip, deflate";

/// The most encoded bytes that are read beyond the need of a body of the largest size. A stream
/// that never gives a byte ends here.
const OVERHEAD_BYTES_MAX: u64 = 1 << 20;

/// A window of 8 MiB, the largest that a server may require (RFC 9659).
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// The bytes that tell zlib from a bare deflate stream.
const HEAD_BYTES: u64 = 2;

/// The size of the brotli decoder's reads.
const BROTLI_BUFFER_BYTES: usize = 4096;

/// The coding of a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ContentCoding {
    /// RFC 1952, one or more members.
    Gzip,
    /// zlib according to the standard, or a bare deflate stream from some servers; detected by
    /// content.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878, one or more frames.
    Zstd,
}

impl ContentCoding {
    /// The coding named `name`, in any ASCII case.
    pub fn named(name: &[u8]) -> Option<ContentCoding> {
        match name.to_ascii_lowercase().as_slice() {
            b"gzip" | b"x-gzip" => Some(ContentCoding::Gzip),
            b"deflate" => Some(ContentCoding::Deflate),
            b"br" => Some(ContentCoding::Brotli),
            b"zstd" => Some(ContentCoding::Zstd),
            _ => None,
        }
    }

    /// Decodes `encoded` into `body`, at most `bytes_max` bytes. If it fails, the bytes decoded so
    /// far stay.
    ///
    /// # Errors
    /// If the body does not have this coding, or ends too early.
    pub fn decode(
        self,
        mut encoded: impl BufRead,
        bytes_max: u64,
        body: &mut Vec<u8>,
    ) -> io::Result<()> {
        // A server may send single bytes.
        let mut first = Vec::new();
        encoded.by_ref().take(HEAD_BYTES).read_to_end(&mut first)?;
        let head = &first[..];
        // An empty body is valid in every coding.
        if head.is_empty() {
            return Ok(());
        }
        let encoded = head.chain(encoded);
        let decoder: &mut dyn Read = match self {
            ContentCoding::Gzip => &mut MultiGzDecoder::new(encoded),
            ContentCoding::Deflate if has_zlib_header(head) => &mut ZlibDecoder::new(encoded),
            ContentCoding::Deflate => &mut DeflateDecoder::new(encoded),
            ContentCoding::Brotli => &mut Brotli::new(encoded, BROTLI_BUFFER_BYTES),
            ContentCoding::Zstd => {
                let mut zstd = Zstd::with_buffer(encoded)?;
                zstd.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                &mut { zstd }
            }
        };
        decoder.take(bytes_max).read_to_end(body).map(drop)
    }
}

/// RFC 1950 section 2.2: method 8, and a check over the first two bytes.
fn has_zlib_header(head: &[u8]) -> bool {
    matches!(head, [first, second, ..] if first & 0x0f == 8
        && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

/// The codings in the values of `Content-Encoding`, in the order of their application.
pub(crate) fn names<'a>(values: &[&'a [u8]]) -> impl DoubleEndedIterator<Item = &'a [u8]> {
    let names = values.iter().flat_map(|value| value.split(|&byte| byte == b','));
    names
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"))
}

/// At most `bytes_max` bytes of the body of `wire`, with the codings in the values of
/// `Content-Encoding`. `problem_of` translates errors of the connection.
pub(super) fn read_body(
    wire: impl Read,
    codings: &[&[u8]],
    bytes_max: usize,
    problem_of: fn(io::Error) -> Problem,
) -> Result<Vec<u8>, Problem> {
    let coding = coding_of(codings)?;
    let mut wire = Wire {
        inner: wire,
        bytes_left: (bytes_max as u64).saturating_add(OVERHEAD_BYTES_MAX),
        err: None,
    };
    let mut body = Vec::new();
    let mut buffered = BufReader::with_capacity(32 << 10, &mut wire);
    let bytes_max = bytes_max as u64;
    let read = match coding {
        Some(coding) => coding.decode(&mut buffered, bytes_max, &mut body),
        None => buffered.by_ref().take(bytes_max).read_to_end(&mut body).map(drop),
    };
    drop(buffered);
    match (read, wire.err) {
        (Ok(()), _) => Ok(body),
        (Err(_), Some(err)) => Err(problem_of(err)),
        (Err(err), None) => {
            let why = format!("the body cannot be decoded by its Content-Encoding: {err}");
            Err(Problem::new(FailureKind::BadEncoding, why))
        }
    }
}

/// The coding, at most one and only one that was [`OFFERED`]. Servers have no reason to encode
/// twice.
fn coding_of(values: &[&[u8]]) -> Result<Option<ContentCoding>, Problem> {
    let mut found = None;
    for name in names(values) {
        found = match (found, ContentCoding::named(name)) {
            (None, Some(coding @ (ContentCoding::Gzip | ContentCoding::Deflate))) => Some(coding),
            _ => {
                let name = excerpt(&String::from_utf8_lossy(name));
                let why = format!("Content-Encoding '{name}' is not supported");
                return Err(Problem::new(FailureKind::BadEncoding, why));
            }
        };
    }
    Ok(found)
}

/// A connection with a byte counter and the error that ended it.
struct Wire<R> {
    inner: R,
    bytes_left: u64,
    err: Option<io::Error>,
}

impl<R: Read> Read for Wire<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.bytes_left == 0 {
            return Err(io::Error::other("the stream continues without data"));
        }
        let len = buf.len().min(usize::try_from(self.bytes_left).unwrap_or(usize::MAX));
        match self.inner.read(&mut buf[..len]) {
            Ok(read) => {
                self.bytes_left -= read as u64;
                Ok(read)
            }
            Err(err) => {
                let kind = err.kind();
                self.err = Some(err);
                Err(io::Error::from(kind))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const TEXT: &[u8] = b"User-agent: *\nDisallow: /x\n";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn bodies_may_come_in_single_bytes() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(TEXT).unwrap();
        let zlib = zlib.finish().unwrap();
        for (coding, encoded) in
            [(ContentCoding::Deflate, &zlib), (ContentCoding::Gzip, &gzip(TEXT))]
        {
            let mut body = Vec::new();
            let single = BufReader::with_capacity(1, &encoded[..]);
            coding.decode(single, 1000, &mut body).unwrap();
            assert_eq!(body, TEXT);
        }
    }

    #[track_caller]
    fn check(
        wire: &[u8],
        codings: &[&str],
        bytes_max: usize,
        expected: Result<&[u8], FailureKind>,
    ) {
        let codings: Vec<&[u8]> = codings.iter().map(|coding| coding.as_bytes()).collect();
        let read = read_body(wire, &codings, bytes_max, |err| Problem::of_io(&err));
        let read = read.map_err(|problem| problem.kind);
        assert_eq!(read.as_deref(), expected.as_ref().map(|body| *body), "{codings:?}");
    }

    #[test]
    fn undoes_what_was_offered() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(TEXT).unwrap();
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
        bare.write_all(TEXT).unwrap();
        let twice = [gzip(b"User-agent: *\n"), gzip(b"Disallow: /x\n")].concat();

        check(TEXT, &[], 99, Ok(TEXT));
        check(TEXT, &["identity", ""], 99, Ok(TEXT));
        check(TEXT, &[], 5, Ok(&TEXT[..5]));
        check(&gzip(TEXT), &["GZIP"], 99, Ok(TEXT));
        check(&gzip(TEXT), &["x-gzip"], 5, Ok(&TEXT[..5]));
        check(&twice, &["gzip"], 99, Ok(TEXT));
        check(&zlib.finish().unwrap(), &["deflate"], 99, Ok(TEXT));
        check(&bare.finish().unwrap(), &["deflate"], 99, Ok(TEXT));
        check(b"", &["gzip"], 99, Ok(b""));
    }

    #[test]
    fn a_wrong_coding_is_detected() {
        let wrong = Err(FailureKind::BadEncoding);
        check(TEXT, &["gzip"], 99, wrong);
        check(TEXT, &["br"], 99, wrong);
        check(&gzip(TEXT), &["gzip, gzip"], 99, wrong);
        check(&gzip(TEXT)[..20], &["gzip"], 99, wrong);
        check(b"\xff\xff\xff\xff", &["deflate"], 99, wrong);
    }

    #[test]
    fn a_bomb_is_read_no_further_than_the_limit() {
        let bomb = gzip(&vec![b'a'; 50 << 20]);
        check(&bomb, &["gzip"], 512_001, Ok(&vec![b'a'; 512_001]));
        // A series of empty members gives no bytes, without end.
        let nothing = gzip(b"").repeat(200_000);
        check(&nothing, &["gzip"], 512_001, Err(FailureKind::BadEncoding));
    }
}
