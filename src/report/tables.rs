//! The rows of each table, as a finished audit holds them.

use std::io::{self, Write};

use crate::audit::finish::Audit;
use crate::audit::pace::Excess;
use crate::audit::row::{ActorRow, Broken, Delayed};
use crate::audit::simulate::{Changed, Simulation};
use crate::audit::tally::{CrawlerTally, UserAgentTally};
use crate::audit::unknown::UnknownCrawler;
use crate::crawlers::registry::Registry;
use crate::time::Hour;

use super::columns::{
    Table, crawl_delay::CRAWL_DELAY, daily::DAILY, hourly::HOURLY, rejects::REJECTS,
    robots_fetches::ROBOTS_FETCHES, robots_rules::ROBOTS_RULES, simulation::SIMULATION,
    summary::SUMMARY, unknown_crawlers::UNKNOWN_CRAWLERS, violations::VIOLATION,
};
use super::csv::{CsvTable, Row};
use super::robots_rules::robots_rules;

/// Writes one table.
type WriteTable = fn(&Audit, &Registry, &mut dyn Write) -> io::Result<()>;

/// The tables of a report directory, and how each is written.
pub const TABLES: &[(Table, WriteTable)] = &[
    (SUMMARY, write_summary),
    (VIOLATION, write_violations),
    (ROBOTS_RULES, write_robots_rules),
    (ROBOTS_FETCHES, write_robots_fetches),
    (CRAWL_DELAY, write_crawl_delay),
    (DAILY, write_daily),
    (HOURLY, write_hourly),
    (UNKNOWN_CRAWLERS, write_unknown_crawlers),
    (REJECTS, write_rejects),
    (SIMULATION, write_simulation),
];

/// Those of [`TABLES`] that the report of `audit` has.
pub fn tables_of(audit: &Audit) -> impl Iterator<Item = &'static (Table, WriteTable)> {
    let is_simulated = audit.simulation.is_some();
    TABLES.iter().filter(move |(table, _)| is_simulated || table.file != SIMULATION.file)
}

fn write_summary(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &SUMMARY)?;
    summary_rows(audit, registry).try_for_each(|row| csv.row(row))?;
    csv.finish().map(drop)
}

/// The rows of `summary.csv`.
pub fn summary_rows(audit: &Audit, registry: &Registry) -> impl Iterator<Item = Row> {
    audit.actors().map(|(origin, (crawler, identity), tally)| {
        let (sums, crawler) = (tally.total(), registry.crawler(crawler));
        let row = Row::default().text(origin).crawler(crawler, identity);
        row.counts([sums.requests, sums.robots_txt_requests, sums.allowed, sums.violations])
            .counts([sums.grace, sums.unreachable, sums.unknown])
            .counts([sums.not_bound, sums.not_bound_disallowed, sums.no_path])
            .fraction(sums.violations, sums.allowed + sums.violations)
            .counts([sums.bytes])
            .span(tally.span)
            .not_bound_reason(crawler)
            .counts([sums.allowed_ignoring_star])
    })
}

fn write_violations(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &VIOLATION)?;
    for (origin, (crawler, identity), broken) in audit.broken_rules() {
        let Broken { rule, tally, awareness } = broken;
        let (statuses, crawler) = (tally.statuses, registry.crawler(crawler));
        let row = Row::default()
            .text(origin)
            .crawler(crawler, identity)
            .rule(rule)
            .counts([tally.requests])
            .counts([statuses.status_2xx, statuses.status_3xx, statuses.status_4xx])
            .counts([statuses.status_5xx, statuses.status_other, tally.bytes])
            .span(Some(tally.span))
            .bytes(&tally.example.target)
            .text(audit.input_name(tally.example.file))
            .counts([tally.example.line])
            .awareness(awareness)
            .maybe_counts(awareness.ages().map(|ages| [ages.min, ages.median, ages.max]))
            .rule_not_bound_reason(crawler, rule)
            .snapshot(tally.example.snapshot, tally.example.time);
        csv.row(row)?;
    }
    csv.finish().map(drop)
}

fn write_robots_rules(audit: &Audit, _: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &ROBOTS_RULES)?;
    for (digest, lines) in robots_rules(audit) {
        for (line, near) in lines {
            let row = Row::default()
                .text(&digest.to_string())
                .counts([u64::from(line)])
                .text(near.field)
                .bytes(near.value)
                .maybe_counts(near.requests.map(|requests| [requests]));
            csv.row(row)?;
        }
    }
    csv.finish().map(drop)
}

fn write_robots_fetches(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &ROBOTS_FETCHES)?;
    for ActorRow { origin, actor: (crawler, identity), tally, awareness, .. } in audit.rows() {
        let CrawlerTally { readings, .. } = tally;
        let (sums, statuses) = (tally.total(), readings.statuses);
        let row = Row::default()
            .text(origin)
            .crawler(registry.crawler(*crawler), *identity)
            .counts([sums.robots_txt_requests, readings.readings])
            .counts([statuses.status_2xx, statuses.status_3xx, statuses.status_4xx])
            .counts([statuses.status_5xx, statuses.status_other])
            .span(readings.fetched)
            .span(readings.read)
            .counts([
                sums.requests - sums.robots_txt_requests,
                readings.requests_before_first_reading(),
                sums.violations,
            ])
            .awareness(awareness);
        csv.row(row)?;
    }
    csv.finish().map(drop)
}

