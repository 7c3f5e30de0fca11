//! The body of an xz stream, its index and checks included.

use liblzma::stream::{Action, Error, Status, Stream};

use crate::input::compression::{Compression, MEMORY_BYTES_MAX};
use crate::input::read_error::ReadErrorCause;
use crate::input::step::{Next, Step, slice_len};

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
            Ok(Status::StreamEnd) => Next::End,
            Ok(_) => Next::More,
            Err(Error::MemLimit | Error::Mem) => {
                Next::Damaged(ReadErrorCause::TooLarge(Compression::Xz))
            }
            Err(_) => Next::Damaged(ReadErrorCause::BadStream(Compression::Xz)),
        };
        let consumed = slice_len(stream.total_in() - in_before);
        let produced = slice_len(stream.total_out() - out_before);
        Step { consumed, produced, next }
    }
}
