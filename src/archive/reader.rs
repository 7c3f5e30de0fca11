//! Reads an archive: the snapshots of an origin, their bodies, and all origins in order.

use std::path::{Path, PathBuf};
use std::{collections::HashSet, sync::Mutex};

use rusqlite::{CachedStatement, Connection, OptionalExtension, Rows, params};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::mutex::lock;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::snapshot::{
    BodyKey, HISTORY, HistoryEntry, NEWEST, Snapshot, SnapshotOutcome, canonical, entry,
    entry_of_many, in_order, outcome, sane,
};
use super::sqlite::{failed, open_to_read};
use super::writer::{KEPT_BYTES_MAX, Writer};

/// The origins per query when all are listed.
const PAGE_ORIGINS: usize = 1000;

/// An archive opened for reading. Several processes may read it at once, also during a write.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    /// Used once per origin, never once per request.
    connection: Mutex<Connection>,
}

/// The summary of one origin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OriginSummary {
    /// The origin.
    pub origin: Origin,
    /// The number of snapshots.
    pub snapshots: u64,
    /// The number of different bodies.
    pub bodies: u64,
    /// The time of the earliest snapshot.
    pub first: UtcTime,
    /// The time of the latest snapshot.
    pub last: UtcTime,
    /// The outcome of the latest snapshot.
    pub outcome: SnapshotOutcome,
}

impl Archive {
    /// Opens the archive at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or is not an archive of this version.
    pub fn open(path: &Path) -> Result<Archive> {
        Ok(Archive { path: path.to_owned(), connection: Mutex::new(open_to_read(path)?) })
    }

    /// Opens the archive at `path` for writing; creates it if it does not exist.
    ///
    /// # Errors
    /// If it cannot be written, or is not an archive of this version.
    pub fn writer(path: &Path) -> Result<Writer> {
        Writer::open(path)
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has any snapshot of `origin`.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn holds(&self, origin: &Origin) -> Result<bool> {
        let sql = "SELECT 1 FROM snapshots WHERE origin = ?1 LIMIT 1";
        self.ask(sql, |find| find.exists([origin.as_str()]))
    }

    /// The snapshots of `origin`, the earliest first; empty if nothing is known.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn history(&self, origin: &Origin) -> Result<Vec<HistoryEntry>> {
        self.ask(HISTORY, |find| history(find.query([origin.as_str()])?))
    }

