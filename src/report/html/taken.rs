//! The traffic of crawlers: bytes, statuses, costs, sections and paths of the site.

use std::{cmp::Reverse, collections::BTreeMap};

use maud::{Markup, html};

use crate::audit::{referral_rows::Referrals, tally::urls::SectionTally};
use crate::crawlers::identity::Actor;
use crate::measures::{statuses::StatusGroup, sums::Sums};
use crate::merge::Merge;
use crate::numbers::{megabytes, ratio};
use crate::report::page_model::{PageModel, ROWS_MAX, text, totals::Heaviest};
use crate::table::escape::visible;

use super::chart::LegendEntry;
use super::markup::{listed, strongly_counted};
use super::table::{HtmlTable, Kind};

/// How many crawlers the sentence names.
const NAMES_SHOWN: usize = 3;

const BYTES: [LegendEntry; 1] = [("allowed", "bytes")];

/// The groups that have a column, and their titles.
const GROUPS: [(StatusGroup, &str); 6] = [
    (StatusGroup::Ok, "OK"),
    (StatusGroup::NotModified, "Not modified"),
    (StatusGroup::Redirected, "Redirected"),
    (StatusGroup::Refused, "Refused"),
    (StatusGroup::NotFound, "Not found"),
    (StatusGroup::ServerError, "Server error"),
];

/// The answers to one crawler.
struct Taken {
    requests: u64,
    bytes: u64,
    groups: [u64; GROUPS.len()],
}

/// The section, or `None` if no crawler made a request.
pub(crate) fn taken(model: &PageModel<'_>) -> Option<Markup> {
    let rows = by_bytes(model);
    let most = rows.first().map(|(_, taken)| taken.bytes)?;
    let Sums { bytes, requests, .. } = model.audit.total_of_crawlers();
    let names = rows.iter().take(NAMES_SHOWN).map(|(actor, _)| model.name(actor.0));
    let names: Vec<String> = names.collect();
    let price = model.audit.price.as_ref();
    let table = HtmlTable::new("by-taken", "Bytes and statuses by crawler", "statuses.csv", rows)
        .actor(model, |(actor, _)| *actor)
        .megabytes("MB", |(_, taken)| taken.bytes)
        .bar(&BYTES, |(_, taken)| [taken.bytes], |_| most)
        .share("Of all", |(_, taken)| (taken.bytes, bytes))
        .number("Requests", |(_, taken)| taken.requests)
        .numbers(GROUPS.map(|(_, title)| title), |(_, taken)| taken.groups);
    let table = match price {
        None => table,
        Some(price) => table.column("Cost", Kind::Number, |(_, taken)| {
            text(&price.shown(price.of_bytes(taken.bytes)))
        }),
    };
    let table = match &model.audit.paths {
        None => table,
        Some(paths) => table
            .known("Distinct URLs", |(actor, _)| paths.get(actor).map(|rows| rows.urls.count())),
    };
    let total = price.map(|price| text(&price.shown(price.of_bytes(bytes))));
    Some(html! {
        p {
            "Crawlers downloaded " strong { (megabytes(bytes)) " MB" } " in "
            (strongly_counted(requests, "request"))
            @if let Some(total) = total { ", which cost " strong { (total) } }
            ". The most bytes went to " (listed(&names)) "."
        } "\n"
        (table.folded())
        (sent(model))
        @if model.audit.paths.is_some() { (sections(model)) (paths(model)) }
    })
}

/// Crawlers that are neither spoofed nor tools, most bytes first.
fn by_bytes(model: &PageModel<'_>) -> Vec<(Actor, Taken)> {
    let mut groups: BTreeMap<Actor, [u64; GROUPS.len()]> = BTreeMap::new();
    for (_, actor, tally) in model.audit.actors() {
        let of_actor = groups.entry(actor).or_default();
        for (code, answered) in &tally.statuses {
            if let Some(at) = GROUPS.iter().position(|(group, _)| *group == code.group()) {
                of_actor[at] += answered.requests;
            }
        }
    }
    let taken = model.audit.by_bytes().into_iter().map(|(actor, sums)| {
        let groups = groups.get(&actor).copied().unwrap_or_default();
        (actor, Taken { requests: sums.requests, bytes: sums.bytes, groups })
    });
    taken.collect()
}

