//! The state of the nightly job: one SQLite file.
//!
//! It stores how far each log was read, and the sums of each day of each site. Each batch of logs
//! is one transaction, so after a killed run the stored position and the sums agree. A day with
//! changed sums is marked until its report is written.

pub mod change;
pub(crate) mod fetches;
pub(crate) mod mailed;
pub mod rows;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Params, Row, params};

use crate::audit::{memory_limit::MEMORY_DEFAULT, tally::Tally};
use crate::error::{Error, Result};
use crate::time::{Day, UtcTime};

/// `botn`: the application id in the SQLite header of a state.
const APPLICATION_ID: i32 = 0x626f_746e;

/// Days have the form `2026-11-20`. An input without a line with a time has no `last_day`.
/// `latest_day` is the latest day of its lines, and `seen` the last day on which it existed. `due`
/// marks a day whose report must be written. `ruled` has the robots.txt in force on a day; `at` is
/// 0 and `digest` empty if there was none.
const SCHEMA: &str = include_str!("schema.sql");

/// Tables that a state of this version may lack: the lines of each day when they were counted and when
/// they were reported, events that no later night could find again, which events were mailed, the day of the last
/// night of each site, and successful fetches of robots.txt.
const LATER_SCHEMA: &str = include_str!("news.sql");

/// The version of [`SCHEMA`] and of the tallies in it.
const VERSION: i32 = 3;

/// How long to wait for other processes that read the state.
const WAIT: Duration = Duration::from_secs(60);

/// The state.
#[derive(Debug)]
pub struct State {
    connection: Connection,
    path: PathBuf,
    /// What the tally of a day may take, in bytes.
    memory_bytes: usize,
}

