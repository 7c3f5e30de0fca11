//! Rows of an archive, as they are read.

use rusqlite::Row;

use super::entry::{BodyKey, Entry, chain, outcome, time};
use super::snapshot::{Digest, Fetch};

/// What an [`Entry`] is made of, in the order in which [`entry`] reads it.
pub const ENTRIES: &str = "
SELECT snapshots.fetched_at, snapshots.outcome, snapshots.max_age, snapshots.chain, sources.name,
       bodies.id, bodies.digest, length(bodies.body), snapshots.origin
FROM snapshots JOIN sources ON sources.id = snapshots.source
LEFT JOIN bodies ON bodies.id = snapshots.body";

/// Where [`ENTRIES`] has the origin.
pub const ORIGIN_COLUMN: usize = 8;

/// Reads a row of [`ENTRIES`].
pub fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let max_age: Option<i64> = row.get(2)?;
    let chain_text: Option<String> = row.get(3)?;
    let body = match row.get::<_, Option<i64>>(5)? {
        None => None,
        Some(id) => {
            let digest: [u8; 32] = row.get(6)?;
            let size_bytes = row.get::<_, i64>(7)?.unsigned_abs();
            Some(BodyKey { id, digest: Digest::from(digest), size_bytes })
        }
    };
    Ok(Entry {
        fetch: Fetch {
            fetched_at: sane(0, time(row.get(0)?))?,
            outcome: sane(1, outcome(row.get(1)?))?,
            max_age_seconds: max_age.map(i64::unsigned_abs),
            chain: sane(3, chain(chain_text.as_deref().unwrap_or_default()))?,
        },
        body,
        source: row.get(4)?,
    })
}

/// What no version of ours writes.
pub fn sane<T>(column: usize, value: Option<T>) -> rusqlite::Result<T> {
    let insane = || {
        let kind = rusqlite::types::Type::Null;
        let why = "a value that makes no sense".into();
        rusqlite::Error::FromSqlConversionFailure(column, kind, why)
    };
    value.ok_or_else(insane)
}
