//! What a draft of a robots.txt would change.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::audit::simulate::Change;

use super::super::format::{counted, grouped};
use super::super::page_model::rows::ChangeRule;
use super::super::page_model::{PageModel, ROWS_MAX};
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

/// The section; nothing where no draft was tried.
pub fn what_if(model: &PageModel) -> Option<Markup> {
    let run = model.run.what_if.as_ref()?;
    let total = &run.not_spoofed;
    let said = html! {
        p {
            "Had " (code(&run.draft.source)) " been in force, "
            (counted(total.newly_disallowed, "request")) " would have been newly disallowed and "
            (grouped(total.newly_allowed)) " newly allowed; " (grouped(total.unchanged)) " of "
            (counted(total.judged, "request"))
            " would have been judged as they were. Requests that are spoofed are left out of these \
             numbers."
        } "\n"
    };
    if model.changes.heaviest.rows.is_empty() {
        return Some(said);
    }
    let rows = model.changes.heaviest.rows.iter().map(|row| {
        let identity = row.identity.as_str();
        let rule = |rule: &Option<ChangeRule>| match rule {
            None => Cell::Nothing,
            Some(ChangeRule { directive, pattern }) => {
                Cell::Code(format!("{directive}: {pattern}"))
            }
        };
        vec![
            Cell::Text(row.crawler.clone()),
            Cell::Number(row.requests),
            change(row.change),
            rule(&row.draft),
            row.draft_line.map_or(Cell::Nothing, Cell::Number),
            rule(&row.present),
            Cell::Code(row.origin.clone()),
            Cell::Badge(identity, identity),
            Cell::Code(row.example_target.clone()),
        ]
    });
    let (rows, total) = (rows.collect(), model.changes.heaviest.total);
    let (id, caption, file) =
        ("by-change", "Requests that the draft would judge otherwise", "what-if.csv");
    let table = Table { id, caption, columns: COLUMNS, rows, total, file };
    Some(html! { (said) (by_crawler(model)) (table) })
}

/// Crawlers by their requests that would be judged otherwise, most first.
fn by_crawler(model: &PageModel) -> Markup {
    let mut crawlers: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (at, change) in [Change::NewlyDisallowed, Change::NewlyAllowed].into_iter().enumerate() {
        for (name, requests) in model.changes.by_crawler(change) {
            crawlers.entry(name).or_default()[at] += requests;
        }
    }
    let mut sorted: Vec<(&str, [u64; 2])> = crawlers.into_iter().collect();
    sorted.sort_by_key(|(_, changes)| Reverse(changes.iter().sum::<u64>()));
    let Some((_, most)) = sorted.first() else { return html! {} };
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
    let table = Table { id, caption, columns: BY_CRAWLER, rows, total, file: "what-if.csv" };
    html! { (legend(&CHANGES)) (table) }
}

/// In a word, with the colour of what comes of it.
fn change(change: Change) -> Cell {
    match change {
        Change::NewlyDisallowed => Cell::Badge("s2", "newly disallowed"),
        Change::NewlyAllowed => Cell::Badge("s4", "newly allowed"),
    }
}
