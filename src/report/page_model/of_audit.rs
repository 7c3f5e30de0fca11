//! The model of a finished audit.

use std::collections::BTreeMap;

use crate::audit::finish::Audit;
use crate::audit::pace::Excess;
use crate::audit::row::{ActorRow, Broken, Delayed};
use crate::audit::simulate::{Changed, Simulation};
use crate::audit::sums::{Statuses, Sums};
use crate::audit::tally::{Actor, UserAgentTally};
use crate::crawlers::crawler::{Crawler, Obligation};
use crate::crawlers::registry::Registry;
use crate::digest::Digest;
use crate::judge::robots::DecidingRule;
use crate::merge::Merge;

use super::super::escape::visible;
use super::super::robots_rules::robots_rules;
use super::crawler::{CrawlerTotals, PriorFetches};
use super::rows::{
    ChangeRow, ChangeRule, DelayRow, RejectRow, SummaryRow, UnknownCrawlerRow, ViolationRow,
};
use super::rule::{ORIGINS_MAX, RobotsLine, RuleExample, RuleTotals, RuleVersion};
use super::run::RunDetails;
use super::top::Top;
use super::what_if::Changes;
use super::{CrawlerKey, Heaviest, OFFENDERS_SHOWN, PageModel, ROWS_MAX, RULES_SHOWN, is_itself};

/// The name of what does not fit in `unknown-crawlers.csv`.
const OTHERS: &[u8] = b"(others)";

impl PageModel {
    /// Of `audit`; `evidence` is the name of the evidence, where it stands in the report.
    pub fn of(audit: &Audit, evidence: Option<&str>) -> PageModel {
        let registry = &audit.registry;
        let mut model = PageModel {
            run: RunDetails::of(audit, evidence),
            delays: delays(audit, registry),
            unknown_crawlers: unknown_crawlers(audit),
            rejects: rejects(audit),
            changes: changes(audit, registry),
            ..PageModel::default()
        };
        model.add_rows(audit, registry);
        model.add_hours(audit);
        model.add_violations(audit, registry);
        model.robots_lines = robots_lines(audit, &model.rules);
        model
    }

    fn add_rows(&mut self, audit: &Audit, registry: &Registry) {
        let (mut top, mut offenders) = (Top::new(ROWS_MAX), Top::new(OFFENDERS_SHOWN));
        let mut totals: BTreeMap<Actor, CrawlerTotals> = BTreeMap::new();
        for row in audit.rows() {
            let (sums, identity) = (row.tally.total(), row.actor.1);
            top.offer(sums.violations, || row);
            if is_itself(identity) && sums.violations > 0 {
                offenders.offer(sums.violations, || row);
            }
            self.period.absorb(row.tally.span);
            self.identities.entry(identity).or_default().absorb(sums);
            for (day, of_day) in &row.tally.days {
                let of_it = self.days.entry(*day).or_default();
                of_it.entry(identity).or_default().absorb(*of_day);
            }
            add_row(totals.entry(row.actor).or_default(), row, sums);
        }
        for ((crawler, identity), totals) in totals {
            let crawler = registry.crawler(crawler);
            let totals = CrawlerTotals {
                operator: text(&crawler.operator),
                purpose: text(&crawler.purpose),
                stated_policy: crawler.stated_policy().as_str().to_owned(),
                not_bound_reason: not_bound_reason(crawler).to_owned(),
                ..totals
            };
            self.crawlers.insert((text(&crawler.name), identity), totals);
        }
        // Rows stand in the order of origins.
        let mut origins = audit.rows().chunk_by(|left, right| left.origin == right.origin);
        self.only_origin = origins.next().map(|rows| text(&rows[0].origin));
        let others = origins.count();
        self.origins = others + usize::from(self.only_origin.is_some());
        if others > 0 {
            self.only_origin = None;
        }
        self.summary = Heaviest {
            total: top.offered,
            rows: top.into_rows().into_iter().map(|row| summary_row(row, registry)).collect(),
        };
        self.offenders_total = offenders.offered;
        let offender =
            |row: &ActorRow| (summary_row(row, registry), PriorFetches::from(&row.awareness));
        self.offenders = offenders.into_rows().into_iter().map(offender).collect();
    }

    fn add_hours(&mut self, audit: &Audit) {
        for (hour, actors) in audit.hours.kept() {
            let of_hour = self.hours.entry(hour).or_default();
            for (&(_, identity), hour) in actors {
                of_hour.entry(identity).or_default().absorb(Sums {
                    requests: hour.requests,
                    allowed: hour.allowed,
                    violations: hour.violations,
                    bytes: hour.bytes,
                    ..Sums::default()
                });
            }
        }
    }

