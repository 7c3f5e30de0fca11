//! The table of a summary: rows by crawler, origin or rule, in columns that fit the terminal; and how
//! much of a summary is shown.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::audit::{crawler_row::ActorRow, prior_fetches::PriorFetchCounts};
use crate::crawlers::crawler::{Crawler, CrawlerId};
use crate::crawlers::identity::Actor;
use crate::measures::sums::Sums;
use crate::merge::{Merge, sum};
use crate::numbers::{counted, grouped, percent};
use crate::table::csv::not_bound_reason;
use crate::table::escape::{shown, visible};
use crate::time::Zone;

use super::page_model::totals::{CrawlerTotals, Heaviest, RuleTotals};
use super::page_model::{PageModel, broken_rules, is_itself, text as page_text};
use super::terminal_text::{Palette, cut, line, widths, wrapped};

/// The width of a text cell in characters, unless the terminal is wide.
const CELL_CHARS_MAX: usize = 40;

/// The characters needed to recognise the name in a cell.
const CELL_CHARS_READABLE: usize = 28;

/// The smallest width of a text column.
const CELL_CHARS_MIN: usize = 6;

/// The most crawlers named in one cell.
const NAMES_SHOWN: usize = 3;

/// Narrower terminals have a smaller indentation.
const COLUMNS_WIDE: usize = 80;

/// Cells, and a line below them.
type SummaryRow = (Vec<String>, String);

/// A table before it is fitted to the terminal.
struct SummaryTable {
    /// The meaning of a row.
    what: &'static str,
    header: &'static [&'static str],
    /// The number of numeric columns, which come first.
    numbers: usize,
    /// Columns that are dropped on a narrow terminal, in this order.
    dropped: &'static [usize],
    rows: Vec<SummaryRow>,
    /// The number of all rows, including omitted ones.
    total: u64,
}

/// The rows that `view` selects, and a note on the omitted ones.
pub(crate) fn table_text(model: &PageModel<'_>, view: &SummaryView) -> String {
    let table = match view.by {
        SummaryBy::Crawler => by_crawler(model, view),
        SummaryBy::Origin => by_origin(model, view),
        SummaryBy::Rule => by_rule(model, view),
    };
    let tools = tools(model, view);
    let is_empty = table.rows.is_empty() && tools.rows.is_empty();
    let mut text = table.text(view.columns);
    if is_empty && !view.only.is_empty() {
        let missing = if view.by == SummaryBy::Crawler { "requests" } else { "violations" };
        text += &format!("no {missing} of {}, unless spoofed\n", view.only.join(", "));
    }
    let left_out = left_out(model, view);
    if left_out > 0 {
        text += &format!("{} left out by --only or --exclude\n", counted(left_out, "crawler"));
    }
    let violations: u64 = sum(model.tools.values().map(|totals| totals.sums.violations));
    match violations == 0 && view.only.is_empty() && !tools.rows.is_empty() {
        true => text + &wrapped(&tools_line(model, view), view.columns, 4),
        false => text + &tools.text(view.columns),
    }
}

/// Tools without violations, as crawlers without any, have no rows: one line names the busiest.
fn tools_line(model: &PageModel<'_>, view: &SummaryView) -> String {
    let mut by_tool: BTreeMap<CrawlerId, u64> = BTreeMap::new();
    for ((tool, _), totals) in &model.tools {
        if view.shows(&model.crawler(*tool).name) {
            by_tool.entry(*tool).or_default().absorb(totals.sums.requests);
        }
    }
    let mut tools: Vec<(CrawlerId, u64)> = by_tool.into_iter().collect();
    tools.sort_by_key(|&(_, requests)| Reverse(requests));
    let requests = sum(tools.iter().map(|(_, requests)| *requests));
    let (requests, named) = (counted(requests, "request"), most_of(model, &tools, NAMES_SHOWN));
    let is_judged = model.audit.coverage.nothing().is_none()
        && model.tools.values().any(|totals| totals.sums.judged() > 0);
    let outcome = if is_judged { "without violations" } else { "none judged" };
    format!("\n{requests} of tools, {outcome}: {named}\n")
}

