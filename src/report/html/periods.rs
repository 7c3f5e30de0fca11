//! Requests by day and by hour, as charts with their numbers.

use maud::{Markup, html};

use crate::time::{Day, Hour};

use super::super::page_model::{JudgedSums, PageModel, heaviest::Heaviest, judged_sums};
use super::chart::{ChartColumn, LegendEntry, columns};
use super::crawlers::of_judged;
use super::markup::cut;
use super::table::HtmlTable;

/// The most days of a chart by day: the last ones.
const DAYS_MAX: usize = 370;

/// The most days of a chart by hour: the last ones.
const DAYS_BY_HOUR_MAX: usize = 7;

const VERDICTS: [LegendEntry; 3] =
    [("violation", "violation"), ("allowed", "allowed"), ("unjudged", "not judged")];

/// A day or an hour, and its requests.
type Period = (String, JudgedSums);

/// Requests by day and verdict; empty if there are none.
pub(crate) fn days(model: &PageModel<'_>) -> Markup {
    let days = calendar(model.days.keys().copied(), DAYS_MAX);
    let sums = |day: &Day| model.days.get(day).map(judged_sums).unwrap_or_default();
    let shown: Vec<Period> = days.iter().map(|day| (day.to_string(), sums(day))).collect();
    let total = model.days.len() as u64;
    html! { @if !days.is_empty() { (drawn("day", "daily.csv", shown, &days, total, model)) } }
}

/// Requests by hour and verdict; `None` if hours are not known.
pub(crate) fn hours(model: &PageModel<'_>) -> Option<Markup> {
    let days = calendar(model.hours.keys().map(|hour| hour.day), DAYS_BY_HOUR_MAX);
    days.first()?;
    let hours = days.iter().flat_map(|&day| (0..24).map(move |hour| Hour { day, hour }));
    let sums = |hour: &Hour| model.hours.get(hour).map(judged_sums).unwrap_or_default();
    let shown = hours.map(|hour| (format!("{hour}:00"), sums(&hour))).collect();
    Some(drawn("hour", "hourly.csv", shown, &days, model.hours.len() as u64, model))
}

/// The chart of `shown` and its numbers; `total` periods are known.
fn drawn(
    what: &str,
    file: &str,
    shown: Vec<Period>,
    days: &[Day],
    total: u64,
    model: &PageModel<'_>,
) -> Markup {
    let column = |(name, of): &Period| -> ChartColumn {
        (name.clone(), vec![of.own.violations, of.own.allowed, of.not_judged()])
    };
    let columns_drawn: Vec<ChartColumn> = shown.iter().map(column).collect();
    let names: Vec<String> = days.iter().map(Day::to_string).collect();
    let zone = model.audit.options.get("timezone").as_str().unwrap_or("UTC");
    let title = format!("Requests of crawlers by {what} ({})", cut(zone));
    let (id, numbers) = (format!("{what}s"), format!("by-{what}"));
    let rows: Vec<Period> =
        shown.into_iter().filter(|(_, of)| of.own.requests + of.spoofed.requests > 0).collect();
    html! { div {
        (columns(&id, &title, &VERDICTS, &columns_drawn, &names))
        (HtmlTable::cut(&numbers, &title, file, Heaviest { rows, total })
            .text("Time", |(name, _)| name.clone())
            .number("Violations", |(_, of)| of.own.violations)
            .number("Allowed", |(_, of)| of.own.allowed)
            .share("Of judged", |(_, of)| of_judged(&of.own))
            .number("Not judged", |(_, of)| of.not_judged())
            .number("Requests", |(_, of)| of.own.requests)
            .number("Spoofed", |(_, of)| of.spoofed.requests)
            .numbers_of_drawing())
    } }
}

/// The last `days_max` of `days`, which are sorted and may repeat. Missing days in between are
/// included if they are not too many.
pub(crate) fn calendar(days: impl Iterator<Item = Day>, days_max: usize) -> Vec<Day> {
    let mut known: Vec<Day> = days.collect();
    known.dedup();
    known.drain(..known.len().saturating_sub(days_max));
    let (Some(&first), Some(&last)) = (known.first(), known.last()) else { return Vec::new() };
    let days = std::iter::successors(Some(first), |day| Some(day.plus(1)));
    let days: Vec<Day> = days.take_while(|day| *day <= last).take(days_max + 1).collect();
    if days.len() <= days_max { days } else { known }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_requests_are_drawn_where_there_are_few() {
        let check = |days: &[&str], days_max, expected: &[&str]| {
            let day = |day: &&str| Day::parse(day).unwrap();
            let found = calendar(days.iter().map(day), days_max);
            assert_eq!(found, expected.iter().map(day).collect::<Vec<_>>());
        };
        check(&[], 5, &[]);
        check(
            &["2026-02-27", "2026-02-27", "2026-03-01"],
            3,
            &["2026-02-27", "2026-02-28", "2026-03-01"],
        );
        check(&["2026-02-27", "2026-03-01"], 2, &["2026-02-27", "2026-03-01"]);
        check(&["1970-01-01", "2026-03-01", "2099-01-01"], 2, &["2026-03-01", "2099-01-01"]);
    }
}
