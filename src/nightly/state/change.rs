//! What one batch of logs changes: all of it at once, or nothing.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rusqlite::{Transaction, TransactionBehavior, params};

use crate::audit::record::DayRecord;
use crate::error::{Error, Result};
use crate::judge::stored_versions::KeptRobots;
use crate::logs::limitation::Limitation;
use crate::time::Day;

use super::State;
use super::inputs::{COLUMNS, Input};

/// The longest record that is read: far more than any day can have.
const RECORD_BYTES_MAX: u64 = 4 << 30;

/// A change that is not made yet.
#[derive(Debug)]
pub struct Change<'a> {
    transaction: Transaction<'a>,
    site: &'a str,
}

impl State {
    /// Begins a change of what is known of `site`.
    ///
    /// # Errors
    /// Where somebody else is at it.
    pub fn change<'a>(&'a mut self, site: &'a str) -> Result<Change<'a>> {
        let path = self.path.clone();
        let behavior = TransactionBehavior::Immediate;
        let begun = self.connection.transaction_with_behavior(behavior);
        let transaction = begun.map_err(|err| super::failed(&path, &err))?;
        Ok(Change { transaction, site })
    }
}

impl Change<'_> {
    /// Remembers `input`, and gives its number.
    ///
    /// # Errors
    /// Where that is refused.
    pub fn put_input(&self, input: &Input, today: Day) -> Result<i64> {
        let id = (input.id != 0).then_some(input.id);
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let reached = &input.reached;
        let marks: Vec<u8> = reached.marks.iter().flat_map(|mark| mark.to_be_bytes()).collect();
        let place = |caveat: &Limitation| Limitation::ALL.iter().position(|known| known == caveat);
        let caveats = input.format.iter().flat_map(|format| &format.caveats);
        let caveats: Vec<String> = caveats.filter_map(place).map(|at| at.to_string()).collect();
        let insert = format!(
            "INSERT OR REPLACE INTO inputs ({COLUMNS}, site, seen) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        );
        let hash = reached.hash.to_be_bytes();
        let values = params![
            id,
            input.name,
            number(reached.bytes),
            number(reached.lines),
            hash.as_slice(),
            marks,
            input.last_day.map(|day| day.to_string()),
            input.format.as_ref().map(|format| format.name.as_str()),
            caveats.join(" "),
            input.damage,
            number(input.parsed),
            number(input.rejected),
            input.latest_day.map(|day| day.to_string()),
            self.site,
            today.to_string(),
        ];
        self.done(self.transaction.execute(&insert, values))?;
        Ok(id.unwrap_or_else(|| self.transaction.last_insert_rowid()))
    }

    /// Remembers that a file with this fingerprint is `input`, and holds nothing more to read.
    ///
    /// # Errors
    /// Where that is refused.
    pub fn put_file(&self, fingerprint: &[u8], input: i64) -> Result<()> {
        let insert = "INSERT OR REPLACE INTO files (site, fingerprint, input) VALUES (?, ?, ?)";
        self.done(self.transaction.execute(insert, params![self.site, fingerprint, input]))
    }

    /// Remembers that `input` was there on `today`.
    ///
    /// # Errors
    /// Where that is refused.
    pub fn saw_input(&self, input: i64, today: Day) -> Result<()> {
        let update = "UPDATE inputs SET seen = ? WHERE id = ?";
        self.done(self.transaction.execute(update, params![today.to_string(), input]))
    }

    /// Remembers the sums of `day`, of which a report is to be written.
    ///
    /// # Errors
    /// Where that is refused.
    pub fn put_day(&self, day: Day, record: &DayRecord) -> Result<()> {
        let (site, day) = (self.site, day.to_string());
        let insert = "INSERT OR REPLACE INTO days (site, day, due, sums) VALUES (?, ?, 1, ?)";
        let packed = packed(&record.to_json());
        self.done(self.transaction.execute(insert, params![site, day, packed]))?;
        for table in ["actors", "ruled"] {
            let delete = format!("DELETE FROM {table} WHERE site = ? AND day = ?");
            self.done(self.transaction.execute(&delete, params![site, day]))?;
        }
        let insert = "INSERT INTO actors (site, day, origin, crawler, identity, sums) \
                      VALUES (?, ?, ?, ?, ?, ?)";
        for actor in record.sums() {
            let sums = super::rows::written(&actor);
            let values = params![site, day, actor.origin, actor.crawler, actor.identity, sums];
            self.done(
                self.transaction.prepare_cached(insert).and_then(|mut row| row.execute(values)),
            )?;
        }
        let insert = "INSERT INTO ruled (site, day, source, at, outcome, digest) \
                      VALUES (?, ?, ?, ?, ?, ?)";
        for ruled in record.in_force.ruled() {
            let digest = ruled.digest.unwrap_or_default();
            let values = params![site, day, ruled.source, ruled.at, ruled.outcome, digest];
            self.done(
                self.transaction.prepare_cached(insert).and_then(|mut row| row.execute(values)),
            )?;
        }
        Ok(())
    }

    /// Says that the report of `day` is to be written again, where anything is known of it.
    ///
    /// # Errors
    /// Where that is refused.
    pub fn make_due(&self, day: Day) -> Result<()> {
        let update = "UPDATE days SET due = 1 WHERE site = ? AND day = ?";
        self.done(self.transaction.execute(update, params![self.site, day.to_string()]))
    }

    /// Remembers a robots.txt that sums name.
    ///
    /// # Errors
    /// Where that is refused.
    pub fn put_robots(&self, robots: &KeptRobots) -> Result<()> {
        let insert = "INSERT OR IGNORE INTO robots (digest, body) VALUES (?, ?)";
        let digest = robots.digest.to_string();
        self.done(self.transaction.execute(insert, params![digest, robots.body]))
    }

    /// Makes the change.
    ///
    /// # Errors
    /// Where that is refused; then nothing has changed.
    pub fn commit(self) -> Result<()> {
        self.transaction.commit().map_err(|err| refused(&err))
    }

    fn done(&self, done: rusqlite::Result<usize>) -> Result<()> {
        done.map(drop).map_err(|err| refused(&err))
    }
}

fn refused(err: &rusqlite::Error) -> Error {
    Error::io(
        "cannot write",
        std::path::Path::new("the state"),
        std::io::Error::other(err.to_string()),
    )
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("memory takes everything")
}

pub(super) fn unpacked(packed: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = ZlibDecoder::new(packed).take(RECORD_BYTES_MAX).read_to_end(&mut bytes);
    let damaged = |err| Error::io("cannot unpack", std::path::Path::new("the sums of a day"), err);
    read.map_err(damaged)?;
    Ok(bytes)
}
