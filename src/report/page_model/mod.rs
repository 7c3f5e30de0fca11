//! The content of the page and the terminal summary: the audit, sums that its tables do not have,
//! and the heaviest rows.

pub mod action;
mod result;
pub mod totals;

use std::collections::{BTreeMap, BTreeSet};
use std::{cmp::Reverse, path::Path};

use crate::audit::reaction_rows::Reaction;
use crate::audit::{conduct::Conduct, crawler_row::ActorRow, draft::WhatIf, model::ReportModel};
use crate::crawlers::crawler::{Crawler, CrawlerId, Obligation};
use crate::crawlers::identity::{Actor, Identity};
use crate::digest::Digest;
use crate::measures::draft_effect::WhatIfChange;
use crate::measures::sums::{Span, Sums};
use crate::merge::{Merge, sum};
use crate::table::escape::visible;
use crate::time::{Day, Hour};

use super::robots_rules::{NearLines, robots_rules};
use super::tables::files_of;
use totals::{BrokenBy, CrawlerTotals, Heaviest, LineTotals, RuleTotals};

/// Stands for the directory of a report that is not written.
pub(crate) const REPORT: &str = "REPORT";

/// The most rows shown of a table.
pub(crate) const ROWS_MAX: usize = 500;

/// The most rules shown with their surrounding lines.
const RULES_SHOWN: usize = 10;

/// The data of the page and the summary.
#[derive(Clone, Debug)]
pub struct PageModel<'a> {
    /// The audit, with all rows.
    pub audit: &'a ReportModel,
    /// The directory of the report, as the user wrote it.
    pub report: String,
    /// The files of the report besides `run.json`.
    pub files: Vec<&'a str>,
    /// Lines of all inputs.
    pub lines: LineTotals,
    /// Requests of known crawlers, without tools.
    pub identities: BTreeMap<Identity, Sums>,
    /// By crawler and identity, over all origins; crawlers are numbered by the order of their
    /// names.
    pub crawlers: BTreeMap<Actor, CrawlerTotals>,
    /// The same of tools, which are in no other sums and rows of this model.
    pub tools: BTreeMap<Actor, CrawlerTotals>,
    /// Origins to which known crawlers or tools sent requests.
    pub origins: Vec<&'a str>,
    /// Time of the first and the last request of a known crawler or tool.
    pub period: Option<Span>,
    /// By day and identity.
    pub days: BTreeMap<Day, BTreeMap<Identity, Sums>>,
    /// By hour and identity.
    pub hours: BTreeMap<Hour, BTreeMap<Identity, Sums>>,
    /// The rules most broken by crawlers that are not spoofed.
    pub rules: Heaviest<RuleTotals<'a>>,
    /// Lines near broken rules.
    pub robots_lines: NearLines<'a>,
    /// Rows of `summary.csv` by violations.
    pub summary: Heaviest<&'a ActorRow>,
    /// Rows of `violations.csv` by requests.
    pub violations: Heaviest<BrokenBy<'a>>,
    /// Requests with another verdict under a draft, by crawlers that are not spoofed.
    pub changes: BTreeMap<(WhatIfChange, CrawlerId), u64>,
}

