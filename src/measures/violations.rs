//! Violations by the rule that was broken.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::judge::robots::RobotsId;
use crate::judge::verdict::{RuleRef, Verdict};
use crate::merge::{Merge, merge_fields};

use super::request::{AllRequests, JudgedRequest, Measure};
use super::sums::{Span, Statuses, is_default};
use super::time_buckets::TimeBuckets;
use super::{example::Example, renumbering::Renumbering, short_map::ShortMap};

/// Violations by deciding rule. They are large, and a search reads the rules of many.
pub(crate) type BrokenRules = ShortMap<RuleRef, Box<ViolationTally>>;

/// Requests that one rule disallowed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ViolationTally {
    /// The number of requests.
    pub requests: u64,
    /// The statuses of the answers.
    pub statuses: Statuses,
    /// The bytes of the answers.
    pub bytes: u64,
    /// When.
    pub span: Span,
    /// Requests by minute.
    pub minutes: TimeBuckets,
    /// The earliest request.
    pub example: Example,
    /// Those with a valid signature.
    #[serde(default, skip_serializing_if = "is_default")]
    pub signed: u64,
}

merge_fields!(ViolationTally { requests, statuses, bytes, span, minutes, example, signed });

impl Measure for BrokenRules {
    fn count(&mut self, request: &JudgedRequest<'_>) {
        let Verdict::Violation(rule) = request.dated.verdict else { return };
        let (record, position) = (request.record, request.position);
        let sum = match self.get_mut(&rule) {
            Some(sum) => sum,
            None => {
                self.entry_or_insert_with(rule, || Box::new(ViolationTally::at(request.example())))
            }
        };
        sum.requests += 1;
        sum.signed += u64::from(request.is_signed);
        sum.statuses.count(record.status);
        sum.bytes = sum.bytes.saturating_add(record.bytes);
        sum.span.absorb(Span::at(record.time));
        sum.minutes.add(record.time.unix_minute(), 1);
        let Example { time, file, line, .. } = &sum.example;
        if (record.time, position.file, position.line) < (*time, *file, *line) {
            sum.example = request.example();
        }
    }

    fn holds(&self, _: &AllRequests) -> bool {
        self.iter().all(|(_, violation)| violation.signed <= violation.requests)
    }

    fn quoted_robots(&self, quote: &mut dyn FnMut(RobotsId)) {
        self.iter().for_each(|(rule, _)| quote(rule.robots));
    }

    fn renumbered(self, numbers: &Renumbering) -> Result<BrokenRules> {
        let renumbered = self.into_iter().map(|(rule, mut violation)| {
            violation.example.file = numbers.input(violation.example.file)?;
            Ok((numbers.rule(rule)?, violation))
        });
        renumbered.collect()
    }
}

impl ViolationTally {
    /// Nothing yet, but an example.
    fn at(example: Example) -> ViolationTally {
        ViolationTally {
            requests: 0,
            statuses: Statuses::default(),
            bytes: 0,
            span: Span::at(example.time),
            minutes: TimeBuckets::default(),
            example,
            signed: 0,
        }
    }
}
