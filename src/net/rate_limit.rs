//! Rate limits per host: one request at a time, with a pause between two requests.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::mutex::{lock, unpoisoned};

/// The number of remembered hosts at which those whose pause is over are removed.
const HOSTS_BEFORE_SWEEP: usize = 10_000;

/// One request at a time per host, and a pause after each. All fetches of a run share it.
#[derive(Debug)]
pub struct RateLimit {
    pause: Duration,
    by_host: Mutex<HashMap<String, HostState>>,
    opened: Condvar,
}

#[derive(Debug)]
struct HostState {
    is_busy: bool,
    waiting: usize,
    opens_at: Instant,
}

/// The permit to send a request to one host; returned when dropped.
#[derive(Debug)]
pub(super) struct HostPermit<'a> {
    rate_limit: &'a RateLimit,
    host: String,
}

impl RateLimit {
    /// Waits for `pause` after each request to a host.
    pub fn new(pause: Duration) -> RateLimit {
        RateLimit { pause, by_host: Mutex::default(), opened: Condvar::new() }
    }

    /// Waits for the permit for `host`.
    pub(super) fn enter(&self, host: &str) -> HostPermit<'_> {
        let mut by_host = lock(&self.by_host);
        by_host.entry(host.to_owned()).or_insert_with(HostState::new).waiting += 1;
        loop {
            let now = Instant::now();
            let host_state = by_host.entry(host.to_owned()).or_insert_with(HostState::new);
            if !host_state.is_busy && host_state.opens_at <= now {
                host_state.is_busy = true;
                host_state.waiting -= 1;
                return HostPermit { rate_limit: self, host: host.to_owned() };
            }
            by_host = if host_state.is_busy {
                unpoisoned(self.opened.wait(by_host))
            } else {
                let left = host_state.opens_at.saturating_duration_since(now);
                unpoisoned(self.opened.wait_timeout(by_host, left)).0
            };
        }
    }

    fn leave(&self, host: &str) {
        let now = Instant::now();
        let mut by_host = lock(&self.by_host);
        if let Some(host_state) = by_host.get_mut(host) {
            host_state.is_busy = false;
            host_state.opens_at = now + self.pause;
            if host_state.waiting == 0 && self.pause.is_zero() {
                by_host.remove(host);
            }
        }
        if by_host.len() > HOSTS_BEFORE_SWEEP {
            by_host.retain(|_, host_state| {
                host_state.is_busy || host_state.waiting > 0 || host_state.opens_at > now
            });
        }
        drop(by_host);
        self.opened.notify_all();
    }
}

impl HostState {
    fn new() -> HostState {
        HostState { is_busy: false, waiting: 0, opens_at: Instant::now() }
    }
}

impl Drop for HostPermit<'_> {
    fn drop(&mut self) {
        self.rate_limit.leave(&self.host);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn one_at_a_time_for_each_host() {
        let rate_limit = RateLimit::new(Duration::ZERO);
        let within = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _pass = rate_limit.enter("a");
                        assert_eq!(within.fetch_add(1, Ordering::SeqCst), 0);
                        within.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
            let _a = rate_limit.enter("b");
            let _b = rate_limit.enter("c");
        });
        assert!(lock(&rate_limit.by_host).is_empty());
    }

    #[test]
    fn a_pause_follows_each_request() {
        let rate_limit = RateLimit::new(Duration::from_millis(30));
        let start = Instant::now();
        drop(rate_limit.enter("a"));
        drop(rate_limit.enter("b"));
        assert!(start.elapsed() < Duration::from_millis(30));
        drop(rate_limit.enter("a"));
        assert!(start.elapsed() >= Duration::from_millis(30));
    }
}
