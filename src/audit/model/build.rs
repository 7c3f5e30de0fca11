//! Builds the model of a report from a tally: checks the sums, orders the rows, and adds warnings
//! and notes.

use std::collections::BTreeSet;

use crate::audit::identity_warnings::{identity_notes, identity_warnings, named};
use crate::audit::path_rows::{SectionRows, path_rows, section_rows};
use crate::audit::quotes::{Quotes, UsedRobots};
use crate::audit::reaction_rows::{OriginReactions, ReactionThresholds};
use crate::audit::referral_rows::{ReferralRows, referral_rows};
use crate::audit::tally::counts::{OriginRows, Visits};
use crate::audit::tally::{Tally, header::Header, rows::TIME_BUCKETS_MAX};
use crate::audit::unknown::unknown_crawlers;
use crate::audit::warnings::{signature_notes, signature_warnings, warnings};
use crate::audit::{client_rows::with_older, conduct::ConductLimits, coverage::Coverage};
use crate::audit::{crawler_row::ActorRow, draft::WhatIf, hours::HOURS_MAX};
use crate::audit::{log_outages::OutageEvidence, nothing_judged::coverage, origin_key::OriginKey};
use crate::audit::{parse_rate::UnreadLogs, prior_fetches::OriginFetches, snapshots::Snapshots};
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::judge::messages::failure_messages;
use crate::measures::{clients::SampledPaths, crawler_tally::Times};
use crate::merge::sum;
use crate::numbers::counted;

use super::ReportModel;

impl ReportModel {
    /// Checks the sums of `tally` and puts everything in the order of reports.
    ///
    /// # Errors
    /// If sums that must hold do not, or the tally is damaged.
    pub fn new(tally: Tally) -> Result<ReportModel> {
        let inputs = tally.inputs();
        let Tally { header, counts } = tally;
        let percent_min = header.options.get("min_parse_rate").as_f64();
        let unread = UnreadLogs::of(&inputs, percent_min.unwrap_or_default());
        let quotes = Quotes::new(&header);
        let (mut robots, mut snapshots) = (files_of(&header, &quotes)?, Snapshots::default());
        for of_origin in &counts.origins {
            snapshots.add(of_origin, &quotes, &mut robots)?;
        }
        let (rows, visits) = rows_and_visits(counts.origins, &header, &quotes)?;
        let automated = counts.unknown_crawlers.iter().map(|(_, tally)| tally.sums);
        let automated = sum(automated.chain(counts.other_unknown_crawlers.map(|tally| tally.sums)));
        let others = sum(inputs.iter().map(|input| input.tally.other));
        let clients = with_older(counts.clients, others, automated)?;
        let unknown_crawlers = unknown_crawlers(counts.unknown_crawlers, &robots);
        let failures = failure_messages(&header.rulings.failures);
        let requests = sum(rows.iter().map(|row| row.tally.unreachable_by_logs));
        let mut audit = ReportModel {
            inputs,
            robots,
            snapshots,
            before_first: header.rulings.before_first(),
            hours: counts.hours,
            sections: SectionRows::new(),
            paths: None,
            referrals: ReferralRows::new(),
            price: header.options.get("cost_per_gb").as_str().and_then(|text| text.parse().ok()),
            conduct_limits: ConductLimits::of(&header.options),
            unknown_crawlers,
            other_unknown_crawlers: counts.other_unknown_crawlers,
            clients,
            robots_failures: failures.len(),
            damaged_copies: header.repeats.damaged(),
            unread,
            signatures: counts.signatures.into_rows()?,
            sessions: counts.sessions,
            log_evidence: header.outages.map(|outages| OutageEvidence { outages, requests }),
            warnings: Vec::new(),
            notes: Vec::new(),
            coverage: Coverage::default(),
            lacks_fetched: !header.rulings.not_fetched.is_empty(),
            simulation: None,
            nights: header.days.clone(),
            options: header.options.clone(),
            registry: Registry::of_crawlers(header.crawlers.clone()),
            crawlers_known: header.registry.crawlers,
            rows,
        };
        audit.check_requests()?;
        audit.referrals = audit.referrals(visits)?;
        if audit.options.get("paths") == true {
            audit.sections = section_rows(&audit.rows, counts.sections)?;
            audit.paths = Some(path_rows(&audit.rows, counts.paths)?);
        }
        audit.add_remarks(&header, failures, &quotes)?;
        Ok(audit)
    }

