//! Requests in the order of their times.
//!
//! Servers write a line when a response ends, many with the time when the request began. So a request waits until no
//! request can come before it: until one is more than [`WINDOW_SECONDS`] later. The result is the same for any order of lines that
//! is not further out of order.
//!
//! A request that is further out of order is late. If [`LATE_MAX`] requests one after another are, a new log begins: files
//! were joined in another order, or a clock was set.

use std::collections::BTreeMap;

/// How much earlier than a request before it a request may be.
pub(crate) const WINDOW_SECONDS: i64 = 15 * 60;

/// The most requests that wait: 550 a second in the window. If there are more, the earliest wait no longer.
const WAITING_MAX: usize = if cfg!(test) { 100 } else { 500_000 };

/// The late requests one after another with which a new log begins.
const LATE_MAX: usize = if cfg!(test) { 40 } else { 1_000 };

/// What becomes of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum InTime<T> {
    /// It is next.
    Next(T),
    /// It is late.
    Late(T),
    /// All requests before it were of another log.
    NewLog,
}

/// The requests that wait.
#[derive(Debug)]
pub(crate) struct TimeOrder<T> {
    /// The latest request; `None` before the first.
    latest: Option<i64>,
    /// Earlier requests are late.
    from: i64,
    /// By the second.
    waiting: BTreeMap<i64, Vec<T>>,
    /// Their number.
    waiting_count: usize,
    /// The last requests, if they are late.
    late: Vec<(i64, T)>,
}

impl<T> Default for TimeOrder<T> {
    fn default() -> TimeOrder<T> {
        TimeOrder {
            latest: None,
            from: i64::MIN,
            waiting: BTreeMap::new(),
            waiting_count: 0,
            late: Vec::new(),
        }
    }
}

impl<T: Ord> TimeOrder<T> {
    /// Takes the next request of the log, made at `second`, and hands on those that wait no longer.
    /// Requests of one second are in the order of `T`.
    pub(crate) fn add(
        &mut self,
        second: i64,
        request: T,
        hand_on: &mut impl FnMut(i64, InTime<T>),
    ) {
        if second < self.from {
            self.late.push((second, request));
            if self.late.len() >= LATE_MAX {
                let late = std::mem::take(&mut self.late);
                self.end(hand_on);
                hand_on(late[0].0, InTime::NewLog);
                // The first of them is not late any more, so this happens once.
                late.into_iter().for_each(|(second, request)| self.add(second, request, hand_on));
            }
            return;
        }
        self.late.drain(..).for_each(|(second, late)| hand_on(second, InTime::Late(late)));
        let latest = self.latest.map_or(second, |latest| latest.max(second));
        self.latest = Some(latest);
        self.from = self.from.max(latest.saturating_sub(WINDOW_SECONDS));
        self.waiting.entry(second).or_default().push(request);
        self.waiting_count += 1;
        while let Some((&first, _)) = self.waiting.first_key_value()
            && (first < self.from || self.waiting_count > WAITING_MAX)
        {
            self.from = self.from.max(first);
            self.hand_on_first(hand_on);
        }
    }

    /// Hands on all requests that wait, at the end of a log. The next request begins another one.
    pub(crate) fn end(&mut self, hand_on: &mut impl FnMut(i64, InTime<T>)) {
        while !self.waiting.is_empty() {
            self.hand_on_first(hand_on);
        }
        self.late.drain(..).for_each(|(second, late)| hand_on(second, InTime::Late(late)));
        *self = TimeOrder::default();
    }

