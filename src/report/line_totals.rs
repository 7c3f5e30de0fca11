//! The line counts of all inputs together.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::audit::input_tally::Input;

/// `lines = crawler + other + rejected + skipped`, as in `run.json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LineTotals {
    pub lines: u64,
    pub crawler: u64,
    pub other: u64,
    pub rejected: u64,
    pub rejected_by_reason: BTreeMap<&'static str, u64>,
    pub skipped: u64,
    pub skipped_by_reason: BTreeMap<&'static str, u64>,
}

impl LineTotals {
    /// The sums over `inputs`.
    pub(crate) fn of(inputs: &[Input]) -> LineTotals {
        let mut totals = LineTotals::default();
        for input in inputs {
            totals.lines += input.tally.lines();
            totals.crawler += input.tally.crawler;
            totals.other += input.tally.other;
            totals.rejected += input.tally.rejected_lines();
            totals.skipped += input.tally.skipped_lines();
            for (reason, reject) in input.rejects() {
                *totals.rejected_by_reason.entry(reason.as_str()).or_default() += reject.lines;
            }
            for (reason, lines) in input.skips() {
                *totals.skipped_by_reason.entry(reason.as_str()).or_default() += lines;
            }
        }
        totals
    }
}
