//! What crawlers fetched of paths about whose use robots.txt states a preference.

use maud::{Markup, html};

use crate::audit::usage::UsageRow;
use crate::numbers::counted;
use crate::robots::usage::UsagePreference;

use super::super::page_model::{PageModel, ROWS_MAX, heaviest::Heaviest, text};
use super::table::HtmlTable;

/// The section, or `None` without such requests.
pub(crate) fn usage(model: &PageModel<'_>) -> Option<Markup> {
    let rows = || model.audit.usage().filter(|(_, actor, _)| model.audit.is_own_crawler(*actor));
    rows().next()?;
    let is_reserved = |usage: &UsageRow| usage.stated.preference == UsagePreference::Reserved;
    let reserved = rows().filter(|(_, _, usage)| is_reserved(usage)).count() as u64;
    let rows = Heaviest::of(rows(), ROWS_MAX, |(_, _, usage)| usage.tally.requests);
    let table = HtmlTable::cut("by-usage", "Requests by preference", "usage.csv", rows)
        .actor(model, |(_, actor, _)| *actor)
        .text("Statement", |(_, _, usage)| usage.stated.signal.as_str().to_owned())
        .text("Use", |(_, _, usage)| usage.stated.category.as_str().to_owned())
        .text("Preference", |(_, _, usage)| usage.stated.preference.as_str().to_owned())
        .number("Line", |(_, _, usage)| u64::from(usage.stated.line))
        .number("Requests", |(_, _, usage)| usage.tally.requests)
        .seen(|(_, _, usage)| usage.tally.span)
        .code("Origin", |(origin, _, _)| text(origin));
    Some(html! {
        p {
            "A robots.txt can state how the content of a path may be used. This table counts allowed requests for \
             paths with such a statement about the purpose of the crawler. A log shows requests, not what happened \
             with the content, so none of these requests is a violation."
        } "\n"
        p { (counted(reserved, "row")) " fetched under reservation." } "\n"
        (table.folded())
    })
}
