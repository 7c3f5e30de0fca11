//! What a draft of a robots.txt would change.

use std::{cmp::Reverse, collections::BTreeMap};

use maud::{Markup, html};

use crate::crawlers::crawler::CrawlerId;
use crate::judge::robots::DecidingRule;
use crate::measures::draft_effect::WhatIfChange;
use crate::merge::{Merge, sum};
use crate::numbers::{counted, grouped};
use crate::report::page_model::{PageModel, ROWS_MAX, text, totals::Heaviest};
use crate::table::escape::visible;

use super::chart::{LegendEntry, legend};
use super::markup::{Badge, code};
use super::table::{HtmlTable, Kind};

/// The table with all rows.
const FILE: &str = "what-if.csv";

const CHANGES: [LegendEntry; 2] = [("violation", "newly disallowed"), ("allowed", "newly allowed")];

/// The section; `None` without a draft.
pub(crate) fn what_if(model: &PageModel<'_>) -> Option<Markup> {
    let simulation = model.audit.simulation.as_ref()?;
    let total = model.audit.what_if_of_crawlers();
    let said = html! {
        p {
            "With " (code(&simulation.draft)) " in force, "
            (counted(total.newly_disallowed, "request")) " would be newly disallowed and "
            (grouped(total.newly_allowed)) " newly allowed. " (grouped(total.unchanged)) " of "
            (counted(total.judged, "request"))
            " would be judged as before. Spoofed requests and tools are not counted here."
        } "\n"
    };
    let rows =
        Heaviest::of(simulation.changes(), ROWS_MAX, |(_, _, changed)| changed.tally.requests);
    if rows.rows.is_empty() {
        return Some(said);
    }
    let rule = |rule: &Option<DecidingRule>| match rule {
        None => "–".to_owned(),
        Some(DecidingRule { directive, pattern, .. }) => {
            format!("{directive}: {}", visible(pattern))
        }
    };
    let caption = "Requests with another verdict under the draft";
    let table = HtmlTable::cut("by-change", caption, FILE, rows)
        .text("Crawler", |(_, (crawler, _), _)| model.name(*crawler))
        .number("Requests", |(_, _, changed)| changed.tally.requests)
        .column("Change", Kind::Text, |(_, _, changed)| badge(changed.change))
        .code("Rule of the draft", |(_, _, changed)| rule(&changed.draft))
        .known("Its line", |(_, _, changed)| Some(u64::from(changed.draft.as_ref()?.line)))
        .code("Rule that decided", |(_, _, changed)| rule(&changed.present))
        .code("Origin", |(origin, _, _)| text(origin))
        .identity(|(_, (_, identity), _)| *identity)
        .code("Example", |(_, _, changed)| visible(&changed.tally.example.target));
    Some(html! { (said) (by_crawler(model)) (table.folded()) })
}

/// Crawlers by the number of their requests with another verdict, most first.
fn by_crawler(model: &PageModel<'_>) -> Markup {
    let mut crawlers: BTreeMap<CrawlerId, [u64; 2]> = BTreeMap::new();
    for (&(change, crawler), requests) in &model.changes {
        crawlers.entry(crawler).or_default()[change as usize].absorb(*requests);
    }
    let mut sorted: Vec<(CrawlerId, [u64; 2])> = crawlers.into_iter().collect();
    sorted.sort_by_key(|(_, changes)| Reverse(sum(changes.iter().copied())));
    let Some((_, most)) = sorted.first() else { return html! {} };
    let most = sum(most.iter().copied());
    let caption = "Crawlers by requests that change";
    let table = HtmlTable::new("changed-crawlers", caption, FILE, sorted)
        .text("Crawler", |(crawler, _)| model.name(*crawler))
        .numbers(["Newly disallowed", "Newly allowed"], |(_, changes)| *changes)
        .bar(&CHANGES, |(_, changes)| *changes, |_| most);
    html! { (legend(&CHANGES)) (table.main()) }
}

/// A change as a badge.
fn badge(change: WhatIfChange) -> Badge {
    let (class, word) = CHANGES[change as usize];
    Badge(class, word)
}
