//! How the numbers were made: inputs, rules, and definitions; and what could not be judged or parsed.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use crate::audit::input_tally::Input;
use crate::numbers::grouped;
use crate::report::page_model::{PageModel, ROWS_MAX, text, totals::Heaviest};
use crate::report::tables::{PAGE, RUN_JSON};
use crate::table::csv::not_bound_reason;
use crate::table::escape::{shown, visible};

use super::{markup::file_link, table::HtmlTable};

const WORDS: &[(&str, &str)] = &[
    (
        "Violation",
        "A request for a path that the deciding rule of robots.txt disallows to that crawler. The HTTP method and \
         the response do not matter. The longest matching rule decides. If an Allow and a Disallow rule have the \
         same length, Allow wins.",
    ),
    ("Judged", "Requests that the rules allowed, and violations."),
    (
        "Known crawler",
        "A user agent that a row of the registry recognises. Any client can send it; see Identity.",
    ),
    (
        "Tool",
        "A known client that is not a crawler by its purpose, such as a monitor or a feed reader. Only the section \
         on tools has its requests.",
    ),
    (
        "robots.txt",
        "Ignores it: violations after a fetch of robots.txt are certainly half or more of what a client makes that does \
         not know the rules. This is the share of disallowed paths among the requests of browsers at the same origin, or all \
         judged requests where that share is small or not known. Rarely breaks a rule: certainly 5 % or less are violations. Breaks some rules: violations between \
         these limits, or too few requests to be certain. Has not read it: no successful fetch of robots.txt \
         in these logs, by the crawler or by another one of its operator. Obeys it: no violation. Certainly \
         means: the whole interval of 95 % is beyond the limit. --ignores-min and --rarely-max set other limits.",
    ),
    (
        "Identity",
        "Whether the client’s address belongs to the operator, by its published lists or by DNS: verified, \
         spoofed, not on a list of the time, or unverified if it could not be checked. Spoofed requests are not counted for the crawler.",
    ),
    (
        "When",
        "The violations by day, each crawler on its own scale, and the days of the first and the last one. Still means \
         that the last one was on the last day with requests of crawlers in these logs.",
    ),
    ("MB", "The sizes of the responses in the log, in millions of bytes."),
    (
        "Successful fetch",
        "A GET of /robots.txt with the answer 200 or 304. Times are compared by the minute.",
    ),
];

/// The section.
pub(crate) fn method(model: &PageModel<'_>) -> Markup {
    html! {
        p {
            "Each line of each log is counted once. A request of one of "
            (grouped(model.audit.crawlers_known as u64))
            " known crawlers and tools is judged by the robots.txt of the requested origin."
        } "\n"
        dl class="about words" {
            @for (word, meaning) in WORDS { dt { (word) } dd { (meaning) } }
        } "\n"
        (inputs(model))
        (robots(model))
        (options(model))
        (files(model))
    }
}

fn inputs(model: &PageModel<'_>) -> Markup {
    let inputs: Vec<&Input> = model.audit.inputs.iter().collect();
    HtmlTable::new("inputs", "Logs that were read", RUN_JSON, inputs)
        .code("Log", |input| shown(&input.summary.name))
        .text("Format", |input| {
            input.summary.format.as_ref().map_or_else(String::new, |format| format.name.clone())
        })
        .number("Bytes", |input| input.summary.size_bytes)
        .number("Lines", |input| input.tally.lines())
        .number("Crawlers and tools", |input| input.tally.crawler)
        .number("Others", |input| input.tally.other)
        .number("Rejected", |input| input.tally.rejected_lines())
        .number("Skipped", |input| input.tally.skipped_lines())
        .text("Damage", |input| shown(input.summary.damage.as_deref().unwrap_or("none")))
        .folded()
}

fn robots(model: &PageModel<'_>) -> Markup {
    let caption = "robots.txt files by which requests were judged";
    HtmlTable::new("robots", caption, RUN_JSON, model.audit.robots.iter().collect())
        .code("robots.txt", |(source, _)| shown(source))
        .number("Bytes", |(_, robots)| robots.version.size_bytes)
        .code("Digest", |(_, robots)| robots.version.digest.to_string())
        .folded()
}

fn options(model: &PageModel<'_>) -> Markup {
    let options: BTreeMap<&String, &Value> = model.audit.options.0.iter().collect();
    let options = options.into_iter().filter_map(|(name, value)| match value {
        Value::Null => None,
        Value::Array(all) if all.is_empty() => None,
        Value::String(text) => Some((name, text.clone())),
        other => Some((name, other.to_string())),
    });
    let caption = "Options that affect the numbers";
    HtmlTable::new("options", caption, RUN_JSON, options.collect())
        .code("Option", |(name, _)| shown(name))
        .code("Value", |(_, value)| shown(value))
        .folded()
}

fn files(model: &PageModel<'_>) -> Markup {
    let files = model.files.iter().filter(|file| **file != PAGE);
    html! {
        h3 { "Files" } "\n"
        p {
            "The data of this page, in the same directory. " (file_link(RUN_JSON))
            " describes the run: inputs, options and sums."
        } "\n"
        ul class="files" {
            @for file in files { li { (file_link(file)) } }
        } "\n"
    }
}

/// Requests that could not be judged, with reasons, and lines that could not be parsed; `None` if
/// each line was parsed and each request judged.
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
            sums.unknown_robots_txt(),
            "none is known for the requested origin at that time",
        ),
        (
            "Ambiguous group",
            sums.ambiguous_group,
            "several groups of robots.txt may bind the crawler, and they decide differently (ambiguous-group)",
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
    HtmlTable::new("by-skip", "Skipped lines", "skips.csv", rows)
        .text("Reason", |(reason, _)| (**reason).to_owned())
        .number("Lines", |(_, lines)| **lines)
        .folded()
}
