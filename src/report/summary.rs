//! The summary printed at the end of a run.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::audit::conduct::Conduct;
use crate::audit::coverage::Coverage;
use crate::crawlers::{crawler::CrawlerId, identity::Identity};
use crate::measures::draft_effect::WhatIfChange;
use crate::measures::sums::Sums;
use crate::merge::Merge;

use super::aligned::{cut, wrapped};
use super::comparison_text::comparison_lines;
use super::summary_table::{most_of, table_text};
use super::{page_model::PageModel, palette::Palette, summary_view::SummaryView};
use crate::numbers::{counted, grouped, percent};
use crate::table::escape::{shown, spelled_out};

/// The most crawlers named in the result of a draft, or of a change.
const CHANGED_SHOWN: usize = 3;

/// The most characters of the name of a draft.
const DRAFT_CHARS_MAX: usize = 40;

/// The most characters of the name of a crawler.
const NAME_CHARS_MAX: usize = 40;

/// A headline, notes, and the rows with the most violations.
pub fn summary_text(model: &PageModel<'_>, view: &SummaryView) -> String {
    let head = wrapped(&headline(model, view.palette), view.columns, 2);
    let below = conduct_line(model)
        + &unread_line(model)
        + &identity_lines(model)
        + &what_if_lines(model)
        + &comparison_lines(model)
        + &reaction_line(model)
        + &cost_line(model);
    head + &wrapped(&below, view.columns, 4) + &table_text(model, view)
}

/// Who ignores robots.txt, and what the others with violations do; empty without violations.
fn conduct_line(model: &PageModel<'_>) -> String {
    if model.audit.coverage.nothing().is_some() {
        return String::new();
    }
    let words = [
        (Conduct::Ignores, "ignore robots.txt"),
        (Conduct::BreaksSome, "break some rules"),
        (Conduct::Rarely, "rarely break a rule"),
        (Conduct::NotRead, "break rules and have not read robots.txt"),
    ];
    let with = |(conduct, words)| match &model.with_conduct(conduct)[..] {
        [] => None,
        crawlers => Some(format!("{words}: {}", most_of(model, crawlers, CHANGED_SHOWN))),
    };
    let all: Vec<String> = words.into_iter().filter_map(with).collect();
    if all.is_empty() { String::new() } else { format!("  {}\n", all.join("; ")) }
}

/// The logs that could not be read.
fn unread_line(model: &PageModel<'_>) -> String {
    let Some(unread) = &model.audit.unread else { return String::new() };
    let names = shown(&unread.names);
    format!("  not read: more than half of the bytes of {names}\n")
}

/// Spoofed requests are not counted as violations of the crawlers.
fn headline(model: &PageModel<'_>, palette: Palette) -> String {
    let total = model.not_spoofed();
    let requests = format!("{} of known crawlers", counted(total.requests, "request"));
    let violations = violations_words(&total);
    let outcome = match &model.audit.coverage {
        Coverage::Nothing(_) => format!("{requests}, none could be judged"),
        Coverage::NoRequest => "no requests of known crawlers to judge".to_owned(),
        Coverage::NoneBound => format!("{requests}, none that robots.txt can bind"),
        Coverage::TooLittle { .. } | Coverage::Enough { .. } if total.violations == 0 => {
            format!("{requests}, {}", palette.green(&violations))
        }
        Coverage::TooLittle { .. } | Coverage::Enough { .. } => {
            format!("{requests}, {}", palette.red(&violations))
        }
    };
    format!(
        "{}, {outcome}, {} rejected\n",
        counted(model.lines.lines, "line"),
        counted(model.lines.rejected, "line"),
    )
}

/// `3 violations (1.2 % of those judged)`. Requests in a grace period are not part of the rate.
pub(super) fn violations_words(sums: &Sums) -> String {
    let violations = counted(sums.violations, "violation");
    match (sums.allowed + sums.violations, sums.judged()) {
        (0, 0) if sums.requests > 0 => "none judged".to_owned(),
        (0, 1..) => format!("{violations} (all {} judged in a grace period)", grouped(sums.grace)),
        (rated, _) => {
            format!("{violations} ({} of those judged)", percent(sums.violations, rated))
        }
    }
}

