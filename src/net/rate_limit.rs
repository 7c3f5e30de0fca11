//! Politeness: a host is asked by one at a time, with a pause between two requests.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Hosts that are remembered before those whose pause is over are forgotten.
const HOSTS_BEFORE_SWEEP: usize = 10_000;

/// A gate before each host. Whoever asks the hosts of one run shares one of these.
#[derive(Debug)]
pub struct Gates {
    pause: Duration,
    by_host: Mutex<HashMap<String, Gate>>,
    opened: Condvar,
}

#[derive(Debug)]
struct Gate {
    is_taken: bool,
    waiting: usize,
    opens_at: Instant,
}

/// The right to ask one host; given back when dropped.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    gates: &'a Gates,
    host: String,
}

impl Gates {
    /// Gates that stay shut for `pause` after each request.
    pub fn new(pause: Duration) -> Gates {
        Gates { pause, by_host: Mutex::default(), opened: Condvar::new() }
    }

    /// Waits for the turn to ask `host`.
    pub(super) fn enter(&self, host: &str) -> Pass<'_> {
        let mut by_host = self.lock();
        by_host.entry(host.to_owned()).or_insert_with(Gate::new).waiting += 1;
        loop {
            let now = Instant::now();
            let gate = by_host.entry(host.to_owned()).or_insert_with(Gate::new);
            if !gate.is_taken && gate.opens_at <= now {
                gate.is_taken = true;
                gate.waiting -= 1;
                return Pass { gates: self, host: host.to_owned() };
            }
            by_host = if gate.is_taken {
                self.opened.wait(by_host).unwrap_or_else(PoisonError::into_inner)
            } else {
                let left = gate.opens_at.saturating_duration_since(now);
                self.opened.wait_timeout(by_host, left).unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }

    fn leave(&self, host: &str) {
        let now = Instant::now();
        let mut by_host = self.lock();
        if let Some(gate) = by_host.get_mut(host) {
            gate.is_taken = false;
            gate.opens_at = now + self.pause;
            if gate.waiting == 0 && self.pause.is_zero() {
                by_host.remove(host);
            }
        }
        if by_host.len() > HOSTS_BEFORE_SWEEP {
            by_host.retain(|_, gate| gate.is_taken || gate.waiting > 0 || gate.opens_at > now);
        }
        drop(by_host);
        self.opened.notify_all();
    }

    /// What is behind the lock is whole at any time, whoever panicked.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Gate>> {
        self.by_host.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gate {
    fn new() -> Gate {
        Gate { is_taken: false, waiting: 0, opens_at: Instant::now() }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.gates.leave(&self.host);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn one_at_a_time_for_each_host() {
        let gates = Gates::new(Duration::ZERO);
        let within = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _pass = gates.enter("a");
                        assert_eq!(within.fetch_add(1, Ordering::SeqCst), 0);
                        within.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
            let _a = gates.enter("b");
            let _b = gates.enter("c");
        });
        assert!(gates.lock().is_empty());
    }

    #[test]
    fn a_pause_follows_each_request() {
        let gates = Gates::new(Duration::from_millis(30));
        let start = Instant::now();
        drop(gates.enter("a"));
        drop(gates.enter("b"));
        assert!(start.elapsed() < Duration::from_millis(30));
        drop(gates.enter("a"));
        assert!(start.elapsed() >= Duration::from_millis(30));
    }
}
