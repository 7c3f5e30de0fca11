//! Summaries of the days of all sites, for `trend.csv` and `events.csv`; and lines by day and events that no later night
//! could find again.

use std::collections::BTreeSet;

use rusqlite::{Params, params};

use crate::audit::tally::Tally;
use crate::digest::Digest;
use crate::error::Result;
use crate::measures::sums::Sums;
use crate::report::nights::EventRow;
use crate::time::Day;

use super::State;

/// The sums of one crawler on one day at one origin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ActorDay {
    /// The site of the configuration.
    pub site: String,
    /// The day.
    pub day: Day,
    /// The `origin` column.
    pub origin: String,
    /// The crawler's name.
    pub crawler: String,
    /// The word for its identity.
    pub identity: String,
    /// Requests by outcome.
    pub sums: Sums,
    /// Successful fetches of robots.txt: GET requests with the answer 200 or 304.
    pub successful_fetches: u64,
}

/// The robots.txt in force on one day.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RuledDay {
    /// The site of the configuration.
    pub site: String,
    /// An origin, or the name of a file.
    pub source: String,
    /// The day.
    pub day: Day,
    /// When it was fetched, in seconds since the epoch; 0 for a file.
    pub at: i64,
    /// The outcome of fetching or reading it.
    pub outcome: String,
    /// The digest of its text; empty if there was none.
    pub digest: String,
}

/// The sums of each crawler at each origin in the tally of `day`.
pub(super) fn actors(site: &str, day: Day, tally: &Tally) -> impl Iterator<Item = ActorDay> {
    tally.counts.origins.iter().flat_map(move |origin| {
        let fetches = origin.settled_fetches();
        origin.rows.iter().zip(fetches).map(move |(((crawler, identity), row), fetches)| ActorDay {
            site: site.to_owned(),
            day,
            origin: origin.origin_key.to_string(),
            crawler: tally.header.crawlers[crawler.index()].name.clone(),
            identity: identity.as_str().to_owned(),
            sums: row.total(),
            successful_fetches: fetches.successful_fetches,
        })
    })
}

/// Each robots.txt that was in force, as the tally of `day` has it. One file may be that of many origins.
pub(super) fn ruled(site: &str, day: Day, tally: &Tally) -> BTreeSet<RuledDay> {
    let ruled = |source: &str, at, outcome: String, digest: Option<Digest>| RuledDay {
        site: site.to_owned(),
        source: source.to_owned(),
        day,
        at,
        outcome,
        digest: digest.map(|digest| digest.to_string()).unwrap_or_default(),
    };
    let rulings = &tally.header.rulings;
    let files = rulings.files.iter();
    let files = files.map(|(source, digest)| ruled(source, 0, "200".to_owned(), Some(*digest)));
    let failed = rulings.failures.keys();
    let failed = failed.map(|source| ruled(source, 0, "unreadable".to_owned(), None));
    let mut all: BTreeSet<RuledDay> = files.chain(failed).collect();
    for (source, snapshots) in tally.snapshots_in_force() {
        all.extend(snapshots.into_iter().map(|snapshot| {
            let at = snapshot.fetched_at.unix_seconds();
            ruled(&source, at, snapshot.outcome.to_string(), snapshot.digest)
        }));
    }
    all
}

impl State {
    /// The sums of each crawler, ordered by site, day, origin, crawler and identity.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn actor_days(&self) -> Result<Vec<ActorDay>> {
        self.actors_where("", [])
    }

    /// Those of `site` from `first` to `last`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn actors_between(
        &self,
        site: &str,
        first: Day,
        last: Day,
    ) -> Result<Vec<ActorDay>> {
        let days = params![site, first.to_string(), last.to_string()];
        self.actors_where("WHERE site = ? AND day BETWEEN ? AND ?", days)
    }

    fn actors_where(&self, condition: &str, values: impl Params) -> Result<Vec<ActorDay>> {
        let query = format!(
            "SELECT site, day, origin, crawler, identity, sums FROM actors {condition} \
             ORDER BY site, day, origin, crawler, identity"
        );
        let rows = self.select(&query, values, |row| {
            let (day, sums): (String, String) = (row.get(1)?, row.get(5)?);
            let Some((day, (sums, successful_fetches))) = Day::parse(&day).zip(read(&sums)) else {
                return Ok(None);
            };
            Ok(Some(ActorDay {
                site: row.get(0)?,
                day,
                origin: row.get(2)?,
                crawler: row.get(3)?,
                identity: row.get(4)?,
                sums,
                successful_fetches,
            }))
        });
        Ok(rows?.into_iter().flatten().collect())
    }

    /// The robots.txt files in force, ordered by site, source and day.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn ruled_days(&self) -> Result<Vec<RuledDay>> {
        let query = "SELECT site, source, day, at, outcome, digest FROM ruled \
                     ORDER BY site, source, day, at, outcome, digest";
        let rows = self.select(query, [], |row| {
            let day: String = row.get(2)?;
            let Some(day) = Day::parse(&day) else { return Ok(None) };
            Ok(Some(RuledDay {
                site: row.get(0)?,
                source: row.get(1)?,
                day,
                at: row.get(3)?,
                outcome: row.get(4)?,
                digest: row.get(5)?,
            }))
        });
        Ok(rows?.into_iter().flatten().collect())
    }
}

