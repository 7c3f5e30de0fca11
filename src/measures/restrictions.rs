//! Requests by the restriction that was in force for their crawler.

use crate::judge::{restriction::Restriction, verdict::Verdict};
use crate::merge::Merge;

use super::request::{AllRequests, Measure};
use super::{request_kind::RequestsOfKind, short_map::ShortMap, sums::Compliance};

/// Allowed requests and violations by the restriction in force.
pub(crate) type Restrictions = ShortMap<Restriction, Compliance>;

impl Measure for Restrictions {
    /// Only requests of which it is certain whether they kept it.
    fn add(&mut self, of_kind: &RequestsOfKind) {
        let RequestsOfKind { kind, requests, .. } = *of_kind;
        let Some(restriction) = kind.restriction else { return };
        let kept = match kind.verdict {
            Verdict::Allowed(_) => requests,
            Verdict::Violation(_) => 0,
            _ => return,
        };
        self.entry(restriction).absorb(Compliance { requests, kept });
    }

    /// No violation broke two restrictions, and no other request did.
    fn holds(&self, all: &AllRequests) -> bool {
        let broken = self.values().try_fold((0u64, 0u64), |(requests, broken), of| {
            let broken = broken.checked_add(of.requests.checked_sub(of.kept)?)?;
            Some((requests.checked_add(of.requests)?, broken))
        });
        broken.is_some_and(|(requests, broken)| {
            broken <= all.total.violations && requests <= all.total.allowed + all.total.violations
        })
    }
}
