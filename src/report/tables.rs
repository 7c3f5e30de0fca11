//! The rows of each table of a finished audit.

use std::io::{self, Write};

use crate::audit::comparison::{compared_changes, compared_day, comparison};
use crate::audit::compliance::compliance;
use crate::audit::crawler_row::{ActorRow, Broken, Delayed};
use crate::audit::reaction_rows::ReactionRow;
use crate::audit::referral_rows::Referrals;
use crate::audit::refetches::{Refetches, refetches};
use crate::audit::sessions::SessionSums;
use crate::audit::sums::Compliance;
use crate::audit::tally::{urls::Urls, user_agents::UserAgentTally};
use crate::audit::unknown::UnknownCrawler;
use crate::audit::usage::UsageRow;
use crate::audit::what_if_rows::{ChangedVerdict, WhatIf};
use crate::audit::{delay_kept::Excess, model::ReportModel};
use crate::config::money::MILLION;
use crate::statistics::{two_proportions, wilson_interval};
use crate::time::Hour;

use super::optional_tables::has_table;
use super::robots_rules::robots_rules;
use super::schemas::{
    CHANGE_COMPARISON, COMPARISON, COMPLIANCE, COSTS, CRAWL_DELAY, DAILY, HOURLY, NETWORKS, PATHS,
    POLICY_FILES, REACTIONS, REFERRALS, REFETCHES, REJECTS, ROBOTS_FETCHES, ROBOTS_RULES, SECTION,
    SESSIONS, STATUS, SUMMARY, UNKNOWN_CRAWLERS, URLS, USAGE, VIOLATION, WHAT_IF,
};
use crate::table::csv::{CrawlerCells, CsvTable, Row};
use crate::table::schema::TableSchema;

/// An audit, and the rendered cells of its crawlers.
pub struct Audited<'a> {
    audit: &'a ReportModel,
    crawlers: &'a CrawlerCells<'a>,
}

/// A CSV table in progress.
type Csv<'a> = CsvTable<&'a mut dyn Write>;

/// Writes the rows of one table.
type WriteRows = fn(&Audited<'_>, &mut Csv<'_>) -> io::Result<()>;

/// The tables of a report directory, with the function that writes the rows of each.
pub const TABLES: &[(TableSchema, WriteRows)] = &[
    (SUMMARY, write_summary),
    (STATUS, write_statuses),
    (REFERRALS, write_referrals),
    (COSTS, write_costs),
    (SECTION, write_sections),
    (PATHS, write_paths),
    (URLS, write_urls),
    (VIOLATION, write_violations),
    (ROBOTS_RULES, write_robots_rules),
    (ROBOTS_FETCHES, write_robots_fetches),
    (REFETCHES, write_refetches),
    (CRAWL_DELAY, write_crawl_delay),
    (COMPLIANCE, write_compliance),
    (DAILY, write_daily),
    (HOURLY, write_hourly),
    (REACTIONS, write_reactions),
    (USAGE, write_usage),
    (POLICY_FILES, write_policy_files),
    (UNKNOWN_CRAWLERS, write_unknown_crawlers),
    (REJECTS, write_rejects),
    (WHAT_IF, write_what_if),
    (COMPARISON, write_comparison),
    (CHANGE_COMPARISON, write_change_comparison),
    (SESSIONS, write_sessions),
    (NETWORKS, write_networks),
];

/// Writes one table of an audit.
pub type WriteTable =
    Box<dyn Fn(&ReportModel, &CrawlerCells<'_>, &mut dyn Write) -> io::Result<()>>;

/// The [`TABLES`] that the report of `audit` has, with their functions.
pub fn tables_of(audit: &ReportModel) -> impl Iterator<Item = (&'static TableSchema, WriteTable)> {
    let tables = TABLES.iter().filter(|(table, _)| has_table(audit, table));
    tables.map(|(table, write_rows)| -> (_, WriteTable) {
        let write = |audit: &ReportModel, crawlers: &CrawlerCells<'_>, out: &mut dyn Write| {
            let mut csv = CsvTable::with_header(out, table)?;
            write_rows(&Audited { audit, crawlers }, &mut csv)?;
            csv.finish().map(drop)
        };
        (table, Box::new(write))
    })
}

