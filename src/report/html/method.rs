//! How the numbers were made: what was read, by which rules, and what the words mean.

use maud::{Markup, html};
use serde_json::Value;

use super::super::escape::shown;
use super::super::format::grouped;
use super::super::page_model::{PageModel, ROWS_MAX};
use super::markup::code;
use super::table::{Cell, Kind, Table};

const WORDS: &[(&str, &str)] = &[
    (
        "Violation",
        "A request for a path that the deciding rule of robots.txt disallowed to that crawler, \
         whatever the method and the answer. The longest matching rule decides; of equally long ones Allow wins.",
    ),
    ("Judged", "Requests that the rules allowed, and violations."),
    (
        "Known crawler",
        "A user agent that a row of the registry recognises. Anybody can send it, which is what identity is about.",
    ),
    (
        "Identity",
        "Whether the client’s address is the operator’s, by the lists that it publishes or by DNS: verified, \
         spoofed, or unverified where nothing tells. Spoofed requests count for nobody.",
    ),
    (
        "Stated policy",
        "What the operator’s own documentation says of following robots.txt: follows, partly, does-not-follow; \
         unknown where it says nothing.",
    ),
    (
        "Successful fetch",
        "A GET of /robots.txt that was answered 200 or 304. Times are compared by the minute.",
    ),
];

/// The section.
pub fn method(model: &PageModel) -> Markup {
    html! {
        p {
            "Each line of each log is counted once. A request of one of "
            (grouped(model.run.crawlers_known))
            " known crawlers is judged by the robots.txt of the origin that it was addressed to."
        } "\n"
        dl class="about words" {
            @for (word, meaning) in WORDS { dt { (word) } dd { (meaning) } }
        } "\n"
        (reports(model))
        (inputs(model))
        (robots(model))
        (options(model))
        (files(model))
    }
}

/// From which this one was put together.
fn reports(model: &PageModel) -> Markup {
    if model.run.reports.is_empty() {
        return html! {};
    }
    let columns = &[
        ("Report", Kind::Text),
        ("First day", Kind::Text),
        ("Last day", Kind::Text),
        ("Requests", Kind::Number),
        ("Lines", Kind::Number),
    ];
    let day =
        |day: &Option<String>| day.as_deref().map_or(Cell::Nothing, |day| Cell::Text(shown(day)));
    let rows = model.run.reports.iter().take(ROWS_MAX).map(|part| {
        vec![
            Cell::Code(shown(&part.report)),
            day(&part.first_day),
            day(&part.last_day),
            Cell::Number(part.requests),
            Cell::Number(part.lines),
        ]
    });
    let (rows, total) = (rows.collect(), model.run.reports.len() as u64);
    let caption = "Reports that were put together";
    html! { (Table { id: "reports", caption, columns, rows, total, file: "run.json" }) }
}

fn inputs(model: &PageModel) -> Markup {
    let columns = &[
        ("Log", Kind::Text),
        ("Format", Kind::Text),
        ("Bytes", Kind::Number),
        ("Lines", Kind::Number),
        ("Of crawlers", Kind::Number),
        ("Of others", Kind::Number),
        ("Unreadable", Kind::Number),
        ("Passed over", Kind::Number),
        ("Damage", Kind::Text),
    ];
    let rows = model.run.inputs.iter().take(ROWS_MAX).map(|input| {
        vec![
            Cell::Code(shown(&input.name)),
            Cell::Text(input.format.clone().unwrap_or_default()),
            Cell::Number(input.size_bytes),
            Cell::Number(input.lines),
            Cell::Number(input.crawler),
            Cell::Number(input.other),
            Cell::Number(input.rejected),
            Cell::Number(input.skipped),
            Cell::Text(shown(input.damage.as_deref().unwrap_or("none"))),
        ]
    });
    let (rows, total) = (rows.collect(), model.run.inputs.len() as u64);
    let caption = "Logs that were read";
    html! { (Table { id: "inputs", caption, columns, rows, total, file: "run.json" }) }
}

fn robots(model: &PageModel) -> Markup {
    let columns = &[("robots.txt", Kind::Text), ("Bytes", Kind::Number), ("Digest", Kind::Text)];
    let rows = model.run.robots.iter().take(ROWS_MAX).map(|robots| {
        vec![
            Cell::Code(shown(&robots.source)),
            Cell::Number(robots.size_bytes),
            Cell::Code(shown(&robots.digest)),
        ]
    });
    let (rows, total) = (rows.collect(), model.run.robots.len() as u64);
    let caption = "robots.txt files by which requests were judged";
    html! { (Table { id: "robots", caption, columns, rows, total, file: "run.json" }) }
}

fn options(model: &PageModel) -> Markup {
    let columns = &[("Option", Kind::Text), ("Value", Kind::Text)];
    let rows: Vec<_> = model
        .run
        .options
        .iter()
        .filter_map(|(name, value)| {
            let value = match value {
                Value::Null => return None,
                Value::Array(all) if all.is_empty() => return None,
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some(vec![Cell::Code(shown(name)), Cell::Code(shown(&value))])
        })
        .collect();
    let total = rows.len() as u64;
    let caption = "Options of the run that could change the numbers";
    html! { (Table { id: "options", caption, columns, rows, total, file: "run.json" }) }
}

fn files(model: &PageModel) -> Markup {
    let files = model.run.files.iter().filter(|file| *file != super::PAGE);
    html! {
        h3 { "The numbers themselves" } "\n"
        p {
            "This page is drawn from these tables beside it, and holds nothing that is not in them; \
             run.json tells the run: inputs, options and sums."
        } "\n"
        ul class="files" {
            @for file in files { li { (code(&shown(file))) } }
        } "\n"
    }
}
