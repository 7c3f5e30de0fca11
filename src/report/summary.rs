//! The short table that is shown when a run is done.

use crate::audit::{prior_fetches::PriorFetchCounts, sums::Sums, what_if::WhatIfChange};
use crate::crawlers::crawler::{Crawler, CrawlerId};
use crate::crawlers::identity::Identity;

use super::aligned::{cut, line, widths};
use super::csv::not_bound_reason;
use super::escape::shown;
use super::page_model::{PageModel, text as page_text};
use crate::numbers::{counted, grouped, percent};

/// Crawlers that are named where a draft would change something.
const CHANGED_SHOWN: usize = 3;

/// Widest cell of a text column, in characters.
const CELL_CHARS_MAX: usize = 40;

/// The crawlers with most violations, and a sentence on the whole.
pub fn summary_text(model: &PageModel<'_>) -> String {
    let mut text = headline(model) + &identity_lines(model) + &what_if_lines(model);
    if model.offenders.rows.is_empty() {
        return text;
    }
    let mut rows = vec![
        ["violations", "of judged", "crawler", "operator", "stated policy", "origin"]
            .map(str::to_owned),
    ];
    // Nothing stands below the names of the columns.
    let mut known = vec![String::new()];
    for row in &model.offenders.rows {
        let (sums, identity) = (row.tally.total(), row.actor.1.as_str());
        let crawler = model.crawler(row.actor.0);
        known.push(prior_fetch_words(&row.prior_fetches, crawler));
        let name = match not_bound_reason(crawler) {
            "" => format!("{} ({identity})", page_text(&crawler.name)),
            reason => format!("{} ({identity}, {reason})", page_text(&crawler.name)),
        };
        rows.push([
            grouped(sums.violations),
            percent(sums.violations, sums.allowed + sums.violations),
            cell(&name),
            cell(&page_text(&crawler.operator)),
            crawler.stated_policy().as_str().to_owned(),
            cell(&page_text(&row.origin)),
        ]);
    }
    text.push('\n');
    let widths = widths(&rows);
    let indent = widths[0] + widths[1] + 4;
    for (row, known) in rows.iter().zip(known) {
        text += &line(row, &widths, 2);
        if !known.is_empty() {
            text += &format!("{:indent$}{known}\n", "");
        }
    }
    let more = model.offenders.total - model.offenders.rows.len() as u64;
    if more > 0 {
        text += &format!("... and {more} more, see summary.csv\n");
    }
    text
}

/// Who only says that he is a crawler adds nothing to what crawlers are said to have done.
fn headline(model: &PageModel<'_>) -> String {
    let total = model.not_spoofed();
    let judged = total.allowed + total.violations;
    let requests = format!("{} of known crawlers", counted(total.requests, "request"));
    let outcome = match (total.requests, judged) {
        _ if model.audit.nothing_judged.is_some() => format!("{requests}, none could be judged"),
        (0, _) => "no requests of known crawlers to judge".to_owned(),
        (_, 0) => format!("{requests}, none bound by a rule"),
        _ => format!("{requests}, {}", violations_words(&total)),
    };
    format!(
        "{}, {outcome}, {} rejected\n",
        counted(model.lines.lines, "line"),
        counted(model.lines.rejected, "line"),
    )
}

/// `3 violations (1.2 % of those judged)`.
fn violations_words(sums: &Sums) -> String {
    let rate = percent(sums.violations, sums.allowed + sums.violations);
    format!("{} ({rate} of those judged)", counted(sums.violations, "violation"))
}

/// What a draft would change, in two lines. Who is spoofed reads no draft.
fn what_if_lines(model: &PageModel<'_>) -> String {
    let Some(simulation) = &model.audit.simulation else { return String::new() };
    let total = simulation.total_not_spoofed();
    let who = |change| most_changed(model, &model.changed(change));
    format!(
        "  what if {} were in force: {} newly disallowed{}, {} newly allowed{}\n\
         \x20 and {} of {} judged as before; see what-if.csv\n",
        cell(&shown(&simulation.draft)),
        counted(total.newly_disallowed, "request"),
        who(WhatIfChange::NewlyDisallowed),
        grouped(total.newly_allowed),
        who(WhatIfChange::NewlyAllowed),
        grouped(total.unchanged),
        counted(total.judged, "request"),
    )
}

/// Whose requests would change most: ` (GPTBot 12, bingbot 3 and 2 more)`.
fn most_changed(model: &PageModel<'_>, crawlers: &[(CrawlerId, u64)]) -> String {
    let first = crawlers.iter().take(CHANGED_SHOWN);
    let first: Vec<String> = first
        .map(|(id, requests)| format!("{} {}", cell(&model.name(*id)), grouped(*requests)))
        .collect();
    match crawlers.len().saturating_sub(CHANGED_SHOWN) {
        _ if crawlers.is_empty() => String::new(),
        0 => format!(" ({})", first.join(", ")),
        more => format!(" ({} and {more} more)", first.join(", ")),
    }
}

/// Whether robots.txt had been fetched before violations of `crawler`.
fn prior_fetch_words(prior: &PriorFetchCounts, crawler: &Crawler) -> String {
    let of = format!(" of {} came", counted(prior.total(), "violation"));
    let operator = cell(&page_text(&crawler.operator));
    let by_operator = format!("after another crawler of {operator} had fetched robots.txt");
    let parts = [
        (prior.prior_fetch_own, "after it had fetched robots.txt".to_owned()),
        (prior.prior_fetch_operator, by_operator),
        (prior.prior_fetch_none, "without a fetch of robots.txt in these logs".to_owned()),
        (prior.prior_fetch_unknown, "with unknown fetches of robots.txt".to_owned()),
    ];
    let parts = parts.iter().filter(|(violations, _)| *violations > 0);
    let parts = parts.enumerate().map(|(at, (violations, what))| {
        let of = if at == 0 { of.as_str() } else { "" };
        format!("{}{of} {what}", grouped(*violations))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// What is known of who asked; nothing where nobody was checked, which a note says.
fn identity_lines(model: &PageModel<'_>) -> String {
    let [verified, spoofed, unverified] = Identity::ALL.map(|identity| model.sums_of(identity));
    let mut text = String::new();
    if model.is_identity_known() {
        let mut line = |what: &str, sums: &Sums, outcome: &str| {
            text += &format!("  {what:<11} {}, {outcome}\n", counted(sums.requests, "request"));
        };
        line("verified:", &verified, &violations_words(&verified));
        line("unverified:", &unverified, &violations_words(&unverified));
        line("spoofed:", &spoofed, "left out");
    }
    model.audit.notes.iter().for_each(|note| text += &format!("  note: {note}\n"));
    text
}

/// The beginning of what a table tells.
fn cell(text: &str) -> String {
    cut(shown(text), CELL_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_cannot_write_to_the_terminal() {
        assert_eq!(cell("a\x1b[2Jb"), "a\\x1B[2Jb");
        assert_eq!(cell(&"x".repeat(100)).chars().count(), CELL_CHARS_MAX);
    }
}
