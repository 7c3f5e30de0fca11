//! Crawlers: the table of all, violations by origin, the answers to violations, spoofed requests,
//! tools, and automated user agents that are not in the registry.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::audit::conduct::Conduct;
use crate::crawlers::identity::{Actor, Identity};
use crate::merge::sum;
use crate::numbers::percent;
use crate::report::page_model::totals::{CrawlerTotals, Heaviest};
use crate::report::page_model::{PageModel, ROWS_MAX, of_judged, text};
use crate::table::escape::visible;
use crate::time::{Day, Zone};

use super::chart::days;
use super::markup::{Badge, strongly_counted};
use super::periods::{DAYS_MAX, calendar};
use super::table::{HtmlTable, Kind};

/// All crawlers that are not spoofed, each with its state.
pub(crate) fn all(model: &PageModel<'_>) -> Markup {
    let rows = model.by_conduct();
    let calendar = calendar(model.days.keys().copied(), DAYS_MAX);
    let caption = "All crawlers, and what they do about robots.txt";
    if rows.is_empty() {
        return html! {};
    }
    HtmlTable::new("by-crawler", caption, "summary.csv", rows)
        .text("Crawler", |(_, (crawler, _), _)| model.name(*crawler))
        .column("robots.txt", Kind::Text, |(conduct, ..)| Badge(class(*conduct), conduct.words()))
        .number("Violations", |(_, _, totals)| totals.sums.violations)
        .share("Of judged", |(_, _, totals)| of_judged(&totals.sums))
        .column("When", Kind::Text, |(_, _, totals)| when(&totals.days, &calendar))
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
        .crawlers(|(_, (crawler, _), _)| {
            let crawler = model.crawler(*crawler);
            [text(&crawler.operator), text(&crawler.purpose)]
        })
        .main()
}

/// Violations by day of `calendar`, drawn, and the days of the first and the last one.
pub(crate) fn when(violations: &BTreeMap<Day, u64>, calendar: &[Day]) -> Markup {
    let by_day = calendar.iter().map(|day| violations.get(day).copied().unwrap_or_default());
    let said = since(violations, calendar);
    html! { @if let Some(said) = said { (days("violation", &by_day.collect::<Vec<_>>())) span class="fine" { (said) } } }
}