impl<'a> PageModel<'a> {
    /// The model of `audit`; `evidence` is the name of the evidence file, if it is in the report.
    pub fn of(audit: &'a ReportModel, evidence: Option<&'a str>) -> PageModel<'a> {
        let violations = |row: &&ActorRow| row.tally.total().violations;
        let mut origins: Vec<&str> = audit.rows().iter().map(|row| row.origin.as_str()).collect();
        // Rows are sorted by origin.
        origins.dedup();
        let rules = broken_rules(audit, RULES_SHOWN, |_| true);
        let shown: BTreeSet<Digest> = rules.rows.iter().map(|rule| rule.rule.digest).collect();
        let crawler_rows = audit.rows().iter().filter(|row| !audit.is_tool(row.actor.0));
        let broken = audit.broken_rules().filter(|(_, (crawler, _), _)| !audit.is_tool(*crawler));
        let mut model = PageModel {
            audit,
            report: REPORT.to_owned(),
            files: files_of(audit, evidence).collect(),
            lines: LineTotals::of(&audit.inputs),
            identities: BTreeMap::new(),
            crawlers: BTreeMap::new(),
            tools: BTreeMap::new(),
            origins,
            period: None,
            days: BTreeMap::new(),
            hours: hours(audit),
            rules,
            robots_lines: robots_rules(audit, |digest| shown.contains(digest)),
            summary: Heaviest::of(crawler_rows, ROWS_MAX, violations),
            violations: Heaviest::of(broken, ROWS_MAX, |(_, _, broken)| broken.tally.requests),
            changes: changes(audit),
        };
        audit.rows().iter().for_each(|row| model.add(row));
        model
    }

    /// The same for a report that is written to `directory`.
    pub(crate) fn written_to(self, directory: &Path) -> PageModel<'a> {
        PageModel { report: directory.display().to_string(), ..self }
    }

    fn add(&mut self, row: &ActorRow) {
        let (sums, identity) = (row.tally.total(), row.actor.1);
        self.period.absorb(row.tally.span);
        if self.audit.is_tool(row.actor.0) {
            self.tools.entry(row.actor).or_default().add(self.audit.conduct_limits, row, sums);
            return;
        }
        self.identities.entry(identity).or_default().absorb(sums);
        for (day, of_day) in &row.tally.days {
            let of_it = self.days.entry(*day).or_default();
            of_it.entry(identity).or_default().absorb(*of_day);
        }
        self.crawlers.entry(row.actor).or_default().add(self.audit.conduct_limits, row, sums);
    }

    /// The registry entry of `crawler`.
    pub(crate) fn crawler(&self, crawler: CrawlerId) -> &'a Crawler {
        self.audit.registry.crawler(crawler)
    }

    /// The name of `crawler`.
    pub(crate) fn name(&self, crawler: CrawlerId) -> String {
        text(&self.crawler(crawler).name)
    }

    /// Tools by requests, most first.
    pub(crate) fn tools_by_requests(&self) -> Vec<(Actor, &CrawlerTotals)> {
        let mut all: Vec<_> = self.tools.iter().map(|(actor, totals)| (*actor, totals)).collect();
        all.sort_by_key(|(_, totals)| Reverse(totals.sums.requests));
        all
    }

    /// Requests of crawlers that are not spoofed.
    pub(crate) fn not_spoofed(&self) -> Sums {
        judged_sums(&self.identities).own
    }

    /// Requests of crawlers whose identity is `identity`.
    pub(crate) fn sums_of(&self, identity: Identity) -> Sums {
        self.identities.get(&identity).copied().unwrap_or_default()
    }

    /// Whether any address was compared with what its operator publishes.
    pub(crate) fn is_identity_known(&self) -> bool {
        let compared = [Identity::Verified, Identity::Spoofed, Identity::NotOnList];
        compared.into_iter().any(|identity| self.sums_of(identity).requests > 0)
    }

    /// Crawlers and identities by violations, most first.
    pub(crate) fn offenders(&self) -> Vec<(Actor, &CrawlerTotals)> {
        let all = self.crawlers.iter().map(|(actor, totals)| (*actor, totals));
        let mut all: Vec<_> = all.filter(|(_, totals)| totals.sums.violations > 0).collect();
        all.sort_by_key(|(_, totals)| Reverse(totals.sums.violations));
        all
    }

    /// Crawlers that are not spoofed: those that ignore robots.txt first, then the others with
    /// violations, and those that are not judged last.
    pub(crate) fn by_conduct(&self) -> Vec<(Conduct, Actor, &CrawlerTotals)> {
        let own = self.crawlers.iter().filter(|((_, identity), _)| is_itself(*identity));
        let mut all: Vec<_> = own
            .map(|(actor, totals)| (totals.conduct(self.audit.conduct_limits), *actor, totals))
            .collect();
        all.sort_by_key(|(conduct, _, CrawlerTotals { sums, .. })| {
            let ignores = *conduct == Conduct::Ignores;
            (Reverse((ignores, sums.violations)), *conduct, Reverse(sums.requests))
        });
        all
    }

    /// The crawlers with this conduct that have violations, by their number, most first; one with
    /// several identities counts once.
    pub(crate) fn with_conduct(&self, conduct: Conduct) -> Vec<(CrawlerId, u64)> {
        let mut crawlers: Vec<(CrawlerId, u64)> = Vec::new();
        for (of, (crawler, _), totals) in self.by_conduct() {
            if of == conduct && totals.sums.violations > 0 {
                match crawlers.iter_mut().find(|(id, _)| *id == crawler) {
                    Some((_, violations)) => *violations += totals.sums.violations,
                    None => crawlers.push((crawler, totals.sums.violations)),
                }
            }
        }
        crawlers.sort_by_key(|&(_, violations)| Reverse(violations));
        crawlers
    }

    /// The offenders that are not spoofed.
    pub(crate) fn own_offenders(&self) -> Vec<(Actor, &CrawlerTotals)> {
        let mut own = self.offenders();
        own.retain(|((_, identity), _)| is_itself(*identity));
        own
    }

    /// Crawlers that fetched a changed robots.txt and still requested what it newly disallows, with
    /// the number of these requests, most first; without spoofed ones and tools.
    pub(crate) fn still_requesting(&self) -> Vec<(CrawlerId, u64)> {
        let mut crawlers: BTreeMap<CrawlerId, u64> = BTreeMap::new();
        for (_, actor, row) in self.audit.reactions() {
            let is_bound = self.crawler(actor.0).obligation() == Obligation::Bound;
            let is_still = row.reaction == Reaction::StillRequesting;
            if is_still && is_bound && self.audit.is_own_crawler(actor) {
                let after = row.around_fetch.map_or(row.tally.since.requests, |(_, after)| after);
                *crawlers.entry(actor.0).or_default() += after;
            }
        }
        let mut crawlers: Vec<_> = crawlers.into_iter().collect();
        crawlers.sort_by_key(|&(_, requests)| Reverse(requests));
        crawlers
    }

    /// Crawlers that are not spoofed, with the number of their requests with this change, most
    /// first.
    pub(crate) fn changed(&self, change: WhatIfChange) -> Vec<(CrawlerId, u64)> {
        let of_it = self.changes.iter().filter(|((of, _), _)| *of == change);
        let mut crawlers: Vec<_> =
            of_it.map(|((_, crawler), requests)| (*crawler, *requests)).collect();
        // The sort is stable: ties stay in the order of names.
        crawlers.sort_by_key(|&(_, requests)| Reverse(requests));
        crawlers
    }
}