/// Tools and identities, over all origins; none where rows are not of crawlers.
fn tools(model: &PageModel<'_>, view: &SummaryView) -> SummaryTable {
    let all = model.tools.iter().filter(|((tool, _), _)| {
        view.by == SummaryBy::Crawler && view.shows(&model.crawler(*tool).name)
    });
    let Heaviest { rows, total } = Heaviest::of(all, view.top, |(_, totals)| totals.sums.requests);
    let rows = rows.into_iter().map(|(&(id, identity), CrawlerTotals { sums, .. })| {
        let tool = model.crawler(id);
        let cells = vec![
            grouped(sums.requests),
            grouped(sums.violations),
            view.cell(&format!("{} ({})", page_text(&tool.name), identity.as_str())),
            view.cell(&page_text(&tool.purpose)),
            view.cell(&page_text(&tool.operator)),
        ];
        (cells, String::new())
    });
    SummaryTable {
        what: "tool",
        header: &["requests", "violations", "tool", "purpose", "operator"],
        numbers: 2,
        dropped: &[4, 3],
        rows: rows.collect(),
        total,
    }
}

/// The number of crawlers with violations that `--only` and `--exclude` hide.
fn left_out(model: &PageModel<'_>, view: &SummaryView) -> u64 {
    let own = model.own_offenders();
    own.iter().filter(|((id, _), _)| !view.shows(&model.crawler(*id).name)).count() as u64
}

/// One row for each crawler and identity, over all origins.
fn by_crawler(model: &PageModel<'_>, view: &SummaryView) -> SummaryTable {
    let is_named = !view.only.is_empty();
    // The origins with violations, or else all origins with requests.
    let is_shown = |row: &&ActorRow| {
        let all = model.crawlers.get(&row.actor).map_or(0, |totals| totals.sums.violations);
        all == 0 || row.tally.total().violations > 0
    };
    let mut origins: BTreeMap<Actor, Vec<&str>> = BTreeMap::new();
    for row in model.audit.rows().iter().filter(is_shown) {
        origins.entry(row.actor).or_default().push(&row.origin);
    }
    let all = model.crawlers.iter().filter(|((crawler, identity), totals)| {
        let is_shown = totals.sums.violations > 0 || is_named;
        is_shown && is_itself(*identity) && view.shows(&model.crawler(*crawler).name)
    });
    let Heaviest { rows, total } =
        Heaviest::of(all, view.top, |(_, totals)| totals.sums.violations);
    let rows = rows.into_iter().map(|(actor, totals)| {
        let (crawler, identity) = (model.crawler(actor.0), actor.1.as_str());
        let name = page_text(&crawler.name);
        let name = match not_bound_reason(crawler) {
            "" => format!("{name} ({identity})"),
            reason => format!("{name} ({identity}, {reason})"),
        };
        let cells = vec![
            grouped(totals.sums.violations),
            rate(&totals.sums),
            view.cell(&name),
            totals.conduct(model.audit.conduct_limits).words().to_owned(),
            view.cell(&page_text(&crawler.operator)),
            crawler.stated_policy().as_str().to_owned(),
            view.cell(&some_origins(origins.get(actor).map_or(&[], Vec::as_slice))),
        ];
        let below = prior_fetch_words(&totals.prior_fetches, crawler);
        (cells, [below, signed_words(totals.signed, totals.sums.violations)].concat())
    });
    SummaryTable {
        what: "crawler",
        header: &[
            "violations",
            "of judged",
            "crawler",
            "robots.txt",
            "operator",
            "stated policy",
            "origin",
        ],
        numbers: 2,
        dropped: &[4, 5, 6, 3],
        rows: rows.collect(),
        total,
    }
}

/// One row for each origin, over all crawlers.
fn by_origin(model: &PageModel<'_>, view: &SummaryView) -> SummaryTable {
    let mut origins: BTreeMap<&str, (Sums, u64, BTreeMap<CrawlerId, u64>)> = BTreeMap::new();
    for row in model.audit.rows() {
        let (crawler, identity) = row.actor;
        let is_shown = !model.audit.is_tool(crawler) && view.shows(&model.crawler(crawler).name);
        if is_itself(identity) && is_shown {
            let (sums, signed, crawlers) = origins.entry(row.origin.as_str()).or_default();
            let of_crawler = row.tally.total();
            signed.absorb(sum(row.broken.iter().map(|broken| broken.tally.signed)));
            *crawlers.entry(crawler).or_default() += of_crawler.violations;
            sums.absorb(of_crawler);
        }
    }
    let all = origins.into_iter().filter(|(_, (sums, ..))| sums.violations > 0);
    let Heaviest { rows, total } = Heaviest::of(all, view.top, |(_, (sums, ..))| sums.violations);
    let rows = rows.into_iter().map(|(origin, (sums, signed, crawlers))| {
        let crawlers = some_crawlers(model, crawlers);
        let violations = grouped(sums.violations);
        let below = signed_words(signed, sums.violations).trim_start_matches("; ").to_owned();
        (vec![violations, rate(&sums), view.cell(&page_text(origin)), crawlers], below)
    });
    SummaryTable {
        what: "origin",
        header: &["violations", "of judged", "origin", "crawlers"],
        numbers: 2,
        dropped: &[3],
        rows: rows.collect(),
        total,
    }
}

