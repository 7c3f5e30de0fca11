//! The rows of each table, as a finished audit holds them.

use std::io::{self, Write};

use crate::audit::crawler_row::{ActorRow, Broken, Delayed};
use crate::audit::delay_kept::Excess;
use crate::audit::model::ReportModel;
use crate::audit::sums::Sums;
use crate::audit::tally::{CrawlerTally, UserAgentTally};
use crate::audit::unknown::UnknownCrawler;
use crate::audit::what_if::{ChangedVerdict, WhatIf};
use crate::time::Hour;

use super::columns::column::TableSchema;
use super::columns::tables::{
    CRAWL_DELAY, DAILY, HOURLY, REJECTS, ROBOTS_FETCHES, ROBOTS_RULES, SUMMARY, UNKNOWN_CRAWLERS,
    VIOLATION, WHAT_IF,
};
use super::csv::{CrawlerCells, CsvTable, Row};
use super::robots_rules::robots_rules;

/// Writes one table.
type WriteTable = fn(&ReportModel, &CrawlerCells<'_>, &mut dyn Write) -> io::Result<()>;

/// The tables of a report directory, and how each is written.
pub const TABLES: &[(TableSchema, WriteTable)] = &[
    (SUMMARY, write_summary),
    (VIOLATION, write_violations),
    (ROBOTS_RULES, write_robots_rules),
    (ROBOTS_FETCHES, write_robots_fetches),
    (CRAWL_DELAY, write_crawl_delay),
    (DAILY, write_daily),
    (HOURLY, write_hourly),
    (UNKNOWN_CRAWLERS, write_unknown_crawlers),
    (REJECTS, write_rejects),
    (WHAT_IF, write_what_if),
];

/// Those of [`TABLES`] that the report of `audit` has.
pub fn tables_of(audit: &ReportModel) -> impl Iterator<Item = &'static (TableSchema, WriteTable)> {
    let is_simulated = audit.simulation.is_some();
    TABLES.iter().filter(move |(table, _)| is_simulated || table.file != WHAT_IF.file)
}

fn write_summary(
    audit: &ReportModel,
    crawlers: &CrawlerCells<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &SUMMARY)?;
    for of in audit.rows() {
        csv.row(|row| summary_row(of, crawlers, row))?;
    }
    csv.finish().map(drop)
}

/// Puts the cells of `summary.csv` of `of` into `row`.
pub fn summary_row(of: &ActorRow, crawlers: &CrawlerCells<'_>, row: &mut Row) {
    let sums = of.tally.total();
    row.text(&of.origin).known_crawler(crawlers, of.actor);
    sums_cells(&sums, row);
    row.span(of.tally.span)
        .not_bound_reason(crawlers.registry.crawler(of.actor.0))
        .counts([sums.allowed_ignoring_star]);
}

/// Puts the cells `requests` to `bytes` into `row`, as some tables have them.
pub fn sums_cells(sums: &Sums, row: &mut Row) {
    row.counts([sums.requests, sums.robots_txt_requests, sums.allowed, sums.violations])
        .counts([sums.grace, sums.unreachable, sums.unknown])
        .counts([sums.not_bound, sums.not_bound_disallowed, sums.no_path])
        .fraction(sums.violations, sums.allowed + sums.violations)
        .counts([sums.bytes]);
}

fn write_violations(
    audit: &ReportModel,
    crawlers: &CrawlerCells<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &VIOLATION)?;
    for (origin, actor, broken) in audit.broken_rules() {
        let Broken { rule, tally, awareness } = broken;
        let (statuses, crawler) = (tally.statuses, crawlers.registry.crawler(actor.0));
        csv.row(|row| {
            row.text(origin)
                .known_crawler(crawlers, actor)
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
        })?;
    }
    csv.finish().map(drop)
}

fn write_robots_rules(
    audit: &ReportModel,
    _: &CrawlerCells<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &ROBOTS_RULES)?;
    for (digest, lines) in robots_rules(audit) {
        for (line, near) in lines {
            csv.row(|row| {
                row.digest(&digest)
                    .counts([u64::from(line)])
                    .word(near.field)
                    .bytes(near.value)
                    .maybe_counts(near.requests.map(|requests| [requests]));
            })?;
        }
    }
    csv.finish().map(drop)
}

fn write_robots_fetches(
    audit: &ReportModel,
    crawlers: &CrawlerCells<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &ROBOTS_FETCHES)?;
    for ActorRow { origin, actor, tally, awareness, .. } in audit.rows() {
        let CrawlerTally { readings, .. } = tally;
        let (sums, statuses) = (tally.total(), readings.statuses);
        csv.row(|row| {
            row.text(origin)
                .known_crawler(crawlers, *actor)
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
        })?;
    }
    csv.finish().map(drop)
}

