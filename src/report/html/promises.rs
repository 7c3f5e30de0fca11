//! Which promises of operators their crawlers kept.

use maud::{Markup, html};

use crate::audit::promises::{PromiseRow, PromiseState, PromisedValue, promises};
use crate::numbers::counted;

use super::super::page_model::{PageModel, ROWS_MAX, heaviest::Heaviest, text};
use super::markup::Badge;
use super::table::{HtmlTable, Kind};

/// The section; `None` if no promise was tested.
pub(crate) fn promises_kept(model: &PageModel<'_>) -> Option<Markup> {
    let mut rows = promises(model.audit);
    rows.retain(|row| model.audit.is_own_crawler(row.actor));
    let all = rows.len();
    rows.retain(|row| row.state != PromiseState::NotTested);
    let untested = (all - rows.len()) as u64;
    let broken = rows.iter().filter(|row| row.state == PromiseState::Broken).count() as u64;
    if rows.is_empty() {
        return None;
    }
    // Broken ones first; of each state, those with the highest numbers.
    let rows = Heaviest::of(rows.into_iter(), ROWS_MAX, |row| {
        let is_broken = u64::from(row.state == PromiseState::Broken);
        (is_broken << 63) | (row.observed.tested >> 1)
    });
    let table = HtmlTable::cut("by-promise", "Promises that were tested", "promises.csv", rows)
        .actor(model, |row| row.actor)
        .text("Promise", promised)
        .column("State", Kind::Text, |row| match row.state {
            PromiseState::Broken => Badge("violation", "broken"),
            _ => Badge("allowed", "kept"),
        })
        .number("Tested", |row| row.observed.tested)
        .number("Kept", |row| row.observed.kept)
        .share("Share", |row| (row.observed.kept, row.observed.tested))
        .code("Origin", |row| text(row.origin));
    Some(html! {
        p {
            "What operators promise of their crawlers, beside what the crawlers did in these logs. A promise counts as \
             broken only if the numbers leave no other explanation. "
            (counted(broken, "promise")) " broken, " (counted(untested, "promise")) " not tested; the table of all has \
             the reasons."
        } "\n"
        (table.folded())
    })
}

/// The promise in words.
fn promised(row: &PromiseRow<'_>) -> String {
    let promise = row.promise.as_str();
    match row.value {
        PromisedValue::Hours(hours) => format!("{promise}: {}", counted(hours.into(), "hour")),
        PromisedValue::RequestsPerHour(requests) => {
            format!("{promise}: {} per hour", counted(requests.into(), "request"))
        }
        PromisedValue::Yes | PromisedValue::Partly | PromisedValue::Words => promise.to_owned(),
    }
}
