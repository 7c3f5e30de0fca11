//! Writes to an archive in batches; a crash loses only the current batch. What it writes is a snapshot,
//! such as that of a fetch.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, ffi, params};

use crate::digest::Digest;
use crate::error::Result;
use crate::net::fetch::Fetched;
use crate::net::outcome::{self, FailureKind};
use crate::robots::parse::BODY_BYTES_MAX;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::snapshot::{
    BodyKey, Failure, Fetch, HistoryEntry, Hop, NEAREST, ORIGIN_COLUMN, SnapshotOutcome,
    UNFOLLOWED, canonical, chain_text, entry, entry_of_many, in_order, outcome_code,
};
use super::sqlite::{failed, limit_steps, open_to_write};

/// The snapshots, or the bytes of bodies, at which a batch is full.
const BATCH_SNAPSHOTS: usize = 1 << 16;
const BATCH_BYTES: usize = 64 << 20;

/// The most remembered names of sources; then all are forgotten and looked up again.
const SOURCES_REMEMBERED_MAX: usize = 1 << 12;

/// Unfollowed redirects per query.
const UNFOLLOWED_AT_ONCE: i64 = 1 << 12;

/// The most bytes of a body that are kept: one more than count, to recognise longer ones.
pub const KEPT_BYTES_MAX: usize = BODY_BYTES_MAX + 1;

/// A snapshot to be added.
#[derive(Clone, Debug)]
pub struct NewSnapshot {
    /// The origin of the requested robots.txt, whichever origin answered.
    pub origin: Origin,
    /// Time and outcome.
    pub fetch: Fetch,
    /// The source as shown to the user.
    pub source: String,
    /// The body, which counts only if the outcome is a success.
    pub body: Body,
}

/// The body of a success.
#[derive(Clone, Debug)]
pub enum Body {
    /// These bytes, of which at most [`KEPT_BYTES_MAX`] are kept.
    Bytes(Vec<u8>),
    /// The body of an earlier snapshot.
    Known(Digest),
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Body {
        Body::Bytes(bytes)
    }
}

/// The result of adding snapshots.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Added {
    /// New snapshots.
    pub snapshots: u64,
    /// Snapshots that the archive had: with the same origin, second, outcome and body.
    pub known: u64,
    /// New bodies.
    pub bodies: u64,
}

/// What adding a snapshot does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Insertion {
    /// It is added.
    New,
    /// It is added, and the unfollowed redirect of the same second is removed.
    ReplacesUnfollowed,
}

/// Writes to an archive. Unflushed snapshots are lost when it is dropped.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    connection: Connection,
    batch: Vec<(NewSnapshot, Insertion)>,
    batch_bytes: usize,
    sources: HashMap<String, i64>,
    added: Added,
}

impl Writer {
    /// Opens the archive at `path` or creates it.
    ///
    /// # Errors
    /// If it cannot be written, or is not an archive of this version.
    pub fn open(path: &Path) -> Result<Writer> {
        Ok(Writer {
            path: path.to_owned(),
            connection: open_to_write(path)?,
            batch: Vec::new(),
            batch_bytes: 0,
            sources: HashMap::new(),
            added: Added::default(),
        })
    }

    /// Adds `snapshot` to the batch, which is written when it is full.
    ///
    /// # Errors
    /// If the archive cannot be written.
    pub fn push(&mut self, snapshot: NewSnapshot) -> Result<()> {
        self.push_to(snapshot, Insertion::New)
    }

    /// Adds the result of a redirect in place of the unfollowed redirect.
    ///
    /// # Errors
    /// If the archive cannot be written.
    pub(crate) fn replace_unfollowed(&mut self, snapshot: NewSnapshot) -> Result<()> {
        self.push_to(snapshot, Insertion::ReplacesUnfollowed)
    }

