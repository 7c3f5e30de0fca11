//! The crawlers of a report that a condition selects.

use std::cmp::Reverse;

use crate::audit::{conduct::Conduct, crawler_row::ActorRow, model::ReportModel};
use crate::crawlers::crawler::{CrawlerId, TOOL_PURPOSES};
use crate::crawlers::{identity::Identity, registry::Registry};
use crate::error::{Error, Result};
use crate::measures::sums::{Span, Sums};
use crate::merge::Merge;
use crate::numbers::{counted, grouped};
use crate::report::threshold::Threshold;
use crate::time::Zone;

/// The condition without `--where`.
pub(crate) const DEFAULT_CONDITION: &str = "conduct = 'ignores'";

/// Denying these removes the site from search results, stops its advertisements, or its previews in
/// messages.
const USEFUL_PURPOSES: [&str; 3] = ["ads", "preview", "search"];

/// A crawler to deny, and what it did.
#[derive(Clone, Debug)]
pub(crate) struct DeniedCrawler {
    /// In the registry of the patterns.
    pub id: CrawlerId,
    /// Its name.
    pub name: String,
    operator: Option<String>,
    sums: Sums,
    signed: u64,
    span: Option<Span>,
    identities: Vec<&'static str>,
}

/// The result of a condition.
#[derive(Debug, Default)]
pub(crate) struct DenySelection {
    /// By name, as in the report.
    pub denied: Vec<DeniedCrawler>,
    /// Tools, and crawlers with useful purposes, that meet the condition, which does not name them.
    pub reserved: Vec<String>,
    /// Crawlers whose spoofed requests met the condition.
    pub spoofed: Vec<String>,
    /// Crawlers with violations that do not meet the condition.
    pub others: Others,
}

/// Crawlers with violations, each with the conduct where it has most; most violations first.
#[derive(Debug, Default)]
pub(crate) struct Others {
    /// Those that a condition on violations selects.
    pub by_violations: Vec<(String, Conduct)>,
    /// Those with useful purposes, which only a condition that names them selects.
    pub by_name: Vec<(String, Conduct)>,
}

impl DenySelection {
    /// The crawlers of `audit` with a row that meets `condition`.
    ///
    /// # Errors
    /// If one of them is not in `registry`.
    pub(crate) fn new(
        audit: &ReportModel,
        condition: &Threshold,
        registry: &Registry,
    ) -> Result<DenySelection> {
        let mut found = DenySelection::default();
        let reserved = [&TOOL_PURPOSES[..], &USEFUL_PURPOSES].concat();
        for (row, _) in condition.rows(audit, &reserved) {
            let name = &audit.registry.crawler(row.actor.0).name;
            if row.actor.1 == Identity::Spoofed {
                add_name(&mut found.spoofed, name);
                continue;
            }
            match found.denied.iter_mut().find(|denied| denied.name == *name) {
                Some(denied) => denied.add(row),
                None => found.denied.push(DeniedCrawler::new(name, row, registry)?),
            }
        }
        for (row, _) in condition.rows(audit, &[]) {
            let name = &audit.registry.crawler(row.actor.0).name;
            let is_denied = found.denied.iter().any(|denied| denied.name == *name);
            if !is_denied && row.actor.1 != Identity::Spoofed {
                add_name(&mut found.reserved, name);
            }
        }
        found.denied.sort_by(|left, right| left.name.cmp(&right.name));
        found.others = others(audit, &found);
        Ok(found)
    }
}

/// The crawlers with violations that are not in `found`.
fn others(audit: &ReportModel, found: &DenySelection) -> Others {
    let violations = |row: &&ActorRow| row.tally.total().violations;
    let own = audit.rows().iter().filter(|row| audit.is_own_crawler(row.actor));
    let mut rows: Vec<&ActorRow> = own.filter(|row| violations(row) > 0).collect();
    rows.sort_by_key(|row| Reverse(violations(row)));
    let mut others = Others::default();
    for row in rows {
        let crawler = audit.registry.crawler(row.actor.0);
        let name = &crawler.name;
        let is_selected =
            found.denied.iter().any(|denied| denied.name == *name) || found.reserved.contains(name);
        let others = match USEFUL_PURPOSES.contains(&crawler.purpose.as_str()) {
            true => &mut others.by_name,
            false => &mut others.by_violations,
        };
        if !is_selected && !others.iter().any(|(other, _)| other == name) {
            others.push((name.clone(), audit.conduct(row)));
        }
    }
    others
}

fn add_name(names: &mut Vec<String>, name: &String) {
    if !names.contains(name) {
        names.push(name.clone());
    }
}

impl DeniedCrawler {
    fn new(name: &str, row: &ActorRow, registry: &Registry) -> Result<DeniedCrawler> {
        let id =
            registry.find(name).filter(|id| !registry.crawler(*id).user_agent_regex.is_empty());
        let id = id.ok_or_else(|| {
            Error::usage(format!(
                "no pattern is known for the user agents of {name}; add the file of crawlers of \
                 the audit with --crawlers"
            ))
        })?;
        let crawler = registry.crawler(id);
        let mut denied = DeniedCrawler {
            id,
            name: crawler.name.clone(),
            operator: crawler.known_operator().map(str::to_owned),
            sums: Sums::default(),
            signed: 0,
            span: None,
            identities: Vec::new(),
        };
        denied.add(row);
        Ok(denied)
    }

    fn add(&mut self, row: &ActorRow) {
        self.sums.absorb(row.tally.total());
        self.signed += row.broken.iter().map(|broken| broken.tally.signed).sum::<u64>();
        self.span.absorb(row.tally.span);
        let identity = row.actor.1.as_str();
        if !self.identities.contains(&identity) {
            self.identities.push(identity);
        }
    }

    /// Its operator, or its own name if nobody knows the operator.
    pub(crate) fn operator(&self) -> &str {
        self.operator.as_deref().unwrap_or(&self.name)
    }

    /// Why it is denied, on one line: crawler, operator, numbers and period.
    pub(crate) fn why(&self) -> String {
        let signed = match self.signed {
            0 => String::new(),
            signed => format!(" ({} signed)", grouped(signed)),
        };
        let violations = counted(self.sums.violations, "violation") + &signed;
        let requests = counted(self.sums.requests, "request");
        let period = self.span.map_or_else(String::new, |span| {
            let (first, last) = (Zone::UTC.day_of(span.first), Zone::UTC.day_of(span.last));
            match first == last {
                true => format!(", on {first}"),
                false => format!(", {first} to {last}"),
            }
        });
        let operator = self.operator.as_ref().map(|operator| format!(" ({operator})"));
        let (name, operator) = (&self.name, operator.unwrap_or_default());
        let identities = self.identities.join(", ");
        format!("{name}{operator}: {violations} in {requests}{period}, {identities}")
    }
}
