//! The model of a report that was written before, out of its CSV files and its `run.json`.
//!
//! For `botaudit report` alone; an audit makes its model of what it has in memory.

pub mod line;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::audit::simulate::Change;
use crate::error::{Error, Result};
use crate::merge::Merge;
use crate::time::{Day, Hour};

use super::columns::{
    crawl_delay::CRAWL_DELAY, daily::DAILY, hourly::HOURLY, rejects::REJECTS,
    robots_fetches::ROBOTS_FETCHES, robots_rules::ROBOTS_RULES, summary::SUMMARY,
    unknown_crawlers::UNKNOWN_CRAWLERS, violations::VIOLATION, what_if::WHAT_IF,
};
use super::directory::MARKER;
use super::page_model::crawler::{CrawlerTotals, PriorFetches};
use super::page_model::rows::{
    ChangeRow, ChangeRule, DelayRow, RejectRow, SummaryRow, UnknownCrawlerRow, ViolationRow,
};
use super::page_model::rule::{ORIGINS_MAX, RobotsLine, RuleExample, RuleTotals, RuleVersion};
use super::page_model::run::RunDetails;
use super::page_model::top::Top;
use super::page_model::{Heaviest, OFFENDERS_SHOWN, PageModel, ROWS_MAX, RULES_SHOWN, is_itself};

use line::{Line, each_line};

/// Reads the report in `directory`.
///
/// # Errors
/// Where it is none, or its files cannot be read.
pub fn read(directory: &Path) -> Result<PageModel> {
    let mut model = PageModel { run: read_run(directory)?, ..PageModel::default() };
    read_summary(directory, &mut model)?;
    read_fetches(directory, &mut model)?;
    each_line(directory, DAILY.file, |line| {
        let Some(day) = Day::parse(line.raw("day")) else { return };
        let of_day = model.days.entry(day).or_default();
        of_day.entry(line.identity()).or_default().absorb(line.sums());
    })?;
    each_line(directory, HOURLY.file, |line| {
        let hour = u8::try_from(line.count("hour")).ok().filter(|hour| *hour < 24);
        let (Some(day), Some(hour)) = (Day::parse(line.raw("day")), hour) else { return };
        let of_hour = model.hours.entry(Hour { day, hour }).or_default();
        of_hour.entry(line.identity()).or_default().absorb(line.sums());
    })?;
    read_violations(directory, &mut model)?;
    model.delays = heaviest(directory, CRAWL_DELAY.file, "over_hourly", delay_row)?;
    model.unknown_crawlers =
        heaviest(directory, UNKNOWN_CRAWLERS.file, "requests", unknown_crawler_row)?;
    model.rejects = heaviest(directory, REJECTS.file, "lines", reject_row)?;
    read_changes(directory, &mut model)?;
    read_robots_lines(directory, &mut model)?;
    Ok(model)
}

/// Reads `run.json` of the report `directory`.
///
/// # Errors
/// Where it is not there, or `directory` is no report of ours.
pub fn read_run(directory: &Path) -> Result<RunDetails> {
    let path = directory.join(MARKER);
    let json =
        std::fs::read(&path).map_err(|err| Error::io("cannot read the report", &path, err))?;
    let run: RunDetails = serde_json::from_slice(&json).map_err(|err| {
        let line = u64::try_from(err.line()).unwrap_or_default();
        Error::invalid(&path, line, format!("is no run.json of a report: {err}"))
    })?;
    if run.program != env!("CARGO_PKG_NAME") {
        let why = "is not a report of botaudit; name a directory that botaudit audit wrote";
        return Err(Error::invalid_file(directory, why));
    }
    Ok(run)
}

fn crawler<'a>(model: &'a mut PageModel, line: Line<'_>) -> &'a mut CrawlerTotals {
    model.crawlers.entry((line.text("crawler"), line.identity())).or_default()
}

