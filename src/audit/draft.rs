//! A draft of a robots.txt, by which past requests are judged, too; and its changes, in the order of reports.

use std::sync::Arc;

use serde::Serialize;

use crate::crawlers::identity::Actor;
use crate::error::{Error, Result};
use crate::judge::robots::{DecidingRule, Robots, RobotsId};
use crate::judge::verdict::{RuleRef, Verdict};
use crate::judge::{Judge, profile::Asker};
use crate::measures::draft_effect::{ChangeKey, Compared, WhatIfChange};
use crate::measures::what_if::{ChangeTally, WhatIfTally};
use crate::merge::{merge_fields, sum};
use crate::url::path::PathQuery;

use super::quotes::{Quotes, UsedRobots};
use super::tally::header::{DraftScope, DraftSummary};
use super::{crawler_row::ActorRow, origin_key::OriginKey};

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
    /// If it has no single file, or that is not a robots.txt.
    pub fn new(judge: Judge, scope: DraftScope) -> Result<Draft> {
        let source = judge.source(None).unwrap_or_default();
        let robots = judge
            .unnamed()
            .ok_or_else(|| Error::usage("--what-if needs a file, the draft of a robots.txt"))?;
        if let Some(what) = robots.foreign {
            return Err(Error::usage(format!(
                "--what-if: {source} is {}, not a robots.txt; a draft that allows everything has the \
                 lines User-agent: * and Disallow:",
                what.as_str()
            )));
        }
        let summary = DraftSummary { source, digest: robots.digest, scope };
        Ok(Draft { judge, robots, summary })
    }

    /// The effect of the draft on a request to `origin_key` for `path` with this verdict; `None` if
    /// rules in force did not decide it.
    pub(crate) fn compare(
        &self,
        origin_key: &OriginKey,
        asker: Asker<'_>,
        path: PathQuery<'_>,
        verdict: Verdict,
    ) -> Option<Compared> {
        let was_allowed = match verdict {
            Verdict::Allowed(_) | Verdict::AllowedIgnoringStar(_) => true,
            Verdict::Violation(_) | Verdict::Grace(_) => false,
            Verdict::NoPath
            | Verdict::RobotsTxt
            | Verdict::Unknown
            | Verdict::Ambiguous
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
        let decision = self.judge.decide(&self.robots, asker, path);
        let Some(decision) = decision else { return Some(Compared::Ambiguous) };
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

/// Origins that an error names.
const ORIGINS_NAMED: usize = 5;

/// All that a draft would change.
#[derive(Debug)]
pub struct WhatIf {
    /// The name of the draft.
    pub draft: String,
    /// Its version.
    pub robots: UsedRobots,
    /// The compared rows, in the order of a report.
    pub rows: Vec<WhatIfRow>,
}

/// The changes of a draft for one crawler of one identity at one origin.
#[derive(Debug)]
pub struct WhatIfRow {
    /// The `origin` column.
    pub origin: String,
    /// The crawler and its identity.
    pub actor: Actor,
    /// Requests that were compared.
    pub judged: u64,
    /// Requests with the same decision.
    pub unchanged: u64,
    /// The others.
    pub changed: Vec<ChangedVerdict>,
}

/// A change, with the rules that make it.
#[derive(Debug)]
pub struct ChangedVerdict {
    /// The change.
    pub change: WhatIfChange,
    /// The rule of the draft; `None` if no rule of it decides.
    pub draft: Option<DecidingRule>,
    /// The rule that decided; `None` if none did.
    pub present: Option<DecidingRule>,
    /// The requests.
    pub tally: ChangeTally,
}

/// Compared requests by the effect of the draft.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub(crate) struct WhatIfSums {
    /// All origins.
    pub judged: u64,
    /// Allowed so far.
    pub newly_disallowed: u64,
    /// Disallowed so far.
    pub newly_allowed: u64,
    /// As they are.
    pub unchanged: u64,
}

impl WhatIf {
    /// Takes the counts out of `audited`.
    ///
    /// # Errors
    /// If the origin of the draft is ambiguous, or sums that must hold do not.
    pub(super) fn new(
        audited: &mut [ActorRow],
        draft: &DraftSummary,
        quotes: &Quotes<'_>,
    ) -> Result<WhatIf> {
        let robots = quotes.used(draft.digest)?;
        let mut rows = Vec::new();
        for row in audited {
            if let Some(tally) = row.tally.simulated.take().filter(|tally| tally.judged > 0) {
                rows.push(WhatIfRow::new(row, *tally, robots.id, quotes)?);
            }
        }
        let simulation = WhatIf { draft: draft.source.clone(), robots, rows };
        if draft.scope == DraftScope::OnlyOrigin {
            simulation.check_origins()?;
        }
        Ok(simulation)
    }

    /// Sums over the rows for which `is_counted` holds.
    pub(crate) fn total_where(&self, is_counted: impl Fn(Actor) -> bool) -> WhatIfSums {
        sum(self.rows.iter().filter(|row| is_counted(row.actor)).map(WhatIfRow::total))
    }

    /// Sums over all crawlers.
    pub(crate) fn total(&self) -> WhatIfSums {
        sum(self.rows.iter().map(WhatIfRow::total))
    }

    /// Each change of each origin, crawler and identity.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&str, Actor, &ChangedVerdict)> {
        self.rows.iter().flat_map(|row| {
            row.changed.iter().map(move |changed| (row.origin.as_str(), row.actor, changed))
        })
    }

    /// The origins of compared requests; rows have the same order.
    fn origins(&self) -> Vec<&str> {
        let mut origins: Vec<&str> = self.rows.iter().map(|row| row.origin.as_str()).collect();
        origins.dedup();
        origins
    }

    fn check_origins(&self) -> Result<()> {
        let origins = self.origins();
        if origins.len() < 2 {
            return Ok(());
        }
        let named = origins[..origins.len().min(ORIGINS_NAMED)].join(", ");
        let more = match origins.len().saturating_sub(ORIGINS_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(Error::usage(format!(
            "--what-if: the logs have {} origins with their own robots.txt ({named}{more}); name \
             the origin that the draft is for: --what-if-for {}",
            origins.len(),
            origins[0]
        )))
    }

    /// A warning if nothing could be compared.
    pub(super) fn warnings(&self, scope: &DraftScope) -> Vec<String> {
        let nothing = "the rules in force decided no request of a known crawler";
        match scope {
            DraftScope::Origins(origins) => {
                let compared = self.origins();
                let missing = origins.iter().map(OriginKey::to_string);
                let missing = missing.filter(|origin| !compared.contains(&origin.as_str()));
                missing.map(|origin| format!("--what-if-for {origin}: {nothing} there")).collect()
            }
            DraftScope::Everything | DraftScope::OnlyOrigin if self.rows.is_empty() => {
                vec![format!("--what-if: {nothing}, so there is nothing to compare")]
            }
            DraftScope::Everything | DraftScope::OnlyOrigin => Vec::new(),
        }
    }
}

impl WhatIfRow {
    fn new(
        row: &ActorRow,
        tally: WhatIfTally,
        draft: RobotsId,
        quotes: &Quotes<'_>,
    ) -> Result<WhatIfRow> {
        let crawler = row.actor.0;
        let WhatIfTally { judged, unchanged, ambiguous, changes } = tally;
        let changed = changes.into_iter().map(|(key, tally)| {
            let of_draft = key.draft_line.map(|line| RuleRef { robots: draft, line });
            let rule =
                |rule: Option<RuleRef>| rule.map(|rule| quotes.rule(rule, crawler)).transpose();
            let (draft, present) = (rule(of_draft)?, rule(key.present)?);
            Ok(ChangedVerdict { change: key.change, draft, present, tally })
        });
        let mut changed: Vec<ChangedVerdict> = changed.collect::<Result<_>>()?;
        // Not as they were kept: versions are numbered as threads came upon them.
        changed.sort_by_key(|changed| {
            let rule_key =
                |rule: &Option<DecidingRule>| rule.as_ref().map(|rule| (rule.digest, rule.line));
            (changed.change, rule_key(&changed.draft), rule_key(&changed.present))
        });
        let (origin, actor) = (row.origin.clone(), row.actor);
        let simulated = WhatIfRow { origin, actor, judged, unchanged, changed };
        simulated.check(row, ambiguous)?;
        Ok(simulated)
    }

    fn total(&self) -> WhatIfSums {
        let of = |change| {
            let changed = self.changed.iter().filter(|changed| changed.change == change);
            sum(changed.map(|changed| changed.tally.requests))
        };
        WhatIfSums {
            judged: self.judged,
            newly_disallowed: of(WhatIfChange::NewlyDisallowed),
            newly_allowed: of(WhatIfChange::NewlyAllowed),
            unchanged: self.unchanged,
        }
    }

    /// Checks that all requests that rules in force decided were compared, but for `ambiguous` ones.
    fn check(&self, row: &ActorRow, ambiguous: u64) -> Result<()> {
        let (sums, total) = (row.tally.total(), self.total());
        let disallowed = sums.violations.saturating_add(sums.grace);
        let judged = sums.allowed.saturating_add(disallowed);
        let asked = total.judged.saturating_add(ambiguous);
        // A row of several origins may have been compared in part.
        let is_whole =
            asked == judged || (row.origin == OriginKey::Others.to_string() && asked < judged);
        let compared = [total.newly_disallowed, total.newly_allowed, total.unchanged];
        let compared: u64 = sum(compared.into_iter());
        if is_whole
            && compared == total.judged
            && total.newly_disallowed <= sums.allowed
            && total.newly_allowed <= disallowed
        {
            return Ok(());
        }
        Err(Error::inconsistent(format!(
            "{}, {:?}: {total:?} of a draft, {sums:?}",
            row.origin, row.actor
        )))
    }
}

merge_fields!(WhatIfSums { judged, newly_disallowed, newly_allowed, unchanged });
