//! Gzip (RFC 1952) around a raw inflater.
//!
//! Header and trailer are read here, so that damage has an exact offset, and so that the CRC is
//! computed over whole buffers; inside the decoder it takes about a third of the time.

use flate2::{Crc, Decompress, FlushDecompress, Status};
use memchr::memchr;

use crate::input::read_error::{ReadError, ReadErrorCause};
use crate::input::step::{Next, Step, slice_len};
use crate::input::{compression::Compression, raw_reader::RawReader};

/// The first two bytes of every member.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Bits of the header's flag byte.
const HEADER_CHECKSUM: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;

/// How the extra field of a block of blocked gzip (BGZF, in the specification of SAM) begins: the
/// two letters of the subfield and its length. The last block of a whole file is empty.
const BLOCKED: [u8; 4] = [b'B', b'C', 2, 0];

/// Inflates one member after another.
pub(crate) struct Gzip {
    inflate: Decompress,
    crc: Crc,
    /// Whether the member is a block of blocked gzip.
    is_blocked: bool,
}

impl Gzip {
    /// A decoder before the first member.
    pub(crate) fn new() -> Gzip {
        Gzip { inflate: Decompress::new(false), crc: Crc::new(), is_blocked: false }
    }

    /// Reads over the header.
    pub(crate) fn begin(&mut self, raw: &mut RawReader) -> Result<(), ReadError> {
        self.is_blocked = skip_header(raw, &mut self.crc)?;
        self.crc.reset();
        self.inflate.reset(false);
        Ok(())
    }

    /// Whether the last member is a block that is not the last one of its file.
    pub(crate) fn lacks_end_block(&self) -> bool {
        self.is_blocked && self.inflate.total_out() > 0
    }

    /// Decompresses a part of the body.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Step {
        let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
        let result = self.inflate.decompress(input, out, FlushDecompress::None);
        let consumed = slice_len(self.inflate.total_in() - in_before);
        let produced = slice_len(self.inflate.total_out() - out_before);
        self.crc.update(&out[..produced]);
        let next = match result {
            Ok(Status::StreamEnd) => Next::End,
            Ok(_) => Next::More,
            Err(_) => Next::Damaged(ReadErrorCause::BadStream(Compression::Gzip)),
        };
        Step { consumed, produced, next }
    }

    /// Checks the trailer.
    pub(crate) fn end(&mut self, raw: &mut RawReader) -> Result<(), ReadError> {
        // `total_out` and the trailer's length are taken modulo 2^32.
        let length = (self.inflate.total_out() & 0xffff_ffff) as u32;
        check_trailer(raw, self.crc.sum(), length)
    }
}

fn check_trailer(raw: &mut RawReader, crc: u32, length: u32) -> Result<(), ReadError> {
    let start = raw.damage(ReadErrorCause::WrongChecksum);
    if take_u32(raw)? != crc {
        return Err(start);
    }
    let start = raw.damage(ReadErrorCause::WrongLength);
    if take_u32(raw)? != length { Err(start) } else { Ok(()) }
}

/// Skips the header of a member after checking all that can be checked. Returns whether it is that
/// of a block.
fn skip_header(raw: &mut RawReader, crc: &mut Crc) -> Result<bool, ReadError> {
    crc.reset();
    let mut is_blocked = false;
    let start = raw.damage(ReadErrorCause::BadHeader);
    let [id1, id2, method, flags, ..] = take::<10>(raw, crc)?;
    if [id1, id2] != MAGIC || method != 8 || flags & RESERVED != 0 {
        return Err(start);
    }
    if flags & EXTRA != 0 {
        let length = u16::from_le_bytes(take::<2>(raw, crc)?);
        is_blocked = length > BLOCKED.len() as u16
            && raw.peek_at_least(BLOCKED.len())?.starts_with(&BLOCKED);
        skip(raw, usize::from(length), crc)?;
    }
    if flags & NAME != 0 {
        skip_past_zero(raw, crc)?;
    }
    if flags & COMMENT != 0 {
        skip_past_zero(raw, crc)?;
    }
    if flags & HEADER_CHECKSUM != 0 {
        let damage = raw.damage(ReadErrorCause::WrongHeaderChecksum);
        let expected = (crc.sum() & 0xffff) as u16;
        if u16::from_le_bytes(take::<2>(raw, crc)?) != expected {
            return Err(damage);
        }
    }
    Ok(is_blocked)
}

fn take_u32(raw: &mut RawReader) -> Result<u32, ReadError> {
    take::<4>(raw, &mut Crc::new()).map(u32::from_le_bytes)
}

fn take<const N: usize>(raw: &mut RawReader, crc: &mut Crc) -> Result<[u8; N], ReadError> {
    let mut bytes = [0; N];
    let seen = raw.peek_at_least(N)?;
    let count = seen.len().min(N);
    bytes[..count].copy_from_slice(&seen[..count]);
    raw.consume(count);
    if count < N {
        return Err(raw.damage(ReadErrorCause::Truncated(Compression::Gzip)));
    }
    crc.update(&bytes);
    Ok(bytes)
}

fn skip(raw: &mut RawReader, mut count: usize, crc: &mut Crc) -> Result<(), ReadError> {
    while count > 0 {
        let seen = raw.peek()?;
        let now = count.min(seen.len());
        crc.update(&seen[..now]);
        raw.consume(now);
        if now == 0 {
            return Err(raw.damage(ReadErrorCause::Truncated(Compression::Gzip)));
        }
        count -= now;
    }
    Ok(())
}

fn skip_past_zero(raw: &mut RawReader, crc: &mut Crc) -> Result<(), ReadError> {
    loop {
        let seen = raw.peek()?;
        let zero = memchr(0, seen);
        let now = zero.map_or(seen.len(), |at| at + 1);
        crc.update(&seen[..now]);
        raw.consume(now);
        if zero.is_some() {
            return Ok(());
        }
        if now == 0 {
            return Err(raw.damage(ReadErrorCause::Truncated(Compression::Gzip)));
        }
    }
}
