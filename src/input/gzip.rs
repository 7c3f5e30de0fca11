//! Gzip (RFC 1952) around a raw inflater.
//!
//! Header and trailer are read here, so that damage has an exact offset, and so
//! that the CRC is taken over whole buffers: inside the inflater it costs about
//! a third of the time.

use flate2::{Crc, Decompress, FlushDecompress, Status};
use memchr::memchr;

use crate::input::damage::{Cause, Damage};
use crate::input::intake::Intake;

/// The first two bytes of every member.
pub const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Bits of the header's flag byte.
const HEADER_CHECKSUM: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;

/// Inflates concatenated members as one stream.
pub struct Gzip {
    inflate: Decompress,
    crc: Crc,
    state: State,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum State {
    /// Before the first member.
    Start,
    /// Inside a member's deflate stream.
    Body,
    /// After a member.
    Between,
    End,
    /// Given once the bytes inflated before it are.
    Damaged(Damage),
}

impl Gzip {
    /// Stands before the first member.
    pub fn new() -> Gzip {
        Gzip { inflate: Decompress::new(false), crc: Crc::new(), state: State::Start }
    }

    /// Inflates into `out`, which is not empty; 0 only at the end.
    pub fn read(&mut self, intake: &mut Intake, out: &mut [u8]) -> Result<usize, Damage> {
        loop {
            match self.state {
                State::Start => self.begin_member(intake)?,
                State::Between => {
                    skip_zeros(intake)?;
                    if intake.peek()?.is_empty() {
                        self.state = State::End;
                    } else if intake.peek_at_least(MAGIC.len())?.starts_with(&MAGIC) {
                        self.begin_member(intake)?;
                    } else {
                        return Err(intake.damage(Cause::TrailingGarbage));
                    }
                }
                State::Body => {
                    let count = self.inflate_some(intake, out)?;
                    if count > 0 {
                        return Ok(count);
                    }
                }
                State::End => return Ok(0),
                State::Damaged(damage) => return Err(damage),
            }
        }
    }

    fn begin_member(&mut self, intake: &mut Intake) -> Result<(), Damage> {
        skip_header(intake, &mut self.crc)?;
        self.crc.reset();
        self.inflate.reset(false);
        self.state = State::Body;
        Ok(())
    }

    fn inflate_some(&mut self, intake: &mut Intake, out: &mut [u8]) -> Result<usize, Damage> {
        // What was read before a read failed may inflate to more than fitted so far.
        let (input, failed) = match intake.peek() {
            Ok(input) => (input, None),
            Err(damage) => (&[][..], Some(damage)),
        };
        let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
        let input_is_over = input.is_empty();
        let result = self.inflate.decompress(input, out, FlushDecompress::None);
        let consumed = to_usize(self.inflate.total_in() - in_before);
        let produced = to_usize(self.inflate.total_out() - out_before);
        intake.consume(consumed);
        self.crc.update(&out[..produced]);
        match result {
            Ok(Status::StreamEnd) => self.end_member(intake, produced)?,
            Ok(_) if produced == 0 && consumed == 0 => {
                let cause = if input_is_over { Cause::Truncated } else { Cause::BadStream };
                return Err(failed.unwrap_or(intake.damage(cause)));
            }
            Ok(_) => {}
            Err(_) if produced == 0 => return Err(intake.damage(Cause::BadStream)),
            Err(_) => self.state = State::Damaged(intake.damage(Cause::BadStream)),
        }
        Ok(produced)
    }

    /// Checks the trailer. What the member's last call produced is delivered
    /// before damage is told.
    fn end_member(&mut self, intake: &mut Intake, produced: usize) -> Result<(), Damage> {
        self.state = State::Between;
        // `total_out` and the trailer's length are taken modulo 2^32.
        let length = (self.inflate.total_out() & 0xffff_ffff) as u32;
        match check_trailer(intake, self.crc.sum(), length) {
            Err(damage) if produced > 0 => self.state = State::Damaged(damage),
            checked => checked?,
        }
        Ok(())
    }
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).expect("no more than the slices that were given")
}

fn check_trailer(intake: &mut Intake, crc: u32, length: u32) -> Result<(), Damage> {
    let start = intake.damage(Cause::WrongChecksum);
    if take_u32(intake)? != crc {
        return Err(start);
    }
    let start = intake.damage(Cause::WrongLength);
    if take_u32(intake)? != length { Err(start) } else { Ok(()) }
}

/// Reads over a member's header and checks it as far as it can be checked.
fn skip_header(intake: &mut Intake, crc: &mut Crc) -> Result<(), Damage> {
    crc.reset();
    let start = intake.damage(Cause::BadHeader);
    let [id1, id2, method, flags, ..] = take::<10>(intake, crc)?;
    if [id1, id2] != MAGIC || method != 8 || flags & RESERVED != 0 {
        return Err(start);
    }
    if flags & EXTRA != 0 {
        let length = u16::from_le_bytes(take::<2>(intake, crc)?);
        skip(intake, usize::from(length), crc)?;
    }
    if flags & NAME != 0 {
        skip_past_zero(intake, crc)?;
    }
    if flags & COMMENT != 0 {
        skip_past_zero(intake, crc)?;
    }
    if flags & HEADER_CHECKSUM != 0 {
        let place = intake.damage(Cause::WrongHeaderChecksum);
        let expected = (crc.sum() & 0xffff) as u16;
        if u16::from_le_bytes(take::<2>(intake, crc)?) != expected {
            return Err(place);
        }
    }
    Ok(())
}

fn take_u32(intake: &mut Intake) -> Result<u32, Damage> {
    take::<4>(intake, &mut Crc::new()).map(u32::from_le_bytes)
}

fn take<const N: usize>(intake: &mut Intake, crc: &mut Crc) -> Result<[u8; N], Damage> {
    let mut taken = [0; N];
    let seen = intake.peek_at_least(N)?;
    let count = seen.len().min(N);
    taken[..count].copy_from_slice(&seen[..count]);
    intake.consume(count);
    if count < N {
        return Err(intake.damage(Cause::Truncated));
    }
    crc.update(&taken);
    Ok(taken)
}

fn skip(intake: &mut Intake, mut count: usize, crc: &mut Crc) -> Result<(), Damage> {
    while count > 0 {
        let seen = intake.peek()?;
        let now = count.min(seen.len());
        crc.update(&seen[..now]);
        intake.consume(now);
        if now == 0 {
            return Err(intake.damage(Cause::Truncated));
        }
        count -= now;
    }
    Ok(())
}

fn skip_past_zero(intake: &mut Intake, crc: &mut Crc) -> Result<(), Damage> {
    loop {
        let seen = intake.peek()?;
        let zero = memchr(0, seen);
        let now = zero.map_or(seen.len(), |at| at + 1);
        crc.update(&seen[..now]);
        intake.consume(now);
        if zero.is_some() {
            return Ok(());
        }
        if now == 0 {
            return Err(intake.damage(Cause::Truncated));
        }
    }
}

/// Tapes and some copiers pad with zeros; gzip itself tolerates them too.
fn skip_zeros(intake: &mut Intake) -> Result<(), Damage> {
    loop {
        let seen = intake.peek()?;
        let zeros = seen.iter().position(|&byte| byte != 0).unwrap_or(seen.len());
        let is_over = zeros == 0 || zeros < seen.len();
        intake.consume(zeros);
        if is_over {
            return Ok(());
        }
    }
}