fn write_summary(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(of.audit.rows(), |row, of_actor| summary_row(of_actor, of.crawlers, row))
}

/// Adds the cells of `of` in `summary.csv` to `row`.
pub fn summary_row(of: &ActorRow, crawlers: &CrawlerCells<'_>, row: &mut Row) {
    let sums = of.tally.total();
    row.text(&of.origin)
        .known_crawler(crawlers, of.actor)
        .sums(&sums)
        .span(of.tally.span)
        .not_bound_reason(crawlers.registry.crawler(of.actor.0))
        .counts([sums.allowed_ignoring_star, of.prior_fetches.after_fetch()]);
}

fn write_statuses(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    of.audit.actors().try_for_each(|(origin, (id, identity), tally)| {
        let all = tally.answers().unwrap_or_default();
        csv.rows(&tally.statuses, |row, (code, answered)| {
            row.text(origin)
                .crawler_and_identity(of.crawlers.registry.crawler(id), identity)
                .maybe_counts(code.number().map(|number| [number]))
                .word(code.group().as_str())
                .counts([answered.requests])
                .fraction(answered.requests, all)
                .counts([answered.bytes]);
        })
    })
}

fn write_referrals(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(&of.audit.referrals, |row, ((origin, operator, product), referrals)| {
        let Referrals { visits, crawlers } = referrals;
        let crawlers = product.is_none().then_some(crawlers);
        row.text(origin)
            .text(operator)
            .text(product.map_or("*", |product| product.name))
            .word(product.map_or("", |product| product.kind))
            .counts([visits.requests, visits.bytes])
            .span(visits.span)
            .maybe(crawlers, 3, |row, crawlers| {
                row.counts([crawlers.requests, crawlers.bytes])
                    .fraction(crawlers.requests, visits.requests)
            });
    })
}

fn write_costs(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    let all = of.audit.total_of_crawlers().bytes;
    csv.rows(of.audit.by_bytes(), |row, ((id, identity), sums)| {
        row.crawler_and_identity(of.crawlers.registry.crawler(id), identity)
            .counts([sums.requests, sums.bytes])
            .fraction(sums.bytes, all)
            .maybe(of.audit.price.as_ref(), 2, |row, price| {
                row.fraction(price.of_bytes(sums.bytes), MILLION).text(&price.currency)
            });
    })
}

fn write_sections(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(&of.audit.sections, |row, ((origin, section, (id, identity)), tally)| {
        row.text(origin)
            .bytes(section)
            .crawler_and_identity(of.crawlers.registry.crawler(*id), *identity)
            .counts([tally.statuses.total()])
            .statuses(&tally.statuses)
            .counts([tally.bytes]);
    })
}

fn write_paths(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    of.audit.paths.iter().flatten().try_for_each(|((id, identity), rows)| {
        let crawler = of.crawlers.registry.crawler(*id);
        let paths = rows.paths.iter().map(|(origin, path, answers)| (&**origin, &**path, answers));
        let others = rows.others.iter().map(|answers| ("*", &b"(others)"[..], answers));
        csv.rows(paths.chain(others), |row, (origin, path, answers)| {
            row.crawler_and_identity(crawler, *identity)
                .text(origin)
                .bytes(path)
                .counts([answers.requests])
                .statuses(&answers.statuses)
                .counts([answers.bytes])
                .span(answers.span);
        })
    })
}

fn write_urls(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(of.audit.paths.iter().flatten(), |row, ((id, identity), rows)| {
        row.crawler_and_identity(of.crawlers.registry.crawler(*id), *identity)
            .counts([rows.requests]);
        url_cells(&rows.urls, row)
            .counts([rows.many_urls_requests])
            .fraction(rows.many_urls_requests, rows.requests);
    })
}