fn write_crawl_delay(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &CRAWL_DELAY)?;
    for (origin, (crawler, identity), delayed) in audit.delays() {
        let (Delayed { asked, requests, pace }, crawler) = (delayed, registry.crawler(crawler));
        let excess = |excess: Option<Excess>| {
            excess.map(|excess| [excess.allowed, excess.requests_over, excess.periods_over])
        };
        let busiest = pace.and_then(|pace| pace.busiest);
        let start = busiest.and_then(|busiest| busiest.start);
        let row = Row::default()
            .text(origin)
            .crawler(crawler, identity)
            .text(&asked.digest.to_string())
            .counts([u64::from(asked.line)])
            .bytes(&asked.written)
            .milliseconds(asked.milliseconds)
            .bytes(&asked.group)
            .text(crawler.crawl_delay.as_str())
            .counts([*requests])
            .maybe_counts(excess(pace.and_then(|pace| pace.hourly)))
            .maybe_counts(excess(pace.and_then(|pace| pace.daily)))
            .text(&start.map_or_else(String::new, |start| start.to_string()))
            .maybe_counts(busiest.map(|busiest| [busiest.requests]))
            .not_bound_reason(crawler);
        csv.row(row)?;
    }
    csv.finish().map(drop)
}

fn write_daily(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &DAILY)?;
    for (day, origin, (crawler, identity), sums) in audit.days() {
        let row = Row::default()
            .text(&day.to_string())
            .text(origin)
            .crawler(registry.crawler(crawler), identity)
            .counts([sums.requests, sums.robots_txt_requests, sums.allowed, sums.violations])
            .counts([sums.grace, sums.unreachable, sums.unknown])
            .counts([sums.not_bound, sums.not_bound_disallowed, sums.no_path])
            .fraction(sums.violations, sums.allowed + sums.violations)
            .counts([sums.bytes]);
        csv.row(row)?;
    }
    csv.finish().map(drop)
}

fn write_hourly(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &HOURLY)?;
    for (Hour { day, hour }, actors) in audit.hours.kept() {
        let mut rows: Vec<_> = actors.iter().collect();
        rows.sort_by_key(|((crawler, identity), _)| (&registry.crawler(*crawler).name, *identity));
        for ((crawler, identity), sums) in rows {
            let row = Row::default()
                .text(&day.to_string())
                .counts([u64::from(hour)])
                .crawler(registry.crawler(*crawler), *identity)
                .counts([sums.requests, sums.allowed, sums.violations])
                .fraction(sums.violations, sums.allowed + sums.violations)
                .counts([sums.bytes]);
            csv.row(row)?;
        }
    }
    csv.finish().map(drop)
}

fn write_unknown_crawlers(audit: &Audit, _: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &UNKNOWN_CRAWLERS)?;
    let others = audit.other_unknown_crawlers.map(|tally| UnknownCrawler {
        user_agent: b"(others)".to_vec(),
        tally,
        token: Vec::new(),
        robots_naming: 0,
    });
    for crawler in audit.unknown_crawlers.iter().chain(&others) {
        let UserAgentTally { sums, span } = crawler.tally;
        let row = Row::default()
            .bytes(&crawler.user_agent)
            .counts([sums.requests, sums.robots_txt_requests, sums.allowed, sums.violations])
            .counts([sums.unknown, sums.no_path, sums.bytes])
            .span(span)
            .bytes(&crawler.token)
            .maybe_counts((!crawler.token.is_empty()).then_some([crawler.robots_naming]))
            .counts([sums.grace, sums.unreachable]);
        csv.row(row)?;
    }
    csv.finish().map(drop)
}

fn write_rejects(audit: &Audit, _: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &REJECTS)?;
    for input in &audit.inputs {
        for (reason, reject) in input.rejects() {
            let (line, example) =
                reject.sample.as_ref().map_or((0, &[][..]), |(line, bytes)| (*line, &bytes[..]));
            let row = Row::default()
                .text(&input.name)
                .text(reason.as_str())
                .counts([reject.lines, line])
                .bytes(example);
            csv.row(row)?;
        }
    }
    csv.finish().map(drop)
}

fn write_simulation(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &SIMULATION)?;
    for (origin, (crawler, identity), changed) in
        audit.simulation.iter().flat_map(Simulation::changes)
    {
        let Changed { change, draft, present, tally } = changed;
        let row = Row::default()
            .text(origin)
            .crawler(registry.crawler(crawler), identity)
            .text(change.as_str())
            .rule_without_digest(draft.as_ref())
            .text(&present.as_ref().map_or_else(String::new, |rule| rule.digest.to_string()))
            .rule_without_digest(present.as_ref())
            .counts([tally.requests])
            .span(Some(tally.span))
            .bytes(&tally.example.target)
            .text(audit.input_name(tally.example.file))
            .counts([tally.example.line]);
        csv.row(row)?;
    }
    csv.finish().map(drop)
}