fn write_crawl_delay(
    audit: &ReportModel,
    crawlers: &CrawlerCells<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &CRAWL_DELAY)?;
    for (origin, actor, delayed) in audit.delays() {
        let Delayed { asked, requests, pace } = delayed;
        let crawler = crawlers.registry.crawler(actor.0);
        let excess = |excess: Option<Excess>| {
            excess.map(|excess| [excess.allowed, excess.requests_over, excess.periods_over])
        };
        let busiest = pace.and_then(|pace| pace.busiest);
        csv.row(|row| {
            row.text(origin)
                .known_crawler(crawlers, actor)
                .digest(&asked.digest)
                .counts([u64::from(asked.line)])
                .bytes(&asked.written)
                .milliseconds(asked.milliseconds)
                .bytes(&asked.group)
                .word(crawler.crawl_delay.as_str())
                .counts([*requests])
                .maybe_counts(excess(pace.and_then(|pace| pace.hourly)))
                .maybe_counts(excess(pace.and_then(|pace| pace.daily)))
                .maybe_time(busiest.and_then(|busiest| busiest.start))
                .maybe_counts(busiest.map(|busiest| [busiest.requests]))
                .not_bound_reason(crawler);
        })?;
    }
    csv.finish().map(drop)
}

fn write_daily(
    audit: &ReportModel,
    crawlers: &CrawlerCells<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &DAILY)?;
    for (day, origin, actor, sums) in audit.days() {
        csv.row(|row| {
            row.day(day).text(origin).known_crawler(crawlers, actor);
            sums_cells(sums, row);
        })?;
    }
    csv.finish().map(drop)
}

fn write_hourly(
    audit: &ReportModel,
    crawlers: &CrawlerCells<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &HOURLY)?;
    let name = |crawler| &crawlers.registry.crawler(crawler).name;
    for (Hour { day, hour }, actors) in audit.hours.kept() {
        let mut rows: Vec<_> = actors.iter().collect();
        rows.sort_by_key(|((crawler, identity), _)| (name(*crawler), *identity));
        for (&actor, sums) in rows {
            csv.row(|row| {
                row.day(day)
                    .counts([u64::from(hour)])
                    .known_crawler(crawlers, actor)
                    .counts([sums.requests, sums.allowed, sums.violations])
                    .fraction(sums.violations, sums.allowed + sums.violations)
                    .counts([sums.bytes]);
            })?;
        }
    }
    csv.finish().map(drop)
}

fn write_unknown_crawlers(
    audit: &ReportModel,
    _: &CrawlerCells<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &UNKNOWN_CRAWLERS)?;
    let others = audit.other_unknown_crawlers.map(|tally| UnknownCrawler {
        user_agent: b"(others)".to_vec(),
        tally,
        token: Vec::new(),
        robots_naming: 0,
    });
    for crawler in audit.unknown_crawlers.iter().chain(&others) {
        let UserAgentTally { sums, span } = crawler.tally;
        csv.row(|row| {
            row.bytes(&crawler.user_agent)
                .counts([sums.requests, sums.robots_txt_requests, sums.allowed, sums.violations])
                .counts([sums.unknown, sums.no_path, sums.bytes])
                .span(span)
                .bytes(&crawler.token)
                .maybe_counts((!crawler.token.is_empty()).then_some([crawler.robots_naming]))
                .counts([sums.grace, sums.unreachable]);
        })?;
    }
    csv.finish().map(drop)
}

fn write_rejects(audit: &ReportModel, _: &CrawlerCells<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &REJECTS)?;
    for input in &audit.inputs {
        for (reason, reject) in input.rejects() {
            let (line, example) =
                reject.sample.as_ref().map_or((0, &[][..]), |(line, bytes)| (*line, &bytes[..]));
            csv.row(|row| {
                row.text(&input.name)
                    .word(reason.as_str())
                    .counts([reject.lines, line])
                    .bytes(example);
            })?;
        }
    }
    csv.finish().map(drop)
}

fn write_what_if(
    audit: &ReportModel,
    crawlers: &CrawlerCells<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &WHAT_IF)?;
    for (origin, actor, changed) in audit.simulation.iter().flat_map(WhatIf::changes) {
        let ChangedVerdict { change, draft, present, tally } = changed;
        csv.row(|row| {
            row.text(origin)
                .known_crawler(crawlers, actor)
                .word(change.as_str())
                .rule_without_digest(draft.as_ref());
            match present {
                Some(rule) => row.rule(rule),
                None => row.empty(5),
            }
            .counts([tally.requests])
            .span(Some(tally.span))
            .bytes(&tally.example.target)
            .text(audit.input_name(tally.example.file))
            .counts([tally.example.line]);
        })?;
    }
    csv.finish().map(drop)
}
