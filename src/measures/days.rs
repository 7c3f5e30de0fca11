//! Requests by day and verdict, and their time span.

use crate::merge::Merge;
use crate::time::Day;

use super::sums::{Span, Sums};
use super::{request::Measure, request_kind::RequestsOfKind, short_map::ShortMap};

/// Requests by day.
pub(crate) type ByDay = ShortMap<Day, Sums>;

impl Measure for ByDay {
    fn add(&mut self, of_kind: &RequestsOfKind) {
        let RequestsOfKind { kind, requests, bytes, .. } = *of_kind;
        self.entry(kind.day).add(kind.verdict, requests, bytes);
    }
}

impl Measure for Option<Span> {
    fn add(&mut self, of_kind: &RequestsOfKind) {
        self.absorb(Some(of_kind.span));
    }
}