/// One row for each rule, over all origins and crawlers.
fn by_rule(model: &PageModel<'_>, view: &SummaryView) -> SummaryTable {
    let is_shown = |crawler| view.shows(&model.crawler(crawler).name);
    let Heaviest { rows, total } = broken_rules(model.audit, view.top, is_shown);
    let rows = rows.into_iter().map(|totals| {
        let RuleTotals { rule, requests, signed, by, origins, .. } = totals;
        let mut crawlers: BTreeMap<CrawlerId, u64> = BTreeMap::new();
        for ((crawler, _), requests) in by {
            *crawlers.entry(crawler).or_default() += requests;
        }
        let origins: Vec<&str> = origins.into_iter().collect();
        let cells = vec![
            grouped(requests),
            grouped(u64::from(rule.line)),
            view.cell(&format!("{}: {}", rule.directive, visible(&rule.pattern))),
            view.cell(&some_origins(&origins)),
            some_crawlers(model, crawlers),
        ];
        (cells, signed_words(signed, requests).trim_start_matches("; ").to_owned())
    });
    SummaryTable {
        what: "rule",
        header: &["violations", "line", "rule", "origin", "crawlers"],
        numbers: 2,
        dropped: &[4],
        rows: rows.collect(),
        total,
    }
}

impl SummaryTable {
    /// The table, unless it is empty, and what it leaves out.
    fn text(self, columns: usize) -> String {
        let (what, total, shown) = (self.what, self.total, self.rows.len() as u64);
        let mut text = String::new();
        if shown > 0 {
            text += "\n";
            text += &self.fitted(columns);
        }
        if total > shown {
            let more = counted(total - shown, &format!("more {what}"));
            text += &format!("{more}; --top {total} shows all\n");
        }
        text
    }

    /// The table in so many columns: some columns may be left out, and some cells be cut.
    fn fitted(mut self, columns: usize) -> String {
        let header = self.header.iter().map(|name| (*name).to_owned()).collect();
        self.rows.insert(0, (header, String::new()));
        let mut left_out: &[usize] = &[];
        let mut fit = self.widths(left_out, columns);
        while fit.is_none() && left_out.len() < self.dropped.len() {
            left_out = &self.dropped[..=left_out.len()];
            fit = self.widths(left_out, columns);
        }
        let widths = fit.unwrap_or_else(|| self.narrowest(left_out, columns));
        let indent = match columns {
            COLUMNS_WIDE.. => widths[..self.numbers].iter().map(|width| width + 2).sum(),
            _ => 4,
        };
        let mut text = String::new();
        for (cells, below) in self.rows {
            let cells = kept(cells, left_out).zip(&widths);
            let cells: Vec<String> = cells.map(|(cell, width)| cut(cell, *width)).collect();
            text += &line(&cells, &widths, self.numbers);
            if !below.is_empty() {
                text += &wrapped(&format!("{:indent$}{below}", ""), columns, indent);
            }
        }
        text
    }

    /// The widths without the columns `left_out`, if they fit and cells stay recognisable.
    fn widths(&self, left_out: &[usize], columns: usize) -> Option<Vec<usize>> {
        let natural = self.natural(left_out);
        let readable = natural.iter().map(|width| *width.min(&CELL_CHARS_READABLE));
        let does_fit = line_width(&readable.collect::<Vec<_>>()) <= columns;
        does_fit.then(|| self.narrowest(left_out, columns))
    }

    /// The widths that fit: the widest text column is narrowed until all fit.
    fn narrowest(&self, left_out: &[usize], columns: usize) -> Vec<usize> {
        let mut widths = self.natural(left_out);
        while line_width(&widths) > columns {
            let widest = widths[self.numbers..].iter_mut().max();
            match widest.filter(|width| **width > CELL_CHARS_MIN) {
                Some(widest) => *widest -= 1,
                None => break,
            }
        }
        widths
    }

    fn natural(&self, left_out: &[usize]) -> Vec<usize> {
        let rows = self.rows.iter().map(|(cells, _)| kept(cells.clone(), left_out).collect());
        widths(&rows.collect::<Vec<Vec<String>>>())
    }
}

impl SummaryView {
    /// The beginning of `text`.
    fn cell(&self, text: &str) -> String {
        cut(shown(text), CELL_CHARS_MAX.max(self.columns / 3))
    }
}

