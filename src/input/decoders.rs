//! The decoders of all compressions, each of the body of a member.
//!
//! Gzip (RFC 1952) is read around a raw inflater. Its header and trailer are read here, so that damage has an exact
//! offset, and so that the CRC is computed over whole buffers; inside the decoder it takes about a third of the time.
//!
//! If the decoder of zstd fails, it does not return how much it delivered and used. So each call gets one
//! whole block, after all output of the last one. Then only the damaged block is lost, and its
//! start is the position of the damage. The decoder also copies least this way.
//!
//! A block of bzip2 is checked by its CRC after it is delivered. Of xz, index and checks are read, too.

use crc32fast::Hasher as Crc;
use flate2::{Decompress, FlushDecompress, Status};
use liblzma::stream::{self, Action, Stream};
use memchr::memchr;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::compression::{Compression, MEMORY_BYTES_MAX};
use super::raw_reader::{RAW_BUFFER_BYTES, RawReader, ReadError, ReadErrorCause};

/// The result of one call to a decoder.
pub(crate) struct Step {
    /// The bytes of the input that were used.
    pub consumed: usize,
    /// Bytes that were put out.
    pub produced: usize,
    /// How to go on.
    pub next: Next,
}

/// How to go on after a [`Step`].
pub(crate) enum Next {
    /// With more input, or more room.
    More,
    /// The body of the member ends here, and all of it was delivered.
    End,
    /// Not at all.
    Damaged(ReadErrorCause),
}

/// Decoders count in `u64`, but slices limit the numbers.
pub(crate) fn slice_len(count: u64) -> usize {
    usize::try_from(count).expect("no more than the slices that were given")
}

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
        check_trailer(raw, self.crc.clone().finalize(), length)
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
        let expected = (crc.clone().finalize() & 0xffff) as u16;
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

/// The bytes that the decoder needs first.
const START_BYTES: usize = 5;

/// A block, and the header of the next.
const BLOCK_BYTES_MAX: usize = (128 << 10) + 3;

const _: () = assert!(RAW_BUFFER_BYTES >= BLOCK_BYTES_MAX, "a block of zstd is looked at whole");

/// The code of an error is its negated number.
const WINDOW_TOO_LARGE: usize = 0_usize.wrapping_sub(16);
const NO_MEMORY: usize = 0_usize.wrapping_sub(64);

/// Uses as much memory as the window of the frame needs, up to a limit.
pub(crate) struct Zstd {
    context: DCtx<'static>,
    /// The bytes to the end of the block, or of the next header.
    wanted: usize,
    /// Whether more of the last block may be delivered.
    is_full: bool,
}

impl Zstd {
    /// A decoder before the first frame.
    pub(crate) fn new() -> Zstd {
        let mut context = DCtx::create();
        let limit = DParameter::WindowLogMax(MEMORY_BYTES_MAX.ilog2());
        context.set_parameter(limit).expect("between 10 and 31");
        Zstd { context, wanted: START_BYTES, is_full: false }
    }

    /// A decoder before a frame.
    pub(crate) fn begin(&mut self) {
        self.wanted = START_BYTES;
        self.is_full = false;
    }

    /// Bytes that the next step should see, if the file still has them.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted
    }

    /// Decompresses a part of it.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Step {
        if self.is_full {
            let step = self.step_once(&[], out);
            if step.produced > 0 || !matches!(step.next, Next::More) {
                return step;
            }
        }
        self.step_once(&input[..input.len().min(self.wanted)], out)
    }

    fn step_once(&mut self, input: &[u8], out: &mut [u8]) -> Step {
        let room = out.len();
        let mut input = InBuffer::around(input);
        let mut output = OutBuffer::around(out);
        let next = match self.context.decompress_stream(&mut output, &mut input) {
            Ok(0) => Next::End,
            Ok(wanted) => {
                self.wanted = wanted.min(BLOCK_BYTES_MAX);
                Next::More
            }
            Err(WINDOW_TOO_LARGE | NO_MEMORY) => {
                Next::Damaged(ReadErrorCause::TooLarge(Compression::Zstd))
            }
            Err(_) => Next::Damaged(ReadErrorCause::BadStream(Compression::Zstd)),
        };
        self.is_full = output.pos() == room;
        Step { consumed: input.pos(), produced: output.pos(), next }
    }
}

/// The decoder reads a few bytes ahead, so the position of damage depends on how its input is
/// split. It is always split at multiples of this, so that a file always gives the same result.
const PIECE_BYTES: usize = 1 << 14;

/// Takes under 4 MiB, however large the blocks.
pub(crate) struct Bzip2(bzip2::Decompress);

impl Bzip2 {
    /// A decoder before the first stream.
    pub(crate) fn new() -> Bzip2 {
        Bzip2(bzip2::Decompress::new(false))
    }

    /// A decoder before a stream.
    pub(crate) fn begin(&mut self) {
        if self.0.total_in() > 0 {
            *self = Bzip2::new();
        }
    }

    /// Bytes that the next step should see, if the file still has them.
    pub(crate) fn wanted(&self) -> usize {
        PIECE_BYTES - slice_len(self.0.total_in() % PIECE_BYTES as u64)
    }

    /// Decompresses a part of it.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Step {
        let input = &input[..input.len().min(self.wanted())];
        let (in_before, out_before) = (self.0.total_in(), self.0.total_out());
        let result = self.0.decompress(input, out);
        let next = match result {
            Ok(bzip2::Status::StreamEnd) => Next::End,
            Ok(bzip2::Status::MemNeeded) => {
                Next::Damaged(ReadErrorCause::TooLarge(Compression::Bzip2))
            }
            Ok(_) => Next::More,
            Err(_) => Next::Damaged(ReadErrorCause::BadStream(Compression::Bzip2)),
        };
        let consumed = slice_len(self.0.total_in() - in_before);
        let produced = slice_len(self.0.total_out() - out_before);
        Step { consumed, produced, next }
    }
}

/// Uses as much memory as the dictionary of the stream needs, up to a limit.
pub(crate) struct Xz(Option<Stream>);

impl Xz {
    /// A decoder before the first stream.
    pub(crate) fn new() -> Xz {
        Xz(None)
    }

    /// A decoder before a stream.
    pub(crate) fn begin(&mut self) {
        self.0 = Stream::new_stream_decoder(MEMORY_BYTES_MAX as u64, 0).ok();
    }

    /// Decompresses a part of it.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Step {
        let Some(stream) = &mut self.0 else {
            let next = Next::Damaged(ReadErrorCause::TooLarge(Compression::Xz));
            return Step { consumed: 0, produced: 0, next };
        };
        let (in_before, out_before) = (stream.total_in(), stream.total_out());
        let next = match stream.process(input, out, Action::Run) {
            Ok(stream::Status::StreamEnd) => Next::End,
            Ok(_) => Next::More,
            Err(stream::Error::MemLimit | stream::Error::Mem) => {
                Next::Damaged(ReadErrorCause::TooLarge(Compression::Xz))
            }
            Err(_) => Next::Damaged(ReadErrorCause::BadStream(Compression::Xz)),
        };
        let consumed = slice_len(stream.total_in() - in_before);
        let produced = slice_len(stream.total_out() - out_before);
        Step { consumed, produced, next }
    }
}
