//! The interface of the decoders of all compressions.

use crate::input::read_error::ReadErrorCause;

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
