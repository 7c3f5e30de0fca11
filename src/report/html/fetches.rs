//! Which crawlers fetched robots.txt, which did not in these logs, and which did before violations.

use maud::{Markup, html};

use crate::crawlers::identity::Actor;

use super::super::page_model::{PageModel, crawler::CrawlerTotals, is_itself};
use super::{markup::strongly_counted, table::HtmlTable};
use crate::table::csv::not_bound_reason;

/// The table with all rows.
const FILE: &str = "robots-fetches.csv";

/// The section; `None` without crawlers that robots.txt binds.
pub(crate) fn fetches(model: &PageModel<'_>) -> Option<Markup> {
    let is_bound = |(crawler, identity): Actor| {
        is_itself(identity) && not_bound_reason(model.crawler(crawler)).is_empty()
    };
    let all = model.crawlers.iter().map(|(actor, totals)| (*actor, totals));
    let mut all: Vec<(Actor, &CrawlerTotals)> = all.filter(|(actor, _)| is_bound(*actor)).collect();
    all.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.sums.violations));
    let (fetched, never): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, totals)| totals.fetches.successful > 0);
    (!fetched.is_empty() || !never.is_empty()).then(|| {
        html! {
            p {
                (strongly_counted(fetched.len() as u64, "crawler"))
                " that robots.txt binds fetched it in these logs, "
                (strongly_counted(never.len() as u64, "crawler"))
                " did not. A log shows no fetches from before its first line."
            } "\n"
            (before_violations(model))
            (fetchers(model, fetched))
            (never_fetched(model, never))
        }
    })
}

fn before_violations(model: &PageModel<'_>) -> Markup {
    let own = model.own_offenders();
    let numbers = |(_, totals): &(Actor, &CrawlerTotals)| {
        let known = &totals.prior_fetches;
        let fetched = [known.prior_fetch_own, known.prior_fetch_operator];
        [fetched[0], fetched[1], known.prior_fetch_none, known.prior_fetch_unknown]
    };
    let titles = ["Fetched by itself", "By its operator", "Not in these logs", "Unknown"];
    let caption = "Violations by earlier fetches of robots.txt";
    HtmlTable::new("by-prior-fetch", caption, FILE, own)
        .actor(model, |(actor, _)| *actor)
        .numbers(titles, numbers)
        .folded()
}

fn fetchers(model: &PageModel<'_>, rows: Vec<(Actor, &CrawlerTotals)>) -> Markup {
    HtmlTable::new("fetchers", "Crawlers that fetched robots.txt", FILE, rows)
        .actor(model, |(actor, _)| *actor)
        .number("Successful fetches", |(_, totals)| totals.fetches.successful)
        .number("Origins fetched", |(_, totals)| totals.fetches.origins_fetched)
        .number("Origins requested", |(_, totals)| totals.fetches.origins)
        .time("First successful fetch, UTC", |(_, totals)| Some(totals.fetches.span?.first))
        .time("Last successful fetch, UTC", |(_, totals)| Some(totals.fetches.span?.last))
        .number("Requests before", |(_, totals)| totals.fetches.before_first)
        .number("Violations", |(_, totals)| totals.sums.violations)
        .folded()
}

fn never_fetched(model: &PageModel<'_>, rows: Vec<(Actor, &CrawlerTotals)>) -> Markup {
    let caption = "Crawlers without a fetch of robots.txt in these logs";
    HtmlTable::new("never-fetched", caption, FILE, rows)
        .actor(model, |(actor, _)| *actor)
        .number("Failed fetches", |(_, totals)| totals.fetches.requests)
        .number("Other requests", |(_, totals)| totals.fetches.other_requests)
        .number("Origins requested", |(_, totals)| totals.fetches.origins)
        .number("Violations", |(_, totals)| totals.sums.violations)
        .folded()
}
