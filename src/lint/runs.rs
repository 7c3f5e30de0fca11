//! Findings that repeat line by line, which become one for the whole run.

use crate::lint::catalogue::Code;
use crate::lint::diagnostic::{Diagnostic, Diagnostics};

/// The codes whose findings come in runs, and the most lines from one finding of a run to the next.
const RUNS: [(Code, u32); 3] =
    [(Code::GroupContinues, 4), (Code::RedundantRule, 2), (Code::CrawlDelayIgnored, 6)];

/// Joins the findings of each run to its first one.
pub(super) fn join(diagnostics: &mut Diagnostics) {
    for (code, lines_max) in RUNS {
        diagnostics.join_runs(code, |last, next| {
            next.line - last.line <= lines_max && is_alike(code, last, next)
        });
    }
}

/// Whether the findings say the same of their lines.
fn is_alike(code: Code, one: &Diagnostic, other: &Diagnostic) -> bool {
    // Rules that another one covers are alike if it is the same one.
    let cover = |finding: &Diagnostic| {
        let at = memchr::memmem::rfind(&finding.message, b" is covered by ");
        at.map(|at| finding.message[at..].to_vec())
    };
    code != Code::RedundantRule || cover(one) == cover(other)
}