    fn push_to(&mut self, mut snapshot: NewSnapshot, insertion: Insertion) -> Result<()> {
        if !snapshot.fetch.outcome.is_success() {
            snapshot.body = Body::Bytes(Vec::new());
        }
        if let Body::Bytes(body) = &mut snapshot.body {
            body.truncate(KEPT_BYTES_MAX);
            self.batch_bytes += body.len();
        }
        self.batch.push((snapshot, insertion));
        if self.batch.len() >= BATCH_SNAPSHOTS || self.batch_bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the batch. It is on disk when this returns.
    ///
    /// # Errors
    /// If the archive cannot be written; it then contains nothing of the batch.
    pub fn flush(&mut self) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        if batch.is_empty() {
            return Ok(());
        }
        // Neighbours in the tree are written together.
        batch.sort_by(|(a, _), (b, _)| {
            let by_origin = a.origin.cmp(&b.origin);
            by_origin.then(a.fetch.fetched_at.cmp(&b.fetch.fetched_at))
        });
        let written = limit_steps(&mut self.connection)
            .and_then(|()| write(&mut self.connection, &batch, &mut self.sources));
        let added = written.map_err(|err| failed(&self.path, "write to", &err))?;
        self.added.snapshots += added.snapshots;
        self.added.known += added.known;
        self.added.bodies += added.bodies;
        batch.clear();
        self.batch = batch;
        Ok(())
    }

    /// Removes the snapshots of these origins and times, and the bodies that no snapshot has then.
    ///
    /// # Errors
    /// If the archive cannot be written; then nothing is removed.
    pub(crate) fn remove(&mut self, snapshots: &[(Origin, UtcTime)]) -> Result<()> {
        if snapshots.is_empty() {
            return Ok(());
        }
        let removed = limit_steps(&mut self.connection).and_then(|()| {
            let begun = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(begun)?;
            for (origin, at) in snapshots {
                let sql = "DELETE FROM snapshots WHERE origin = ?1 AND fetched_at = ?2";
                let values = params![origin.as_str(), at.unix_seconds()];
                transaction.prepare_cached(sql)?.execute(values)?;
            }
            let sql = "DELETE FROM bodies WHERE id NOT IN (SELECT body FROM snapshots)";
            transaction.execute(sql, [])?;
            commit(transaction)
        });
        removed.map_err(|err| failed(&self.path, "write to", &err))
    }

    /// The snapshot of `origin` nearest to `time`, at most `apart_seconds` from it; the earlier of
    /// two. Unflushed snapshots are ignored.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub(crate) fn nearest(
        &mut self,
        origin: &Origin,
        time: UtcTime,
        apart_seconds: i64,
    ) -> Result<Option<HistoryEntry>> {
        let limited = limit_steps(&mut self.connection);
        let found = limited.and_then(|()| self.connection.prepare_cached(NEAREST));
        let found = found.and_then(|mut find| {
            let parameters = params![origin.as_str(), time.unix_seconds(), apart_seconds];
            find.query_row(parameters, entry).optional()
        });
        found.map_err(|err| failed(&self.path, "read", &err))
    }

    /// Some of the unfollowed redirects after this origin and time, in order.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub(crate) fn unfollowed(
        &mut self,
        after: Option<&(Origin, UtcTime)>,
    ) -> Result<Vec<(Origin, HistoryEntry)>> {
        let (origin, seconds) = match after {
            Some((origin, time)) => (origin.as_str(), time.unix_seconds()),
            None => ("", 0),
        };
        let limited = limit_steps(&mut self.connection);
        let page = limited.and_then(|()| self.connection.prepare_cached(UNFOLLOWED));
        let page = page.and_then(|mut find| {
            let mut before: Option<(Origin, UtcTime)> = after.cloned();
            let mut texts_bytes = 0;
            let rows = find.query_map(params![origin, seconds, UNFOLLOWED_AT_ONCE], |row| {
                let origin = canonical(row, ORIGIN_COLUMN)?;
                let entry = entry_of_many(row, &mut texts_bytes)?;
                let key = Some((origin.clone(), entry.fetch.fetched_at));
                in_order(before < key)?;
                before = key;
                Ok((origin, entry))
            })?;
            rows.collect()
        });
        page.map_err(|err| failed(&self.path, "read", &err))
    }

    /// The counts so far.
    pub fn added(&self) -> Added {
        self.added
    }
}