/// The days of the first and the last violation; `None` without any. A crawler still does it if it
/// did on the last day of the logs; logs of a single day show no more than that day.
fn since(violations: &BTreeMap<Day, u64>, calendar: &[Day]) -> Option<String> {
    let (from, to) = (violations.first_key_value()?.0, violations.last_key_value()?.0);
    let is_last = calendar.len() > 1 && calendar.last() == Some(to);
    Some(match from == to {
        _ if is_last => format!("since {from}, still"),
        true => format!("on {to}"),
        false => format!("{from} to {to}"),
    })
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

/// Violations by crawler and network: where no address is verified, this says most about who they are.
pub(crate) fn by_network(model: &PageModel<'_>) -> Markup {
    let own = model.own_offenders().into_iter();
    let all = own.flat_map(|(actor, totals)| {
        let named = totals.networks.named();
        named.map(move |(network, violations)| (actor, network, violations, totals.sums.violations))
    });
    let rows = Heaviest::of(all, ROWS_MAX, |(.., violations, _)| *violations);
    let caption = "Networks that violations came from";
    HtmlTable::cut("by-network", caption, "violation-networks.csv", rows)
        .actor(model, |(actor, ..)| *actor)
        .code("Network", |(_, network, ..)| {
            text(if network.is_empty() { "no address" } else { network })
        })
        .number("Violations", |(.., violations, _)| *violations)
        .share("Of all of this crawler", |(.., violations, all)| (*violations, *all))
        .folded()
}

/// The statuses of the answers to violating requests.
pub(crate) fn answers(model: &PageModel<'_>) -> Markup {
    let own = model.own_offenders();
    let served: u64 = sum(own.iter().map(|(_, totals)| totals.statuses.status_2xx));
    let all: u64 = sum(own.iter().map(|(_, totals)| totals.statuses.total()));
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

/// Known clients that are not crawlers; `None` without requests of tools.
pub(crate) fn tools(model: &PageModel<'_>) -> Option<Markup> {
    let rows = model.tools_by_requests();
    if rows.is_empty() {
        return None;
    }
    let table = HtmlTable::new("by-tool", "Tools by requests", "summary.csv", rows)
        .text("Tool", |((tool, _), _)| model.name(*tool))
        .number("Requests", |(_, totals)| totals.sums.requests)
        .number("Violations", |(_, totals)| totals.sums.violations)
        .text("Purpose", |((tool, _), _)| text(&model.crawler(*tool).purpose))
        .share("Of judged", |(_, totals)| of_judged(&totals.sums))
        .identity(|((_, identity), _)| *identity)
        .text("Operator", |((tool, _), _)| text(&model.crawler(*tool).operator));
    Some(html! {
        p {
            "Tools are clients such as monitors, feed readers, HTTP libraries and scanners. Their requests are \
             judged like those of crawlers, but only this section counts them."
        } "\n"
        (table.main())
    })
}

/// The row of all that did not fit in `unknown-crawlers.csv`.
const OTHERS: &[u8] = b"(others)";

/// The section; `None` without such user agents.
pub(crate) fn unknown(model: &PageModel<'_>) -> Option<Markup> {
    let audit = model.audit;
    let known = audit.unknown_crawlers.iter();
    let known = known.map(|crawler| (&*crawler.user_agent, &*crawler.token, crawler.tally));
    let others = audit.other_unknown_crawlers.map(|tally| (OTHERS, &b""[..], tally));
    let rows = Heaviest::of(known.chain(others), ROWS_MAX, |(_, _, tally)| tally.sums.requests);
    if rows.rows.is_empty() {
        return None;
    }
    let (caption, file) = ("User agents that look automated", "unknown-crawlers.csv");
    let table = HtmlTable::cut("by-user-agent", caption, file, rows)
        .code("User agent", |(user_agent, _, _)| visible(user_agent))
        .code("Declared name", |(_, token, _)| visible(token))
        .number("Requests", |(_, _, tally)| tally.sums.requests)
        .number("Disallowed", |(_, _, tally)| tally.sums.violations)
        .number("Allowed", |(_, _, tally)| tally.sums.allowed)
        .number("robots.txt requests", |(_, _, tally)| tally.sums.robots_txt_requests)
        .seen(|(_, _, tally)| tally.span);
    Some(html! {
        p {
            "The registry has no row for these, so their requests are never violations. The columns count what robots.txt says to a
            crawler with the declared name: its own groups, or else the " code { "*" } " groups."
        } "\n"
        (table.folded())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_broke_a_rule_on_the_last_day_still_does() {
        let day = |day: i64| Day::parse(&format!("2026-03-{day:02}")).unwrap();
        let of = |days: &[i64], calendar: std::ops::RangeInclusive<i64>| {
            let calendar: Vec<Day> = calendar.map(day).collect();
            since(&days.iter().map(|&at| (day(at), 1)).collect(), &calendar)
        };
        let said = |days: &[i64], end| of(days, 1..=end);
        assert_eq!(said(&[], 5), None);
        assert_eq!(said(&[1], 5).unwrap(), "on 2026-03-01");
        assert_eq!(said(&[1, 2, 3], 5).unwrap(), "2026-03-01 to 2026-03-03");
        assert_eq!(said(&[1, 5], 5).unwrap(), "since 2026-03-01, still");
        assert_eq!(said(&[5], 5).unwrap(), "since 2026-03-05, still");
        assert_eq!(of(&[5], 5..=5).unwrap(), "on 2026-03-05");
    }
}
