//! Requests with the statuses, sizes and times of their answers.

use serde::{Deserialize, Serialize};

use crate::merge::{Merge, merge_fields};
use crate::time::UtcTime;

use super::sums::{Span, Statuses};

/// Requests of one kind, and their answers.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct AnswerTally {
    /// How many.
    pub requests: u64,
    /// The statuses of the answers.
    pub statuses: Statuses,
    /// The bytes of the answers.
    pub bytes: u64,
    /// When.
    pub span: Option<Span>,
}

merge_fields!(AnswerTally { requests, statuses, bytes, span });

impl AnswerTally {
    /// Counts one request.
    pub(crate) fn count(&mut self, time: UtcTime, status: u16, bytes: u64) {
        self.requests += 1;
        self.statuses.count(status);
        self.bytes = self.bytes.saturating_add(bytes);
        self.span.absorb(Some(Span::at(time)));
    }

    /// Whether the parts agree, in a row whose requests lie in `span`.
    pub(crate) fn holds(&self, span: Option<Span>) -> bool {
        let is_within = |of: Span, all: Span| {
            all.first <= of.first && of.first <= of.last && of.last <= all.last
        };
        self.requests > 0
            && self.statuses.checked_total() == Some(self.requests)
            && self.span.zip(span).is_some_and(|(of, all)| is_within(of, all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file may come from a stranger.
    #[test]
    fn sums_that_cannot_be_are_noticed() {
        let at = |seconds| UtcTime::from_unix_seconds(seconds).unwrap();
        let all = Some(Span { first: at(5), last: at(9) });
        let mut sum = AnswerTally::default();
        [5, 9].into_iter().for_each(|second| sum.count(at(second), 200, 1));
        assert!(sum.holds(all) && !sum.holds(None));
        type Damage = fn(&mut AnswerTally);
        let damages: [Damage; 6] = [
            |sum| *sum = AnswerTally::default(),
            |sum| *sum = AnswerTally { span: sum.span, ..AnswerTally::default() },
            |sum| sum.requests = 3,
            |sum| sum.statuses.status_4xx = u64::MAX,
            |sum| sum.span = Some(Span::at(UtcTime::EPOCH)),
            |sum| sum.span = sum.span.map(|span| Span { first: span.last, last: span.first }),
        ];
        for (number, damage) in damages.iter().enumerate() {
            let mut damaged = sum.clone();
            damage(&mut damaged);
            assert!(!damaged.holds(all), "{number}");
        }
    }
}
