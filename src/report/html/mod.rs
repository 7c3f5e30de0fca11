//! `report.html`: one file with the content of a report's tables.
//!
//! It is drawn from [`PageModel`] alone. It loads nothing, is readable without the script, and
//! escapes all foreign text.

mod chart;
mod crawlers;
mod delay;
mod fetches;
mod heat;
mod hours;
mod markup;
mod method;
mod overview;
mod reactions;
mod rules;
mod shell;
mod table;
mod timeline;
mod tools;
mod unjudged;
mod unknown;
mod usage;
mod what_if;

use super::page_model::PageModel;

use shell::document;

/// The page. Equal models give equal bytes.
pub fn page(model: &PageModel<'_>) -> String {
    let mut sections = vec![
        ("overview", "Overview", "Summary", overview::overview(model)),
        ("crawlers", "Crawlers", "Violations by crawler", crawlers::violations(model)),
        ("timeline", "Timeline", "By day and hour", timeline::timeline(model)),
        ("rules", "Rules", "Most broken rules", rules::rules(model)),
        ("answers", "Responses", "Responses to violations", crawlers::answers(model)),
        ("fetches", "Fetches", "Who fetched robots.txt", fetches::fetches(model)),
        ("delay", "Crawl-delay", "Crawl-delay", delay::delay(model)),
        ("tools", "Tools", "Known tools", tools::tools(model)),
        ("unknown", "Unknown", "Unknown crawlers", unknown::unknown(model)),
        ("unjudged", "Not judged", "Requests that were not judged", unjudged::unjudged(model)),
        ("method", "Method", "Method", method::method(model)),
    ];
    if let Some(body) = reactions::reactions(model) {
        let title = "Reactions to changes of robots.txt";
        sections.insert(3, ("reactions", "Reactions", title, body));
    }
    if let Some(body) = usage::usage(model) {
        let at = sections.len() - 3;
        sections.insert(at, ("usage", "Use", "Fetched under reservation", body));
    }
    if let Some(body) = what_if::what_if(model) {
        sections.insert(1, ("what-if", "What if", "What the draft would change", body));
    }
    document(&overview::title(model), &overview::header(model), &sections)
}
