//! Crawlers: the table of all, violations by origin, the answers to violations, spoofed requests.

use maud::{Markup, html};

use crate::audit::conduct::Conduct;
use crate::crawlers::identity::Actor;
use crate::crawlers::identity::Identity;
use crate::measures::sums::{Span, Sums};

use super::super::page_model::crawler::CrawlerTotals;
use super::super::page_model::{PageModel, heaviest::Heaviest, text};
use super::chart::LegendEntry;
use super::markup::{Badge, strongly_counted};
use super::table::{HtmlTable, Kind};
use crate::numbers::percent;
use crate::time::{Day, Zone};

const VIOLATIONS: [LegendEntry; 1] = [("violation", "violations")];

/// All crawlers that are not spoofed, each with its state.
pub(crate) fn all(model: &PageModel<'_>) -> Markup {
    let rows = model.by_conduct();
    let most = rows.iter().map(|(_, _, totals)| totals.sums.violations).max().unwrap_or_default();
    let last = model.period.map(|period| Zone::UTC.day_of(period.last));
    let caption = "All crawlers, and what they do about robots.txt";
    if rows.is_empty() {
        return html! {};
    }
    HtmlTable::new("by-crawler", caption, "summary.csv", rows)
        .text("Crawler", |(_, (crawler, _), _)| model.name(*crawler))
        .column("robots.txt", Kind::Text, |(conduct, ..)| Badge(class(*conduct), conduct.words()))
        .number("Violations", |(_, _, totals)| totals.sums.violations)
        .bar(&VIOLATIONS, |(_, _, totals)| [totals.sums.violations], |_| most)
        .share("Of judged", |(_, _, totals)| of_judged(&totals.sums))
        .text("When", |(_, _, totals)| {
            totals.broken.map_or_else(String::new, |span| when(span, last))
        })
        .number("Allowed", |(_, _, totals)| totals.sums.allowed)
        .number("Not bound", |(_, _, totals)| totals.sums.not_bound)
        .megabytes("MB", |(_, _, totals)| totals.sums.bytes)
        .column("Last fetch of robots.txt", Kind::Number, |(_, _, totals)| {
            let last = totals.fetches.span.map(|span| Zone::UTC.day_of(span.last).to_string());
            last.unwrap_or_else(|| "none".to_owned())
        })
        .identity(|(_, (_, identity), _)| *identity)
        .text("Operator", |(_, (crawler, _), _)| text(&model.crawler(*crawler).operator))
        .text("Purpose", |(_, (crawler, _), _)| text(&model.crawler(*crawler).purpose))
        .main()
}

/// The days of the first and the last violation, and whether that is the `last` day of the logs.
fn when(span: Span, last: Option<Day>) -> String {
    let [from, to] = [span.first, span.last].map(|time| Zone::UTC.day_of(time));
    let still = if Some(to) == last { ", still" } else { "" };
    match from == to {
        true => format!("{to}{still}"),
        false => format!("{from} to {to}{still}"),
    }
}

fn class(conduct: Conduct) -> &'static str {
    match conduct {
        Conduct::Ignores => "violation",
        Conduct::BreaksSome => "some",
        Conduct::Rarely => "rare",
        Conduct::NotRead => "not-read",
        Conduct::Obeys => "allowed",
        Conduct::NotJudged => "unjudged",
    }
}

fn judged(sums: &Sums) -> u64 {
    sums.allowed + sums.violations
}

/// Violations, and the requests of which they are a part.
pub(crate) fn of_judged(sums: &Sums) -> (u64, u64) {
    (sums.violations, judged(sums))
}

/// Violations by origin and crawler; empty if there is only one origin.
pub(crate) fn by_origin(model: &PageModel<'_>) -> Markup {
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
        .folded()
}

/// The statuses of the answers to violating requests.
pub(crate) fn answers(model: &PageModel<'_>) -> Markup {
    let own = model.own_offenders();
    let served: u64 = own.iter().map(|(_, totals)| totals.statuses.status_2xx).sum();
    let all: u64 = own.iter().map(|(_, totals)| totals.statuses.total()).sum();
    let caption = "Status of the responses to violations";
    let table = HtmlTable::new("by-status", caption, "violations.csv", own)
        .actor(model, |(actor, _)| *actor)
        .share("Served", |(_, totals)| (totals.statuses.status_2xx, totals.statuses.total()))
        .numbers(["2xx", "3xx", "4xx", "5xx", "Other"], |(_, totals)| totals.statuses.counts());
    html! {
        p {
            (percent(served, all))
            " of the disallowed requests were served: robots.txt asks, and the server decides. \
             A crawler that is refused with 403 or 429 has still broken the rule."
        } "\n"
        (table.folded())
    }
}

/// Requests that only claim to come from a crawler; `None` if there are none.
pub(crate) fn spoofed(model: &PageModel<'_>) -> Option<Markup> {
    let requests = model.sums_of(Identity::Spoofed).requests;
    let all = model.crawlers.iter().filter(|((_, identity), _)| *identity == Identity::Spoofed);
    let mut rows: Vec<(&Actor, &CrawlerTotals)> = all.collect();
    rows.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.sums.requests));
    let caption = "Spoofed requests by claimed crawler";
    let table = HtmlTable::new("by-spoofed", caption, "summary.csv", rows)
        .text("Crawler", |((crawler, _), _)| model.name(*crawler))
        .number("Requests", |(_, totals)| totals.sums.requests)
        .number("Violations", |(_, totals)| totals.sums.violations)
        .share("Of judged", |(_, totals)| of_judged(&totals.sums));
    (requests > 0).then(|| html! {
        p {
            (strongly_counted(requests, "request"))
            " only claimed to come from a crawler: their addresses do not belong to its operator. Only this section counts them."
        } "\n"
        (table.folded())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::UtcTime;

    #[test]
    fn who_broke_a_rule_on_the_last_day_still_does() {
        let at = |day: i64| UtcTime::from_unix_seconds(day * 86_400 + 80_000).unwrap();
        let said = |first, last, end| {
            when(Span { first: at(first), last: at(last) }, Some(Zone::UTC.day_of(at(end))))
        };
        assert_eq!(said(0, 0, 5), "1970-01-01");
        assert_eq!(said(0, 2, 5), "1970-01-01 to 1970-01-03");
        assert_eq!(said(0, 5, 5), "1970-01-01 to 1970-01-06, still");
        assert_eq!(said(5, 5, 5), "1970-01-06, still");
    }
}