impl State {
    /// Opens the state at `path`, or makes one.
    ///
    /// # Errors
    /// If it cannot be written, or is not a state of this version.
    pub fn open(path: &Path) -> Result<State> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            let made = std::fs::create_dir_all(parent);
            made.map_err(|err| Error::io("cannot create", parent, err))?;
        }
        let opened = Connection::open(path).and_then(|connection| {
            connection.busy_timeout(WAIT)?;
            // A confined run cannot create temporary files.
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            let number = |pragma: &str| {
                connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0))
            };
            let marks = (number("application_id")?, number("user_version")?);
            let tables = "SELECT count(*) FROM sqlite_schema";
            let tables: i64 = connection.query_row(tables, [], |row| row.get(0))?;
            Ok((connection, marks, tables))
        });
        let (connection, (application, version), tables) =
            opened.map_err(|err| failed(path, &err))?;
        let state = State { connection, path: path.to_owned(), memory_bytes: MEMORY_DEFAULT };
        match (application, version, tables) {
            (APPLICATION_ID, version, _) if version == VERSION => state.with_news(),
            (APPLICATION_ID, version, _) => Err(Error::tally(
                path,
                format!(
                    "is a state of version {version}, but this botaudit reads version {VERSION}; \
                     use the botaudit that wrote it, or start again with another file as state"
                ),
            )),
            (0, 0, 0) => state.create(),
            _ => Err(Error::tally(
                path,
                "is not a state of botaudit nightly; not overwritten; name another file as state",
            )),
        }
    }

    /// A state that knows nothing, and is forgotten.
    ///
    /// # Errors
    /// If memory is exhausted.
    pub(crate) fn in_memory() -> Result<State> {
        let path = PathBuf::from(":memory:");
        let connection = Connection::open_in_memory().map_err(|err| failed(&path, &err))?;
        State { connection, path, memory_bytes: MEMORY_DEFAULT }.create()
    }

    fn create(self) -> Result<State> {
        let made = self.connection.execute_batch(&format!(
            "BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION_ID}; \
             PRAGMA user_version = {VERSION}; COMMIT;"
        ));
        made.map_err(|err| self.failed(&err))?;
        self.with_news()
    }

    /// With the tables that came later.
    fn with_news(self) -> Result<State> {
        let query = "SELECT 1 FROM sqlite_schema WHERE name = 'fetches'";
        let has_fetches = !self.select(query, [], |_| Ok(()))?.is_empty();
        let all = self.connection.unchecked_transaction().map_err(|err| self.failed(&err))?;
        all.execute_batch(LATER_SCHEMA).map_err(|err| self.failed(&err))?;
        if !has_fetches {
            self.fill_fetches()?;
        }
        all.commit().map_err(|err| self.failed(&err))?;
        Ok(self)
    }

    /// The tally of `day` of `site`; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn day(&self, site: &str, day: Day) -> Result<Option<Tally>> {
        let query = "SELECT tally FROM days WHERE site = ? AND day = ?";
        let bytes = self.select(query, params![site, day.to_string()], |row| row.get(0))?.pop();
        let read = |bytes: Vec<u8>| Tally::within(&bytes, &self.path, self.memory_bytes);
        bytes.map(read).transpose()
    }

    /// The same state, whose tallies may take `memory_bytes` of memory.
    #[must_use]
    pub(crate) fn with_memory(self, memory_bytes: usize) -> State {
        State { memory_bytes, ..self }
    }

    /// `err`, which was found in the tally of `day`. If sums differ that must agree, the state is
    /// damaged, and the error names it.
    pub(crate) fn name_damaged(&self, err: Error, day: Day) -> Error {
        let advice = format!(
            "has a damaged tally of {day}; restore the file from a backup, or start again with \
             another file as state"
        );
        err.in_file(&self.path, &advice)
    }

    /// The days of `site` whose reports are due, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn due(&self, site: &str) -> Result<Vec<Day>> {
        let query = "SELECT day FROM days WHERE site = ? AND due = 1 ORDER BY day";
        let days = self.select(query, [site], |row| row.get::<_, String>(0))?;
        Ok(days.iter().filter_map(|day| Day::parse(day)).collect())
    }

    /// Takes note that the report of `day` is written.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(crate) fn reported(&self, site: &str, day: Day) -> Result<()> {
        for update in [
            "UPDATE days SET due = 0 WHERE site = ? AND day = ?",
            // A day without a line has none yet: those that come are late.
            "INSERT INTO lines (site, day, lines, reported) VALUES (?, ?, 0, 0) \
             ON CONFLICT (site, day) DO UPDATE SET reported = lines",
        ] {
            let done = self.connection.execute(update, params![site, day.to_string()]);
            done.map_err(|err| self.failed(&err))?;
        }
        Ok(())
    }

    /// When the last successful run for `site` began; `now` is one, if it is given.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(crate) fn last_success(&self, site: &str, now: Option<UtcTime>) -> Result<Option<UtcTime>> {
        // A state of this version may lack the table.
        let create = "CREATE TABLE IF NOT EXISTS successes (site TEXT PRIMARY KEY, at INTEGER)";
        let replace = "INSERT OR REPLACE INTO successes VALUES (?, ?)";
        let stored = self.connection.execute(create, []).and_then(|_| match now {
            Some(now) => self.connection.execute(replace, params![site, now.unix_seconds()]),
            None => Ok(0),
        });
        stored.map_err(|err| self.failed(&err))?;
        let times =
            self.select("SELECT at FROM successes WHERE site = ?", [site], |row| row.get(0))?;
        Ok(times.into_iter().next().and_then(UtcTime::from_unix_seconds))
    }

    /// The names of all crawlers in the tallies.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn crawlers(&self) -> Result<Vec<String>> {
        self.select("SELECT DISTINCT crawler FROM actors", [], |row| row.get(0))
    }

    /// Forgets the days of `site` before `first_kept`, and the logs that end before that and are
    /// gone.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub fn tidy(&mut self, site: &str, first_kept: Day) -> Result<()> {
        let first = first_kept.to_string();
        let tidied = self.connection.transaction().and_then(|transaction| {
            for table in ["days", "actors", "ruled", "fetches", "lines", "told", "mailed"] {
                let delete = format!("DELETE FROM {table} WHERE site = ? AND day < ?");
                transaction.execute(&delete, params![site, first])?;
            }
            let gone = "site = ?1 AND seen < ?2 AND (latest_day IS NULL OR latest_day < ?2)";
            transaction.execute(
                &format!(
                    "DELETE FROM files WHERE site = ?1 AND \
                     input IN (SELECT id FROM inputs WHERE {gone})"
                ),
                params![site, first],
            )?;
            transaction
                .execute(&format!("DELETE FROM inputs WHERE {gone}"), params![site, first])?;
            transaction.commit()
        });
        tidied.map_err(|err| self.failed(&err))
    }

    /// All rows that `query` gives, each as `read` takes it.
    fn select<T>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self.connection.prepare_cached(query);
        let rows = rows.and_then(|mut query| query.query_map(values, read)?.collect());
        rows.map_err(|err| self.failed(&err))
    }

    fn failed(&self, err: &rusqlite::Error) -> Error {
        failed(&self.path, err)
    }
}

fn failed(path: &Path, err: &rusqlite::Error) -> Error {
    Error::tally(path, format!("cannot be used as state: {err}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_state_of_this_version_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/state.sqlite");
        State::open(&path).unwrap();
        let state = State::open(&path).unwrap();
        assert_eq!(state.due("shop").unwrap(), []);
        state.connection.pragma_update(None, "user_version", 99).unwrap();
        let why = State::open(&path).unwrap_err().to_string();
        assert!(why.contains("is a state of version 99, but this botaudit reads"), "{why}");
        state.connection.pragma_update(None, "application_id", 5).unwrap();
        let why = State::open(&path).unwrap_err().to_string();
        assert!(
            why.contains(
                "is not a state of botaudit nightly; not overwritten; name another \
                              file as state"
            ),
            "{why}"
        );
        std::fs::write(dir.path().join("text"), "no database at all, but long enough").unwrap();
        let why = State::open(&dir.path().join("text")).unwrap_err().to_string();
        assert!(why.contains("cannot be used as state"), "{why}");
    }
}
