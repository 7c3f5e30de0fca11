//! The changes of one batch of logs in one transaction, and how far each log was read.

use std::path::Path;

use rusqlite::{Params, Row, Transaction, TransactionBehavior, params};

use crate::audit::input_tally::InputTally;
use crate::audit::tally::{Tally, header::FormatUsed};
use crate::error::Result;
use crate::input::content_hash::Checkpoint;
use crate::logs::reject::Limitation;
use crate::merge::sum;
use crate::time::Day;

use super::fetches::put_fetches;
use super::rows::{RuledDay, actors, ruled, written};
use super::{State, failed};

/// A change that is not made yet.
#[derive(Debug)]
pub(crate) struct StateChange<'a> {
    transaction: Transaction<'a>,
    path: &'a Path,
    site: &'a str,
}

impl State {
    /// Begins a change of the state of `site`.
    ///
    /// # Errors
    /// If another process writes to the state.
    pub(crate) fn change<'a>(&'a mut self, site: &'a str) -> Result<StateChange<'a>> {
        let State { connection, path, .. } = self;
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(|err| failed(path, &err))?;
        Ok(StateChange { transaction, path, site })
    }
}

impl StateChange<'_> {
    /// Remembers `input`, and gives its number.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(crate) fn put_input(&self, input: &RecordedInput, today: Day) -> Result<i64> {
        let id = (input.id != 0).then_some(input.id);
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let reached = &input.reached;
        let marks: Vec<u8> = reached.marks.iter().flat_map(|mark| mark.to_be_bytes()).collect();
        let index_of =
            |limitation: &Limitation| Limitation::ALL.iter().position(|known| known == limitation);
        let limitations = input.format.iter().flat_map(|format| &format.limitations);
        let limitations: Vec<String> =
            limitations.filter_map(index_of).map(|at| at.to_string()).collect();
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
            limitations.join(" "),
            input.damage,
            number(input.parsed),
            number(input.rejected),
            input.latest_day.map(|day| day.to_string()),
            self.site,
            today.to_string(),
        ];
        self.execute(&insert, values)?;
        Ok(id.unwrap_or_else(|| self.transaction.last_insert_rowid()))
    }

    /// Remembers that a file with this fingerprint is `input`, and holds nothing more to read.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(crate) fn put_file(&self, fingerprint: &[u8], input: i64) -> Result<()> {
        let insert = "INSERT OR REPLACE INTO files (site, fingerprint, input) VALUES (?, ?, ?)";
        self.execute(insert, params![self.site, fingerprint, input])
    }

    /// Remembers that `input` was there on `today`.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(crate) fn saw_input(&self, input: i64, today: Day) -> Result<()> {
        let update = "UPDATE inputs SET seen = ? WHERE id = ?";
        self.execute(update, params![today.to_string(), input])
    }

    /// Stores the tally of `day`, and marks its report as due.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(crate) fn put_day(&self, day: Day, tally: &Tally) -> Result<()> {
        let (site, day_text) = (self.site, day.to_string());
        let insert = "INSERT OR REPLACE INTO days (site, day, due, tally) VALUES (?, ?, 1, ?)";
        self.execute(insert, params![site, day_text, tally.to_bytes()])?;
        let lines = sum(tally.counts.inputs.iter().map(InputTally::lines));
        let insert = "INSERT INTO lines (site, day, lines) VALUES (?, ?, ?) \
                      ON CONFLICT (site, day) DO UPDATE SET lines = excluded.lines";
        self.execute(insert, params![site, day_text, i64::try_from(lines).unwrap_or(i64::MAX)])?;
        for table in ["actors", "ruled", "fetches"] {
            let delete = format!("DELETE FROM {table} WHERE site = ? AND day = ?");
            self.execute(&delete, params![site, day_text])?;
        }
        let insert = "INSERT INTO actors (site, day, origin, crawler, identity, sums) \
                      VALUES (?, ?, ?, ?, ?, ?)";
        for actor in actors(site, day, tally) {
            let (origin, crawler, identity) = (&actor.origin, &actor.crawler, &actor.identity);
            let values = params![site, day_text, origin, crawler, identity, written(&actor)];
            self.execute(insert, values)?;
        }
        let insert = "INSERT INTO ruled (site, day, source, at, outcome, digest) \
                      VALUES (?, ?, ?, ?, ?, ?)";
        for RuledDay { source, at, outcome, digest, .. } in ruled(site, day, tally) {
            self.execute(insert, params![site, day_text, source, at, outcome, digest])?;
        }
        let put = put_fetches(&self.transaction, site, &day_text, tally);
        put.map_err(|err| failed(self.path, &err))
    }

    /// Marks the report of `day` as due, if it has a tally.
    ///
    /// # Errors
    /// If the state cannot be written.
    pub(crate) fn make_due(&self, day: Day) -> Result<()> {
        let update = "UPDATE days SET due = 1 WHERE site = ? AND day = ?";
        self.execute(update, params![self.site, day.to_string()])
    }

    /// Makes the change.
    ///
    /// # Errors
    /// If the state cannot be written; then nothing has changed.
    pub(crate) fn commit(self) -> Result<()> {
        self.transaction.commit().map_err(|err| failed(self.path, &err))
    }

    fn execute(&self, statement: &str, values: impl Params) -> Result<()> {
        let statement = self.transaction.prepare_cached(statement);
        let done = statement.and_then(|mut statement| statement.execute(values));
        done.map(drop).map_err(|err| failed(self.path, &err))
    }
}