    fn hand_on_first(&mut self, hand_on: &mut impl FnMut(i64, InTime<T>)) {
        let Some((second, mut requests)) = self.waiting.pop_first() else { return };
        self.waiting_count -= requests.len();
        requests.sort_unstable();
        requests.into_iter().for_each(|request| hand_on(second, InTime::Next(request)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is handed on for requests at these seconds; those of one log are numbered.
    fn handed_on(seconds: &[i64]) -> Vec<(i64, InTime<usize>)> {
        let mut found = Vec::new();
        let mut order = TimeOrder::default();
        let mut hand_on = |second, request| found.push((second, request));
        seconds.iter().enumerate().for_each(|(at, second)| order.add(*second, at, &mut hand_on));
        order.end(&mut hand_on);
        found
    }

    fn is_late(found: &[(i64, InTime<usize>)], number: usize) -> bool {
        found.iter().any(|(_, request)| *request == InTime::Late(number))
    }

    #[test]
    fn a_request_is_late_from_one_second_past_the_window() {
        for (second, expected) in [(101, false), (100, false), (99, true)] {
            let found = handed_on(&[50, 100 + WINDOW_SECONDS, second, 7_000]);
            assert_eq!(is_late(&found, 2), expected, "{second}");
            let next = |(_, request): &(_, InTime<usize>)| match request {
                InTime::Next(number) => Some(*number),
                _ => None,
            };
            let next: Vec<usize> = found.iter().filter_map(next).collect();
            assert_eq!(next, if expected { vec![0, 1, 3] } else { vec![0, 2, 1, 3] });
        }
    }

    #[test]
    fn requests_of_one_second_are_in_their_own_order() {
        assert_eq!(
            handed_on(&[5, 5, 4, 5]),
            [(4, 2), (5, 0), (5, 1), (5, 3)].map(|(second, at)| (second, InTime::Next(at)))
        );
    }

    /// The second log is before the first one.
    #[test]
    fn a_new_log_begins_after_many_late_requests() {
        let two_logs = |late: usize| {
            let second = (0..late as i64).map(|at| (late as i64 - at) / 2);
            Vec::from_iter([90_000, 90_001].into_iter().chain(second))
        };
        let found = handed_on(&two_logs(LATE_MAX - 1));
        assert!((2..=LATE_MAX).all(|number| is_late(&found, number)));
        let found = handed_on(&two_logs(LATE_MAX));
        assert_eq!(found[2].1, InTime::NewLog);
        assert!(found[3..].iter().all(|(_, request)| matches!(request, InTime::Next(_))));
        assert!(found[3..].is_sorted_by_key(|(second, _)| *second));
        assert_eq!(found.len(), LATE_MAX + 3);
        // A request of the first log between them: only these are late.
        let mut mixed = two_logs(LATE_MAX);
        mixed.insert(20, 90_002);
        let found = handed_on(&mixed);
        let late = found.iter().filter(|(_, request)| matches!(request, InTime::Late(_)));
        assert_eq!(late.count(), LATE_MAX);
    }

    #[test]
    fn no_more_wait_than_the_limit() {
        let mut order = TimeOrder::default();
        let mut found = Vec::new();
        for at in 0..3 * WAITING_MAX {
            // All within a minute, and in pairs of one second.
            let second = [30, 0][at % 2] + (at / 12) as i64;
            order.add(second, at, &mut |second, request| found.push((second, request)));
            assert!(order.waiting_count <= WAITING_MAX);
            assert_eq!(order.waiting_count, order.waiting.values().map(Vec::len).sum::<usize>());
        }
        order.end(&mut |second, request| found.push((second, request)));
        assert_eq!(found.len(), 3 * WAITING_MAX);
        let next = found.iter().filter(|(_, request)| matches!(request, InTime::Next(_)));
        assert!(next.map(|(second, _)| second).is_sorted());
    }

    #[test]
    fn requests_wait_for_others_of_their_second() {
        let (mut order, mut found) = (TimeOrder::default(), Vec::new());
        for (second, request) in [(100, 2), (100 + WINDOW_SECONDS, 3), (100, 1)] {
            order.add(second, request, &mut |_, request| found.push(request));
        }
        order.end(&mut |_, request| found.push(request));
        assert_eq!(found, [1, 2, 3].map(InTime::Next));
    }

    #[test]
    fn as_many_wait_as_the_limit_allows() {
        let (mut order, mut count) = (TimeOrder::default(), 0);
        for second in 0..=WAITING_MAX {
            assert_eq!(count, 0);
            order.add(second as i64, 0, &mut |_, _| count += 1);
        }
        assert_eq!(count, 1);
    }
}
