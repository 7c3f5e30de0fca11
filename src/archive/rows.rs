//! Reads the rows of an archive.

use rusqlite::Row;

use crate::digest::Digest;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::entry::{BodyKey, HistoryEntry, chain, outcome};
use super::snapshot::Fetch;

/// A statement that selects the columns of a [`HistoryEntry`] in the order of [`entry`]. It is a
/// literal, because prepared statements are found by their text.
macro_rules! entries {
    ($rest:literal) => {
        concat!(
            "SELECT fetched_at, outcome, max_age, chain, name, body, digest, size, origin ",
            // A row without its source is damage and must not be omitted.
            "FROM snapshots LEFT JOIN sources ON sources.id = snapshots.source ",
            $rest
        )
    };
}

/// The snapshots of an origin, the earliest first.
pub(crate) const HISTORY: &str = entries!("WHERE origin = ?1 ORDER BY fetched_at, outcome, body");

/// The last snapshot of an origin at or before a time.
pub(crate) const NEWEST: &str = entries!(
    "WHERE origin = ?1 AND fetched_at <= ?2
     ORDER BY fetched_at DESC, outcome DESC, body DESC LIMIT 1"
);

/// The snapshot of an origin that is nearest to a time, within a number of seconds.
pub(crate) const NEAREST: &str = entries!(
    "WHERE origin = ?1 AND fetched_at BETWEEN ?2 - ?3 AND ?2 + ?3
     ORDER BY abs(fetched_at - ?2), fetched_at, outcome DESC LIMIT 1"
);

/// Unfollowed redirects after an origin and a time, with a limit.
pub(crate) const UNFOLLOWED: &str = entries!(
    "WHERE outcome = 0 AND (origin, fetched_at) > (?1, ?2) ORDER BY origin, fetched_at LIMIT ?3"
);

/// The longest text in a row; a row of a manifest may be as long.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// The most bytes of texts in rows that are in memory together: many rows may share one long source.
const TEXTS_BYTES_MAX: usize = 256 << 20;

/// The index of the origin column.
pub(crate) const ORIGIN_COLUMN: usize = 8;

/// Parses a row.
pub(crate) fn entry(row: &Row<'_>) -> rusqlite::Result<HistoryEntry> {
    let max_age: Option<i64> = row.get(2)?;
    for column in [3, 4] {
        let text = row.get_ref(column)?.as_bytes_or_null()?.unwrap_or_default();
        sane(column, (text.len() <= TEXT_BYTES_MAX).then_some(()))?;
    }
    let chain_text: Option<String> = row.get(3)?;
    let body = match row.get(5)? {
        0 => None,
        id => {
            let digest: [u8; 32] = row.get(6)?;
            let size_bytes = row.get::<_, i64>(7)?.unsigned_abs();
            Some(BodyKey { id, digest: Digest::from(digest), size_bytes })
        }
    };
    Ok(HistoryEntry {
        fetch: Fetch {
            fetched_at: sane(0, UtcTime::from_unix_seconds(row.get(0)?))?,
            outcome: sane(1, outcome(row.get(1)?))?,
            max_age_seconds: max_age.map(i64::unsigned_abs),
            chain: sane(3, chain(chain_text.as_deref().unwrap_or_default()))?,
        },
        body,
        source: row.get(4)?,
    })
}

/// Parses a row that stays in memory with others, whose texts are `texts_bytes` so far.
pub(crate) fn entry_of_many(
    row: &Row<'_>,
    texts_bytes: &mut usize,
) -> rusqlite::Result<HistoryEntry> {
    let entry = entry(row)?;
    let chain_bytes: usize = entry.fetch.chain.iter().map(|hop| hop.location.len()).sum();
    *texts_bytes += entry.source.len() + chain_bytes;
    sane(4, (*texts_bytes <= TEXTS_BYTES_MAX).then_some(entry))
}

/// The value, or an error for a value that botaudit never writes.
pub(crate) fn sane<T>(column: usize, value: Option<T>) -> rusqlite::Result<T> {
    let insane = || {
        let kind = rusqlite::types::Type::Null;
        let why = "an invalid value".into();
        rusqlite::Error::FromSqlConversionFailure(column, kind, why)
    };
    value.ok_or_else(insane)
}

/// The origin in a column. It must have the canonical form that a writer gives it; otherwise the
/// next row after it would not be found.
pub(crate) fn canonical(row: &Row<'_>, column: usize) -> rusqlite::Result<Origin> {
    let text = row.get_ref(column)?.as_str()?;
    let origin = Origin::parse(text.as_bytes()).filter(|origin| origin.as_str() == text);
    sane(column, origin)
}

/// Checks the strict order of rows. Otherwise the tree is damaged and may have no end.
pub(crate) fn in_order(is_in_order: bool) -> rusqlite::Result<()> {
    sane(0, is_in_order.then_some(()))
}
