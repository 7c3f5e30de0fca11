//! Violations by crawler, and the statuses of the answers.

use std::collections::BTreeMap;

use maud::{Markup, Render, html};

use crate::audit::{sums::Sums, tally::crawler_tally::Actor};
use crate::crawlers::identity::Identity;

use super::super::page_model::{PageModel, is_itself, text};
use super::super::page_model::{crawler::CrawlerTotals, heaviest::Heaviest};
use super::chart::{LegendEntry, legend};
use super::table::{HtmlCell, HtmlTable, Kind};
use crate::numbers::percent;

/// The legend of identities.
pub const IDENTITIES: [LegendEntry; 3] =
    [("verified", "verified"), ("unverified", "unverified"), ("spoofed", "spoofed")];

/// The drawing order of identities.
const DRAWN: [Identity; 3] = [Identity::Verified, Identity::Unverified, Identity::Spoofed];

/// The requests of each identity in drawing order.
pub fn drawn(of: Option<&BTreeMap<Identity, Sums>>, number: fn(&Sums) -> u64) -> Vec<u64> {
    DRAWN.map(|identity| of.and_then(|of| of.get(&identity)).map_or(0, number)).to_vec()
}

const ANSWERS: [LegendEntry; 5] = [
    ("s2", "2xx: served"),
    ("s3", "3xx: redirected, or not modified"),
    ("s4", "4xx: refused"),
    ("s5", "5xx: failed"),
    ("s0", "anything else"),
];

/// The caption for spoofed crawlers.
const SPOOFED: &str = "Requests that only claim to come from these crawlers (spoofed)";

/// The section.
pub fn violations(model: &PageModel<'_>) -> Markup {
    let offenders = model.offenders();
    if offenders.is_empty() {
        return html! { p { "No violation was found." } "\n" };
    }
    let most = offenders[0].1.sums.violations;
    let (own, spoofed): (Vec<_>, Vec<_>) =
        offenders.into_iter().partition(|((_, identity), _)| is_itself(*identity));
    html! {
        @if model.is_identity_known() {
            p {
                b { "Verified" } ": the address belongs to the operator. "
                b { "Unverified" } ": the address could not be checked. "
                b { "Spoofed" } ": the address belongs to somebody else."
            } "\n"
            (legend(&IDENTITIES))
        }
        (by_crawler(model, ("by-crawler", "Crawlers by violations"), own, most))
        (by_crawler(model, ("by-spoofed", SPOOFED), spoofed, most))
        (by_origin(model))
    }
}

fn by_crawler(
    model: &PageModel<'_>,
    (id, caption): (&str, &str),
    rows: Vec<(Actor, &CrawlerTotals)>,
    most: u64,
) -> Markup {
    HtmlTable::new(id, caption, "summary.csv", rows)
        .text("Crawler", |((crawler, _), _)| model.name(*crawler))
        .number("Violations", |(_, totals)| totals.sums.violations)
        .column("", Kind::Drawing, |((_, identity), totals)| {
            let class = identity.as_str();
            HtmlCell::bar(&[(class, class, totals.sums.violations)], most)
        })
        .share("Of judged", |(_, totals)| of_judged(&totals.sums))
        .number("Requests", |(_, totals)| totals.sums.requests)
        .identity(|((_, identity), _)| *identity)
        .text("Operator", |((crawler, _), _)| text(&model.crawler(*crawler).operator))
        .text("Purpose", |((crawler, _), _)| text(&model.crawler(*crawler).purpose))
        .text("Stated policy", |((crawler, _), _)| {
            model.crawler(*crawler).stated_policy().as_str().to_owned()
        })
        .unless_empty()
}

fn of_judged(sums: &Sums) -> (u64, u64) {
    (sums.violations, sums.allowed + sums.violations)
}

fn by_origin(model: &PageModel<'_>) -> Markup {
    if model.origins.len() < 2 {
        return html! {};
    }
    let shown = model.summary.rows.iter().map(|row| (*row, row.tally.total()));
    let rows: Vec<_> = shown.filter(|(_, sums)| sums.violations > 0).collect();
    let is_cut = rows.len() == model.summary.rows.len();
    let total = if is_cut { model.summary.total } else { rows.len() as u64 };
    let (caption, rows) = ("Violations by origin and crawler", Heaviest { rows, total });
    HtmlTable::cut("by-origin", caption, "summary.csv", rows)
        .code("Origin", |(row, _)| text(&row.origin))
        .text("Crawler", |(row, _)| model.name(row.actor.0))
        .number("Violations", |(_, sums)| sums.violations)
        .share("Of judged", |(_, sums)| of_judged(sums))
        .number("Requests", |(_, sums)| sums.requests)
        .identity(|(row, _)| row.actor.1)
        .seen(|(row, _)| row.tally.span)
        .render()
}

/// The statuses of the answers to violating requests.
pub fn answers(model: &PageModel<'_>) -> Markup {
    let offenders = model.offenders();
    if offenders.is_empty() {
        return html! { p { "No crawler broke a rule." } "\n" };
    }
    let own = model.own_offenders();
    let served: u64 = own.iter().map(|(_, totals)| totals.statuses.status_2xx).sum();
    let all: u64 = own.iter().map(|(_, totals)| totals.statuses.total()).sum();
    let caption = "Status of the responses to violations";
    let numbers = |(_, totals): &(Actor, &CrawlerTotals)| totals.statuses.counts();
    let table = HtmlTable::new("by-status", caption, "violations.csv", offenders)
        .actor(model, |(actor, _)| *actor)
        .bar(&ANSWERS, numbers, |(_, totals)| totals.statuses.total())
        .numbers(["2xx", "3xx", "4xx", "5xx", "Other"], numbers)
        .share("Served", |(_, totals)| (totals.statuses.status_2xx, totals.statuses.total()));
    html! {
        p {
            (percent(served, all))
            " of the disallowed requests were served: robots.txt asks, and the server decides. \
             A crawler that is refused with 403 or 429 has still broken the rule."
        } "\n"
        (legend(&ANSWERS))
        (table)
    }
}