/// The number of distinct URLs, and whether it is exact.
fn url_cells<'r>(urls: &Urls, row: &'r mut Row) -> &'r mut Row {
    row.counts([urls.count()]).word(if urls.is_full() { "estimate" } else { "exact" })
}

fn write_violations(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(of.audit.broken_rules(), |row, (origin, actor, broken)| {
        let Broken { rule, tally, prior_fetches } = broken;
        row.text(origin)
            .known_crawler(of.crawlers, actor)
            .violated_rule(rule)
            .counts([tally.requests])
            .statuses(&tally.statuses)
            .counts([tally.bytes])
            .span(Some(tally.span))
            .example(&tally.example, of.audit)
            .prior_fetches(prior_fetches)
            .maybe_counts(prior_fetches.ages().map(|ages| [ages.min, ages.median, ages.max]))
            .rule_not_bound_reason(of.crawlers.registry.crawler(actor.0), rule)
            .snapshot(tally.example.snapshot, tally.example.time);
    })
}

fn write_robots_rules(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    robots_rules(of.audit, |_| true).into_iter().try_for_each(|(digest, lines)| {
        csv.rows(lines, |row, (line, near)| {
            row.digest(&digest)
                .counts([u64::from(line)])
                .word(near.field)
                .bytes(near.value)
                .maybe_counts(near.requests.map(|requests| [requests]));
        })
    })
}

fn write_robots_fetches(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(of.audit.rows(), |row, ActorRow { origin, actor, tally, prior_fetches, .. }| {
        let (sums, fetches) = (tally.total(), &tally.robots_fetches);
        row.text(origin)
            .known_crawler(of.crawlers, *actor)
            .counts([sums.robots_txt_requests, fetches.successful_fetches])
            .statuses(&fetches.statuses)
            .span(fetches.fetched)
            .span(fetches.read)
            .counts([sums.requests - sums.robots_txt_requests])
            .counts([fetches.requests_before_first_fetch(), sums.violations])
            .prior_fetches(prior_fetches);
    })
}

fn write_refetches(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(refetches(of.audit), |row, ((origin, (id, identity)), refetches)| {
        let Refetches { fetches, gaps, requests, on_old_copy } = refetches;
        let minutes = |percent| Some(gaps.percentile(percent)?.unsigned_abs());
        row.text(origin.unwrap_or("*"))
            .crawler_and_identity(of.crawlers.registry.crawler(id), identity)
            .counts([fetches, gaps.total()])
            .maybe_counts(minutes(50).zip(minutes(95)).map(|(median, p95)| [median, p95]))
            .counts([requests, on_old_copy])
            .fraction(on_old_copy, requests);
    })
}

fn write_crawl_delay(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    let excess = |excess: Option<Excess>| {
        excess.map(|excess| [excess.allowed, excess.requests_over, excess.periods_over])
    };
    csv.rows(of.audit.delays(), |row, (origin, actor, delayed)| {
        let Delayed { asked, requests, pace, .. } = delayed;
        let crawler = of.crawlers.registry.crawler(actor.0);
        let busiest = pace.and_then(|pace| pace.busiest);
        row.text(origin)
            .known_crawler(of.crawlers, actor)
            .digest(&asked.digest)
            .counts([u64::from(asked.line)])
            .bytes(&asked.written)
            .milliseconds(asked.milliseconds)
            .bytes(&asked.group)
            .word(crawler.crawl_delay.as_str())
            .counts([*requests])
            .maybe_counts(excess(pace.and_then(|pace| pace.hourly)))
            .maybe_counts(excess(pace.and_then(|pace| pace.daily)))
            .maybe(busiest.and_then(|busiest| busiest.start), 1, |row, start| row.time(start))
            .maybe_counts(busiest.map(|busiest| [busiest.requests]))
            .not_bound_reason(crawler);
    })
}

