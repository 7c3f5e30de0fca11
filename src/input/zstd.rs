//! The body of a zstd frame.
//!
//! Where it fails the decoder does not say how much the same call put out and
//! used. So each call gets one whole block, and none before all of the last is
//! put out: then nothing is lost but the block that is damaged, and the damage is
//! where that begins. It is also how the decoder copies least.

use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use crate::input::compression::{Compression, MEMORY_BYTES_MAX};
use crate::input::read_error::ReadErrorCause;
use crate::input::step::{Next, Step};

/// What the decoder wants to see before it knows what it wants.
const START_BYTES: usize = 5;

/// A block, and the header of the next.
pub const BLOCK_BYTES_MAX: usize = (128 << 10) + 3;

/// The code of an error is its number, taken from zero.
const WINDOW_TOO_LARGE: usize = 0_usize.wrapping_sub(16);
const NO_MEMORY: usize = 0_usize.wrapping_sub(64);

/// Takes what the frame's window asks for, up to a limit.
pub struct Zstd {
    context: DCtx<'static>,
    /// To the end of the block, or of the header of the next.
    wanted: usize,
    /// Whether there may be more of the last block to put out.
    is_full: bool,
}

impl Zstd {
    /// Stands before the first frame.
    pub fn new() -> Zstd {
        let mut context = DCtx::create();
        let limit = DParameter::WindowLogMax(MEMORY_BYTES_MAX.ilog2());
        context.set_parameter(limit).expect("between 10 and 31");
        Zstd { context, wanted: START_BYTES, is_full: false }
    }

    /// Stands before a frame.
    pub fn begin(&mut self) {
        self.wanted = START_BYTES;
        self.is_full = false;
    }

    /// Bytes that the next step should see, if the file still has them.
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// Inflates some of it.
    pub fn step(&mut self, input: &[u8], out: &mut [u8]) -> Step {
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
