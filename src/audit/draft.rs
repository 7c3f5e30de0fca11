//! A draft of a robots.txt, by which past requests are judged, too.

use std::sync::Arc;

use crate::crawlers::crawler::CrawlerId;
use crate::error::{Error, Result};
use crate::judge::{Judge, robots::Robots, verdict::Verdict};
use crate::measures::draft_effect::Compared;
use crate::measures::draft_effect::{ChangeKey, WhatIfChange};
use crate::url::path::PathQuery;

use super::origin_key::OriginKey;
use super::tally::header::{DraftScope, DraftSummary};

/// A draft of a robots.txt.
#[derive(Debug)]
pub struct Draft {
    judge: Judge,
    robots: Arc<Robots>,
    summary: DraftSummary,
}

impl Draft {
    /// The draft that `judge` has as its single file.
    ///
    /// # Errors
    /// If it has no single file.
    pub fn new(judge: Judge, scope: DraftScope) -> Result<Draft> {
        let source = judge.source(None).unwrap_or_default();
        let robots = judge
            .unnamed()
            .ok_or_else(|| Error::usage("--what-if needs a file, the draft of a robots.txt"))?;
        let summary = DraftSummary { source, digest: robots.digest, scope };
        Ok(Draft { judge, robots, summary })
    }

    /// The effect of the draft on a request to `origin_key` for `path` with this verdict; `None` if
    /// it is not compared.
    pub(crate) fn compare(
        &self,
        origin_key: &OriginKey,
        crawler: CrawlerId,
        path: PathQuery<'_>,
        verdict: Verdict,
    ) -> Option<Compared> {
        let was_allowed = match verdict {
            Verdict::Allowed(_) | Verdict::AllowedIgnoringStar(_) => true,
            Verdict::Violation(_) | Verdict::Grace(_) => false,
            Verdict::NoPath
            | Verdict::RobotsTxt
            | Verdict::Unknown
            | Verdict::Unreachable
            | Verdict::NotBound(_) => return None,
        };
        let is_governed = match &self.summary.scope {
            DraftScope::Everything | DraftScope::OnlyOrigin => true,
            DraftScope::Origins(origins) => origins.contains(origin_key),
        };
        if !is_governed {
            return None;
        }
        let decision = self.judge.decide(&self.robots, crawler, path);
        let change = match (was_allowed, decision.allowed) {
            (true, false) => WhatIfChange::NewlyDisallowed,
            (false, true) => WhatIfChange::NewlyAllowed,
            (true, true) | (false, false) => return Some(Compared::Same),
        };
        let (draft_line, present) = (decision.line, verdict.rule());
        Some(Compared::Changes(ChangeKey { change, draft_line, present }))
    }

    /// The summary for a tally.
    pub(crate) fn summary(&self) -> &DraftSummary {
        &self.summary
    }

    /// Its version.
    pub(crate) fn robots(&self) -> &Robots {
        &self.robots
    }
}
