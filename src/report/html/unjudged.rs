//! What could not be judged, and why; lines that could not be read.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::page_model::PageModel;
use super::table::{Cell, Kind, Table};

/// The section.
pub fn unjudged(model: &PageModel) -> Markup {
    html! { (outcomes(model)) (not_bound(model)) (rejects(model)) (skipped(model)) }
}

fn outcomes(model: &PageModel) -> Markup {
    let sums = model.not_spoofed();
    let columns = &[
        ("What", Kind::Text),
        ("Requests", Kind::Number),
        ("Of all", Kind::Number),
        ("Why", Kind::Text),
    ];
    let all = [
        ("robots.txt itself", sums.robots_txt_requests, "always allowed"),
        ("Not bound", sums.not_bound, "robots.txt does not bind the crawler: never an accusation"),
        ("No robots.txt known", sums.unknown, "none was given for the origin that was asked"),
        ("Grace", sums.grace, "disallowed only by rules that the crawler need not have seen yet"),
        ("Unreachable", sums.unreachable, "robots.txt could not be fetched at that time"),
        ("No path", sums.no_path, "*, CONNECT or an empty request: nothing to compare with a rule"),
    ];
    let rows: Vec<_> = all
        .into_iter()
        .filter(|(_, requests, _)| *requests > 0)
        .map(|(what, requests, why)| {
            vec![
                Cell::Text(what.to_owned()),
                Cell::Number(requests),
                Cell::Share(requests, sums.requests),
                Cell::Text(why.to_owned()),
            ]
        })
        .collect();
    if rows.is_empty() {
        return html! { p { "Every request of a known crawler was judged." } "\n" };
    }
    let (total, file) = (rows.len() as u64, "summary.csv");
    let caption = "Requests of known crawlers that were not judged (spoofed ones left out)";
    html! { (Table { id: "by-outcome", caption, columns, rows, total, file }) }
}

fn not_bound(model: &PageModel) -> Markup {
    let mut by: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for crawler in model.crawlers.values().filter(|crawler| crawler.sums.not_bound > 0) {
        let sum = by.entry(crawler.not_bound_reason.as_str()).or_default();
        sum.0 += 1;
        sum.1 += crawler.sums.not_bound;
        sum.2 += crawler.sums.not_bound_disallowed;
    }
    if by.is_empty() {
        return html! {};
    }
    let columns = &[
        ("Why", Kind::Text),
        ("Crawlers", Kind::Number),
        ("Requests", Kind::Number),
        ("The rules would disallow", Kind::Number),
    ];
    let rows: Vec<_> = by
        .into_iter()
        .map(|(why, (crawlers, requests, disallowed))| {
            vec![
                Cell::Text(reason(why).to_owned()),
                Cell::Number(crawlers),
                Cell::Number(requests),
                Cell::Number(disallowed),
            ]
        })
        .collect();
    let (total, file) = (rows.len() as u64, "summary.csv");
    let caption = "Crawlers that robots.txt does not bind";
    html! { (Table { id: "by-binding", caption, columns, rows, total, file }) }
}

fn reason(name: &str) -> &str {
    match name {
        "user-triggered" => "a person asked for the page (user-triggered)",
        "declined" => "its operator says that it does not follow robots.txt (declined)",
        "reported-not-following" => "others report that it does not follow robots.txt",
        other => other,
    }
}

fn rejects(model: &PageModel) -> Markup {
    if model.rejects.rows.is_empty() {
        return html! { p { "Every line of the logs could be read." } "\n" };
    }
    let columns = &[
        ("File", Kind::Text),
        ("Reason", Kind::Text),
        ("Lines", Kind::Number),
        ("First at line", Kind::Number),
        ("Its beginning", Kind::Text),
    ];
    let rows = model.rejects.rows.iter().map(|row| {
        vec![
            Cell::Code(row.file.clone()),
            Cell::Text(row.reason.clone()),
            Cell::Number(row.lines),
            Cell::Number(row.example_line),
            Cell::Code(row.example.clone()),
        ]
    });
    let (rows, total) = (rows.collect(), model.rejects.total);
    let caption = "Lines that are no records of a request";
    html! { (Table { id: "by-reject", caption, columns, rows, total, file: "rejects.csv" }) }
}

fn skipped(model: &PageModel) -> Markup {
    let columns = &[("Reason", Kind::Text), ("Lines", Kind::Number)];
    let reasons = model.run.lines.skipped_by_reason.iter();
    let rows: Vec<_> = reasons
        .map(|(reason, lines)| vec![Cell::Text(reason.clone()), Cell::Number(*lines)])
        .collect();
    if rows.is_empty() {
        return html! {};
    }
    let total = rows.len() as u64;
    let caption = "Lines that were passed over";
    html! { (Table { id: "by-skip", caption, columns, rows, total, file: "run.json" }) }
}
