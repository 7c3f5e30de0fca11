//! User agents that look automated and are nobody's that is known.

use maud::{Markup, html};

use super::super::page_model::PageModel;
use super::table::{Cell, Kind, Table};

const COLUMNS: &[(&str, Kind)] = &[
    ("User agent", Kind::Text),
    ("Calls itself", Kind::Text),
    ("Requests", Kind::Number),
    ("* would disallow", Kind::Number),
    ("* would allow", Kind::Number),
    ("Asked for robots.txt", Kind::Number),
    ("First seen, UTC", Kind::Number),
    ("Last seen, UTC", Kind::Number),
];

/// The section.
pub fn unknown(model: &PageModel) -> Markup {
    if model.unknown_crawlers.rows.is_empty() {
        return html! { p { "No user agent looks automated that is not in the registry." } "\n" };
    }
    let rows = model.unknown_crawlers.rows.iter().map(|row| {
        vec![
            Cell::Code(row.user_agent.clone()),
            Cell::Code(row.token.clone()),
            Cell::Number(row.requests),
            Cell::Number(row.star_disallowed),
            Cell::Number(row.star_allowed),
            Cell::Number(row.robots_txt_requests),
            Cell::Time(row.seen.map(|seen| seen.first)),
            Cell::Time(row.seen.map(|seen| seen.last)),
        ]
    });
    let (rows, total) = (rows.collect(), model.unknown_crawlers.total);
    let caption = "User agents that look automated";
    let file = "unknown-crawlers.csv";
    html! {
        p {
            "These are in no row of the registry, so nobody is accused; what the " code { "*" }
            " groups would have said is counted."
        } "\n"
        (Table { id: "by-user-agent", caption, columns: COLUMNS, rows, total, file })
    }
}
