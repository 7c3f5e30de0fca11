//! Automated user agents that are not in the registry.

use maud::{Markup, html};

use super::super::page_model::{PageModel, ROWS_MAX, heaviest::Heaviest};
use super::table::HtmlTable;
use crate::table::escape::visible;

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
