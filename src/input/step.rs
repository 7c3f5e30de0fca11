//! What decoders of all compressions have in common.

use crate::input::read_error::ReadErrorCause;

/// What one call to a decoder did.
pub struct Step {
    /// Bytes of the input that are used up.
    pub consumed: usize,
    /// Bytes that were put out.
    pub produced: usize,
    /// How to go on.
    pub next: Next,
}

/// How to go on after a [`Step`].
pub enum Next {
    /// With more input, or more room.
    More,
    /// The member's body ends here, and all of it was put out.
    End,
    /// Not at all.
    Damaged(ReadErrorCause),
}

/// Decoders count in `u64` what is limited by the slices they are given.
pub fn slice_len(count: u64) -> usize {
    usize::try_from(count).expect("no more than the slices that were given")
}