    /// Notes and warnings, in the order in which they are shown, and what a draft would change.
    fn add_remarks(
        &mut self,
        header: &Header,
        failures: Vec<String>,
        quotes: &Quotes<'_>,
    ) -> Result<()> {
        let audit = self;
        audit.notes.extend(audit.log_evidence.map(OutageEvidence::note));
        audit.warnings = warnings(audit, header, failures);
        audit.warnings.extend(audit.times_given_up());
        audit.warnings.extend(audit.partial_changes());
        audit.warnings.extend(audit.late_requests());
        audit.notes.extend(audit.hours_given_up());
        audit.notes.extend(audit.continued_groups());
        audit.notes.extend(audit.ambiguous_groups());
        audit.notes.extend(audit.altered_answers_note());
        if let Some(draft) = &header.draft {
            let simulation = WhatIf::new(&mut audit.rows, draft, quotes)?;
            audit.warnings.extend(simulation.warnings(&draft.scope));
            audit.simulation = Some(simulation);
        }
        audit.warnings.extend(audit.unread.iter().map(|unread| unread.message.clone()));
        audit.warnings.extend(header.repeats.warnings());
        audit.notes.extend(header.repeats.notes());
        audit.warnings.extend(identity_warnings(audit, &header.identities));
        audit.notes.extend(identity_notes(audit, &header.identities));
        audit.warnings.extend(signature_warnings(&header.identities));
        audit.notes.extend(signature_notes(audit));
        audit.coverage = coverage(audit, header);
        audit.warnings.extend(audit.coverage.failure().map(str::to_owned));
        Ok(())
    }

    /// Visits beside the requests of crawlers; none if no log has a Referer field, because zeros would
    /// be wrong.
    fn referrals(&self, visits: OriginVisits) -> Result<ReferralRows> {
        if self.inputs.iter().all(|input| input.tally.with_referer == 0) {
            return Ok(ReferralRows::new());
        }
        let own = self.actors().filter(|(_, actor, _)| self.is_own_crawler(*actor));
        let own =
            own.map(|(origin, (id, _), tally)| (origin, self.registry.crawler(id), tally.total()));
        referral_rows(visits, own)
    }

    /// Violations of rules that a parser that ends groups at other fields would not apply.
    fn continued_groups(&self) -> Option<String> {
        let continued = self.broken_rules().filter(|(_, actor, broken)| {
            broken.rule.continued_over.is_some() && self.is_own_crawler(*actor)
        });
        let violations = sum(continued.map(|(_, _, broken)| broken.tally.requests));
        (violations > 0).then(|| {
            format!(
                "{} of rules in groups that continue after another field, such as Crawl-delay: \
                 such a field does not end a group, though the site owner may have intended that; \
                 see continued_over_line in violations.csv",
                counted(violations, "violation")
            )
        })
    }

    /// Requests that more than one group may govern.
    fn ambiguous_groups(&self) -> Option<String> {
        let own = self.rows.iter().filter(|row| self.is_own_crawler(row.actor));
        let ambiguous = own.map(|row| (row, row.tally.total().ambiguous_group));
        let ambiguous: Vec<(&ActorRow, u64)> =
            ambiguous.filter(|(_, requests)| *requests > 0).collect();
        let requests = sum(ambiguous.iter().map(|(_, requests)| *requests));
        let names = ambiguous.iter().map(|(row, _)| &*self.registry.crawler(row.actor.0).name);
        let names: Vec<&str> = names.collect::<BTreeSet<&str>>().into_iter().collect();
        (requests > 0).then(|| {
            format!(
                "{} of {} count as unknown (ambiguous-group): several groups of robots.txt may bind \
                 the crawler, and they decide differently; see ambiguous_group in summary.csv",
                counted(requests, "request"),
                named(&names)
            )
        })
    }

    /// For `(others)`, times are never kept. For other origins, a warning is needed.
    fn times_given_up(&self) -> Option<String> {
        let is_given_up = |row: &&ActorRow| {
            row.tally.times == Times::GivenUp && row.origin != OriginKey::Others.to_string()
        };
        let crawlers = self.rows.iter().filter(is_given_up).count();
        (crawlers > 0).then(|| {
            format!(
                "too many request times to keep (limit {TIME_BUCKETS_MAX}); for {} at \
                 some origins, earlier robots.txt fetches and reactions are unknown; audit fewer days or origins \
                 at once",
                counted(crawlers as u64, "crawler")
            )
        })
    }