fn write_compliance(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    let rows = compliance(of.audit);
    csv.rows(rows, |row, ((scope, name, directive, is_specific), sums)| {
        let Compliance { requests, kept } = sums;
        row.word(scope.as_str())
            .text(name)
            .word(directive)
            .word(if is_specific { "specific" } else { "*" })
            .counts([requests, kept])
            .fraction(kept, requests)
            .maybe(wilson_interval(kept, requests), 2, |row, (low, high)| {
                row.decimal(low).decimal(high)
            });
    })
}

fn write_daily(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(of.audit.days(), |row, (day, origin, actor, sums)| {
        row.day(day).text(origin).known_crawler(of.crawlers, actor).sums(sums);
    })
}

fn write_hourly(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    let name = |crawler| &of.crawlers.registry.crawler(crawler).name;
    of.audit.hours.kept().try_for_each(|(Hour { day, hour }, actors)| {
        let mut rows: Vec<_> = actors.iter().collect();
        rows.sort_by_key(|((crawler, identity), _)| (name(*crawler), *identity));
        csv.rows(rows, |row, (&actor, sums)| {
            row.day(day)
                .counts([u64::from(hour)])
                .known_crawler(of.crawlers, actor)
                .counts([sums.requests, sums.allowed, sums.violations])
                .fraction(sums.violations, sums.allowed + sums.violations)
                .counts([sums.bytes]);
        })
    })
}

fn write_reactions(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(of.audit.reactions(), |row, (origin, (id, identity), reaction)| {
        let crawler = of.crawlers.registry.crawler(id);
        let ReactionRow { times, tally, around_fetch, .. } = reaction;
        let promised = crawler.reaction_hours;
        row.text(origin)
            .crawler_and_identity(crawler, identity)
            .time(times.after)
            .time(times.before)
            .maybe(reaction.old_digest.as_ref(), 1, Row::digest)
            .maybe(reaction.new_digest.as_ref(), 1, Row::digest)
            .word(reaction.direction.as_str())
            .text(&reaction.lines())
            .fraction(reaction.seconds_before.unsigned_abs(), 86_400)
            .counts([tally.before, tally.uncertain])
            .maybe(reaction.first_fetch, 2, |row, (time, by)| row.time(time).word(by.as_str()))
            .maybe_counts(around_fetch.map(|(until, after)| [until, after]))
            .maybe_counts(promised.map(|hours| [u64::from(hours), tally.after_promise]))
            .maybe(tally.last, 1, Row::time)
            .maybe_counts(reaction.others_after.map(|others| [others]))
            .word(reaction.reaction.as_str())
            .maybe(reaction.seconds, 2, |row, (min, max)| {
                row.fraction(min.unsigned_abs(), 3600).fraction(max.unsigned_abs(), 3600)
            })
            .not_bound_reason(crawler);
    })
}

fn write_usage(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(of.audit.usage(), |row, (origin, (id, identity), usage)| {
        let crawler = of.crawlers.registry.crawler(id);
        let UsageRow { digest, stated, tally } = usage;
        row.text(origin)
            .crawler_and_identity(crawler, identity)
            .word(stated.signal.as_str())
            .word(stated.category.as_str())
            .word(stated.preference.as_str())
            .counts([u64::from(stated.line)])
            .digest(digest)
            .counts([tally.requests, tally.statuses.status_2xx, tally.bytes])
            .span(tally.span);
    })
}

fn write_policy_files(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(of.audit.policy_files(), |row, (origin, (id, identity), file, answers)| {
        let crawler = of.crawlers.registry.crawler(id);
        row.text(origin)
            .crawler_and_identity(crawler, identity)
            .word(file.as_str())
            .counts([answers.requests])
            .statuses(&answers.statuses)
            .counts([answers.bytes])
            .span(answers.span);
    })
}

