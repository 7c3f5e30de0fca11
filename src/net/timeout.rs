//! Deadlines: for the whole fetch, and between two reads.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::outcome::Problem;

/// The time limits of one fetch.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    end: Instant,
    read_timeout: Duration,
}

impl Deadline {
    /// Starts with `total` for the fetch, and `read_timeout` for each read.
    pub fn new(total: Duration, read_timeout: Duration) -> Deadline {
        let now = Instant::now();
        let century = Duration::from_secs(100 * 365 * 86_400);
        let end = now.checked_add(total).unwrap_or(now + century);
        Deadline { end, read_timeout }
    }

    /// Extends the deadline by time that the server did not cause.
    pub(crate) fn extend(&mut self, waited: Duration) {
        self.end += waited;
    }

    /// The same, but not after `until`.
    pub(crate) fn capped(self, until: Option<Instant>) -> Deadline {
        Deadline { end: until.map_or(self.end, |until| until.min(self.end)), ..self }
    }

    /// The remaining time, at most `most`; never zero, because that means no timeout to a socket.
    pub(crate) fn left(&self, most: Duration) -> Result<Duration, Problem> {
        let left = self.end.saturating_duration_since(Instant::now()).min(most);
        if left.is_zero() { Err(Problem::timeout("the time limit was exceeded")) } else { Ok(left) }
    }

    /// Sets the timeout of the next read of `stream`.
    pub(crate) fn arm(&self, stream: &TcpStream) -> Result<(), Problem> {
        let left = Some(self.left(self.read_timeout)?);
        let armed = stream.set_read_timeout(left).and_then(|()| stream.set_write_timeout(left));
        armed.map_err(|err| Problem::of_io(&err))
    }
}
