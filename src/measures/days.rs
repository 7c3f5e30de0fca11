//! Requests by day and verdict, and their time span.

use crate::merge::Merge;
use crate::time::Day;

use super::request::{JudgedRequest, Measure};
use super::short_map::ShortMap;
use super::sums::{Span, Sums};

/// Requests by day.
pub(crate) type ByDay = ShortMap<Day, Sums>;

impl Measure for ByDay {
    fn count(&mut self, request: &JudgedRequest<'_>) {
        self.entry(request.day).count(request.dated.verdict, request.record.bytes);
    }
}

impl Measure for Option<Span> {
    fn count(&mut self, request: &JudgedRequest<'_>) {
        self.absorb(Some(Span::at(request.record.time)));
    }
}
