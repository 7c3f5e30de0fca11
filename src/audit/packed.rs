//! The form of the files that machines hand each other: a line of text with what it is and the hash
//! of all that follows, then two zstd frames, the header and the body, as MessagePack with the names
//! of all fields. So any changed bit is found, the header can be unpacked alone, and other programs
//! can read it: `tail -n +2 report.tally | zstd -dc | msgpack-to-json`.

use std::io::{self, Read};
use std::{fs::File, path::Path};

use memchr::memchr;
use serde::{Serialize, de::DeserializeOwned};
use xxhash_rust::xxh3::xxh3_128;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use crate::error::{Error, Result};

use super::memory_limit::MemoryLimit;

/// The first bytes of all such files.
const PROGRAM: &[u8] = b"botaudit ";

/// The fastest level that still compresses repeated field names.
const LEVEL: i32 = 1;

/// Bytes of most headers and bodies, before they are compressed.
const BYTES_USUAL: usize = 64 << 10;

/// The header and the body of a file, still packed.
pub(crate) type Frames<'a> = (&'a [u8], &'a [u8]);

/// A file whose header and body are not compressed yet.
#[derive(Debug)]
pub(crate) struct Encoded {
    magic: &'static [u8],
    header: Vec<u8>,
    body: Vec<u8>,
}

impl Encoded {
    /// A file whose first line begins with `magic`.
    pub(crate) fn new(
        magic: &'static [u8],
        header: &impl Serialize,
        body: &impl Serialize,
    ) -> Encoded {
        Encoded { magic, header: encoded(header), body: encoded(body) }
    }

    /// The bytes of the file.
    pub(crate) fn packed(&self) -> Vec<u8> {
        let frames = [packed(&self.header), packed(&self.body)].concat();
        [self.magic, first_line_end(&frames).as_bytes(), &frames].concat()
    }
}

fn first_line_end(frames: &[u8]) -> String {
    format!("{:032x}\n", xxh3_128(frames))
}

/// Why a file cannot be unpacked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unreadable {
    /// It is damaged.
    Damaged,
    /// It takes more memory than is left.
    TooLarge,
}

/// The whole file at `path`; `what` is its kind, for errors. Of a file that is none of these, only
/// the beginning.
///
/// # Errors
/// If it cannot be read, or has more bytes than are left of `memory`.
pub(crate) fn read_file(what: &str, path: &Path, memory: &MemoryLimit) -> Result<Vec<u8>> {
    let bytes = File::open(path).and_then(|file| read_ours(file, memory.left()));
    let bytes = bytes.map_err(|err| Error::io(&format!("cannot read {what}"), path, err))?;
    match memory.take(bytes.len()) {
        true => Ok(bytes),
        false => Err(too_large(path, memory)),
    }
}