fn write(
    connection: &mut Connection,
    batch: &[(NewSnapshot, Insertion)],
    sources: &mut HashMap<String, i64>,
) -> rusqlite::Result<Added> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut added = Added::default();
    let written = add_bodies(&transaction, batch, &mut added).and_then(|bodies| {
        batch.iter().zip(&bodies).try_for_each(|((new, insertion), body)| {
            if *insertion == Insertion::ReplacesUnfollowed {
                remove_unfollowed(&transaction, new)?;
            }
            add(&transaction, new, body.as_ref(), sources, &mut added)
        })
    });
    if written.is_err() {
        // They may refer to rows that are about to be rolled back.
        sources.clear();
    }
    written?;
    commit(transaction)?;
    Ok(added)
}

/// Commits `transaction`. SQLite releases its lock after the commit is on disk, so it is no error if only that fails.
fn commit(transaction: Transaction<'_>) -> rusqlite::Result<()> {
    transaction.commit().or_else(|err| match err.sqlite_error().map(|err| err.extended_code) {
        Some(ffi::SQLITE_IOERR_UNLOCK | ffi::SQLITE_IOERR_RDLOCK) => Ok(()),
        _ => Err(err),
    })
}

/// Adds the new bodies of `batch`, and returns the body of each of its snapshots.
fn add_bodies(
    transaction: &Transaction<'_>,
    batch: &[(NewSnapshot, Insertion)],
    added: &mut Added,
) -> rusqlite::Result<Vec<Option<BodyKey>>> {
    let successes = batch.iter().enumerate().filter(|(_, (new, _))| new.fetch.outcome.is_success());
    let mut digests: Vec<(Digest, Option<&[u8]>, usize)> = successes
        .map(|(index, (new, _))| match &new.body {
            Body::Bytes(bytes) => (Digest::of(bytes), Some(&**bytes), index),
            Body::Known(digest) => (*digest, None, index),
        })
        .collect();
    // In the order of the digest tree, so that each of its pages is written once; of equal digests,
    // those with bytes come first.
    digests.sort_unstable_by_key(|(digest, bytes, index)| (*digest, bytes.is_none(), *index));
    let mut keys = vec![None; batch.len()];
    for same in digests.chunk_by(|(left, ..), (right, ..)| left == right) {
        let key = body_key(transaction, same[0].0, same[0].1, added)?;
        same.iter().for_each(|(_, _, index)| keys[*index] = Some(key));
    }
    Ok(keys)
}

fn body_key(
    transaction: &Transaction<'_>,
    digest: Digest,
    bytes: Option<&[u8]>,
    added: &mut Added,
) -> rusqlite::Result<BodyKey> {
    let sql = "SELECT id, length(body) FROM bodies WHERE digest = ?1";
    let mut find = transaction.prepare_cached(sql)?;
    let known = |row: &Row<'_>| {
        let size_bytes = row.get::<_, i64>(1)?.unsigned_abs();
        Ok(BodyKey { id: row.get(0)?, digest, size_bytes })
    };
    match (find.query_row([digest.as_bytes()], known).optional()?, bytes) {
        (Some(key), _) => Ok(key),
        (None, None) => Err(rusqlite::Error::QueryReturnedNoRows),
        (None, Some(bytes)) => {
            added.bodies += 1;
            let sql = "INSERT INTO bodies (digest, body) VALUES (?1, ?2)";
            let id = transaction.prepare_cached(sql)?.insert(params![digest.as_bytes(), bytes])?;
            Ok(BodyKey { id, digest, size_bytes: bytes.len() as u64 })
        }
    }
}