fn read_summary(directory: &Path, model: &mut PageModel) -> Result<()> {
    let mut origins = BTreeSet::new();
    let (mut top, mut offenders) = (Top::new(ROWS_MAX), Top::new(OFFENDERS_SHOWN));
    each_line(directory, SUMMARY.file, |line| {
        let sums = line.sums();
        top.offer(sums.violations, || summary_row(line));
        if is_itself(line.identity()) && sums.violations > 0 {
            offenders.offer(sums.violations, || (summary_row(line), PriorFetches::default()));
        }
        origins.insert(line.text("origin"));
        model.period.absorb(line.span("first_seen_utc", "last_seen_utc"));
        model.identities.entry(line.identity()).or_default().absorb(sums);
        let crawler = crawler(model, line);
        crawler.operator = line.text("operator");
        crawler.purpose = line.text("purpose");
        crawler.stated_policy = line.text("stated_policy");
        crawler.not_bound_reason = line.text("not_bound_reason");
        crawler.sums.absorb(sums);
    })?;
    model.summary = top.into();
    model.offenders_total = offenders.offered;
    model.offenders = offenders.into_rows();
    model.origins = origins.len();
    model.only_origin = if origins.len() == 1 { origins.pop_first() } else { None };
    Ok(())
}

fn read_fetches(directory: &Path, model: &mut PageModel) -> Result<()> {
    each_line(directory, ROBOTS_FETCHES.file, |line| {
        let prior = PriorFetches {
            own: line.count("prior_fetch_own"),
            operator: line.count("prior_fetch_operator"),
            none: line.count("prior_fetch_none"),
            unknown: line.count("prior_fetch_unknown"),
        };
        let totals = crawler(model, line);
        totals.prior_fetches.absorb(prior);
        let fetches = &mut totals.fetches;
        fetches.requests += line.count("robots_txt_requests");
        fetches.successful += line.count("successful_fetches");
        fetches.origins += 1;
        fetches.origins_fetched += u64::from(line.count("successful_fetches") > 0);
        fetches.other_requests += line.count("other_requests");
        fetches.before_first += line.count("requests_before_first_fetch");
        fetches.span.absorb(line.span("first_successful_fetch_utc", "last_successful_fetch_utc"));
        let key = (line.text("origin"), line.text("crawler"), line.identity());
        let is_same =
            |row: &SummaryRow| (&row.origin, &row.crawler, row.identity) == (&key.0, &key.1, key.2);
        if let Some((_, known)) = model.offenders.iter_mut().find(|(row, _)| is_same(row)) {
            *known = prior;
        }
    })
}

fn read_violations(directory: &Path, model: &mut PageModel) -> Result<()> {
    let mut top = Top::new(ROWS_MAX);
    let mut rules: BTreeMap<RuleVersion, RuleTotals> = BTreeMap::new();
    each_line(directory, VIOLATION.file, |line| {
        top.offer(line.count("requests"), || violation_row(line));
        crawler(model, line).statuses.absorb(line.statuses());
        if is_itself(line.identity()) {
            let key = (line.text("robots_digest"), line.count("rule_line"));
            add_violation(rules.entry(key).or_default(), line);
        }
    })?;
    model.violations = top.into();
    model.rules_broken = rules.len();
    let mut most = Top::new(RULES_SHOWN);
    for rule in rules {
        most.offer(rule.1.requests, || rule);
    }
    model.rules = most.into_rows();
    Ok(())
}

fn add_violation(rule: &mut RuleTotals, line: Line<'_>) {
    let requests = line.count("requests");
    rule.directive = line.text("directive");
    rule.pattern = line.text("pattern");
    rule.requests += requests;
    rule.statuses.absorb(line.statuses());
    *rule.by.entry((line.text("crawler"), line.identity())).or_default() += requests;
    if rule.origins.len() < ORIGINS_MAX {
        rule.origins.insert(line.text("origin"));
    }
    let example = RuleExample {
        time: line.time("first_seen_utc"),
        file: line.text("example_file"),
        line: line.count("example_line"),
        target: line.text("example_target"),
    };
    if rule.example.as_ref().is_none_or(|earliest| example < *earliest) {
        rule.example = Some(example);
    }
}