/// What each operator took, and the visits that its products sent.
fn sent(model: &PageModel<'_>) -> Markup {
    let mut sums: BTreeMap<&str, Referrals> = BTreeMap::new();
    let all_products = model.audit.referrals.iter().filter(|((.., product), _)| product.is_none());
    for ((_, operator, _), referrals) in all_products {
        sums.entry(operator).or_default().absorb(referrals.clone());
    }
    let mut rows = Vec::from_iter(sums);
    rows.sort_by_key(|(_, Referrals { crawlers, .. })| {
        Reverse((crawlers.requests, crawlers.bytes))
    });
    let caption = "Crawler requests, and visits sent back, by operator";
    HtmlTable::new("by-sent", caption, "referrals.csv", rows)
        .text("Operator", |(operator, _)| (*operator).to_owned())
        .number("Visits sent", |(_, of)| of.visits.requests)
        .number("Crawler requests", |(_, of)| of.crawlers.requests)
        .megabytes("MB", |(_, of)| of.crawlers.bytes)
        .column("Requests per visit", Kind::Number, |(_, of)| {
            ratio(of.crawlers.requests, of.visits.requests)
        })
        .folded()
}

/// What all crawlers took of each section.
fn sections(model: &PageModel<'_>) -> Markup {
    /// All requests, and how many by each crawler.
    type Section = (SectionTally, BTreeMap<Actor, u64>);
    let mut sums: BTreeMap<(&str, &[u8]), Section> = BTreeMap::new();
    let own = model.audit.sections.iter();
    for ((origin, section, actor), tally) in own.filter(|((.., actor), _)| is_own(model, *actor)) {
        let (sum, by) = sums.entry((origin, section)).or_default();
        sum.absorb(*tally);
        *by.entry(*actor).or_default() += tally.statuses.total();
    }
    let rows = Heaviest::of(sums.into_iter(), ROWS_MAX, |(_, (sum, _))| sum.statuses.total());
    let most = |by: &BTreeMap<Actor, u64>| {
        let most = by.iter().max_by_key(|(actor, requests)| (**requests, Reverse(**actor)));
        most.map_or_else(String::new, |((crawler, _), _)| model.name(*crawler))
    };
    HtmlTable::cut("by-section", "Requests by section", "sections.csv", rows)
        .code("Section", |((_, section), _)| visible(section))
        .code("Origin", |((origin, _), _)| text(origin))
        .number("Requests", |(_, (sum, _))| sum.statuses.total())
        .megabytes("MB", |(_, (sum, _))| sum.bytes)
        .text("Most by", |(_, (_, by))| most(by))
        .folded()
}

/// The paths that a crawler requested most.
fn paths(model: &PageModel<'_>) -> Markup {
    let own = model.audit.paths.iter().flatten().filter(|(actor, _)| is_own(model, **actor));
    let rows = own.flat_map(|(actor, of)| of.paths.iter().map(move |path| (*actor, path)));
    let rows = Heaviest::of(rows, ROWS_MAX, |(_, (_, _, answers))| answers.requests);
    HtmlTable::cut("by-path", "Paths requested most, by crawler", "paths.csv", rows)
        .code("Path", |(_, (_, path, _))| visible(path))
        .code("Origin", |(_, (origin, ..))| text(origin))
        .actor(model, |(actor, _)| *actor)
        .number("Requests", |(_, (_, _, answers))| answers.requests)
        .megabytes("MB", |(_, (_, _, answers))| answers.bytes)
        .seen(|(_, (_, _, answers))| answers.span)
        .folded()
}

fn is_own(model: &PageModel<'_>, actor: Actor) -> bool {
    model.audit.is_own_crawler(actor)
}
