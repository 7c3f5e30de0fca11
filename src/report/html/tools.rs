//! Known clients that are not crawlers.

use maud::{Markup, html};

use super::super::page_model::{PageModel, of_judged, text};
use super::table::HtmlTable;

/// The section; `None` without requests of tools.
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