/// The sums as stored: numbers in the order of [`read`].
pub(super) fn written(actor: &ActorDay) -> String {
    let numbers = actor.sums.counts().into_iter().chain([actor.successful_fetches]);
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

/// The sums and the successful fetches; `None` if the text is damaged.
fn read(text: &str) -> Option<(Sums, u64)> {
    let mut numbers: Vec<u64> = text.split(' ').filter_map(|sum| sum.parse().ok()).collect();
    if numbers.len() == Sums::COUNTS {
        // Older versions did not count the last one of the sums.
        numbers.insert(Sums::COUNTS - 1, 0);
    }
    let [counts @ .., successful_fetches] = <[u64; Sums::COUNTS + 1]>::try_from(numbers).ok()?;
    Some((Sums::of_counts(counts), successful_fetches))
}

/// Lines were read late that belong to a day whose report was written before.
pub(crate) const LATE_LINES: &str = "late-lines";

/// The logs have no line of a day, though they had some on the day before.
pub(crate) const LOG_SILENT: &str = "log-silent";

/// All address lists are old.
pub(crate) const LISTS_OLD: &str = "lists-old";

/// The lines of a site on one day, of all clients.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LineDay {
    /// The site of the configuration.
    pub site: String,
    /// The day.
    pub day: Day,
    /// How many.
    pub lines: u64,
}

impl State {
    /// The lines of each day, ordered by site and day. Days before this was counted are missing.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn line_days(&self) -> Result<Vec<LineDay>> {
        let query = "SELECT site, day, lines FROM lines ORDER BY site, day";
        let rows = self.select(query, [], |row| {
            let (site, day, lines): (_, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Day::parse(&day).map(|day| LineDay { site, day, lines: lines.unsigned_abs() }))
        });
        Ok(rows?.into_iter().flatten().collect())
    }

    /// The lines of `day` that came after its report was written; `None` if there is no report yet.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn late_lines(&self, site: &str, day: Day) -> Result<Option<u64>> {
        let query = "SELECT lines - reported FROM lines WHERE site = ? AND day = ? \
                     AND reported IS NOT NULL";
        let late =
            self.select(query, params![site, day.to_string()], |row| row.get::<_, i64>(0))?;
        Ok(late.first().map(|late| u64::try_from(*late).unwrap_or_default()))
    }

    /// Remembers `event`. With `once`, nothing is done if an event of another day has its kind and
    /// source.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(crate) fn tell(&self, event: &EventRow, once: bool) -> Result<()> {
        let EventRow { site, day, kind, source, before, now, message, crawler: _ } = event;
        let insert = "INSERT OR REPLACE INTO told (site, kind, day, source, before, now, message) \
                      SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT ?8 OR NOT EXISTS \
                      (SELECT 1 FROM told WHERE site = ?1 AND kind = ?2 AND source = ?4 AND day <> ?3)";
        let values = params![site, kind, day.to_string(), source, before, now, message, once];
        let done = self.connection.execute(insert, values);
        done.map(drop).map_err(|err| self.failed(&err))
    }

    /// The events that are remembered.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn told(&self) -> Result<Vec<EventRow>> {
        let query = "SELECT site, kind, day, source, before, now, message FROM told";
        let rows = self.select(query, [], |row| {
            let (kind, day): (String, String) = (row.get(1)?, row.get(2)?);
            let known =
                [LATE_LINES, LISTS_OLD, LOG_SILENT].into_iter().find(|known| *known == kind);
            let Some((kind, day)) = known.zip(Day::parse(&day)) else { return Ok(None) };
            Ok(Some(EventRow {
                site: row.get(0)?,
                day,
                kind,
                crawler: None,
                source: row.get(3)?,
                before: row.get(4)?,
                now: row.get(5)?,
                message: row.get(6)?,
            }))
        });
        Ok(rows?.into_iter().flatten().collect())
    }
}
