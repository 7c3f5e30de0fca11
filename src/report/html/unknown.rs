//! User agents that look automated and are nobody's that is known.

use super::super::facts::Facts;
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

/// The section, as HTML.
pub fn unknown(facts: &Facts) -> String {
    if facts.unknown_crawlers.rows.is_empty() {
        return "<p>No user agent looks automated that is not in the registry.</p>\n".to_owned();
    }
    let rows = facts.unknown_crawlers.rows.iter().map(|kept| {
        let line = kept.line();
        vec![
            Cell::Code(line.text("user_agent")),
            Cell::Code(line.text("token")),
            Cell::Number(line.count("requests")),
            Cell::Number(line.count("star_disallowed")),
            Cell::Number(line.count("star_allowed")),
            Cell::Number(line.count("robots_txt_requests")),
            Cell::Time(line.text("first_seen_utc")),
            Cell::Time(line.text("last_seen_utc")),
        ]
    });
    let (rows, total) = (rows.collect(), facts.unknown_crawlers.total);
    let caption = "User agents that look automated";
    let file = "unknown-crawlers.csv";
    "<p>These are in no row of the registry, so nobody is accused; what the <code>*</code> groups \
     would have said is counted.</p>\n"
        .to_owned()
        + &Table { id: "by-user-agent", caption, columns: COLUMNS, rows, total, file }.html()
}
