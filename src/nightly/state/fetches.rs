//! Successful fetches of robots.txt by day, which the reports of later days must know of.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use crate::audit::tally::Tally;
use crate::error::Result;
use crate::measures::robots_fetches::FetchTally;
use crate::measures::time_buckets::TimeBuckets;
use crate::time::Day;

use super::State;

/// How many days a fetch of robots.txt is remembered.
pub(crate) const REMEMBERED_DAYS: i32 = 30;

/// A successful fetch: of each crawler and day at an origin, the first and the last one.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct DayFetch {
    /// The `origin` column.
    pub origin: String,
    /// The crawler's name.
    pub crawler: String,
    /// The word for its identity.
    pub identity: String,
    /// When, in minutes since the epoch.
    pub minute: i64,
    /// Whether the answer was 304.
    pub is_304: bool,
}

/// The fetches in `tally`.
pub(crate) fn fetches(tally: &Tally) -> BTreeSet<DayFetch> {
    let mut all = BTreeSet::new();
    for origin in &tally.counts.origins {
        let settled = origin.settled_fetches();
        for (((crawler, identity), _), of) in origin.rows.iter().zip(&settled) {
            all.extend(first_and_last(of).into_iter().map(|(minute, is_304)| DayFetch {
                origin: origin.origin_key.to_string(),
                crawler: tally.header.crawlers[crawler.index()].name.clone(),
                identity: identity.as_str().to_owned(),
                minute,
                is_304,
            }));
        }
    }
    all
}

/// The first and the last minute with a successful fetch. Where the minutes were given up, both are still known.
fn first_and_last(of: &FetchTally) -> Vec<(i64, bool)> {
    let Some(read) = of.read else { return Vec::new() };
    let is_304 = |minute| {
        let has = |of: &TimeBuckets| of.buckets().any(|(bucket, _)| bucket == minute);
        has(&of.read_304) && !has(&of.read_200)
    };
    let ends = [read.first.unix_minute(), read.last.unix_minute()];
    ends.map(|minute| (minute, is_304(minute))).to_vec()
}

/// Stores the fetches in `tally` of `day`.
pub(super) fn put_fetches(
    connection: &Connection,
    site: &str,
    day: &str,
    tally: &Tally,
) -> rusqlite::Result<()> {
    let insert = "INSERT OR REPLACE INTO fetches VALUES (?, ?, ?, ?, ?, ?, ?)";
    let mut insert = connection.prepare_cached(insert)?;
    for DayFetch { origin, crawler, identity, minute, is_304 } in fetches(tally) {
        insert.execute(params![site, day, origin, crawler, identity, minute, is_304])?;
    }
    Ok(())
}

impl State {
    /// Takes the fetches from the tallies of the last days of each site, in a state that was made before it had them. Where a tally is damaged, its own
    /// report says so.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(super) fn fill_fetches(&self) -> Result<()> {
        let query = "SELECT site, day FROM days AS of WHERE day > \
                     (SELECT date(max(day), ?) FROM days WHERE site = of.site)";
        let days = self.select(query, [format!("-{REMEMBERED_DAYS} days")], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?;
        for (site, day) in days {
            let tally = Day::parse(&day).and_then(|day| self.day(&site, day).ok().flatten());
            let put = tally.map_or(Ok(()), |of| put_fetches(&self.connection, &site, &day, &of));
            put.map_err(|err| self.failed(&err))?;
        }
        Ok(())
    }

    /// The fetches at `site` from `first` to the day before `day`.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn fetches_before(&self, site: &str, first: Day, day: Day) -> Result<Vec<DayFetch>> {
        let query = "SELECT origin, crawler, identity, minute, is_304 FROM fetches \
                     WHERE site = ? AND day >= ? AND day < ?";
        self.select(query, params![site, first.to_string(), day.to_string()], |row| {
            Ok(DayFetch {
                origin: row.get(0)?,
                crawler: row.get(1)?,
                identity: row.get(2)?,
                minute: row.get(3)?,
                is_304: row.get(4)?,
            })
        })
    }
}
