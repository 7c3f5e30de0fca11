//! `report.html`: one file that tells what a report's tables say.
//!
//! Drawn from [`Facts`] alone. It needs nothing from elsewhere, reads without
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

use super::facts::Facts;

use shell::{Section, document};

/// The name of the page in the report directory.
pub const PAGE: &str = "report.html";

/// The page. Equal facts give equal bytes.
pub fn page(facts: &Facts) -> String {
    let mut sections = vec![
        ("overview", "Overview", "At a glance", overview::overview(facts)),
        ("crawlers", "Crawlers", "Violations by crawler", crawlers::violations(facts)),
        ("timeline", "Timeline", "By day and hour", timeline::timeline(facts)),
        ("rules", "Rules", "The rules most broken", rules::rules(facts)),
        ("answers", "Answers", "How violators were answered", crawlers::answers(facts)),
        ("reading", "Readers", "Who read robots.txt", reading::reading(facts)),
        ("delay", "Crawl-delay", "Crawl-delay", delay::delay(facts)),
        ("unknown", "Unknown", "Unknown crawlers", unknown::unknown(facts)),
        ("unjudged", "Not judged", "What could not be judged", unjudged::unjudged(facts)),
        ("method", "Method", "How the numbers were made", method::method(facts)),
    ];
    if let Some(body) = simulation::simulation(facts) {
        sections.insert(1, ("simulation", "What if", "What the draft would change", body));
    }
    let section = |(id, short, title, body)| Section { id, short, title, body };
    let sections: Vec<Section> = sections.into_iter().map(section).collect();
    document(&overview::title(facts), &overview::header(facts), &sections)
}
