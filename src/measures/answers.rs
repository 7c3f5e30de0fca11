//! What the server answered to requests of each verdict: `answers.csv`.
//!
//! A verdict says what robots.txt asks for, and an answer what the server did. Together they show which crawlers a
//! server refuses although robots.txt allows them, and which it serves although robots.txt disallows them.

use botaudit_robots::named_enum;
use serde::{Deserialize, Serialize};

use crate::judge::verdict::Verdict;
use crate::merge::{Merge, merge_fields};
use crate::table::columns::{BYTES, REQUESTS};
use crate::table::schema::{column, time};

use super::request::{AllRequests, Measure};
use super::statuses::{StatusCode, StatusGroup};
use super::sums::{Answered, Span, Sums};
use super::{request_kind::RequestsOfKind, short_map::ShortMap, table::measure_table};

named_enum! {
    /// What robots.txt asks for.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Asked {
        /// It is robots.txt itself.
        RobotsTxt = "robots-txt",
        /// The path is allowed.
        Allowed = "allowed",
        /// The path is disallowed.
        Violation = "violation",
        /// The path is disallowed, but the crawler may not know yet.
        Grace = "grace",
        /// The rules do not bind the crawler.
        NotBound = "not-bound",
        /// Nothing that is known.
        NotJudged = "not-judged",
    }
}

impl From<Verdict> for Asked {
    fn from(verdict: Verdict) -> Asked {
        match verdict {
            Verdict::RobotsTxt => Asked::RobotsTxt,
            Verdict::Allowed(_) | Verdict::AllowedIgnoringStar(_) => Asked::Allowed,
            Verdict::Violation(_) => Asked::Violation,
            Verdict::Grace(_) => Asked::Grace,
            Verdict::NotBound(_) => Asked::NotBound,
            Verdict::NoPath | Verdict::Unknown | Verdict::Ambiguous | Verdict::Unreachable => {
                Asked::NotJudged
            }
        }
    }
}

impl Asked {
    /// How many of the requests of `total` are of this kind.
    fn requests(self, total: &Sums) -> u64 {
        let Sums { robots_txt_requests, allowed, violations, grace, not_bound, .. } = *total;
        match self {
            Asked::RobotsTxt => robots_txt_requests,
            Asked::Allowed => allowed,
            Asked::Violation => violations,
            Asked::Grace => grace,
            Asked::NotBound => not_bound,
            Asked::NotJudged => {
                let known = [robots_txt_requests, allowed, violations, grace, not_bound];
                known.into_iter().fold(total.requests, u64::saturating_sub)
            }
        }
    }
}

/// Requests with one verdict and one answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct AnswerCount {
    /// How many, and their bytes.
    pub answered: Answered,
    /// Their times.
    pub span: Option<Span>,
}

merge_fields!(AnswerCount { answered, span });

/// Requests by what robots.txt asks for and what the server answered; none in tallies that did not count them.
pub(crate) type Answers = ShortMap<(Asked, StatusGroup), AnswerCount>;

impl Measure for Answers {
    fn add(&mut self, of_kind: &RequestsOfKind) {
        let RequestsOfKind { kind, requests, bytes, span } = *of_kind;
        let key = (kind.verdict.into(), StatusCode::of(kind.status).group());
        let answered = Answered { requests, bytes };
        self.entry(key).absorb(AnswerCount { answered, span: Some(span) });
    }

    /// No verdict has more answers than requests.
    fn holds(&self, all: &AllRequests) -> bool {
        Asked::ALL.into_iter().all(|asked| {
            let answers = self.iter().filter(|((of, _), _)| *of == asked);
            let mut requests = answers.map(|(_, tally)| tally.answered.requests);
            let requests = requests.try_fold(0u64, u64::checked_add);
            requests.is_some_and(|requests| requests <= asked.requests(&all.total))
        })
    }
}

measure_table! {
    /// Requests by verdict and answer.
    pub(crate) const TABLE: Answers = "answers.csv", "each origin, crawler, identity, verdict and kind of answer";
    rows of => of.iter();
    ((asked, answer), tally) => {
        let of_verdict = of.iter().filter(|((other, _), _)| other == asked);
        let all = of_verdict.fold(0, |sum: u64, (_, of)| sum.saturating_add(of.answered.requests));
    }
    cells row => {
        column("verdict", "robots-txt, allowed, violation, grace, not-bound, not-judged", "what robots.txt says about the requests; `robots-txt`: they are for robots.txt itself; `not-judged`: unknown, unreachable, or without a path") => row.word(asked.as_str()),
        column("answer", "ok, not-modified, redirected, refused, payment-required, challenged, not-found, other-client-error, server-error, other", "the `status_group` of the answers: see `statuses.csv`") => row.word(answer.as_str()),
        REQUESTS => row.counts([tally.answered.requests]),
        column("share", "fraction, 6 decimals", "requests / all requests with this verdict of this crawler and identity at this origin") => row.fraction(tally.answered.requests, all),
        BYTES => row.counts([tally.answered.bytes]),
        time("first_utc", "time of the first of them") => row.maybe(tally.span, 1, |row, span| row.time(span.first)),
        time("last_utc", "time of the last of them") => row.maybe(tally.span, 1, |row, span| row.time(span.last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::UtcTime;

    fn tally(counts: &[(Asked, StatusGroup, u64)]) -> Answers {
        let of = |&(asked, answer, requests): &_| {
            let answered = Answered { requests, bytes: 1 };
            let span = UtcTime::from_unix_seconds(requests as i64).map(Span::at);
            ((asked, answer), AnswerCount { answered, span })
        };
        counts.iter().map(of).collect()
    }

    #[test]
    fn parts_merge_by_verdict_and_answer() {
        let mut sum = tally(&[(Asked::Allowed, StatusGroup::Refused, 2)]);
        let other = [(Asked::Allowed, StatusGroup::Refused, 3), (Asked::Grace, StatusGroup::Ok, 1)];
        sum.absorb(tally(&other));
        let of = sum.iter().map(|(key, tally)| (*key, tally.answered.requests, tally.span));
        let time = |seconds| UtcTime::from_unix_seconds(seconds).unwrap();
        let refused = Span { first: time(2), last: time(3) };
        let expected = [
            ((Asked::Allowed, StatusGroup::Refused), 5, Some(refused)),
            ((Asked::Grace, StatusGroup::Ok), 1, Some(Span::at(time(1)))),
        ];
        assert_eq!(of.collect::<Vec<_>>(), expected);
    }

    /// Anybody may have written a tally.
    #[test]
    fn no_verdict_has_more_answers_than_requests() {
        let total = Sums { requests: 9, allowed: 4, violations: 2, unknown: 3, ..Sums::default() };
        let all = AllRequests { total, span: None, has_times: true };
        let (ok, refused) = (StatusGroup::Ok, StatusGroup::Refused);
        let unknown = (Asked::NotJudged, ok, 3);
        let served = (Asked::Violation, ok, 2);
        for (counts, holds) in [
            (&[][..], true),
            (&[(Asked::Allowed, ok, 1), (Asked::Allowed, refused, 3), served, unknown], true),
            (&[(Asked::Allowed, ok, 4), served], true),
            (&[(Asked::RobotsTxt, ok, 1)], false),
            (&[(Asked::Allowed, ok, 5), (Asked::Violation, ok, 1), unknown], false),
            (
                &[(Asked::Allowed, ok, u64::MAX), (Asked::Allowed, refused, 5), served, unknown],
                false,
            ),
        ] {
            assert_eq!(tally(counts).holds(&all), holds, "{counts:?}");
        }
    }
}
