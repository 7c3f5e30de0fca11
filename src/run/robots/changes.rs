//! How the rules for crawlers changed through time, as a table.

use std::io;

use bytes::Bytes;

use crate::archive::{Store, snapshot::Snapshot};
use crate::classify::restrictions::{NamedProfile, TakeRow};
use crate::classify::rule_changes::{RULE_CHANGES, VersionPair, rows};
use crate::error::{Error, Result};
use crate::judge::{history::History, profile::CrawlerProfile, timeline::Ruling};
use crate::run::outcome::RunOutcome;
use crate::table::schema::TableSchema;
use crate::url::origin::Origin;

use super::name_table::{NameTable, TableKind, csv};

/// Writes the table.
///
/// # Errors
/// If a name is not valid, the archive cannot be read, or the table cannot be written.
pub(crate) fn write_changes(table: &NameTable) -> Result<RunOutcome> {
    table.write(&Changes)
}

/// The columns of the table, with their units.
#[doc(hidden)]
pub fn rule_changes_columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    RULE_CHANGES.columns.iter().map(|column| (column.name, column.unit))
}

/// The table of `store` for applications, as CSV: parts of it go to `take`, without a header. Returns
/// why some files could not be read.
///
/// # Errors
/// If `store` has no history, cannot be read, or `take` fails.
#[doc(hidden)]
pub fn rule_changes_csv(
    store: &Store,
    crawlers: Vec<(String, CrawlerProfile)>,
    take: &mut dyn FnMut(Vec<u8>) -> Result<()>,
) -> Result<Vec<String>> {
    csv(&Changes, store, crawlers, take)
}

/// The changes of an origin: its pairs of consecutive versions. A failure to fetch robots.txt is no
/// version.
struct Changes;

impl TableKind for Changes {
    type Facts = Option<VersionPair>;

    const SCHEMA: &'static TableSchema = &RULE_CHANGES;
    const COUNTED: &'static str = "change";

    fn check(&self, store: &Store) -> Result<()> {
        match store.has_history() {
            true => Ok(()),
            false => Err(Error::usage(
                "--robots must be an archive: files have no history; see botaudit robots import",
            )),
        }
    }

    fn of_origin(
        &self,
        store: &Store,
        origin: &Origin,
        add: &mut dyn FnMut(Option<VersionPair>),
    ) -> Result<()> {
        let history = History::new(&store.history(origin)?);
        let body = |ruling: Ruling| -> Result<Option<Bytes>> {
            match ruling {
                Ruling::Rules(version) => store.body(origin, history.body(version)).map(Some),
                Ruling::AllowAll(_) | Ruling::Unreachable => Ok(None),
            }
        };
        let mut last = None;
        for period in history.timeline.periods() {
            let new = body(period.ruling)?;
            if let Some((after, old)) = last.replace((period.last, new.clone())) {
                let (origin, before) = (origin.to_string(), period.first);
                add(Some(VersionPair { origin, after, before, old, new }));
            }
        }
        Ok(())
    }

    /// A file has no history, so it has no changes.
    fn of_file(&self, _name: String, _snapshot: Snapshot) -> Option<VersionPair> {
        None
    }

    fn bytes(pair: &Option<VersionPair>) -> usize {
        let bodies = pair.iter().flat_map(|pair| [&pair.old, &pair.new]).flatten();
        bodies.map(Bytes::len).sum()
    }

    fn rows(
        &self,
        pair: &Option<VersionPair>,
        names: &[NamedProfile],
        take: &mut TakeRow<'_>,
    ) -> io::Result<()> {
        pair.iter().try_for_each(|pair| rows(pair, names, take))
    }
}
