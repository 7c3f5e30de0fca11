//! When to give up: in all, and between two bytes.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::outcome::Problem;

/// The time that one fetch may take.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    end: Instant,
    read_timeout: Duration,
}

impl Deadline {
    /// From now on `total`, and `read_timeout` for each wait.
    pub fn new(total: Duration, read_timeout: Duration) -> Deadline {
        let now = Instant::now();
        let century = Duration::from_secs(100 * 365 * 86_400);
        let end = now.checked_add(total).unwrap_or(now + century);
        Deadline { end, read_timeout }
    }

    /// Moves the end: time that was not the server's.
    pub fn extend(&mut self, waited: Duration) {
        self.end += waited;
    }

    /// What is left, of `most`; never zero, for that would mean no timeout to a socket.
    pub fn left(&self, most: Duration) -> Result<Duration, Problem> {
        let left = self.end.saturating_duration_since(Instant::now()).min(most);
        if left.is_zero() { Err(Problem::timeout("the time limit is over")) } else { Ok(left) }
    }

    /// Makes the next wait on `stream` end in time.
    pub fn arm(&self, stream: &TcpStream) -> Result<(), Problem> {
        let left = Some(self.left(self.read_timeout)?);
        let armed = stream.set_read_timeout(left).and_then(|()| stream.set_write_timeout(left));
        armed.map_err(|err| Problem::of_io(&err))
    }
}
