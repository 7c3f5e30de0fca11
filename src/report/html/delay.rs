//! Who was asked for a Crawl-delay, and who kept it.

use super::super::facts::Facts;
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

/// The section, as HTML.
pub fn delay(facts: &Facts) -> String {
    if facts.delays.rows.is_empty() {
        return "<p>No crawler that asked is asked for a Crawl-delay.</p>\n".to_owned();
    }
    let rows = facts.delays.rows.iter().map(|kept| {
        let line = kept.line();
        let identity = line.identity().as_str();
        let known = |column: &str| match line.raw(column) {
            "" => Cell::Nothing,
            _ => Cell::Number(line.count(column)),
        };
        vec![
            Cell::Text(line.text("crawler")),
            Cell::Badge(identity, identity.to_owned()),
            Cell::Code(line.text("origin")),
            Cell::Code(line.text("delay")),
            Cell::Text(line.text("honours_delay")),
            Cell::Number(line.count("requests")),
            known("over_hourly"),
            known("hours_over"),
            known("over_daily"),
            Cell::Time(line.text("busiest_hour_utc")),
            known("busiest_hour_requests"),
        ]
    });
    let (rows, total) = (rows.collect(), facts.delays.total);
    let (id, caption, file) =
        ("by-delay", "Requests beyond what a delay allows", "crawl-delay.csv");
    "<p>Crawl-delay is no part of the protocol and never makes a violation. Counted is only what \
     certainly did not keep it: requests beyond the most that fit in an hour, or in a day.</p>\n"
        .to_owned()
        + &Table { id, caption, columns: COLUMNS, rows, total, file }.html()
}
