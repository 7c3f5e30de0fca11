//! A body as it was before it was encoded for the way: bounded on both sides.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::outcome::{FailureKind, Problem, told};

/// What is offered in `Accept-Encoding`.
pub const OFFERED: &str = "gzip, deflate";

/// Encoded bytes that are read beyond what a body of the most bytes can need: a stream that
/// goes on without ever giving a byte ends here.
const OVERHEAD_BYTES_MAX: u64 = 1 << 20;

/// How a body was encoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Coding {
    Identity,
    Gzip,
    /// zlib by the standard, a bare deflate stream by some servers: told by looking.
    Deflate,
}

/// At most `bytes_max` of the body that `wire` carries in the codings that the values of
/// `Content-Encoding` name. What goes wrong on the wire is told by `problem_of`.
pub fn read_body(
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
    let read = decode(&mut buffered, coding, bytes_max as u64, &mut body);
    drop(buffered);
    match (read, wire.err) {
        (Ok(()), _) => Ok(body),
        (Err(_), Some(err)) => Err(problem_of(err)),
        (Err(err), None) => {
            let why = format!("the body does not decode as its Content-Encoding says: {err}");
            Err(Problem::new(FailureKind::BadEncoding, why))
        }
    }
}

fn decode(
    wire: &mut impl BufRead,
    coding: Coding,
    bytes_max: u64,
    body: &mut Vec<u8>,
) -> io::Result<()> {
    let head = wire.fill_buf()?;
    // Nothing at all is nothing in every coding.
    if head.is_empty() {
        return Ok(());
    }
    let has_zlib_header = matches!(head, [first, second, ..]
        if first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0);
    let read = match coding {
        Coding::Identity => wire.take(bytes_max).read_to_end(body),
        Coding::Gzip => MultiGzDecoder::new(wire).take(bytes_max).read_to_end(body),
        Coding::Deflate if has_zlib_header => {
            ZlibDecoder::new(wire).take(bytes_max).read_to_end(body)
        }
        Coding::Deflate => DeflateDecoder::new(wire).take(bytes_max).read_to_end(body),
    };
    read.map(|_| ())
}

/// One coding at most: who encodes twice is up to no good.
fn coding_of(values: &[&[u8]]) -> Result<Coding, Problem> {
    let names = values.iter().flat_map(|value| value.split(|&byte| byte == b','));
    let mut found = Coding::Identity;
    for name in names.map(<[u8]>::trim_ascii) {
        let coding = match name.to_ascii_lowercase().as_slice() {
            b"" | b"identity" => continue,
            b"gzip" | b"x-gzip" if found == Coding::Identity => Coding::Gzip,
            b"deflate" if found == Coding::Identity => Coding::Deflate,
            _ => {
                let name = told(&String::from_utf8_lossy(name));
                let why = format!("Content-Encoding '{name}' was not offered");
                return Err(Problem::new(FailureKind::BadEncoding, why));
            }
        };
        found = coding;
    }
    Ok(found)
}

/// The bytes of a connection, counted, with the error that ended them.
struct Wire<R> {
    inner: R,
    bytes_left: u64,
    err: Option<io::Error>,
}

impl<R: Read> Read for Wire<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.bytes_left == 0 {
            return Err(io::Error::other("it goes on without giving anything"));
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
    fn tells_a_wrong_coding() {
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
        // Members that are all empty give nothing, for ever.
        let nothing = gzip(b"").repeat(200_000);
        check(&nothing, &["gzip"], 512_001, Err(FailureKind::BadEncoding));
    }
}
