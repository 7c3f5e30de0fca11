//! What a draft of a robots.txt would change.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::escape::shown;
use super::super::facts::simulation::{NEWLY_ALLOWED, NEWLY_DISALLOWED};
use super::super::facts::{Facts, ROWS_MAX};
use super::super::format::{counted, grouped};
use super::chart::{Series, legend};
use super::markup::code;
use super::table::{Cell, Kind, Table};

const CHANGES: [Series; 2] = [("s2", "newly disallowed"), ("s4", "newly allowed")];

const BY_CRAWLER: &[(&str, Kind)] = &[
    ("Crawler", Kind::Text),
    ("Newly disallowed", Kind::Number),
    ("Newly allowed", Kind::Number),
    ("", Kind::Drawing),
];

const COLUMNS: &[(&str, Kind)] = &[
    ("Crawler", Kind::Text),
    ("Requests", Kind::Number),
    ("Change", Kind::Text),
    ("Rule of the draft", Kind::Text),
    ("Its line", Kind::Number),
    ("Rule that decided", Kind::Text),
    ("Origin", Kind::Text),
    ("Identity", Kind::Text),
    ("Example", Kind::Text),
];

/// The section, as HTML; nothing where no draft was tried.
pub fn simulation(facts: &Facts) -> Option<String> {
    let run = facts.run.simulation.as_ref()?;
    let total = &run.not_spoofed;
    let said = format!(
        "<p>Had {} been in force, {} would have been newly disallowed and {} newly \
         allowed; {} of {} would have been judged as they were. Requests that are spoofed are left \
         out of these numbers.</p>\n",
        code(&run.draft.source),
        counted(total.newly_disallowed, "request"),
        grouped(total.newly_allowed),
        grouped(total.unchanged),
        counted(total.judged, "request"),
    );
    if facts.changes.kept.rows.is_empty() {
        return Some(said);
    }
    let rows = facts.changes.kept.rows.iter().map(|kept| {
        let line = kept.line();
        let identity = line.identity().as_str();
        let rule = |directive: &str, pattern: &str| match line.text(directive) {
            directive if directive.is_empty() => Cell::Nothing,
            directive => Cell::Code(format!("{directive}: {}", line.text(pattern))),
        };
        let draft_line = match line.raw("draft_line") {
            "" => Cell::Nothing,
            _ => Cell::Number(line.count("draft_line")),
        };
        vec![
            Cell::Text(line.text("crawler")),
            Cell::Number(line.count("requests")),
            change(line.raw("change")),
            rule("draft_directive", "draft_pattern"),
            draft_line,
            rule("present_directive", "present_pattern"),
            Cell::Code(line.text("origin")),
            Cell::Badge(identity, identity.to_owned()),
            Cell::Code(line.text("example_target")),
        ]
    });
    let (rows, total) = (rows.collect(), facts.changes.kept.total);
    let (id, caption, file) =
        ("by-change", "Requests that the draft would judge otherwise", "simulation.csv");
    let table = Table { id, caption, columns: COLUMNS, rows, total, file };
    Some(said + &by_crawler(facts) + &table.html())
}

/// Crawlers by their requests that would be judged otherwise, most first.
fn by_crawler(facts: &Facts) -> String {
    let mut crawlers: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (at, change) in [NEWLY_DISALLOWED, NEWLY_ALLOWED].into_iter().enumerate() {
        for (name, requests) in facts.changes.by_crawler(change) {
            crawlers.entry(name).or_default()[at] += requests;
        }
    }
    let mut sorted: Vec<(&str, [u64; 2])> = crawlers.into_iter().collect();
    sorted.sort_by_key(|(_, changes)| Reverse(changes.iter().sum::<u64>()));
    let Some((_, most)) = sorted.first() else { return String::new() };
    let most = most.iter().sum();
    let row = |(name, [disallowed, allowed]): &(&str, [u64; 2])| {
        let numbers = CHANGES.iter().zip([*disallowed, *allowed]);
        let parts = numbers.map(|((class, what), number)| (*class, *what, number));
        vec![
            Cell::Text((*name).to_owned()),
            Cell::Number(*disallowed),
            Cell::Number(*allowed),
            Cell::Bar(parts.collect(), most),
        ]
    };
    let rows = sorted.iter().take(ROWS_MAX).map(row).collect();
    let (id, caption, total) =
        ("changed-crawlers", "Crawlers by requests that change", sorted.len() as u64);
    let table = Table { id, caption, columns: BY_CRAWLER, rows, total, file: "simulation.csv" };
    legend(&CHANGES) + &table.html()
}

/// In a word, with the colour of what comes of it.
fn change(name: &str) -> Cell {
    match name {
        NEWLY_DISALLOWED => Cell::Badge("s2", "newly disallowed".to_owned()),
        NEWLY_ALLOWED => Cell::Badge("s4", "newly allowed".to_owned()),
        other => Cell::Text(shown(other)),
    }
}