    fn add_violations(&mut self, audit: &Audit, registry: &Registry) {
        let mut top = Top::new(ROWS_MAX);
        let mut statuses: BTreeMap<Actor, Statuses> = BTreeMap::new();
        let mut rules: BTreeMap<(Digest, u32), Vec<BrokenBy<'_>>> = BTreeMap::new();
        for (origin, actor, broken) in audit.broken_rules() {
            let by = BrokenBy { origin, actor, broken };
            top.offer(broken.tally.requests, || by);
            statuses.entry(actor).or_default().absorb(broken.tally.statuses);
            if is_itself(actor.1) {
                rules.entry((broken.rule.digest, broken.rule.line)).or_default().push(by);
            }
        }
        for (actor, statuses) in statuses {
            let totals = self.crawlers.entry(crawler_key(actor, registry)).or_default();
            totals.statuses.absorb(statuses);
        }
        self.violations = Heaviest {
            total: top.offered,
            rows: top.into_rows().iter().map(|by| by.row(audit, registry)).collect(),
        };
        self.rules_broken = rules.len();
        let mut most = Top::new(RULES_SHOWN);
        for (rule, by) in rules {
            let requests = by.iter().map(|by| by.broken.tally.requests).sum();
            most.offer(requests, || (rule, by));
        }
        let rule = |((digest, line), by): ((Digest, u32), Vec<BrokenBy<'_>>)| {
            ((digest.to_string(), u64::from(line)), rule_totals(&by, audit, registry))
        };
        self.rules = most.into_rows().into_iter().map(rule).collect();
    }
}

/// Who broke a rule, and where.
#[derive(Clone, Copy)]
struct BrokenBy<'a> {
    origin: &'a str,
    actor: Actor,
    broken: &'a Broken,
}

impl BrokenBy<'_> {
    fn row(&self, audit: &Audit, registry: &Registry) -> ViolationRow {
        let Broken { rule, tally, .. } = self.broken;
        let (crawler, identity) = crawler_key(self.actor, registry);
        ViolationRow {
            origin: text(self.origin),
            crawler,
            identity,
            rule_line: u64::from(rule.line),
            directive: rule.directive.to_owned(),
            pattern: visible(&rule.pattern),
            group: visible(&rule.group),
            requests: tally.requests,
            first_seen: Some(tally.span.first),
            example_target: visible(&tally.example.target),
            example_file: text(audit.input_name(tally.example.file)),
            example_line: tally.example.line,
        }
    }
}

