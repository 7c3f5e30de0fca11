//! Who was asked for a Crawl-delay, and who kept it.

use maud::{Markup, html};

use super::super::page_model::PageModel;
use super::table::{Cell, Kind, Table};

const COLUMNS: &[(&str, Kind)] = &[
    ("Crawler", Kind::Text),
    ("Identity", Kind::Text),
    ("Origin", Kind::Text),
    ("Delay", Kind::Text),
    ("Documented to honour it", Kind::Text),
    ("Requests", Kind::Number),
    ("Too many, by hours", Kind::Number),
    ("Hours", Kind::Number),
    ("Too many, by days", Kind::Number),
    ("Busiest hour, UTC", Kind::Number),
    ("Requests in it", Kind::Number),
];

/// The section.
pub fn delay(model: &PageModel) -> Markup {
    if model.delays.rows.is_empty() {
        return html! { p { "No crawler that asked is asked for a Crawl-delay." } "\n" };
    }
    let rows = model.delays.rows.iter().map(|row| {
        let identity = row.identity.as_str();
        let known = |count: Option<u64>| count.map_or(Cell::Nothing, Cell::Number);
        vec![
            Cell::Text(row.crawler.clone()),
            Cell::Badge(identity, identity),
            Cell::Code(row.origin.clone()),
            Cell::Code(row.delay.clone()),
            Cell::Text(row.honours_delay.clone()),
            Cell::Number(row.requests),
            known(row.over_hourly),
            known(row.hours_over),
            known(row.over_daily),
            Cell::Time(row.busiest_hour),
            known(row.busiest_hour_requests),
        ]
    });
    let (rows, total) = (rows.collect(), model.delays.total);
    let (id, caption, file) =
        ("by-delay", "Requests beyond what a delay allows", "crawl-delay.csv");
    html! {
        p {
            "Crawl-delay is no part of the protocol and never makes a violation. Counted is only what \
             certainly did not keep it: requests beyond the most that fit in an hour, or in a day."
        } "\n"
        (Table { id, caption, columns: COLUMNS, rows, total, file })
    }
}
