//! `report.html`: one file with the content of a report's tables.
//!
//! It is drawn from [`PageModel`] alone. It loads nothing, is readable without the script, and
//! escapes all foreign text.

mod chart;
mod clients;
mod crawlers;
mod fetches;
mod markup;
mod method;
pub(crate) mod nights;
mod overview;
mod periods;
mod reactions;
mod rules;
pub(crate) mod shell;
mod table;
mod taken;
mod what_if;

use super::page_model::PageModel;
use shell::{Section, document};

/// The page. Equal models give equal bytes.
pub fn page(model: &PageModel<'_>) -> String {
    let all = [
        ("overview", "Summary", "Summary", Some(overview::overview(model))),
        ("actions", "What to do", "What you can do", overview::actions(model)),
        ("rules", "Rules", "Rules broken", rules::rules(model)),
        ("what-if", "What if", "What the draft would change", what_if::what_if(model)),
        (
            "reactions",
            "Reactions",
            "Reactions to changes of robots.txt",
            reactions::reactions(model),
        ),
        ("usage", "Use", "Fetched under reservation", fetches::usage(model)),
        ("traffic", "Traffic", "Traffic and costs", taken::taken(model)),
        ("clients", "Clients", "All lines by client", clients::clients_of_lines(model)),
        ("fetches", "Fetches", "Who fetched robots.txt", fetches::fetches(model)),
        ("delay", "Delay", "Crawl-delay", fetches::delay(model)),
        ("promises", "Promises", "Promises of operators", fetches::promises_kept(model)),
        ("by-hours", "Hours", "Requests by hour", periods::hours(model)),
        ("tools", "Tools", "Tools and monitors", crawlers::tools(model)),
        ("spoofed", "Spoofed", "Spoofed requests", crawlers::spoofed(model)),
        ("unknown", "Unknown", "Unknown crawlers", crawlers::unknown(model)),
        ("unjudged", "Not judged", "Requests that were not judged", method::unjudged(model)),
        ("notes", "Notes", "Warnings and notes", Some(overview::notes(model))),
        ("method", "Method", "Method", Some(method::method(model))),
    ];
    let sections: Vec<Section<'_>> = all
        .into_iter()
        .filter_map(|(id, short, title, body)| Some((id, short, title, body?)))
        .collect();
    document(&model.title(), &overview::header(model), &sections)
}
