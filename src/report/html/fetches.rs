//! Who fetched robots.txt, who never did in these logs, and who had before violations.

use maud::{Markup, html};

use super::super::page_model::crawler::CrawlerTotals;
use super::super::page_model::{CrawlerKey, PageModel, ROWS_MAX, is_itself};
use super::chart::{Series, legend};
use super::markup::strongly_counted;
use super::table::{Cell, Kind, Table};

const PRIOR_FETCHES: [Series; 4] = [
    ("k1", "it had fetched robots.txt itself"),
    ("k2", "another crawler of its operator had"),
    ("k3", "nobody had, as far as these logs show"),
    ("k4", "not known"),
];

/// The section.
pub fn fetches(model: &PageModel) -> Markup {
    let (fetched, never): (Vec<_>, Vec<_>) = model
        .crawlers
        .iter()
        .filter(|((_, identity), crawler)| {
            is_itself(*identity) && crawler.not_bound_reason.is_empty()
        })
        .partition(|(_, crawler)| crawler.fetches.successful > 0);
    html! {
        p {
            (strongly_counted(fetched.len() as u64, "crawler"))
            " that robots.txt binds fetched it in these logs, "
            (strongly_counted(never.len() as u64, "crawler"))
            " did not. A log that begins today does not know what was fetched yesterday."
        } "\n"
        (before_violations(model))
        (fetchers(&fetched))
        (never_fetched(&never))
    }
}

fn before_violations(model: &PageModel) -> Markup {
    let columns = &[
        ("Crawler", Kind::Text),
        ("", Kind::Drawing),
        ("Fetched by itself", Kind::Number),
        ("By its operator", Kind::Number),
        ("Not in these logs", Kind::Number),
        ("Not known", Kind::Number),
    ];
    let offenders = model.offenders();
    let own = offenders.iter().filter(|((_, identity), _)| is_itself(*identity));
    let rows: Vec<_> = own
        .map(|((name, identity), crawler)| {
            let known = &crawler.prior_fetches;
            let numbers = [known.own, known.operator, known.none, known.unknown];
            let parts = PRIOR_FETCHES
                .iter()
                .zip(numbers)
                .map(|((class, what), number)| (*class, *what, number));
            let mut row = vec![
                Cell::Text(format!("{name} ({})", identity.as_str())),
                Cell::Bar(parts.collect(), known.total()),
            ];
            row.extend(numbers.map(Cell::Number));
            row
        })
        .take(ROWS_MAX)
        .collect();
    if rows.is_empty() {
        return html! {};
    }
    let (id, caption) = ("by-prior-fetch", "Violations by who had fetched robots.txt before them");
    let total = rows.len() as u64;
    html! {
        (legend(&PRIOR_FETCHES))
        (Table { id, caption, columns, rows, total, file: "robots-fetches.csv" })
    }
}

fn fetchers(rows: &[(&CrawlerKey, &CrawlerTotals)]) -> Markup {
    let columns = &[
        ("Crawler", Kind::Text),
        ("Identity", Kind::Text),
        ("Successful fetches", Kind::Number),
        ("Origins fetched", Kind::Number),
        ("Origins asked", Kind::Number),
        ("First successful fetch, UTC", Kind::Number),
        ("Last successful fetch, UTC", Kind::Number),
        ("Requests before", Kind::Number),
        ("Violations", Kind::Number),
    ];
    let row = |((name, identity), crawler): &(&CrawlerKey, &CrawlerTotals)| {
        let fetches = &crawler.fetches;
        vec![
            Cell::Text(name.clone()),
            Cell::Badge(identity.as_str(), identity.as_str()),
            Cell::Number(fetches.successful),
            Cell::Number(fetches.origins_fetched),
            Cell::Number(fetches.origins),
            Cell::Time(fetches.span.map(|span| span.first)),
            Cell::Time(fetches.span.map(|span| span.last)),
            Cell::Number(fetches.before_first),
            Cell::Number(crawler.sums.violations),
        ]
    };
    listing("fetchers", "Crawlers that fetched robots.txt", columns, rows, row)
}

fn never_fetched(rows: &[(&CrawlerKey, &CrawlerTotals)]) -> Markup {
    let columns = &[
        ("Crawler", Kind::Text),
        ("Identity", Kind::Text),
        ("Asked for it in vain", Kind::Number),
        ("Other requests", Kind::Number),
        ("Origins asked", Kind::Number),
        ("Violations", Kind::Number),
    ];
    let row = |((name, identity), crawler): &(&CrawlerKey, &CrawlerTotals)| {
        let fetches = &crawler.fetches;
        vec![
            Cell::Text(name.clone()),
            Cell::Badge(identity.as_str(), identity.as_str()),
            Cell::Number(fetches.requests),
            Cell::Number(fetches.other_requests),
            Cell::Number(fetches.origins),
            Cell::Number(crawler.sums.violations),
        ]
    };
    listing(
        "never-fetched",
        "Crawlers that never fetched robots.txt in these logs",
        columns,
        rows,
        row,
    )
}

/// Those with most violations first.
fn listing(
    id: &str,
    caption: &str,
    columns: &[(&str, Kind)],
    rows: &[(&CrawlerKey, &CrawlerTotals)],
    row: impl Fn(&(&CrawlerKey, &CrawlerTotals)) -> Vec<Cell>,
) -> Markup {
    if rows.is_empty() {
        return html! {};
    }
    let mut sorted = rows.to_vec();
    sorted.sort_by_key(|(_, crawler)| std::cmp::Reverse(crawler.sums.violations));
    let total = rows.len() as u64;
    let rows = sorted.iter().take(ROWS_MAX).map(row).collect();
    html! { (Table { id, caption, columns, rows, total, file: "robots-fetches.csv" }) }
}