fn hours(audit: &ReportModel) -> BTreeMap<Hour, BTreeMap<Identity, Sums>> {
    let mut hours: BTreeMap<Hour, BTreeMap<Identity, Sums>> = BTreeMap::new();
    for (hour, actors) in audit.hours.kept() {
        let of_hour = hours.entry(hour).or_default();
        for (&(_, identity), hour) in actors.iter().filter(|((id, _), _)| !audit.is_tool(*id)) {
            of_hour.entry(identity).or_default().absorb(Sums {
                requests: hour.requests,
                allowed: hour.allowed,
                violations: hour.violations,
                bytes: hour.bytes,
                ..Sums::default()
            });
        }
    }
    hours
}

/// The rules broken most often by those crawlers that `is_shown`, without tools and spoofed ones.
pub(crate) fn broken_rules(
    audit: &ReportModel,
    rows_max: usize,
    is_shown: impl Fn(CrawlerId) -> bool,
) -> Heaviest<RuleTotals<'_>> {
    let by_actor = |(_, actor, _): &BrokenBy<'_>| audit.is_own_crawler(*actor) && is_shown(actor.0);
    let broken: Vec<BrokenBy<'_>> = audit.broken_rules().filter(by_actor).collect();
    // The rules of a file are neighbours, so that files are compared once for all of them.
    let mut files: BTreeMap<Digest, BTreeMap<u32, Vec<BrokenBy<'_>>>> = BTreeMap::new();
    for of_file in broken.chunk_by(|left, right| left.2.rule.digest == right.2.rule.digest) {
        let lines = files.entry(of_file[0].2.rule.digest).or_default();
        for &by in of_file {
            lines.entry(by.2.rule.line).or_default().push(by);
        }
    }
    let rules = files.into_values().flat_map(BTreeMap::into_values);
    let requests = |all: &Vec<BrokenBy<'_>>| sum(all.iter().map(|by| by.2.tally.requests));
    let Heaviest { rows, total } = Heaviest::of(rules, rows_max, requests);
    let rows = rows.iter().filter_map(|all| RuleTotals::of(all, audit)).collect();
    Heaviest { rows, total }
}

fn changes(audit: &ReportModel) -> BTreeMap<(WhatIfChange, CrawlerId), u64> {
    let mut requests = BTreeMap::new();
    let changes = audit.simulation.iter().flat_map(WhatIf::changes);
    for (_, (crawler, _), changed) in changes.filter(|(_, actor, _)| audit.is_own_crawler(*actor)) {
        *requests.entry((changed.change, crawler)).or_default() += changed.tally.requests;
    }
    requests
}

/// The requests of one period.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JudgedSums {
    /// Requests of crawlers that are not spoofed.
    pub own: Sums,
    /// The part of `own` that could be judged.
    pub judged: u64,
    /// Requests of spoofed crawlers.
    pub spoofed: Sums,
}

impl JudgedSums {
    /// The other part of `own`, without requests for robots.txt, which need no verdict.
    pub(crate) fn not_judged(&self) -> u64 {
        self.own.requests.saturating_sub(self.judged + self.own.robots_txt_requests)
    }
}

/// The sums over identities.
pub(crate) fn judged_sums(identities: &BTreeMap<Identity, Sums>) -> JudgedSums {
    let mut all = JudgedSums::default();
    for (identity, sums) in identities {
        if is_itself(*identity) { all.own.absorb(*sums) } else { all.spoofed.absorb(*sums) }
    }
    all.judged = all.own.allowed + all.own.violations;
    all
}

/// Violations, and the judged requests of which they are a part.
pub(crate) fn of_judged(sums: &Sums) -> (u64, u64) {
    (sums.violations, sums.allowed + sums.violations)
}

/// Whether the requests may be attributed to the crawler itself.
pub(crate) fn is_itself(identity: Identity) -> bool {
    identity != Identity::Spoofed
}

/// Escapes text that may contain foreign input.
pub(crate) fn text(text: &str) -> String {
    visible(text.as_bytes())
}
