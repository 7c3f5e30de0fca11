//! Requests by the restriction that was in force for their crawler.

use crate::judge::restriction::Restriction;
use crate::judge::verdict::Verdict;
use crate::merge::Merge;

use super::request::{AllRequests, JudgedRequest, Measure};
use super::short_map::ShortMap;
use super::sums::Compliance;

/// Allowed requests and violations by the restriction in force.
pub(crate) type Restrictions = ShortMap<Restriction, Compliance>;

impl Measure for Restrictions {
    /// Only requests of which it is certain whether they kept it.
    fn count(&mut self, request: &JudgedRequest<'_>) {
        let (_, Some(restriction)) = request.directives else { return };
        let kept = match request.dated.verdict {
            Verdict::Allowed(_) => 1,
            Verdict::Violation(_) => 0,
            _ => return,
        };
        self.entry(restriction).absorb(Compliance { requests: 1, kept });
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