/// The size of a hash in bytes.
const HASH_BYTES: usize = 16;

/// The stored state of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedInput {
    /// Its number in tallies; 0 for a new log.
    pub id: i64,
    /// Its name without the suffixes of rotation.
    pub name: String,
    /// How far it was read.
    pub reached: Checkpoint,
    /// The day of the last line that has a time.
    pub last_day: Option<Day>,
    /// The latest day of any of its lines.
    pub latest_day: Option<Day>,
    /// The log format.
    pub format: Option<FormatUsed>,
    /// Why its rest cannot be read.
    pub damage: Option<String>,
    /// Its lines that are records.
    pub parsed: u64,
    /// The rejected lines.
    pub rejected: u64,
}

pub(super) const COLUMNS: &str = "id, name, bytes, lines, hash, marks, last_day, format, caveats, damage, parsed, rejected, \
     latest_day";

impl State {
    /// The known logs of `site`, ordered by content. This order, which decides between examples,
    /// does not change with names or growth.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn inputs(&self, site: &str) -> Result<Vec<RecordedInput>> {
        self.select(&format!("SELECT {COLUMNS} FROM inputs WHERE site = ?"), [site], input)
    }

    /// The names of the logs of `site` that end on `day`, with why the rest of each cannot be read.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn damages(&self, site: &str, day: Day) -> Result<Vec<(String, String)>> {
        let query = "SELECT name, damage FROM inputs WHERE site = ? AND last_day = ? AND damage IS NOT NULL";
        self.select(query, params![site, day.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The log with this fingerprint, which then has no new lines.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn input_of_file(&self, site: &str, fingerprint: &[u8]) -> Result<Option<i64>> {
        let query = "SELECT input FROM files WHERE site = ? AND fingerprint = ?";
        Ok(self.select(query, params![site, fingerprint], |row| row.get(0))?.pop())
    }
}

fn input(row: &Row<'_>) -> rusqlite::Result<RecordedInput> {
    let number = |column| row.get(column).map(|number: i64| number.unsigned_abs());
    let (hash, marks): (Vec<u8>, Vec<u8>) = (row.get(4)?, row.get(5)?);
    let hash_of = |bytes: &[u8]| {
        let mut hash = [0; HASH_BYTES];
        let length = bytes.len().min(HASH_BYTES);
        hash[..length].copy_from_slice(&bytes[..length]);
        u128::from_be_bytes(hash)
    };
    let limitations: String = row.get(8)?;
    let limitations = limitations.split(' ').filter_map(|index| index.parse::<usize>().ok());
    let limitations: Vec<Limitation> =
        limitations.filter_map(|at| Limitation::ALL.get(at).copied()).collect();
    let last_day: Option<String> = row.get(6)?;
    let latest_day: Option<String> = row.get(12)?;
    let name: Option<String> = row.get(7)?;
    Ok(RecordedInput {
        id: row.get(0)?,
        name: row.get(1)?,
        reached: Checkpoint {
            bytes: number(2)?,
            lines: number(3)?,
            hash: hash_of(&hash),
            marks: marks.chunks_exact(HASH_BYTES).map(hash_of).collect(),
        },
        last_day: last_day.and_then(|day| Day::parse(&day)),
        latest_day: latest_day.and_then(|day| Day::parse(&day)),
        format: name.map(|name| FormatUsed { name, limitations }),
        damage: row.get(9)?,
        parsed: number(10)?,
        rejected: number(11)?,
    })
}