/// The bytes of `file`, and no more than one above `bytes_max`.
fn read_ours(mut file: impl Read, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.by_ref().take(PROGRAM.len() as u64).read_to_end(&mut bytes)?;
    if bytes == PROGRAM {
        let more = (bytes_max as u64).saturating_sub(bytes.len() as u64).saturating_add(1);
        file.take(more).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The error for a file at `path` that takes more than `memory`.
pub(crate) fn too_large(path: &Path, memory: &MemoryLimit) -> Error {
    let limit = size(memory.limit());
    let more = size(memory.limit().saturating_mul(2));
    let why = format!(
        "takes more than {limit} of memory, the limit; if you know who made it, allow more with \
         --memory {more}"
    );
    Error::tally(path, why)
}

/// `bytes` as flags have them.
fn size(bytes: usize) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = |(shift, _): &&(u32, &str)| bytes >= 1 << shift && bytes.trailing_zeros() >= *shift;
    match units.iter().find(fits) {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => format!("{}KiB", bytes.div_ceil(1 << 10)),
    }
}

/// The header and the body after `magic`; `None` if they are damaged.
pub(crate) fn frames(after_magic: &[u8]) -> Option<Frames<'_>> {
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

/// The value in `frame`. What it takes of `memory` stays taken.
///
/// # Errors
/// If it is damaged, or takes more memory than is left.
pub(crate) fn unpacked<T: DeserializeOwned>(
    frame: &[u8],
    memory: &MemoryLimit,
) -> std::result::Result<T, Unreadable> {
    let size = get_frame_content_size(frame).ok().flatten().ok_or(Unreadable::Damaged)?;
    let size = usize::try_from(size).map_err(|_| Unreadable::TooLarge)?;
    if !memory.take(size) {
        return Err(Unreadable::TooLarge);
    }
    let bytes = zstd::bulk::decompress(frame, size).map_err(|_| Unreadable::Damaged)?;
    let before = memory.taken();
    let value = decoded(&bytes, memory)?;
    // The bytes are freed here, and what was made of them is kept.
    let made = memory.taken() - before;
    memory.back_to(before - size);
    memory.take(made);
    Ok(value)
}

/// The value in `bytes`, charged to `memory`.
fn decoded<T: DeserializeOwned>(
    bytes: &[u8],
    memory: &MemoryLimit,
) -> std::result::Result<T, Unreadable> {
    memory.was_exceeded();
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
    let value = T::deserialize(memory.charging(&mut deserializer, size_of::<T>()));
    value.map_err(|_| match memory.was_exceeded() {
        true => Unreadable::TooLarge,
        false => Unreadable::Damaged,
    })
}

/// Charges `memory` for `value`, of which it is not known what it takes.
///
/// # Errors
/// If that is more memory than is left.
pub(crate) fn measure<T: Serialize + DeserializeOwned>(
    value: T,
    memory: &MemoryLimit,
) -> std::result::Result<T, Unreadable> {
    let bytes = encoded(&value);
    drop(value);
    decoded(&bytes, memory)
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::super::memory_limit::MEMORY_DEFAULT;
    use super::*;

    const MAGIC: &[u8] = b"botaudit test 1 ";

    fn read(bytes: &[u8]) -> Option<(String, Vec<u64>)> {
        let (header, body) = frames(bytes.strip_prefix(MAGIC)?)?;
        let memory = MemoryLimit::new(MEMORY_DEFAULT);
        Some((unpacked(header, &memory).ok()?, unpacked(body, &memory).ok()?))
    }

    #[test]
    fn a_small_frame_is_not_unpacked_if_it_is_too_large() {
        const LIMIT: u64 = 64 << 20;
        for (bytes, expected) in [(LIMIT, None), (LIMIT + 1, Some(Unreadable::TooLarge))] {
            const BIN_32: u8 = 0xc6;
            let zeros = u32::try_from(bytes).unwrap() - 5;
            let head = [&[BIN_32][..], &zeros.to_be_bytes()].concat();
            let mut packer = zstd::Encoder::new(Vec::new(), LEVEL).unwrap();
            packer.set_pledged_src_size(Some(bytes)).unwrap();
            let mut value = head.chain(std::io::repeat(0)).take(bytes);
            std::io::copy(&mut value, &mut packer).unwrap();
            let frame = packer.finish().unwrap();
            assert!(frame.len() < 1 << 20, "{} bytes", frame.len());
            let memory = MemoryLimit::new(usize::try_from(LIMIT).unwrap());
            assert_eq!(unpacked::<IgnoredAny>(&frame, &memory).err(), expected);
        }
    }

    /// Also after a value that was too large.
    #[test]
    fn what_is_another_value_is_damaged() {
        let memory = MemoryLimit::new(1 << 10);
        let zeros = packed(&encoded(&[0_u8; 600].as_slice()));
        assert_eq!(unpacked::<Vec<u64>>(&zeros, &memory).err(), Some(Unreadable::TooLarge));
        let text = packed(&encoded(&"text"));
        assert_eq!(unpacked::<u64>(&text, &memory).err(), Some(Unreadable::Damaged));
    }

    /// A file that is none of ours ends after its first bytes, and an endless one at the limit.
    #[test]
    fn an_endless_file_is_not_read_to_its_end() {
        assert_eq!(read_ours(io::repeat(0), usize::MAX).unwrap(), [0; PROGRAM.len()]);
        let endless = || PROGRAM.chain(io::repeat(0));
        assert_eq!(read_ours(endless(), 1 << 20).unwrap().len(), (1 << 20) + 1);
        for (bytes, expected) in
            [(2 << 30, "2GiB"), (3 << 29, "1536MiB"), (1 << 10, "1KiB"), (1500, "2KiB")]
        {
            assert_eq!(size(bytes), expected);
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

    #[test]
    fn sizes_are_written_as_flags_have_them() {
        for (bytes, expected) in [
            (0, "0KiB"),
            (1, "1KiB"),
            (1 << 10, "1KiB"),
            (1_500, "2KiB"),
            ((1 << 20) + (1 << 10), "1025KiB"),
            (1 << 20, "1MiB"),
            (3 << 20, "3MiB"),
            (1 << 30, "1GiB"),
            ((1 << 30) + (1 << 20), "1025MiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
