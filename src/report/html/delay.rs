//! Which crawlers had a Crawl-delay, and which kept it.

use maud::{Markup, html};

use crate::audit::crawler_row::Delayed;
use crate::measures::delay_kept::Excess;

use super::super::page_model::{PageModel, ROWS_MAX, heaviest::Heaviest, text};
use super::table::HtmlTable;
use crate::table::escape::visible;

/// The section; `None` if no Crawl-delay applies.
pub(crate) fn delay(model: &PageModel<'_>) -> Option<Markup> {
    let over = |excess: Option<Excess>| excess.map(|excess| excess.requests_over);
    let hourly = |delayed: &Delayed| delayed.pace.and_then(|pace| pace.hourly);
    let daily = |delayed: &Delayed| delayed.pace.and_then(|pace| pace.daily);
    let busiest = |delayed: &Delayed| delayed.pace.and_then(|pace| pace.busiest);
    let of_crawlers =
        model.audit.delays().filter(|(_, (crawler, _), _)| !model.audit.is_tool(*crawler));
    let rows = Heaviest::of(of_crawlers, ROWS_MAX, |(_, _, delayed)| {
        over(hourly(delayed)).unwrap_or_default()
    });
    if rows.rows.is_empty() {
        return None;
    }
    let (caption, file) = ("Requests beyond what a delay allows", "crawl-delay.csv");
    let table = HtmlTable::cut("by-delay", caption, file, rows)
        .actor(model, |(_, actor, _)| *actor)
        .code("Origin", |(origin, _, _)| text(origin))
        .code("Delay", |(_, _, delayed)| visible(&delayed.asked.written))
        .text("Documented to honour it", |(_, (crawler, _), _)| {
            model.crawler(*crawler).crawl_delay.as_str().to_owned()
        })
        .number("Requests", |(_, _, delayed)| delayed.requests)
        .known("Too many, by hours", |(_, _, delayed)| over(hourly(delayed)))
        .known("Hours", |(_, _, delayed)| hourly(delayed).map(|hourly| hourly.periods_over))
        .known("Too many, by days", |(_, _, delayed)| over(daily(delayed)))
        .time("Busiest hour, UTC", |(_, _, delayed)| busiest(delayed)?.start)
        .known("Requests in it", |(_, _, delayed)| busiest(delayed).map(|hour| hour.requests));
    Some(html! {
        p {
            "Crawl-delay is not part of the standard, so a request that comes too early is not a violation. Only \
             certain cases are counted: requests above the number that the delay allows in an hour, or in a day."
        } "\n"
        (table.folded())
    })
}
