//! The changes of one batch of logs, in one transaction.

use std::path::Path;

use rusqlite::{Params, Transaction, TransactionBehavior, params};

use crate::audit::{input_tally::InputTally, tally::Tally};
use crate::error::Result;
use crate::logs::limitation::Limitation;
use crate::merge::sum;
use crate::time::Day;

use super::inputs::{COLUMNS, RecordedInput};
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
        for table in ["actors", "ruled"] {
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
        Ok(())
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
