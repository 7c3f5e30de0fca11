//! The body of a zstd frame.
//!
//! If it fails, the decoder does not return how much it delivered and used. So each call gets one
//! whole block, after all output of the last one. Then only the damaged block is lost, and its
//! start is the position of the damage. The decoder also copies least this way.

use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use crate::input::compression::{Compression, MEMORY_BYTES_MAX};
use crate::input::read_error::ReadErrorCause;
use crate::input::step::{Next, Step};

/// The bytes that the decoder needs first.
const START_BYTES: usize = 5;

/// A block, and the header of the next.
pub(crate) const BLOCK_BYTES_MAX: usize = (128 << 10) + 3;

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
