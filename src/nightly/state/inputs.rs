//! The logs that were read, as far as they were.

use rusqlite::{Row, params};

use crate::audit::tally::header::FormatUsed;
use crate::error::Result;
use crate::input::checkpoint::Checkpoint;
use crate::logs::limitation::Limitation;
use crate::time::Day;

use super::State;

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
