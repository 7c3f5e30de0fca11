//! The body of a bzip2 stream. A block is checked by its CRC after it is delivered.

use bzip2::{Decompress, Status};

use crate::input::step::{Next, Step, slice_len};
use crate::input::{compression::Compression, read_error::ReadErrorCause};

/// The decoder reads a few bytes ahead, so the position of damage depends on how its input is
/// split. It is always split at multiples of this, so that a file always gives the same result.
const PIECE_BYTES: usize = 1 << 14;

/// Takes under 4 MiB, however large the blocks.
pub(crate) struct Bzip2(Decompress);

impl Bzip2 {
    /// A decoder before the first stream.
    pub(crate) fn new() -> Bzip2 {
        Bzip2(Decompress::new(false))
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
            Ok(Status::StreamEnd) => Next::End,
            Ok(Status::MemNeeded) => Next::Damaged(ReadErrorCause::TooLarge(Compression::Bzip2)),
            Ok(_) => Next::More,
            Err(_) => Next::Damaged(ReadErrorCause::BadStream(Compression::Bzip2)),
        };
        let consumed = slice_len(self.0.total_in() - in_before);
        let produced = slice_len(self.0.total_out() - out_before);
        Step { consumed, produced, next }
    }
}
