//! The rows of each table, as a finished audit holds them.

use std::io::{self, Write};

use crate::audit::finish::{Audit, Broken};
use crate::audit::tally::{CrawlerTally, UserAgentTally};
use crate::crawlers::crawler::Binding;
use crate::crawlers::registry::Registry;

use super::columns::{DAILY, REJECTS, ROBOTS_FETCHES, SUMMARY, Table, UNKNOWN_CRAWLERS, VIOLATION};
use super::csv::{CsvTable, Row};

/// Writes one table.
type WriteTable = fn(&Audit, &Registry, &mut dyn Write) -> io::Result<()>;

/// The tables of a report directory, and how each is written.
pub const TABLES: &[(Table, WriteTable)] = &[
    (SUMMARY, write_summary),
    (VIOLATION, write_violations),
    (ROBOTS_FETCHES, write_robots_fetches),
    (DAILY, write_daily),
    (UNKNOWN_CRAWLERS, write_unknown_crawlers),
    (REJECTS, write_rejects),
];

fn write_summary(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &SUMMARY)?;
    for (origin, (crawler, identity), tally) in audit.actors() {
        let (sums, crawler) = (tally.total(), registry.crawler(crawler));
        let row = Row::default().text(origin).crawler(crawler, identity);
        let row = row
            .counts([sums.requests, sums.robots_txt_requests, sums.allowed, sums.violations])
            .counts([sums.grace, sums.unreachable, sums.unknown])
            .counts([sums.not_bound, sums.not_bound_disallowed, sums.no_path])
            .fraction(sums.violations, sums.allowed + sums.violations)
            .counts([sums.bytes])
            .span(tally.span)
            .text(match crawler.binding() {
                Binding::Bound => "",
                reason => reason.as_str(),
            });
        csv.row(row)?;
    }
    csv.finish().map(drop)
}

fn write_violations(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &VIOLATION)?;
    for (origin, (crawler, identity), Broken { rule, tally }) in audit.broken_rules() {
        let statuses = tally.statuses;
        let row = Row::default()
            .text(origin)
            .crawler(registry.crawler(crawler), identity)
            .rule(rule)
            .counts([tally.requests])
            .counts([statuses.status_2xx, statuses.status_3xx, statuses.status_4xx])
            .counts([statuses.status_5xx, statuses.status_other, tally.bytes])
            .span(Some(tally.span))
            .bytes(&tally.example.target)
            .text(audit.input_name(tally.example.file))
            .counts([tally.example.line]);
        csv.row(row)?;
    }
    csv.finish().map(drop)
}

fn write_robots_fetches(audit: &Audit, registry: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &ROBOTS_FETCHES)?;
    for (origin, (crawler, identity), tally) in audit.actors() {
        let CrawlerTally { readings, .. } = tally;
        let (sums, statuses) = (tally.total(), readings.statuses);
        let row = Row::default()
            .text(origin)
            .crawler(registry.crawler(crawler), identity)
            .counts([sums.robots_txt_requests, readings.readings])
            .counts([statuses.status_2xx, statuses.status_3xx, statuses.status_4xx])
            .counts([statuses.status_5xx, statuses.status_other])
            .span(readings.fetched)
            .span(readings.read)
            .counts([
                sums.requests - sums.robots_txt_requests,
                readings.requests_before_first_reading(),
            ]);
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

fn write_unknown_crawlers(audit: &Audit, _: &Registry, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = CsvTable::with_header(out, &UNKNOWN_CRAWLERS)?;
    let known =
        audit.unknown_crawlers.iter().map(|(user_agent, tally)| (user_agent.as_slice(), tally));
    let others = audit.other_unknown_crawlers.iter().map(|tally| (b"(others)".as_slice(), tally));
    for (user_agent, UserAgentTally { sums, span }) in known.chain(others) {
        let row = Row::default()
            .bytes(user_agent)
            .counts([sums.requests, sums.robots_txt_requests, sums.allowed, sums.violations])
            .counts([sums.unknown, sums.no_path, sums.bytes])
            .span(*span);
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
