//! `trend.csv` and `events.csv`: what stands beside the reports of all days.

use std::io;

use crate::audit::sums::Sums;
use crate::crawlers::{identity::Identity, registry::Registry};
use crate::time::Day;

use super::columns::tables::{EVENTS, TREND};
use super::csv::CsvTable;

/// What one crawler did on one day at one site.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrendRow<'a> {
    /// The site.
    pub site: &'a str,
    /// The day.
    pub day: Day,
    /// The crawler's name.
    pub crawler: &'a str,
    /// The word for its identity.
    pub identity: &'a str,
    /// At all origins.
    pub sums: Sums,
}

/// Something that was new on a day.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventRow {
    /// The site.
    pub site: String,
    /// The day.
    pub day: Day,
    /// What kind of thing it is.
    pub kind: &'static str,
    /// Name and identity of the crawler that it is about.
    pub crawler: Option<(String, String)>,
    /// The robots.txt that it is about; else empty.
    pub source: String,
    /// How it was.
    pub before: String,
    /// How it is.
    pub now: String,
    /// The same in a sentence.
    pub message: String,
}

/// The text of `trend.csv`; `registry_of` has the crawlers of each site.
///
/// # Errors
/// Where it cannot be written.
pub fn trend_csv<'a>(
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
/// Where it cannot be written.
pub fn events_csv(rows: &[EventRow]) -> io::Result<Vec<u8>> {
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
