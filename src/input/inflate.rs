//! Reads consecutive members of any compression as one stream.
//!
//! A decoder handles the body of one member. The gaps between members, and the handling of damage,
//! are the same for all.

use crate::input::compression::{Compression, MAGIC_BYTES_MAX};
use crate::input::read_error::{ReadError, ReadErrorCause};
use crate::input::step::{Next, Step};
use crate::input::{bzip2::Bzip2, gzip::Gzip, raw_reader::RawReader, xz::Xz, zstd::Zstd};

/// Inflates a file from its first byte to its end.
pub(crate) struct Inflate {
    compression: Compression,
    decoder: Decoder,
    state: State,
}

enum Decoder {
    Gzip(Gzip),
    Zstd(Zstd),
    Bzip2(Bzip2),
    Xz(Xz),
}

#[derive(Clone, Copy)]
enum State {
    /// Before the first member.
    Start,
    /// Inside a member.
    Body,
    /// After a member.
    Between,
    End,
    /// Given once the bytes inflated before it are.
    Damaged(ReadError),
}

impl Inflate {
    /// A decoder before the first member, in `compression`.
    pub(crate) fn new(compression: Compression) -> Inflate {
        let decoder = match compression {
            Compression::Gzip => Decoder::Gzip(Gzip::new()),
            Compression::Zstd => Decoder::Zstd(Zstd::new()),
            Compression::Bzip2 => Decoder::Bzip2(Bzip2::new()),
            Compression::Xz => Decoder::Xz(Xz::new()),
        };
        Inflate { compression, decoder, state: State::Start }
    }

    /// Decompresses into `out`, which is not empty; returns 0 only at the end.
    pub(crate) fn read(&mut self, raw: &mut RawReader, out: &mut [u8]) -> Result<usize, ReadError> {
        loop {
            match self.state {
                State::Start => self.begin_member(raw)?,
                State::Between => {
                    skip_zeros(raw)?;
                    if raw.peek()?.is_empty() {
                        self.state = State::End;
                        continue;
                    }
                    let start = raw.peek_at_least(MAGIC_BYTES_MAX)?;
                    if Compression::of(start) != Some(self.compression) {
                        return Err(raw.damage(ReadErrorCause::TrailingGarbage(self.compression)));
                    }
                    self.begin_member(raw)?;
                }
                State::Body => {
                    let count = self.inflate_some(raw, out)?;
                    if count > 0 {
                        return Ok(count);
                    }
                }
                State::End => return Ok(0),
                State::Damaged(damage) => return Err(damage),
            }
        }
    }

    /// Whether the file ended without the last block of its format, though between two members.
    pub(crate) fn may_be_cut(&self) -> bool {
        let lacks_end = matches!(&self.decoder, Decoder::Gzip(gzip) if gzip.lacks_end_block());
        lacks_end && matches!(self.state, State::End)
    }

    fn begin_member(&mut self, raw: &mut RawReader) -> Result<(), ReadError> {
        match &mut self.decoder {
            Decoder::Gzip(gzip) => gzip.begin(raw)?,
            Decoder::Zstd(zstd) => zstd.begin(),
            Decoder::Bzip2(bzip2) => bzip2.begin(),
            Decoder::Xz(xz) => xz.begin(),
        }
        self.state = State::Body;
        Ok(())
    }

    fn inflate_some(&mut self, raw: &mut RawReader, out: &mut [u8]) -> Result<usize, ReadError> {
        let wanted = match &self.decoder {
            Decoder::Zstd(zstd) => zstd.wanted(),
            Decoder::Bzip2(bzip2) => bzip2.wanted(),
            Decoder::Gzip(_) | Decoder::Xz(_) => 1,
        };
        // The bytes before a failed read may decompress to more than `out` can take.
        let failed = raw.peek_at_least(wanted).err();
        let input = raw.buffered();
        let input_is_over = input.is_empty();
        let Step { consumed, produced, next } = match &mut self.decoder {
            Decoder::Gzip(gzip) => gzip.step(input, out),
            Decoder::Zstd(zstd) => zstd.step(input, out),
            Decoder::Bzip2(bzip2) => bzip2.step(input, out),
            Decoder::Xz(xz) => xz.step(input, out),
        };
        raw.consume(consumed);
        match next {
            Next::End => {
                self.state = State::Between;
                if let Err(damage) = self.end_member(raw) {
                    self.stop(damage, produced)?;
                }
            }
            Next::More if produced == 0 && consumed == 0 => {
                let cause = if input_is_over {
                    ReadErrorCause::Truncated(self.compression)
                } else {
                    ReadErrorCause::BadStream(self.compression)
                };
                return Err(failed.unwrap_or(raw.damage(cause)));
            }
            Next::More => {}
            Next::Damaged(cause) => self.stop(raw.damage(cause), produced)?,
        }
        Ok(produced)
    }

    fn end_member(&mut self, raw: &mut RawReader) -> Result<(), ReadError> {
        match &mut self.decoder {
            Decoder::Gzip(gzip) => gzip.end(raw),
            Decoder::Zstd(_) | Decoder::Bzip2(_) | Decoder::Xz(_) => Ok(()),
        }
    }

    /// The `produced` bytes are delivered before the damage is reported.
    fn stop(&mut self, damage: ReadError, produced: usize) -> Result<(), ReadError> {
        if produced == 0 {
            return Err(damage);
        }
        self.state = State::Damaged(damage);
        Ok(())
    }
}

/// Tapes and some copiers pad with zeros, xz does itself; the tools tolerate it.
fn skip_zeros(raw: &mut RawReader) -> Result<(), ReadError> {
    loop {
        let seen = raw.peek()?;
        let zeros = seen.iter().position(|&byte| byte != 0).unwrap_or(seen.len());
        let is_over = zeros == 0 || zeros < seen.len();
        raw.consume(zeros);
        if is_over {
            return Ok(());
        }
    }
}