fn remove_unfollowed(transaction: &Transaction<'_>, new: &NewSnapshot) -> rusqlite::Result<()> {
    let (origin, at) = (new.origin.as_str(), new.fetch.fetched_at.unix_seconds());
    let sql = "DELETE FROM snapshots WHERE origin = ?1 AND fetched_at = ?2 AND outcome = 0";
    transaction.prepare_cached(sql)?.execute(params![origin, at]).map(drop)
}

fn add(
    transaction: &Transaction<'_>,
    new: &NewSnapshot,
    body: Option<&BodyKey>,
    sources: &mut HashMap<String, i64>,
    added: &mut Added,
) -> rusqlite::Result<()> {
    let chain = Some(chain_text(&new.fetch.chain)).filter(|text| !text.is_empty());
    let max_age =
        new.fetch.max_age_seconds.map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX));
    let sql = "INSERT INTO snapshots
                   (origin, fetched_at, outcome, body, digest, size, max_age, chain, source)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING";
    let source = source_id(transaction, &new.source, sources)?;
    let count = transaction.prepare_cached(sql)?.execute(params![
        new.origin.as_str(),
        new.fetch.fetched_at.unix_seconds(),
        outcome_code(new.fetch.outcome),
        body.map_or(0, |body| body.id),
        body.map(|body| body.digest.as_bytes()),
        body.map_or(0, |body| i64::try_from(body.size_bytes).unwrap_or(i64::MAX)),
        max_age,
        chain,
        source,
    ])?;
    match count {
        0 => added.known += 1,
        _ => added.snapshots += 1,
    }
    Ok(())
}

fn source_id(
    transaction: &Transaction<'_>,
    name: &str,
    known: &mut HashMap<String, i64>,
) -> rusqlite::Result<i64> {
    if let Some(id) = known.get(name) {
        return Ok(*id);
    }
    let mut find = transaction.prepare_cached("SELECT id FROM sources WHERE name = ?1")?;
    let id = match find.query_row([name], |row| row.get(0)).optional()? {
        Some(id) => id,
        None => {
            transaction.prepare_cached("INSERT INTO sources (name) VALUES (?1)")?.insert([name])?
        }
    };
    if known.len() >= SOURCES_REMEMBERED_MAX {
        known.clear();
    }
    known.insert(name.to_owned(), id);
    Ok(id)
}

/// The snapshot for a fetch of the robots.txt of `origin`, with `source`; `None` if no request was
/// sent or its answer was not awaited, which says nothing about the site.
///
/// A redirect that was not followed keeps its status: it counts as a 404.
pub(crate) fn snapshot_of(origin: &Origin, fetched: Fetched, source: &str) -> Option<NewSnapshot> {
    let outcome = match fetched.outcome {
        outcome::FetchOutcome::Status(status) => SnapshotOutcome::Status(status),
        outcome::FetchOutcome::Failure(kind) => SnapshotOutcome::Failure(failure(kind)),
        outcome::FetchOutcome::NotAsked | outcome::FetchOutcome::GivenUp => return None,
    };
    let hop = |hop: outcome::Redirect| Hop { status: hop.status, location: hop.location };
    Some(NewSnapshot {
        origin: origin.clone(),
        fetch: Fetch {
            fetched_at: fetched.fetched_at,
            outcome,
            max_age_seconds: fetched.max_age_seconds,
            chain: fetched.chain.into_iter().map(hop).collect(),
        },
        source: source.to_owned(),
        body: fetched.body.into(),
    })
}

fn failure(kind: FailureKind) -> Failure {
    match kind {
        FailureKind::Dns => Failure::Dns,
        FailureKind::Connect => Failure::Connect,
        FailureKind::Tls => Failure::Tls,
        FailureKind::Timeout => Failure::Timeout,
        FailureKind::Interrupted => Failure::Interrupted,
        FailureKind::InvalidResponse | FailureKind::BadChunking | FailureKind::BadEncoding => {
            Failure::InvalidResponse
        }
    }
}
