//! Lines by day, and events that no later night could find again.

use rusqlite::params;

use crate::error::Result;
use crate::report::nights::EventRow;
use crate::time::Day;

use super::State;

/// Lines were read late that belong to a day whose report was written before.
pub(crate) const LATE_LINES: &str = "late-lines";

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
            let known = [LATE_LINES, LISTS_OLD].into_iter().find(|known| *known == kind);
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