/// The result of a draft, in two lines, without spoofed crawlers.
fn what_if_lines(model: &PageModel<'_>) -> String {
    let Some(simulation) = &model.audit.simulation else { return String::new() };
    let total = model.audit.what_if_of_crawlers();
    let who = |change| match &model.changed(change)[..] {
        [] => String::new(),
        changed => format!(" ({})", most_of(model, changed, CHANGED_SHOWN)),
    };
    format!(
        "  what if {} were in force: {} newly disallowed{}, {} newly allowed{}\n\
         \x20 and {} of {} judged as before; see what-if.csv\n",
        cut(shown(&simulation.draft), DRAFT_CHARS_MAX),
        counted(total.newly_disallowed, "request"),
        who(WhatIfChange::NewlyDisallowed),
        grouped(total.newly_allowed),
        who(WhatIfChange::NewlyAllowed),
        grouped(total.unchanged),
        counted(total.judged, "request"),
    )
}

/// Who still requested what a change of robots.txt disallowed; empty if nobody does.
fn reaction_line(model: &PageModel<'_>) -> String {
    let still = model.still_requesting();
    if still.is_empty() {
        return String::new();
    }
    format!(
        "  {} still requested what a change of robots.txt disallowed ({}); see reactions.csv\n",
        counted(still.len() as u64, "crawler"),
        most_of(model, &still, CHANGED_SHOWN),
    )
}

/// What all crawlers cost, and those that cost most; empty without a price.
fn cost_line(model: &PageModel<'_>) -> String {
    let Some(price) = &model.audit.price else { return String::new() };
    let mut bytes: BTreeMap<CrawlerId, u64> = BTreeMap::new();
    for ((crawler, _), sums) in model.audit.by_bytes() {
        bytes.entry(crawler).or_default().absorb(sums.bytes);
    }
    let mut bytes = Vec::from_iter(bytes);
    bytes.sort_by_key(|(_, bytes)| Reverse(*bytes));
    let cost = |bytes| price.shown(price.of_bytes(bytes));
    let first = bytes.iter().take(CHANGED_SHOWN);
    let first = first.map(|(id, bytes)| format!("{} {}", model.name(*id), cost(*bytes)));
    let (all, first) =
        (model.audit.total_of_crawlers().bytes, first.collect::<Vec<_>>().join(", "));
    let (shown, all) = (cost(all), grouped(all));
    format!("  {all} bytes for known crawlers cost {shown} (most: {first}); see costs.csv\n")
}

/// What clients did in the names of crawlers. It is no part of the headline.
fn spoofed_words(model: &PageModel<'_>, spoofed: &Sums) -> String {
    let mut by: Vec<(CrawlerId, Sums)> = Vec::new();
    for (&(crawler, identity), totals) in &model.crawlers {
        if identity == Identity::Spoofed {
            by.push((crawler, totals.sums));
        }
    }
    // The sort is stable: ties stay in the order of names.
    by.sort_by_key(|(_, sums)| Reverse((sums.violations, sums.requests)));
    let first = by.iter().take(CHANGED_SHOWN);
    let names = first.map(|(id, _)| cut(shown(&model.name(*id)), NAME_CHARS_MAX));
    let names = names.collect::<Vec<_>>().join(", ");
    let more = match by.len().saturating_sub(CHANGED_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let violations = counted(spoofed.violations, "violation");
    match by.is_empty() {
        true => violations,
        false => format!(
            "{violations} by clients that claim to be {names}{more} but are not; left out of the \
             sums above"
        ),
    }
}

/// The identities of the crawlers; empty if none was verified, because a note says so.
fn identity_lines(model: &PageModel<'_>) -> String {
    let [verified, spoofed, unverified] = Identity::ALL.map(|identity| model.sums_of(identity));
    let mut text = String::new();
    if model.is_identity_known() {
        let mut line = |what: &str, sums: &Sums, outcome: &str| {
            text += &format!("  {what:<11} {}, {outcome}\n", counted(sums.requests, "request"));
        };
        line("verified:", &verified, &violations_words(&verified));
        line("unverified:", &unverified, &violations_words(&unverified));
        line("spoofed:", &spoofed, &spoofed_words(model, &spoofed));
    }
    let notes = model.audit.notes.iter().map(|note| format!("  note: {}\n", spelled_out(note)));
    text.extend(notes);
    text
}