/// What all who broke one rule came to.
fn rule_totals(by: &[BrokenBy<'_>], audit: &Audit, registry: &Registry) -> RuleTotals {
    let mut totals = RuleTotals::default();
    for &BrokenBy { origin, actor, broken: Broken { rule, tally, .. } } in by {
        if totals.directive.is_empty() {
            rule.directive.clone_into(&mut totals.directive);
            totals.pattern = visible(&rule.pattern);
        }
        totals.requests += tally.requests;
        totals.statuses.absorb(tally.statuses);
        *totals.by.entry(crawler_key(actor, registry)).or_default() += tally.requests;
        if totals.origins.len() < ORIGINS_MAX {
            totals.origins.insert(text(origin));
        }
        let example = RuleExample {
            time: Some(tally.span.first),
            file: text(audit.input_name(tally.example.file)),
            line: tally.example.line,
            target: visible(&tally.example.target),
        };
        if totals.example.as_ref().is_none_or(|earliest| example < *earliest) {
            totals.example = Some(example);
        }
    }
    totals
}

/// Adds what a crawler did at one origin, but for how its violations were answered.
fn add_row(totals: &mut CrawlerTotals, row: &ActorRow, sums: Sums) {
    let fetched = &row.tally.readings;
    totals.sums.absorb(sums);
    totals.prior_fetches.absorb(PriorFetches::from(&row.awareness));
    let fetches = &mut totals.fetches;
    fetches.requests += sums.robots_txt_requests;
    fetches.successful += fetched.readings;
    fetches.origins += 1;
    fetches.origins_fetched += u64::from(fetched.readings > 0);
    fetches.other_requests += sums.requests - sums.robots_txt_requests;
    fetches.before_first += fetched.requests_before_first_reading();
    fetches.span.absorb(fetched.read);
}

fn summary_row(row: &ActorRow, registry: &Registry) -> SummaryRow {
    let crawler = registry.crawler(row.actor.0);
    SummaryRow {
        origin: text(&row.origin),
        crawler: text(&crawler.name),
        operator: text(&crawler.operator),
        stated_policy: crawler.stated_policy().as_str().to_owned(),
        identity: row.actor.1,
        sums: row.tally.total(),
        not_bound_reason: not_bound_reason(crawler).to_owned(),
        seen: row.tally.span,
    }
}

/// The lines near `rules` in the files of their versions.
fn robots_lines(
    audit: &Audit,
    rules: &[(RuleVersion, RuleTotals)],
) -> BTreeMap<String, Vec<RobotsLine>> {
    let lines = robots_rules(audit).into_iter().map(|(digest, lines)| (digest.to_string(), lines));
    let shown = lines.filter(|(digest, _)| rules.iter().any(|((of, _), _)| of == digest));
    shown
        .map(|(digest, lines)| {
            let lines = lines.into_iter().map(|(line, near)| RobotsLine {
                line: u64::from(line),
                field: near.field.to_owned(),
                value: visible(near.value),
            });
            (digest, lines.collect())
        })
        .collect()
}

fn delays(audit: &Audit, registry: &Registry) -> Heaviest<DelayRow> {
    let mut top = Top::new(ROWS_MAX);
    for (origin, actor, delayed) in audit.delays() {
        let Delayed { asked, requests, pace } = delayed;
        let hourly = pace.and_then(|pace| pace.hourly);
        let daily = pace.and_then(|pace| pace.daily);
        let busiest = pace.and_then(|pace| pace.busiest);
        let over = |excess: Option<Excess>| excess.map(|excess| excess.requests_over);
        top.offer(over(hourly).unwrap_or_default(), || {
            let (crawler, identity) = crawler_key(actor, registry);
            DelayRow {
                origin: text(origin),
                crawler,
                identity,
                delay: visible(&asked.written),
                honours_delay: registry.crawler(actor.0).crawl_delay.as_str().to_owned(),
                requests: *requests,
                over_hourly: over(hourly),
                hours_over: hourly.map(|hourly| hourly.periods_over),
                over_daily: over(daily),
                busiest_hour: busiest.and_then(|busiest| busiest.start),
                busiest_hour_requests: busiest.map(|busiest| busiest.requests),
            }
        });
    }
    top.into()
}

fn unknown_crawlers(audit: &Audit) -> Heaviest<UnknownCrawlerRow> {
    let mut top = Top::new(ROWS_MAX);
    let row = |user_agent: &[u8], token: &[u8], UserAgentTally { sums, span }: UserAgentTally| {
        UnknownCrawlerRow {
            user_agent: visible(user_agent),
            token: visible(token),
            requests: sums.requests,
            star_disallowed: sums.violations,
            star_allowed: sums.allowed,
            robots_txt_requests: sums.robots_txt_requests,
            seen: span,
        }
    };
    for crawler in &audit.unknown_crawlers {
        top.offer(crawler.tally.sums.requests, || {
            row(&crawler.user_agent, &crawler.token, crawler.tally)
        });
    }
    if let Some(tally) = audit.other_unknown_crawlers {
        top.offer(tally.sums.requests, || row(OTHERS, b"", tally));
    }
    top.into()
}

fn rejects(audit: &Audit) -> Heaviest<RejectRow> {
    let mut top = Top::new(ROWS_MAX);
    for input in &audit.inputs {
        for (reason, reject) in input.rejects() {
            top.offer(reject.lines, || {
                let sample = reject.sample.as_ref();
                RejectRow {
                    file: text(&input.name),
                    reason: reason.as_str().to_owned(),
                    lines: reject.lines,
                    example_line: sample.map_or(0, |(line, _)| *line),
                    example: sample.map_or_else(String::new, |(_, bytes)| visible(bytes)),
                }
            });
        }
    }
    top.into()
}

fn changes(audit: &Audit, registry: &Registry) -> Changes {
    let mut top = Top::new(ROWS_MAX);
    let mut requests = BTreeMap::new();
    for (origin, actor, changed) in audit.simulation.iter().flat_map(Simulation::changes) {
        let Changed { change, draft, present, tally } = changed;
        let (crawler, identity) = crawler_key(actor, registry);
        if is_itself(identity) {
            *requests.entry((*change, crawler.clone())).or_default() += tally.requests;
        }
        top.offer(tally.requests, || ChangeRow {
            origin: text(origin),
            crawler,
            identity,
            change: *change,
            requests: tally.requests,
            draft_line: draft.as_ref().map(|rule| u64::from(rule.line)),
            draft: draft.as_ref().map(change_rule),
            present: present.as_ref().map(change_rule),
            example_target: visible(&tally.example.target),
        });
    }
    Changes { heaviest: top.into(), requests }
}

fn change_rule(rule: &DecidingRule) -> ChangeRule {
    ChangeRule { directive: rule.directive.to_owned(), pattern: visible(&rule.pattern) }
}

fn crawler_key((crawler, identity): Actor, registry: &Registry) -> CrawlerKey {
    (text(&registry.crawler(crawler).name), identity)
}

/// Why robots.txt does not bind `crawler`; empty where it does.
pub fn not_bound_reason(crawler: &Crawler) -> &'static str {
    match crawler.binding() {
        Obligation::Bound => "",
        reason => reason.as_str(),
    }
}

/// Text that may hold what strangers wrote.
fn text(text: &str) -> String {
    visible(text.as_bytes())
}
