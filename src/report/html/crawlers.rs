//! Violations by crawler, and how they were answered.

use maud::{Markup, html};

use crate::crawlers::identity::Identity;

use super::super::format::percent;
use super::super::page_model::crawler::CrawlerTotals;
use super::super::page_model::rows::SummaryRow;
use super::super::page_model::{CrawlerKey, PageModel, ROWS_MAX, is_itself};
use super::chart::{Series, legend};
use super::table::{Cell, Kind, Table};

/// What the colours of identities mean.
pub const IDENTITIES: [Series; 3] =
    [("verified", "verified"), ("unverified", "unverified"), ("spoofed", "spoofed")];

/// The identities in the order in which they are drawn.
pub const DRAWN: [Identity; 3] = [Identity::Verified, Identity::Unverified, Identity::Spoofed];

const ANSWERS: [Series; 5] = [
    ("s2", "2xx: served"),
    ("s3", "3xx: sent elsewhere, or not changed"),
    ("s4", "4xx: refused"),
    ("s5", "5xx: failed"),
    ("s0", "anything else"),
];

const COLUMNS: &[(&str, Kind)] = &[
    ("Crawler", Kind::Text),
    ("Violations", Kind::Number),
    ("", Kind::Drawing),
    ("Of judged", Kind::Number),
    ("Requests", Kind::Number),
    ("Identity", Kind::Text),
    ("Operator", Kind::Text),
    ("Purpose", Kind::Text),
    ("Stated policy", Kind::Text),
];

/// The section.
pub fn violations(model: &PageModel) -> Markup {
    let offenders = model.offenders();
    if offenders.is_empty() {
        return html! { p { "No violation was found." } "\n" };
    }
    let most = offenders[0].1.sums.violations;
    let (own, spoofed): (Vec<_>, Vec<_>) =
        offenders.into_iter().partition(|((_, identity), _)| is_itself(*identity));
    html! {
        @if model.is_identity_known() {
            p {
                b { "Verified" } ": the address is the operator’s. "
                b { "Unverified" } ": nothing tells. "
                b { "Spoofed" } ": the address is somebody else’s."
            } "\n"
            (legend(&IDENTITIES))
        }
        @if !own.is_empty() {
            (by_crawler("by-crawler", "Crawlers by violations", &own, most))
        }
        @if !spoofed.is_empty() {
            (by_crawler("by-spoofed", "In a crawler’s name, by somebody else (spoofed)", &spoofed, most))
        }
        (by_origin(model))
    }
}

fn by_crawler(
    id: &str,
    caption: &str,
    rows: &[(&CrawlerKey, &CrawlerTotals)],
    most: u64,
) -> Markup {
    let total = rows.len() as u64;
    let row = |((name, identity), crawler): &(&CrawlerKey, &CrawlerTotals)| {
        let sums = &crawler.sums;
        let class = identity.as_str();
        vec![
            Cell::Text(name.clone()),
            Cell::Number(sums.violations),
            Cell::Bar(vec![(class, class, sums.violations)], most),
            Cell::Share(sums.violations, sums.allowed + sums.violations),
            Cell::Number(sums.requests),
            Cell::Badge(class, class),
            Cell::Text(crawler.operator.clone()),
            Cell::Text(crawler.purpose.clone()),
            Cell::Text(crawler.stated_policy.clone()),
        ]
    };
    let rows = rows.iter().take(ROWS_MAX).map(row).collect();
    html! { (Table { id, caption, columns: COLUMNS, rows, total, file: "summary.csv" }) }
}

fn by_origin(model: &PageModel) -> Markup {
    if model.origins < 2 {
        return html! {};
    }
    let columns = &[
        ("Origin", Kind::Text),
        ("Crawler", Kind::Text),
        ("Violations", Kind::Number),
        ("Of judged", Kind::Number),
        ("Requests", Kind::Number),
        ("Identity", Kind::Text),
        ("First seen, UTC", Kind::Number),
        ("Last seen, UTC", Kind::Number),
    ];
    let broke = |row: &&SummaryRow| row.sums.violations > 0;
    let rows = model.summary.rows.iter().filter(broke).map(|row| {
        let (sums, identity) = (row.sums, row.identity.as_str());
        vec![
            Cell::Code(row.origin.clone()),
            Cell::Text(row.crawler.clone()),
            Cell::Number(sums.violations),
            Cell::Share(sums.violations, sums.allowed + sums.violations),
            Cell::Number(sums.requests),
            Cell::Badge(identity, identity),
            Cell::Time(row.seen.map(|seen| seen.first)),
            Cell::Time(row.seen.map(|seen| seen.last)),
        ]
    });
    let rows: Vec<_> = rows.collect();
    let is_cut = rows.len() == model.summary.rows.len();
    let total = if is_cut { model.summary.total } else { rows.len() as u64 };
    let caption = "Violations by origin and crawler";
    html! { (Table { id: "by-origin", caption, columns, rows, total, file: "summary.csv" }) }
}

/// How violators were answered.
pub fn answers(model: &PageModel) -> Markup {
    let offenders = model.offenders();
    if offenders.is_empty() {
        return html! { p { "Nobody broke a rule." } "\n" };
    }
    let columns = &[
        ("Crawler", Kind::Text),
        ("Identity", Kind::Text),
        ("", Kind::Drawing),
        ("2xx", Kind::Number),
        ("3xx", Kind::Number),
        ("4xx", Kind::Number),
        ("5xx", Kind::Number),
        ("Other", Kind::Number),
        ("Served", Kind::Number),
    ];
    let total = offenders.len() as u64;
    let served: u64 = own(&offenders).map(|crawler| crawler.statuses.status_2xx).sum();
    let all: u64 = own(&offenders).map(|crawler| crawler.statuses.total()).sum();
    let row = |((name, identity), crawler): &(&CrawlerKey, &CrawlerTotals)| {
        let statuses = &crawler.statuses;
        let numbers = [
            statuses.status_2xx,
            statuses.status_3xx,
            statuses.status_4xx,
            statuses.status_5xx,
            statuses.status_other,
        ];
        let parts =
            ANSWERS.iter().zip(numbers).map(|((class, what), number)| (*class, *what, number));
        let mut row = vec![
            Cell::Text(name.clone()),
            Cell::Badge(identity.as_str(), identity.as_str()),
            Cell::Bar(parts.collect(), statuses.total()),
        ];
        row.extend(numbers.map(Cell::Number));
        row.push(Cell::Share(statuses.status_2xx, statuses.total()));
        row
    };
    let rows = offenders.iter().take(ROWS_MAX).map(row).collect();
    let caption = "Status of the answers to violations";
    html! {
        p {
            (percent(served, all))
            " of the disallowed requests were served: robots.txt asks, and the server decides. \
             A crawler that is refused with 403 or 429 has still broken the rule."
        } "\n"
        (legend(&ANSWERS))
        (Table { id: "by-status", caption, columns, rows, total, file: "violations.csv" })
    }
}

fn own<'a>(
    offenders: &'a [(&'a CrawlerKey, &'a CrawlerTotals)],
) -> impl Iterator<Item = &'a CrawlerTotals> {
    offenders.iter().filter(|((_, identity), _)| is_itself(*identity)).map(|(_, crawler)| *crawler)
}
