//! Requests that could not be judged, with reasons, and lines that could not be parsed.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::page_model::{PageModel, ROWS_MAX, heaviest::Heaviest, text};
use super::table::HtmlTable;
use crate::table::csv::not_bound_reason;
use crate::table::escape::visible;

/// The section; `None` if each line was parsed and each request judged.
pub(crate) fn unjudged(model: &PageModel<'_>) -> Option<Markup> {
    let all = [outcomes(model), not_bound(model), rejects(model), skipped(model)];
    let is_any = all.iter().any(|table| !table.0.is_empty());
    is_any.then(|| html! { @for table in all { (table) } })
}

fn outcomes(model: &PageModel<'_>) -> Markup {
    let sums = model.not_spoofed();
    let all = [
        (
            "Not bound",
            sums.not_bound,
            "robots.txt does not bind the crawler, so it cannot break a rule",
        ),
        (
            "No robots.txt known",
            sums.unknown,
            "none is known for the requested origin at that time",
        ),
        ("Grace", sums.grace, "disallowed only by rules that the crawler may not have fetched yet"),
        ("Unreachable", sums.unreachable, "robots.txt could not be fetched at that time"),
        ("No path", sums.no_path, "*, CONNECT or an empty request: nothing to compare with a rule"),
    ];
    let rows: Vec<_> = all.into_iter().filter(|(_, requests, _)| *requests > 0).collect();
    let caption = "Requests of known crawlers that count in no rate (without spoofed requests)";
    HtmlTable::new("by-outcome", caption, "summary.csv", rows)
        .text("What", |(what, _, _)| (*what).to_owned())
        .number("Requests", |(_, requests, _)| *requests)
        .share("Of all", |(_, requests, _)| (*requests, sums.requests))
        .text("Why", |(_, _, why)| (*why).to_owned())
        .folded()
}

fn not_bound(model: &PageModel<'_>) -> Markup {
    let mut by: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for ((crawler, _), totals) in model.crawlers.iter().filter(|(_, of)| of.sums.not_bound > 0) {
        let sum = by.entry(not_bound_reason(model.crawler(*crawler))).or_default();
        sum[0] += 1;
        sum[1] += totals.sums.not_bound;
        sum[2] += totals.sums.not_bound_disallowed;
    }
    let (caption, rows) = ("Crawlers that robots.txt does not bind", by.into_iter().collect());
    HtmlTable::new("by-binding", caption, "summary.csv", rows)
        .text("Why", |(why, _)| reason(why).to_owned())
        .numbers(["Crawlers", "Requests", "Would be disallowed"], |(_, sums)| *sums)
        .folded()
}

fn reason(name: &str) -> &str {
    match name {
        "user-triggered" => "a person asked for the page (user-triggered)",
        "declined" => "its operator says that it does not follow robots.txt (declined)",
        "reported-not-following" => "others report that it does not follow robots.txt",
        other => other,
    }
}

fn rejects(model: &PageModel<'_>) -> Markup {
    let inputs = model.audit.inputs.iter();
    let all = inputs
        .flat_map(|input| input.rejects().map(move |(reason, reject)| (input, reason, reject)));
    let rows = Heaviest::of(all, ROWS_MAX, |(_, _, reject)| reject.lines);
    HtmlTable::cut("by-reject", "Rejected lines", "rejects.csv", rows)
        .code("File", |(input, _, _)| text(&input.summary.name))
        .text("Reason", |(_, reason, _)| reason.as_str().to_owned())
        .number("Lines", |(_, _, reject)| reject.lines)
        .number("First line", |(_, _, reject)| reject.sample.as_ref().map_or(0, |(line, _)| *line))
        .code("Beginning", |(_, _, reject)| {
            reject.sample.as_ref().map_or_else(String::new, |(_, bytes)| visible(bytes))
        })
        .folded()
}

fn skipped(model: &PageModel<'_>) -> Markup {
    let rows = model.lines.skipped_by_reason.iter().collect();
    HtmlTable::new("by-skip", "Skipped lines", "run.json", rows)
        .text("Reason", |(reason, _)| (**reason).to_owned())
        .number("Lines", |(_, lines)| **lines)
        .folded()
}
