//! Requests and violations by day and hour.

use maud::{Markup, html};

use crate::time::Day;

use super::super::page_model::{PageModel, heaviest::Heaviest, judged_sums};
use super::crawlers::{IDENTITIES, drawn};
use super::hours::{calendar, hours, name, outcomes};
use super::{chart::columns, markup::cut, table::HtmlTable};

/// The most days that are drawn and listed: the last ones.
const DAYS_MAX: usize = 750;

/// The section.
pub fn timeline(model: &PageModel<'_>) -> Markup {
    if model.days.is_empty() {
        return html! { p { "No requests of known crawlers." } "\n" };
    }
    let days = calendar(model.days.keys().copied(), DAYS_MAX);
    let column = |day: &Day| (day.to_string(), drawn(model.days.get(day), |of| of.violations));
    let columns_drawn: Vec<_> = days.iter().map(column).collect();
    let names: Vec<String> = days.iter().map(Day::to_string).collect();
    let first = days.first().copied();
    let rows = model.days.iter().filter(|(day, _)| Some(**day) >= first);
    let rows = rows.map(|(day, of)| (day.to_string(), judged_sums(of))).collect();
    let rows = Heaviest { rows, total: model.days.len() as u64 };
    let caption = "Requests of known crawlers by day";
    let table = HtmlTable::cut("by-day", caption, "daily.csv", rows).text("Day", name);
    html! {
        (zone(model))
        (columns("days", "Violations by day", &IDENTITIES, &columns_drawn, &names))
        (outcomes(table))
        (hours(model))
    }
}

/// The time zone of the days.
fn zone(model: &PageModel<'_>) -> Markup {
    let zone = model.audit.options.get("timezone").as_str().unwrap_or("UTC");
    html! { p { "Time zone of days and hours: " (cut(zone)) "." } "\n" }
}