    /// The last snapshot of `origin`, at or before `time` if it is given.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn newest(&self, origin: &Origin, time: Option<UtcTime>) -> Result<Option<HistoryEntry>> {
        let until = time.map_or(i64::MAX, UtcTime::unix_seconds);
        self.ask(NEWEST, |find| find.query_row(params![origin.as_str(), until], entry).optional())
    }

    /// The bytes of a body of this archive. SQLite does not notice changed bytes in a row, so they
    /// are compared with their digest.
    ///
    /// # Errors
    /// If the archive cannot be read, or these are not the bytes that were written.
    pub fn body(&self, key: BodyKey) -> Result<Vec<u8>> {
        let sql = "SELECT body FROM bodies WHERE id = ?1 AND length(body) <= ?2";
        let parameters = params![key.id, KEPT_BYTES_MAX as i64];
        let body: Vec<u8> = self.ask(sql, |find| find.query_row(parameters, |row| row.get(0)))?;
        if Digest::of(&body) == key.digest {
            return Ok(body);
        }
        let why = format!(
            "cannot read the archive: the archive is damaged (a body does not have its digest, \
             {}); restore it from a backup, or import its sources into a new archive",
            key.digest
        );
        Err(Error::archive(&self.path, why))
    }

    /// `entry` of `origin` with its body.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn snapshot(&self, origin: &Origin, entry: HistoryEntry) -> Result<Snapshot> {
        let body = entry.body.map_or_else(|| Ok(Vec::new()), |key| self.body(key))?;
        let fetched_at = entry.fetch.fetched_at;
        let source = format!("{}: {origin} at {fetched_at}", self.path.display());
        Ok(Snapshot { source, body })
    }

    /// Calls `take` with each origin, in the order of their texts, up to the current last one.
    ///
    /// # Errors
    /// If the archive cannot be read, and errors of `take`.
    pub fn each_origin(&self, mut take: impl FnMut(OriginSummary) -> Result<()>) -> Result<()> {
        let Some(last) = self.ends()? else { return Ok(()) };
        let mut after = String::new();
        loop {
            let page = self.page(&after, &last)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.origin.as_str().to_owned();
            // The lock is released while the caller works.
            page.into_iter().try_for_each(&mut take)?;
        }
    }

    /// The last origin. The first and the last one must be valid, otherwise there may be rows
    /// outside.
    fn ends(&self) -> Result<Option<Origin>> {
        let sql = "SELECT (SELECT min(origin) FROM snapshots), (SELECT max(origin) FROM snapshots)";
        let is_empty = "SELECT NOT EXISTS (SELECT 1 FROM snapshots)";
        if self.ask(is_empty, |find| find.query_row([], |row| row.get(0)))? {
            return Ok(None);
        }
        self.ask(sql, |find| {
            find.query_row([], |row| {
                canonical(row, 0)?;
                canonical(row, 1).map(Some)
            })
        })
    }

    /// Summaries are computed here, not by SQLite, because a damaged tree can lead to the same rows
    /// repeatedly.
    fn page(&self, after: &str, last: &Origin) -> Result<Vec<OriginSummary>> {
        let sql = "SELECT origin, fetched_at, outcome, body FROM snapshots
                   WHERE origin > ?1 AND origin <= ?2
                   ORDER BY origin, fetched_at, outcome, body";
        self.ask(sql, |find| page(after, find.query([after, last.as_str()])?))
    }

    /// Runs a prepared statement.
    fn ask<T>(
        &self,
        sql: &str,
        read: impl FnOnce(&mut CachedStatement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let connection = lock(&self.connection);
        let asked = connection.prepare_cached(sql).and_then(|mut statement| read(&mut statement));
        asked.map_err(|err| failed(&self.path, "read", &err))
    }
}

/// The sort key of the snapshots of one origin: time, outcome, body.
type RowKey = (i64, i64, i64);

/// The summaries of the first origins after `after`.
fn page(after: &str, mut rows: Rows<'_>) -> rusqlite::Result<Vec<OriginSummary>> {
    let mut page: Vec<OriginSummary> = Vec::new();
    let mut before = None;
    let mut bodies = HashSet::new();
    while let Some(row) = rows.next()? {
        let text = row.get_ref(0)?.as_str()?;
        let key: RowKey = (row.get(1)?, row.get(2)?, row.get(3)?);
        let at = sane(1, UtcTime::from_unix_seconds(key.0))?;
        let outcome = sane(2, outcome(key.1))?;
        let known = page.last().map_or(after, |summary| summary.origin.as_str());
        if page.is_empty() || known != text {
            in_order(known < text)?;
            if page.len() == PAGE_ORIGINS {
                break;
            }
            let origin = canonical(row, 0)?;
            page.push(OriginSummary {
                origin,
                snapshots: 0,
                bodies: 0,
                first: at,
                last: at,
                outcome,
            });
            before = None;
            bodies.clear();
        }
        in_order(before < Some(key))?;
        before = Some(key);
        let summary = page.last_mut().expect("it was pushed");
        summary.snapshots += 1;
        (summary.last, summary.outcome) = (at, outcome);
        if key.2 != 0 && bodies.insert(key.2) {
            summary.bodies += 1;
        }
    }
    Ok(page)
}

fn history(mut rows: Rows<'_>) -> rusqlite::Result<Vec<HistoryEntry>> {
    let (mut entries, mut texts_bytes) = (Vec::new(), 0);
    let mut before: Option<RowKey> = None;
    while let Some(row) = rows.next()? {
        let key = (row.get(0)?, row.get(1)?, row.get(5)?);
        in_order(before < Some(key))?;
        before = Some(key);
        entries.push(entry_of_many(row, &mut texts_bytes)?);
    }
    Ok(entries)
}
