//! The form of the files that machines hand each other: a line of text with what it is and the hash
//! of all that follows, then two zstd frames, the header and the body, as MessagePack with the names
//! of all fields. So any changed bit is found, the header can be unpacked alone, and other programs
//! can read it: `tail -n +2 report.tally | zstd -dc | msgpack-to-json`.

use std::path::Path;

use memchr::memchr;
use serde::{Serialize, de::DeserializeOwned};
use xxhash_rust::xxh3::xxh3_128;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use crate::error::{Error, Result};

/// The fastest level that still compresses repeated field names.
const LEVEL: i32 = 1;

/// Bytes of most headers and bodies, before they are compressed.
const BYTES_USUAL: usize = 64 << 10;

/// The largest header or body that a small file may unpack to, in bytes. The request
/// times of the largest tally (`TIME_BUCKETS_MAX`) take a quarter of it.
const SMALL_PART_BYTES_MAX: u64 = 512 << 20;

/// How well a larger part may be compressed, far better than rows and robots.txt files are.
const RATIO_MAX: u64 = 256;

/// The largest header or body of all, in bytes.
const PART_BYTES_MAX: u64 = 8 << 30;

/// The header and the body of a file, still packed.
pub type Frames<'a> = (&'a [u8], &'a [u8]);

/// A file whose header and body are not compressed yet.
#[derive(Debug)]
pub struct Encoded {
    magic: &'static [u8],
    header: Vec<u8>,
    body: Vec<u8>,
}

impl Encoded {
    /// A file whose first line begins with `magic`.
    pub fn new(magic: &'static [u8], header: &impl Serialize, body: &impl Serialize) -> Encoded {
        Encoded { magic, header: encoded(header), body: encoded(body) }
    }

    /// The bytes of the file.
    pub fn packed(&self) -> Vec<u8> {
        let frames = [packed(&self.header), packed(&self.body)].concat();
        [self.magic, first_line_end(&frames).as_bytes(), &frames].concat()
    }
}

fn first_line_end(frames: &[u8]) -> String {
    format!("{:032x}\n", xxh3_128(frames))
}

/// The whole file at `path`; `what` is its kind, for errors.
///
/// # Errors
/// If it cannot be read.
pub fn read_file(what: &str, path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|err| Error::io(&format!("cannot read {what}"), path, err))
}

/// The header and the body after `magic`; `None` if they are damaged.
pub fn frames(after_magic: &[u8]) -> Option<Frames<'_>> {
    let first_line_bytes = memchr(b'\n', after_magic)? + 1;
    let (first_line, frames) = after_magic.split_at(first_line_bytes);
    if first_line != first_line_end(frames).as_bytes() {
        return None;
    }
    let (header, body) = frames.split_at_checked(find_frame_compressed_size(frames).ok()?)?;
    (find_frame_compressed_size(body).ok() == Some(body.len())).then_some((header, body))
}

fn encoded(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BYTES_USUAL);
    rmp_serde::encode::write_named(&mut bytes, value).expect("nothing in it cannot be packed");
    bytes
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = zstd::bulk::Compressor::new(LEVEL).expect("zstd knows its own levels");
    packer.compress(bytes).expect("the frame has room for the worst case")
}

/// The value in `frame`; `None` if it is damaged.
pub fn unpacked<T: DeserializeOwned>(frame: &[u8]) -> Option<T> {
    let size = get_frame_content_size(frame).ok()??;
    let size_max = SMALL_PART_BYTES_MAX.max(RATIO_MAX * frame.len() as u64).min(PART_BYTES_MAX);
    if size > size_max {
        return None;
    }
    let bytes = zstd::bulk::decompress(frame, usize::try_from(size).ok()?).ok()?;
    rmp_serde::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use serde::de::IgnoredAny;

    use super::*;

    const MAGIC: &[u8] = b"botaudit test 1 ";

    fn read(bytes: &[u8]) -> Option<(String, Vec<u64>)> {
        let (header, body) = frames(bytes.strip_prefix(MAGIC)?)?;
        Some((unpacked(header)?, unpacked(body)?))
    }

    #[test]
    fn a_small_frame_is_not_unpacked_if_it_is_too_large() {
        for (bytes, expected) in [(SMALL_PART_BYTES_MAX, true), (SMALL_PART_BYTES_MAX + 1, false)] {
            const BIN_32: u8 = 0xc6;
            let zeros = u32::try_from(bytes).unwrap() - 5;
            let head = [&[BIN_32][..], &zeros.to_be_bytes()].concat();
            let mut packer = zstd::Encoder::new(Vec::new(), LEVEL).unwrap();
            packer.set_pledged_src_size(Some(bytes)).unwrap();
            let mut value = head.chain(std::io::repeat(0)).take(bytes);
            std::io::copy(&mut value, &mut packer).unwrap();
            let frame = packer.finish().unwrap();
            assert!(frame.len() < 1 << 20, "{} bytes", frame.len());
            assert_eq!(unpacked::<IgnoredAny>(&frame).is_some(), expected);
        }
    }

    #[test]
    fn what_was_packed_is_read_and_no_changed_bit_is_let_pass() {
        let packed = ("of two machines".to_owned(), (0..40).collect::<Vec<u64>>());
        let bytes = Encoded::new(MAGIC, &packed.0, &packed.1).packed();
        assert_eq!(read(&bytes), Some(packed));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&flipped), None, "bit {bit}");
        }
        for cut in 0..bytes.len() {
            assert_eq!(read(&bytes[..cut]), None, "{cut} bytes");
        }
        assert_eq!(read(&[&bytes[..], b"x"].concat()), None);
    }
}