fn read_changes(directory: &Path, model: &mut PageModel) -> Result<()> {
    let changes = &mut model.changes;
    let mut top = Top::new(ROWS_MAX);
    each_line(directory, WHAT_IF.file, |line| {
        let known = [Change::NewlyDisallowed, Change::NewlyAllowed];
        let found = known.into_iter().find(|change| change.as_str() == line.raw("change"));
        let Some(change) = found else { return };
        if is_itself(line.identity()) {
            let key = (change, line.text("crawler"));
            *changes.requests.entry(key).or_default() += line.count("requests");
        }
        let rule = |directive: &str, pattern: &str| {
            let directive = Some(line.text(directive)).filter(|text| !text.is_empty())?;
            Some(ChangeRule { directive, pattern: line.text(pattern) })
        };
        top.offer(line.count("requests"), || ChangeRow {
            origin: line.text("origin"),
            crawler: line.text("crawler"),
            identity: line.identity(),
            change,
            requests: line.count("requests"),
            draft_line: line.maybe_count("draft_line"),
            draft: rule("draft_directive", "draft_pattern"),
            present: rule("present_directive", "present_pattern"),
            example_target: line.text("example_target"),
        });
    })?;
    changes.heaviest = top.into();
    Ok(())
}

fn read_robots_lines(directory: &Path, model: &mut PageModel) -> Result<()> {
    let digests: BTreeSet<String> =
        model.rules.iter().map(|((digest, _), _)| digest.clone()).collect();
    each_line(directory, ROBOTS_RULES.file, |line| {
        let digest = line.text("robots_digest");
        if digests.contains(&digest) {
            model.robots_lines.entry(digest).or_default().push(RobotsLine {
                line: line.count("line"),
                field: line.text("field"),
                value: line.text("value"),
            });
        }
    })
}

fn summary_row(line: Line<'_>) -> SummaryRow {
    SummaryRow {
        origin: line.text("origin"),
        crawler: line.text("crawler"),
        operator: line.text("operator"),
        stated_policy: line.text("stated_policy"),
        identity: line.identity(),
        sums: line.sums(),
        not_bound_reason: line.text("not_bound_reason"),
        seen: line.span("first_seen_utc", "last_seen_utc"),
    }
}

fn violation_row(line: Line<'_>) -> ViolationRow {
    ViolationRow {
        origin: line.text("origin"),
        crawler: line.text("crawler"),
        identity: line.identity(),
        rule_line: line.count("rule_line"),
        directive: line.text("directive"),
        pattern: line.text("pattern"),
        group: line.text("group"),
        requests: line.count("requests"),
        first_seen: line.time("first_seen_utc"),
        example_target: line.text("example_target"),
        example_file: line.text("example_file"),
        example_line: line.count("example_line"),
    }
}

fn delay_row(line: Line<'_>) -> DelayRow {
    DelayRow {
        origin: line.text("origin"),
        crawler: line.text("crawler"),
        identity: line.identity(),
        delay: line.text("delay"),
        honours_delay: line.text("honours_delay"),
        requests: line.count("requests"),
        over_hourly: line.maybe_count("over_hourly"),
        hours_over: line.maybe_count("hours_over"),
        over_daily: line.maybe_count("over_daily"),
        busiest_hour: line.time("busiest_hour_utc"),
        busiest_hour_requests: line.maybe_count("busiest_hour_requests"),
    }
}

fn unknown_crawler_row(line: Line<'_>) -> UnknownCrawlerRow {
    UnknownCrawlerRow {
        user_agent: line.text("user_agent"),
        token: line.text("token"),
        requests: line.count("requests"),
        star_disallowed: line.count("star_disallowed"),
        star_allowed: line.count("star_allowed"),
        robots_txt_requests: line.count("robots_txt_requests"),
        seen: line.span("first_seen_utc", "last_seen_utc"),
    }
}

fn reject_row(line: Line<'_>) -> RejectRow {
    RejectRow {
        file: line.text("file"),
        reason: line.text("reason"),
        lines: line.count("lines"),
        example_line: line.count("example_line"),
        example: line.text("example"),
    }
}

fn heaviest<T>(
    directory: &Path,
    file: &str,
    column: &'static str,
    row: fn(Line<'_>) -> T,
) -> Result<Heaviest<T>> {
    let mut top = Top::new(ROWS_MAX);
    each_line(directory, file, |line| top.offer(line.count(column), || row(line)))?;
    Ok(top.into())
}
