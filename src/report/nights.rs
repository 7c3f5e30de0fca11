//! `trend.csv` and `events.csv`: the tables over all days.

use std::io;

use crate::crawlers::{identity::Identity, registry::Registry};
use crate::measures::sums::Sums;
use crate::table::csv::CsvTable;
use crate::time::Day;

use super::tables::{EVENTS, TREND};

/// The requests of one crawler on one day at one site.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct TrendRow<'a> {
    /// The site.
    pub site: &'a str,
    /// The day.
    pub day: Day,
    /// The crawler's name.
    pub crawler: &'a str,
    /// The name of its identity.
    pub identity: &'a str,
    /// The sums over all origins.
    pub sums: Sums,
}

/// An event of a day.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct EventRow {
    /// The site.
    pub site: String,
    /// The day.
    pub day: Day,
    /// The kind of event.
    pub kind: &'static str,
    /// Name and identity of the crawler, if the event concerns one.
    pub crawler: Option<(String, String)>,
    /// The robots.txt, if the event concerns one; otherwise empty.
    pub source: String,
    /// The old value.
    pub before: String,
    /// The new value.
    pub now: String,
    /// The event as a sentence.
    pub message: String,
}

/// The text of `trend.csv`; `registry_of` returns the crawlers of a site.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn trend_csv<'a>(
    rows: &[TrendRow<'_>],
    registry_of: impl Fn(&str) -> Option<&'a Registry>,
) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut csv = CsvTable::with_header(&mut text, &TREND)?;
    for TrendRow { site, day, crawler, identity, sums } in rows {
        let known =
            registry_of(site).and_then(|registry| Some((registry, registry.find(crawler)?)));
        let Some((registry, id)) = known else { continue };
        let word = |known: &Identity| known.as_str() == *identity;
        let identity = Identity::ALL.into_iter().find(word).unwrap_or(Identity::Unverified);
        csv.row(|row| {
            row.text(site).day(*day).crawler(registry.crawler(id), identity).sums(sums);
        })?;
    }
    csv.finish()?;
    Ok(text)
}

/// The text of `events.csv`.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn events_csv(rows: &[EventRow]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut csv = CsvTable::with_header(&mut text, &EVENTS)?;
    csv.rows(rows, |row, event| {
        let (crawler, identity) =
            event.crawler.as_ref().map_or(("", ""), |(name, word)| (name, word));
        row.text(&event.site).day(event.day).word(event.kind).text(crawler).text(identity);
        row.text(&event.source).text(&event.before).text(&event.now).text(&event.message);
    })?;
    csv.finish()?;
    Ok(text)
}
