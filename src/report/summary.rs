//! The summary printed at the end of a run.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::audit::shares::{
    CHANGES, compared_changes, compared_day, comparison, has_compared_changes,
};
use crate::audit::{conduct::Conduct, coverage::Coverage};
use crate::crawlers::{crawler::CrawlerId, identity::Identity};
use crate::measures::{draft_effect::WhatIfChange, sums::Sums};
use crate::merge::Merge;
use crate::numbers::{counted, grouped, percent};
use crate::statistics::two_proportions;
use crate::table::escape::{shown, spelled_out};

use super::came_and_went::came_and_went;
use super::page_model::PageModel;
use super::summary_table::{SummaryView, most_of, table_text};
use super::terminal_text::{Palette, cut, wrapped};
use super::treatment::findings;

/// The most crawlers named in the result of a draft, or of a change.
const CHANGED_SHOWN: usize = 3;

/// The most characters of the name of a draft.
const DRAFT_CHARS_MAX: usize = 40;

/// The most characters of the name of a crawler.
const NAME_CHARS_MAX: usize = 40;

/// A headline, notes, and the rows with the most violations.
pub fn summary_text(model: &PageModel<'_>, view: &SummaryView) -> String {
    let head = wrapped(&headline(model, view.palette), view.columns, 2);
    let treatment: String = findings(model).iter().map(|said| format!("  {said}\n")).collect();
    let below = conduct_line(model)
        + &treatment
        + &unread_line(model)
        + &skipped_line(model)
        + &identity_lines(model)
        + &what_if_lines(model)
        + &comparison_lines(model)
        + &came_and_went(model).map_or_else(String::new, |said| format!("  {said}\n"))
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
    format!("  not read in full: {names}\n")
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

/// The lines that are not meant to be records, by reason.
fn skipped_line(model: &PageModel<'_>) -> String {
    if model.lines.skipped == 0 {
        return String::new();
    }
    let reasons = model.lines.skipped_by_reason.iter();
    let reasons: Vec<String> =
        reasons.map(|(reason, lines)| format!("{reason} {}", grouped(*lines))).collect();
    format!("  skipped: {} ({})\n", counted(model.lines.skipped, "line"), reasons.join(", "))
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
    let [verified, spoofed, unverified, not_on_list] =
        Identity::ALL.map(|identity| model.sums_of(identity));
    let mut text = String::new();
    if model.is_identity_known() {
        let mut line = |what: &str, sums: &Sums, outcome: &str| {
            text += &format!("  {what:<11} {}, {outcome}\n", counted(sums.requests, "request"));
        };
        line("verified:", &verified, &violations_words(&verified));
        line("unverified:", &unverified, &violations_words(&unverified));
        if not_on_list.requests > 0 {
            line("not on list:", &not_on_list, &violations_words(&not_on_list));
        }
        line("spoofed:", &spoofed, &spoofed_words(model, &spoofed));
    }
    let notes = model.audit.notes.iter().map(|note| format!("  note: {}\n", spelled_out(note)));
    text.extend(notes);
    text
}

/// The most crawlers named.
const CRAWLERS_SHOWN: usize = 3;

/// Differences with a smaller p value are named.
const P_MAX: f64 = 0.05;

/// A part and the whole, before and since.
type Shares = [(u64, u64); 2];

/// The shares before and since a day or changes, without tools and spoofed requests; empty if
/// nothing is compared.
fn comparison_lines(model: &PageModel<'_>) -> String {
    let audit = model.audit;
    if let Some(day) = compared_day(audit) {
        let own =
            comparison(audit, day).into_iter().filter(|(actor, _)| audit.is_own_crawler(*actor));
        let rows = own.map(|((crawler, _), parts)| {
            (crawler, parts.map(|of| (of.violations, of.allowed + of.violations)))
        });
        let rows: Vec<(CrawlerId, Shares)> = rows.collect();
        return format!(
            "  since {day}: {} of judged requests were violations, {} before{}; see comparison.csv\n",
            share(&rows, 1),
            share(&rows, 0),
            differing(model, &rows),
        );
    }
    if !has_compared_changes(audit) {
        return String::new();
    }
    let lines = WhatIfChange::ALL.map(|direction| {
        let rows = compared_changes(audit).filter(|(_, actor, row, _)| {
            row.direction == direction && audit.is_own_crawler(*actor)
        });
        let rows: Vec<(CrawlerId, Shares)> =
            rows.map(|(_, (crawler, _), _, parts)| (crawler, parts)).collect();
        if rows.is_empty() {
            return String::new();
        }
        format!(
            "  since changes of robots.txt: {} of requests were for {} paths, {} before{}; see \
             change-comparison.csv\n",
            share(&rows, 1),
            direction.as_str().replace('-', " "),
            share(&rows, 0),
            differing(model, &rows),
        )
    });
    match lines.concat() {
        none if none.is_empty() => format!(
            "  --compare-at {CHANGES}: no change of robots.txt has counted requests before and since\n"
        ),
        lines => lines,
    }
}

/// `12.0 %` of the requests of all crawlers in one part.
fn share(rows: &[(CrawlerId, Shares)], part: usize) -> String {
    let sums: (u64, u64) = rows
        .iter()
        .fold((0, 0), |sums, (_, parts)| (sums.0 + parts[part].0, sums.1 + parts[part].1));
    percent(sums.0, sums.1)
}

/// ` (differs for 2 crawlers: GPTBot from 10.0 % to 0.0 %, …)`, the most certain differences first.
fn differing(model: &PageModel<'_>, rows: &[(CrawlerId, Shares)]) -> String {
    let mut by_crawler: BTreeMap<CrawlerId, Shares> = BTreeMap::new();
    for (crawler, parts) in rows {
        let sums = by_crawler.entry(*crawler).or_default();
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum = (sum.0 + part.0, sum.1 + part.1);
        }
    }
    let tested = by_crawler.into_iter().filter_map(|(crawler, [before, since])| {
        let (_, p) = two_proportions(before, since)?;
        (p < P_MAX).then_some((p, crawler, [before, since]))
    });
    let mut tested: Vec<(f64, CrawlerId, Shares)> = tested.collect();
    tested.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    if tested.is_empty() {
        return String::new();
    }
    let named = tested.iter().take(CRAWLERS_SHOWN).map(|(_, crawler, [before, since])| {
        let [before, since] = [before, since].map(|(part, whole)| percent(*part, *whole));
        format!("{} from {before} to {since}", model.name(*crawler))
    });
    let more = if tested.len() > CRAWLERS_SHOWN { " and others" } else { "" };
    let crawlers = counted(tested.len() as u64, "crawler");
    format!(" (differs for {crawlers}: {}{more})", named.collect::<Vec<_>>().join(", "))
}
