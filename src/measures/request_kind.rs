//! Requests of one kind: they differ in their paths, times and sizes alone.
//!
//! Most requests of a crawler in an hour are of few kinds, so they are added up before measures take them.

use std::mem::discriminant;

use crate::crawlers::identity::IdentityAnswer;
use crate::judge::restriction::Restriction;
use crate::judge::verdict::{DatedVerdict, Verdict};
use crate::logs::method::Method;
use crate::merge::Merge;
use crate::time::{Hour, UtcTime};

use super::sums::Span;

/// What requests of one kind have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestKind {
    /// The hour of their times.
    pub hour: Hour,
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

/// As if derived, but the verdicts are by no certain rule, and so their names are compared alone.
impl PartialEq for RequestKind {
    #[inline]
    fn eq(&self, other: &RequestKind) -> bool {
        let RequestKind {
            hour,
            status,
            method,
            verdict,
            restriction,
            answer,
            is_before_first,
            is_unreachable_by_logs,
        } = other;
        self.hour == *hour
            && (self.status, self.method) == (*status, *method)
            && discriminant(&self.verdict) == discriminant(verdict)
            && self.verdict.is_disallowed() == verdict.is_disallowed()
            && self.restriction == *restriction
            && self.answer == *answer
            && self.is_before_first == *is_before_first
            && self.is_unreachable_by_logs == *is_unreachable_by_logs
    }
}

impl RequestKind {
    /// The kind of a request with the verdict `dated`.
    #[inline]
    pub(crate) fn new(
        (hour, status, method): (Hour, u16, &[u8]),
        dated: &DatedVerdict<'_>,
        restriction: Option<Restriction>,
        answer: IdentityAnswer,
    ) -> RequestKind {
        RequestKind {
            hour,
            status,
            method: Method::of(method),
            verdict: dated.verdict.without_its_rule(),
            restriction,
            answer,
            is_before_first: dated.is_before_first,
            is_unreachable_by_logs: dated.is_by_logs && dated.verdict == Verdict::Unreachable,
        }
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

impl RequestsOfKind {
    /// One request.
    #[inline]
    pub(crate) fn one(kind: RequestKind, time: UtcTime, bytes: u64) -> RequestsOfKind {
        RequestsOfKind { kind, requests: 1, bytes, span: Span::at(time) }
    }

    /// Adds one more.
    #[inline]
    pub(crate) fn add(&mut self, time: UtcTime, bytes: u64) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.span.absorb(Span::at(time));
    }
}
