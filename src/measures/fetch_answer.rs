//! What a request for robots.txt was answered with.

use crate::judge::answer_size::{SizeClass, SizeComparison};

/// The answer to a request for robots.txt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FetchAnswer {
    /// The file, or the word that it has not changed.
    Read,
    /// Something else in its place, such as a challenge.
    Altered,
    /// A temporary redirect: to the file elsewhere, or to a challenge.
    Redirected,
    /// Something that is not the known file, which may be of another time.
    Unlike(SizeClass),
    /// An error, or an answer to another method than GET.
    Failed,
}

impl FetchAnswer {
    /// The answer with this status. `size` compares its size with the file; it is asked only for an answer with a
    /// body.
    pub(crate) fn of(
        method: &[u8],
        status: u16,
        size: impl FnOnce() -> SizeComparison,
    ) -> FetchAnswer {
        match (method, status) {
            (b"GET", 200) => match size() {
                SizeComparison::Fits => FetchAnswer::Read,
                SizeComparison::DiffersThen => FetchAnswer::Altered,
                SizeComparison::Differs(size) => FetchAnswer::Unlike(size),
            },
            (b"GET", 304) => FetchAnswer::Read,
            (b"GET", 202) => FetchAnswer::Altered,
            (b"GET", 302 | 303 | 307) => FetchAnswer::Redirected,
            _ => FetchAnswer::Failed,
        }
    }
}
