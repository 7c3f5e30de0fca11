//! Two jobs at the same time.

use std::thread::{Builder, scope};
use std::{panic::resume_unwind, sync::Mutex};

use crate::mutex::lock;

/// Runs `other` on a thread of its own and `own` on this one. If the system starts no thread, this
/// one runs both.
pub(crate) fn both<A: Send, B>(
    other: impl FnOnce() -> A + Send,
    own: impl FnOnce() -> B,
) -> (A, B) {
    let waiting = Mutex::new(Some(other));
    let take = || lock(&waiting).take();
    scope(|scope| {
        let started = Builder::new().spawn_scoped(scope, || take().map(|other| other()));
        let own = own();
        let done =
            started.ok().and_then(|thread| thread.join().unwrap_or_else(|why| resume_unwind(why)));
        let other = done.or_else(|| take().map(|other| other()));
        (other.expect("one of the threads has run it"), own)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_jobs_are_done() {
        let text = "a text of this thread".to_owned();
        let mut count = 0;
        let (length, ()) = both(|| text.len(), || count += 1);
        assert_eq!((length, count), (21, 1));
    }
}
