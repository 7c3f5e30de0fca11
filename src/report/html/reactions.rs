//! What crawlers did after changes of robots.txt, as timelines and as a table.

use maud::{Markup, html};

use crate::audit::{crawler_row::ActorRow, reaction_rows::ReactionRow};
use crate::measures::draft_effect::WhatIfChange;
use crate::numbers::counted;
use crate::report::page_model::{PageModel, ROWS_MAX, text, totals::Heaviest};
use crate::time::{Day, UtcTime, Zone};

use super::chart::{LegendEntry, Mark, timeline};
use super::table::{HtmlTable, Kind};
use super::{markup::Badge, periods::calendar};

/// The table with all rows.
const FILE: &str = "reactions.csv";

/// The most crawlers with a drawing.
const DRAWN_MAX: usize = 10;

/// Drawings that are shown without a click.
const DRAWINGS_OPEN: usize = 3;

/// The most days of a drawing: the last ones.
const DAYS_MAX: usize = 370;

const DIRECTIONS: [LegendEntry; 2] =
    [("violation", "newly disallowed"), ("allowed", "newly allowed")];

const CHANGE: LegendEntry = ("change", "change of robots.txt");

const FETCH: LegendEntry = ("fetch", "fetch of robots.txt");

/// The section; `None` if no robots.txt changed.
pub(crate) fn reactions(model: &PageModel<'_>) -> Option<Markup> {
    let is_shown =
        |row: &&ActorRow| !row.reactions.is_empty() && model.audit.is_own_crawler(row.actor);
    let rows = || model.audit.rows().iter().filter(is_shown);
    rows().next()?;
    let requests = |reaction: &ReactionRow| {
        reaction.tally.before.saturating_add(reaction.tally.since.requests)
    };
    let heaviest = Heaviest::of(rows(), DRAWN_MAX, |row| {
        row.reactions.iter().map(requests).fold(0, u64::saturating_add)
    });
    let all = rows().flat_map(|row| row.reactions.iter().map(move |reaction| (row, reaction)));
    let table = Heaviest::of(all, ROWS_MAX, |(_, reaction)| requests(reaction));
    let drawn = heaviest.rows.iter().enumerate();
    let mut drawings = drawn.map(|(at, row)| drawing(model, at, row));
    let still = model.still_requesting().len() as u64;
    Some(html! {
        p {
            "Requests for paths that a change of robots.txt newly disallowed or newly allowed, before and \
             after the change. "
            @if still > 0 {
                (counted(still, "crawler"))
                " still requested what a change disallowed, after fetching the new rules. "
            }
            "A request between two changes can count for both. Spoofed requests and tools are left out."
        } "\n"
        @for drawing in drawings.by_ref().take(DRAWINGS_OPEN) { (drawing) }
        @if drawings.len() > 0 {
            details { summary { "More crawlers" } @for drawing in drawings { (drawing) } } "\n"
        }
        (rows_table(model, table))
    })
}

/// The timeline of one crawler.
fn drawing(model: &PageModel<'_>, at: usize, row: &ActorRow) -> Markup {
    let fetches = [&row.tally.robots_fetches.read_200, &row.tally.robots_fetches.read_304];
    let fetches = fetches.into_iter().flat_map(|fetches| fetches.buckets());
    let fetches: Vec<UtcTime> = fetches.filter_map(|(minute, _)| time_of(minute)).collect();
    let changes = || row.reactions.iter().map(|reaction| reaction.times);
    let touched = |reaction: &ReactionRow| {
        reaction.tally.days.buckets().filter_map(|(day, _)| day_of(day)).collect::<Vec<_>>()
    };
    let of_changes = changes().flat_map(|change| [change.after, change.before]);
    // All drawings have the days of the report, so that they can be compared.
    let ends = model.period.into_iter().flat_map(|period| [period.first, period.last]);
    let times = of_changes.chain(ends).chain(fetches.iter().copied());
    let times = times.map(|time| Zone::UTC.day_of(time));
    let mut days: Vec<Day> = times.chain(row.reactions.iter().flat_map(touched)).collect();
    days.sort_unstable();
    let days = calendar(days.into_iter(), DAYS_MAX);
    let mut columns: Vec<(String, Vec<u64>)> =
        days.iter().map(|day| (day.to_string(), vec![0; DIRECTIONS.len()])).collect();
    for reaction in &row.reactions {
        for (day, requests) in reaction.tally.days.buckets() {
            let found = day_of(day).and_then(|day| days.binary_search(&day).ok());
            if let Some(column) = found {
                let sum = &mut columns[column].1[reaction.direction as usize];
                *sum = sum.saturating_add(requests);
            }
        }
    }
    let mut marks: Vec<Mark> = Vec::new();
    for change in changes() {
        let title = format!("robots.txt changed between {} and {}", change.after, change.before);
        let (from, to) = (position(&days, change.after), position(&days, change.before));
        marks.push(Mark { legend: CHANGE, from, to, height: 1.0, title });
    }
    marks.dedup_by(|left, right| left.title == right.title);
    marks.extend(fetches.into_iter().filter(|time| days.contains(&Zone::UTC.day_of(*time))).map(
        |time| {
            let at = position(&days, time);
            Mark {
                legend: FETCH,
                from: at,
                to: at,
                height: 0.08,
                title: format!("fetched at {time}"),
            }
        },
    ));
    let names: Vec<String> = days.iter().map(Day::to_string).collect();
    let identity = row.actor.1.as_str();
    let title = format!("{} ({identity}) at {}", model.name(row.actor.0), text(&row.origin));
    timeline((&format!("reaction-{at}"), &title), &DIRECTIONS, &columns, &marks, &names)
}

fn rows_table(model: &PageModel<'_>, rows: Heaviest<(&ActorRow, &ReactionRow)>) -> Markup {
    let caption = "Requests around changes of robots.txt, by crawler";
    HtmlTable::cut("reaction-rows", caption, FILE, rows)
        .actor(model, |(row, _)| row.actor)
        .time("Changed by, UTC", |(_, reaction)| Some(reaction.times.before))
        .column("Paths", Kind::Text, |(_, reaction)| badge(reaction.direction))
        .text("Reaction", |(_, reaction)| reaction.reaction.as_str().to_owned())
        .number("Requests before", |(_, reaction)| reaction.tally.before)
        .time("First fetch, UTC", |(_, reaction)| Some(reaction.first_fetch?.0))
        .known("Until fetch", |(_, reaction)| Some(reaction.around_fetch?.0))
        .known("After fetch", |(_, reaction)| Some(reaction.around_fetch?.1))
        .time("Last request, UTC", |(_, reaction)| reaction.tally.last)
        .code("Origin", |(row, _)| text(&row.origin))
        .folded()
}

fn badge(direction: WhatIfChange) -> Badge {
    let (class, word) = DIRECTIONS[direction as usize];
    Badge(class, word)
}

/// Where `time` lies among `days`, in days.
fn position(days: &[Day], time: UtcTime) -> f64 {
    let day = Zone::UTC.day_of(time);
    match days.binary_search(&day) {
        Ok(at) => at as f64 + time.unix_seconds().rem_euclid(86_400) as f64 / 86_400.0,
        Err(at) => at as f64,
    }
}

fn day_of(day: i64) -> Option<Day> {
    Day::try_from(i32::try_from(day).ok()?).ok()
}

fn time_of(minute: i64) -> Option<UtcTime> {
    UtcTime::from_unix_seconds(minute.checked_mul(60)?)
}
