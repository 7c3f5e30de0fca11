//! `report.html`: one file that tells what a report's tables say.
//!
//! Drawn from [`PageModel`] alone. It needs nothing from elsewhere, reads without
//! the script, and everything that strangers wrote is text.

mod chart;
mod crawlers;
mod delay;
mod heat;
mod hours;
mod markup;
mod method;
mod overview;
mod reading;
mod rules;
mod shell;
mod simulation;
mod table;
mod timeline;
mod unjudged;
mod unknown;

use super::page_model::PageModel;

use shell::{Section, document};

/// The name of the page in the report directory.
pub const PAGE: &str = "report.html";

/// The page. Equal models give equal bytes.
pub fn page(model: &PageModel) -> String {
    let mut sections = vec![
        ("overview", "Overview", "At a glance", overview::overview(model)),
        ("crawlers", "Crawlers", "Violations by crawler", crawlers::violations(model)),
        ("timeline", "Timeline", "By day and hour", timeline::timeline(model)),
        ("rules", "Rules", "The rules most broken", rules::rules(model)),
        ("answers", "Answers", "How violators were answered", crawlers::answers(model)),
        ("reading", "Readers", "Who read robots.txt", reading::reading(model)),
        ("delay", "Crawl-delay", "Crawl-delay", delay::delay(model)),
        ("unknown", "Unknown", "Unknown crawlers", unknown::unknown(model)),
        ("unjudged", "Not judged", "What could not be judged", unjudged::unjudged(model)),
        ("method", "Method", "How the numbers were made", method::method(model)),
    ];
    if let Some(body) = simulation::simulation(model) {
        sections.insert(1, ("simulation", "What if", "What the draft would change", body));
    }
    let section = |(id, short, title, body)| Section { id, short, title, body };
    let sections: Vec<Section> = sections.into_iter().map(section).collect();
    document(&overview::title(model), &overview::header(model), &sections)
}
