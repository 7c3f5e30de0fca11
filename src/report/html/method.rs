//! How the numbers were made: inputs, rules, and definitions.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use crate::audit::input_tally::Input;

use super::super::files::{PAGE, RUN_JSON};
use super::super::page_model::PageModel;
use super::{markup::file_link, table::HtmlTable};
use crate::numbers::grouped;
use crate::table::escape::shown;

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
         spoofed, or unverified if it could not be checked. Spoofed requests are not counted for the crawler.",
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