fn write_unknown_crawlers(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    let others = of.audit.other_unknown_crawlers.map(|tally| UnknownCrawler {
        user_agent: b"(others)".to_vec(),
        tally,
        token: Vec::new(),
        robots_naming: 0,
    });
    csv.rows(of.audit.unknown_crawlers.iter().chain(&others), |row, crawler| {
        let UserAgentTally { sums, span } = crawler.tally;
        row.bytes(&crawler.user_agent)
            .counts([sums.requests, sums.robots_txt_requests, sums.allowed, sums.violations])
            .counts([sums.unknown, sums.no_path, sums.bytes])
            .span(span)
            .bytes(&crawler.token)
            .maybe_counts((!crawler.token.is_empty()).then_some([crawler.robots_naming]))
            .counts([sums.grace, sums.unreachable]);
    })
}

fn write_rejects(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    of.audit.inputs.iter().try_for_each(|input| {
        csv.rows(input.rejects(), |row, (reason, reject)| {
            let sample = reject.sample.as_ref();
            row.text(&input.summary.name)
                .word(reason.as_str())
                .counts([reject.lines, sample.map_or(0, |(line, _)| *line)])
                .bytes(sample.map_or(b"", |(_, bytes)| bytes));
        })
    })
}

fn write_what_if(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    let changes = of.audit.simulation.iter().flat_map(WhatIf::changes);
    csv.rows(changes, |row, (origin, actor, changed)| {
        let ChangedVerdict { change, draft, present, tally } = changed;
        row.text(origin)
            .known_crawler(of.crawlers, actor)
            .word(change.as_str())
            .rule_without_digest(draft.as_ref())
            .maybe(present.as_ref(), 5, Row::rule)
            .counts([tally.requests])
            .span(Some(tally.span))
            .example(&tally.example, of.audit);
    })
}

fn write_comparison(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    let Some(day) = compared_day(of.audit) else { return Ok(()) };
    csv.rows(comparison(of.audit, day), |row, ((id, identity), parts)| {
        let [before, since] = parts.map(|of| (of.violations, of.allowed + of.violations));
        row.crawler_and_identity(of.crawlers.registry.crawler(id), identity).day(day);
        share_cells([before, since], row);
    })
}

fn write_change_comparison(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(compared_changes(of.audit), |row, (origin, (id, identity), change, parts)| {
        row.text(origin)
            .crawler_and_identity(of.crawlers.registry.crawler(id), identity)
            .time(change.times.after)
            .time(change.times.before)
            .word(change.direction.as_str());
        share_cells(parts, row);
    })
}

/// Adds two shares, each a part of a whole, and their test.
fn share_cells([before, since]: [(u64, u64); 2], row: &mut Row) {
    for (part, whole) in [before, since] {
        row.counts([whole, part]).fraction(part, whole);
    }
    row.maybe(two_proportions(before, since), 2, |row, (z, p)| row.decimal(z).decimal(p));
}

fn write_sessions(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    csv.rows(&of.audit.sessions, |row, ((id, identity), tally)| {
        let sums = tally.total();
        row.crawler_and_identity(of.crawlers.registry.crawler(*id), *identity);
        session_cells(&sums, row);
        url_cells(&tally.urls, row).counts([sums.late]);
    })
}

fn write_networks(of: &Audited<'_>, csv: &mut Csv<'_>) -> io::Result<()> {
    of.audit.sessions.iter().try_for_each(|((id, identity), tally)| {
        csv.rows(&tally.networks, |row, (network, sums)| {
            row.crawler_and_identity(of.crawlers.registry.crawler(*id), *identity).text(network);
            session_cells(sums, row).counts([sums.late]);
        })
    })
}

fn session_cells<'r>(sums: &SessionSums, row: &'r mut Row) -> &'r mut Row {
    let size = |percent| sums.sizes.percentile(percent).map(i64::unsigned_abs);
    let sessions = sums.sizes.total();
    let requests = sums.in_sessions().unwrap_or_default();
    row.counts([sessions, requests])
        .fraction(requests, sessions)
        .maybe_counts(size(50).zip(size(95)).map(|(median, p95)| [median, p95]))
        .counts([sums.without_session])
}
