//! Requests of one kind: they differ in their paths, times and sizes alone.
//!
//! Most requests of a crawler in a day are of few kinds, so they are added up before measures take them.

use crate::crawlers::identity::IdentityAnswer;
use crate::judge::restriction::Restriction;
use crate::judge::verdict::{DatedVerdict, Verdict};
use crate::logs::{record::Record, request::Method};
use crate::time::Day;

use super::sums::Span;

/// What requests of one kind have in common.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RequestKind {
    /// The day of their times.
    pub day: Day,
    /// The status of their answers.
    pub status: u16,
    /// Their HTTP method.
    pub method: Method,
    /// Their verdict, by no certain rule.
    pub verdict: Verdict,
    /// How the rules in force restrict their crawler.
    pub restriction: Option<Restriction>,
    /// What decided about their identity.
    pub answer: IdentityAnswer,
    /// Whether they are from before the first snapshot of robots.txt.
    pub is_before_first: bool,
    /// Whether the logs themselves show their robots.txt as unreachable.
    pub is_unreachable_by_logs: bool,
}

impl RequestKind {
    /// The kind of a request on this day, with the verdict `dated`.
    #[inline]
    pub(crate) fn new(
        (day, record): (Day, &Record<'_>),
        dated: &DatedVerdict<'_>,
        restriction: Option<Restriction>,
        answer: IdentityAnswer,
    ) -> RequestKind {
        RequestKind {
            day,
            status: record.status,
            method: Method::of(record.method),
            verdict: dated.verdict.without_its_rule(),
            restriction,
            answer,
            is_before_first: dated.is_before_first,
            is_unreachable_by_logs: dated.is_by_logs && dated.verdict == Verdict::Unreachable,
        }
    }

    /// A number that no other kind has: two numbers are compared in less time than two kinds.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        let RequestKind {
            day,
            status,
            method,
            verdict,
            restriction,
            answer,
            is_before_first,
            is_unreachable_by_logs,
        } = *self;
        let restriction = restriction.map_or(0, |restriction| {
            1 + (restriction.kind as u64) * 2 + u64::from(restriction.is_specific)
        });
        let fields = [
            (status.into(), 16),
            (method as u64, 4),
            (number_of(verdict), 4),
            (restriction, 3),
            (answer.identity as u64, 3),
            (answer.is_of_other_time.into(), 1),
            (answer.proof.map_or(0, |proof| 1 + proof as u64), 4),
            (is_before_first.into(), 1),
            (is_unreachable_by_logs.into(), 1),
        ];
        // The days of 20,000 years need 23 of the other 27 bits.
        fields.into_iter().fold(i64::from(day.since_1970()) as u64, |number, (field, bits)| {
            number << bits | field
        })
    }
}

/// The number of a verdict, whatever its rule.
#[inline]
fn number_of(verdict: Verdict) -> u64 {
    match verdict {
        Verdict::NoPath => 0,
        Verdict::RobotsTxt => 1,
        Verdict::Unknown => 2,
        Verdict::Unreachable => 3,
        Verdict::Allowed(_) => 4,
        Verdict::AllowedIgnoringStar(_) => 5,
        Verdict::Grace(_) => 6,
        Verdict::Violation(_) => 7,
        Verdict::NotBound(None) => 8,
        Verdict::NotBound(Some(_)) => 9,
        Verdict::Ambiguous => 10,
    }
}

/// The sums of some requests of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestsOfKind {
    /// What they have in common.
    pub kind: RequestKind,
    /// How many they are.
    pub requests: u64,
    /// The bytes of their answers.
    pub bytes: u64,
    /// Their times.
    pub span: Span,
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::crawlers::identity::{Identity, Proof};
    use crate::judge::restriction::RestrictionKind;
    use crate::judge::verdict::RuleRef;
    use crate::random::Random;
    use crate::time::{UtcTime, Zone};

    /// Kinds with the first and the last value of each field, and some between them.
    #[test]
    fn kinds_have_numbers_of_their_own() {
        let (mut random, mut known) = (Random::new(), HashMap::new());
        let rule = RuleRef::on_line(7);
        let verdicts = [
            Verdict::NoPath,
            Verdict::RobotsTxt,
            Verdict::Unknown,
            Verdict::Ambiguous,
            Verdict::Unreachable,
            Verdict::Allowed(Some(rule)),
            Verdict::AllowedIgnoringStar(rule),
            Verdict::Grace(rule),
            Verdict::Violation(rule),
            Verdict::NotBound(None),
            Verdict::NotBound(Some(rule)),
        ];
        let days = [-4_371_500, 0, 2_932_800];
        for _ in 0..200_000 {
            let near = 86_400 * days[random.below(3)] + 3600 * (random.below(51) as i64 - 25);
            let Some(time) = UtcTime::from_unix_seconds(near) else { continue };
            let kinds = RestrictionKind::ALL;
            let restriction = (random.below(4) > 0).then(|| Restriction {
                kind: kinds[random.below(kinds.len())],
                is_specific: random.below(2) == 0,
            });
            let answer = IdentityAnswer {
                identity: Identity::ALL[random.below(Identity::ALL.len())],
                is_of_other_time: random.below(2) == 0,
                proof: (random.below(4) > 0).then(|| Proof::ALL[random.below(Proof::ALL.len())]),
            };
            let kind = RequestKind {
                day: Zone::UTC.day_of(time),
                status: [0, 200, 999, u16::MAX][random.below(4)],
                method: Method::ALL[random.below(Method::ALL.len())],
                verdict: verdicts[random.below(verdicts.len())].without_its_rule(),
                restriction,
                answer,
                is_before_first: random.below(2) == 0,
                is_unreachable_by_logs: random.below(2) == 0,
            };
            assert_eq!(*known.entry(kind.number()).or_insert(kind), kind);
        }
        assert!(known.len() > 100_000, "{}", known.len());
    }
}