    /// Changes that some of merged tallies did not know.
    fn partial_changes(&self) -> Option<String> {
        let partial = self.reactions().filter(|(_, _, row)| row.is_partial);
        let changes: BTreeSet<_> = partial.map(|(origin, _, row)| (origin, row.times)).collect();
        (!changes.is_empty()).then(|| {
            format!(
                "reactions to {} of robots.txt are unknown, because some logs were read without \
                 the archive, before it had them, or with other --reaction-days; audit these \
                 logs again",
                counted(changes.len() as u64, "change")
            )
        })
    }

    /// Requests that sessions and gaps lack.
    fn late_requests(&self) -> Option<String> {
        let late = self.sessions.iter().map(|(_, sessions)| sessions.total().late);
        let late: u64 = late.fold(0, u64::saturating_add);
        (late > 0).then(|| {
            format!(
                "sessions.csv and crawl-delay-gaps lack {}: each is more than 15 minutes earlier \
                 than a line before it; if logs were joined, audit them as separate files, or sort \
                 the lines by time",
                counted(late, "request")
            )
        })
    }

    fn hours_given_up(&self) -> Option<String> {
        let earlier = self.hours.earlier().requests;
        (earlier > 0).then(|| {
            format!(
                "hourly.csv has only the last {HOURS_MAX} hours with requests; counted by day only: {}",
                counted(earlier, "earlier request")
            )
        })
    }

    /// Nothing may be lost between the lines and the rows.
    fn check_requests(&self) -> Result<()> {
        self.rows.iter().try_for_each(ActorRow::check)?;
        let lines: u64 = sum(self.inputs.iter().map(|input| input.tally.crawler));
        let (total, hours) = (self.total(), self.hours.total());
        let requests = total.requests;
        let sessions = self
            .sessions
            .iter()
            .try_fold(0u64, |sum, (_, sessions)| sum.checked_add(sessions.requests()?));
        let of_hours = (hours.requests, hours.allowed, hours.violations);
        let has_sessions = self.sessions.is_empty() || sessions == Some(requests);
        if has_sessions
            && lines == requests
            && of_hours == (requests, total.allowed, total.violations)
        {
            Ok(())
        } else {
            Err(Error::inconsistent(format!(
                "{lines} lines of crawlers, but {requests} requests; by hour {hours:?}"
            )))
        }
    }
}

/// The visits of each origin.
type OriginVisits = Vec<(String, Visits)>;

/// The rows of all origins in the order of reports, and the visits of each origin.
fn rows_and_visits(
    origins: Vec<OriginRows>,
    header: &Header,
    quotes: &Quotes<'_>,
) -> Result<(Vec<ActorRow>, OriginVisits)> {
    let thresholds = ReactionThresholds::of(&header.options);
    let (mut rows, mut visits) = (Vec::new(), Vec::new());
    for mut of_origin in origins {
        let origin = of_origin.origin_key.to_string();
        of_origin.settle_answers();
        of_origin.cut_earlier_fetches();
        let history = header.rulings.histories.get(&origin);
        let reactions = OriginReactions::new(thresholds, history, of_origin.span());
        let origin_fetches = OriginFetches::new(&of_origin.rows, &header.crawlers);
        visits.push((origin.clone(), of_origin.visits));
        // Browsers at some origins tell nothing about crawlers at others.
        let browsers = match of_origin.origin_key {
            OriginKey::Others => SampledPaths::default(),
            _ => of_origin.browsers,
        };
        if !of_origin.browsers.holds() {
            return Err(Error::inconsistent(format!(
                "more judged requests of browsers at {origin} than there are"
            )));
        }
        for (actor, tally) in of_origin.rows {
            let (origin, known) = (origin.clone(), origin_fetches.known_fetches(actor));
            let row = ActorRow::new(origin, actor, tally, &known, &reactions, quotes)?;
            rows.push(ActorRow { browsers, ..row });
        }
    }
    // Crawlers are numbered in the order of their names.
    rows.sort_by(|left, right| {
        left.origin.cmp(&right.origin).then_with(|| left.actor.cmp(&right.actor))
    });
    Ok((rows, visits))
}

/// The files of a single robots.txt or a directory, by name.
fn files_of(header: &Header, quotes: &Quotes<'_>) -> Result<Vec<(String, UsedRobots)>> {
    let files = header.rulings.files.iter();
    files.map(|(source, digest)| Ok((source.clone(), quotes.used(*digest)?))).collect()
}