/// The cells without those of the columns `left_out`.
fn kept(cells: Vec<String>, left_out: &[usize]) -> impl Iterator<Item = String> {
    let cells = cells.into_iter().enumerate();
    cells.filter(|(column, _)| !left_out.contains(column)).map(|(_, cell)| cell)
}

/// The width of a line with two spaces between cells.
fn line_width(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + 2).sum::<usize>().saturating_sub(2)
}

fn rate(sums: &Sums) -> String {
    percent(sums.violations, sums.allowed + sums.violations)
}

/// The only origin, or the number of origins.
fn some_origins(origins: &[&str]) -> String {
    match origins {
        [origin] => page_text(origin),
        _ => counted(origins.len() as u64, "origin"),
    }
}

/// The crawlers with the most requests: `GPTBot 12, bingbot 3 and 2 more`.
fn some_crawlers(model: &PageModel<'_>, crawlers: BTreeMap<CrawlerId, u64>) -> String {
    let mut crawlers: Vec<_> = crawlers.into_iter().filter(|(_, requests)| *requests > 0).collect();
    crawlers.sort_by_key(|(_, requests)| Reverse(*requests));
    most_of(model, &crawlers, NAMES_SHOWN)
}

/// The first of `crawlers`: `GPTBot 12, bingbot 3 and 2 more`.
pub(crate) fn most_of(
    model: &PageModel<'_>,
    crawlers: &[(CrawlerId, u64)],
    names_max: usize,
) -> String {
    let name = |id| cut(shown(&model.name(id)), CELL_CHARS_MAX);
    let first = crawlers.iter().take(names_max);
    let first: Vec<String> =
        first.map(|(id, requests)| format!("{} {}", name(*id), grouped(*requests))).collect();
    match crawlers.len().saturating_sub(names_max) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// How many of the violations are signed; empty if none is.
fn signed_words(signed: u64, violations: u64) -> String {
    match signed {
        0 => String::new(),
        _ => format!("; {} of {} signed", grouped(signed), counted(violations, "violation")),
    }
}

/// Whether robots.txt was fetched before the violations of `crawler`.
fn prior_fetch_words(prior: &PriorFetchCounts, crawler: &Crawler) -> String {
    let of = format!(" of {} came", counted(prior.total(), "violation"));
    let operator = cut(shown(&page_text(&crawler.operator)), CELL_CHARS_MAX);
    let by_operator = format!("after another crawler of {operator} had fetched robots.txt");
    let earlier =
        prior.earlier.map(|span| format!(" (read it on {})", Zone::UTC.day_of(span.last)));
    let earlier = earlier.unwrap_or_default();
    let by_operator = by_operator + if prior.prior_fetch_own == 0 { &earlier } else { "" };
    let parts = [
        (prior.prior_fetch_own, format!("after it had fetched robots.txt{earlier}")),
        (prior.prior_fetch_operator, by_operator),
        (prior.prior_fetch_none, "without a fetch of robots.txt in these logs".to_owned()),
        (prior.prior_fetch_unknown, "with unknown fetches of robots.txt".to_owned()),
    ];
    let parts = parts.iter().filter(|(violations, _)| *violations > 0);
    let parts = parts.enumerate().map(|(at, (violations, what))| {
        let of = if at == 0 { of.as_str() } else { "" };
        format!("{}{of} {what}", grouped(*violations))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// The grouping of the summary's table.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SummaryBy {
    /// A crawler and its identity, over all origins.
    #[default]
    Crawler,
    /// An origin, over all crawlers.
    Origin,
    /// A broken rule, over all crawlers.
    Rule,
}

/// The display options of a summary. They change no count.
#[derive(Clone, Debug)]
pub struct SummaryView {
    /// Names of the crawlers in its table; empty means all.
    pub only: Vec<String>,
    /// Names of crawlers that are hidden in its table.
    pub exclude: Vec<String>,
    /// The most rows of its table.
    pub top: usize,
    /// The grouping of rows.
    pub by: SummaryBy,
    /// The width of the terminal in characters.
    pub columns: usize,
    /// The colors of the terminal.
    pub palette: Palette,
}

impl Default for SummaryView {
    fn default() -> SummaryView {
        SummaryView {
            only: Vec::new(),
            exclude: Vec::new(),
            top: 10,
            by: SummaryBy::default(),
            columns: 100,
            palette: Palette::default(),
        }
    }
}

impl SummaryView {
    /// Whether the crawler `name` is shown.
    pub(crate) fn shows(&self, name: &str) -> bool {
        let is_among = |names: &[String]| names.iter().any(|known| known == name);
        (self.only.is_empty() || is_among(&self.only)) && !is_among(&self.exclude)
    }
}
