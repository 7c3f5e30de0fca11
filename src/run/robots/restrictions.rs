//! How far robots.txt files restrict crawlers, and how the rules for crawlers changed through time, as tables.

use std::{collections::BTreeMap, io, str::FromStr};

use bytes::Bytes;

use crate::archive::snapshot::{HistoryEntry, Snapshot};
use crate::archive::{Store, import::time_named};
use crate::classify::restrictions::{
    self, NamedProfile, OriginRules, RESTRICTIONS, RulesInForce, RulesOf, TakeRow,
};
use crate::classify::rule_changes::{self, RULE_CHANGES, VersionPair};
use crate::error::{Error, Result};
use crate::judge::profile::CrawlerProfile;
use crate::judge::timeline::{BeforeFirst, History, Ruling};
use crate::run::console::RunOutcome;
use crate::table::schema::TableSchema;
use crate::time::{Day, UtcTime, Zone};
use crate::url::origin::Origin;

use super::name_table::{NameTable, TableKind, csv};
use super::named::named_time;

/// Seconds of a day.
const DAY_SECONDS: i64 = 86_400;

/// A table to be made.
#[derive(Debug)]
pub(crate) struct RestrictionsRun {
    /// The files, the names and the output.
    pub table: NameTable,
    /// The time of the rules; `None` means that of the newest snapshot.
    pub at: Option<String>,
    /// The periods at whose ends the rules count, instead of one time.
    pub every: Option<Every>,
}

/// Periods of the calendar, in UTC.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Every {
    /// From Monday to Sunday.
    Week,
    /// Months.
    Month,
    /// Years.
    Year,
}

impl RestrictionsRun {
    /// Writes the table.
    ///
    /// # Errors
    /// If a name or time is not valid, the files cannot be read, or the table cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.table.write(&Times::new(self.at.as_deref(), self.every)?)
    }
}

/// The columns of the table, with their units.
#[doc(hidden)]
pub fn restrictions_columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    RESTRICTIONS.columns.iter().map(|column| (column.name, column.unit))
}

/// The table of `store` for applications, as CSV: parts of it go to `take`, without a header. Returns why some files could not be read. `at` and `every` are as on the command line.
///
/// # Errors
/// If a time is not valid, the files cannot be read, or `take` fails.
#[doc(hidden)]
pub fn restrictions_csv(
    store: &Store,
    crawlers: Vec<(String, CrawlerProfile)>,
    at: Option<&str>,
    every: Option<&str>,
    take: &mut dyn FnMut(Vec<u8>) -> Result<()>,
) -> Result<Vec<String>> {
    csv(&Times::new(at, every.map(str::parse).transpose()?)?, store, crawlers, take)
}

/// The times of the rows of an origin.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// The time of the rules; `None` means that of the newest snapshot.
    at: Option<UtcTime>,
    /// The periods at whose ends the rules count, instead of one time.
    every: Option<Every>,
}

impl Times {
    fn new(at: Option<&str>, every: Option<Every>) -> Result<Times> {
        if at.is_some() && every.is_some() {
            return Err(Error::usage("--at and --every exclude each other; use one"));
        }
        Ok(Times { at: at.map(named_time).transpose()?, every })
    }

    /// The times of an origin with these snapshots.
    fn of(self, entries: &[HistoryEntry]) -> Vec<UtcTime> {
        let [Some(first), Some(last)] = [entries.first(), entries.last()] else {
            return Vec::new();
        };
        let (first, last) = (first.fetch.fetched_at, last.fetch.fetched_at);
        match self.every {
            Some(every) => every.ends(first, last),
            None => vec![self.at.unwrap_or(last)],
        }
    }
}

impl TableKind for Times {
    type Facts = OriginRules;

    const SCHEMA: &'static TableSchema = &RESTRICTIONS;
    const COUNTED: &'static str = "row";

    fn check(&self, store: &Store) -> Result<()> {
        match store.has_history() || (self.at.is_none() && self.every.is_none()) {
            true => Ok(()),
            false => Err(Error::usage(
                "--at and --every need an archive: files have no times; see botaudit robots import",
            )),
        }
    }

    fn of_origin(
        &self,
        store: &Store,
        origin: &Origin,
        add: &mut dyn FnMut(OriginRules),
    ) -> Result<()> {
        let entries = store.history(origin)?;
        let history = History::new(&entries);
        let mut bodies = Vec::new();
        let mut known = BTreeMap::new();
        let mut in_force = Vec::new();
        for time in self.of(&entries) {
            let ruling = history.timeline.at(time, BeforeFirst::Unknown);
            let decided = ruling.and_then(|ruling| entries.get(ruling.decided_by));
            let rules = match ruling.map(|ruling| ruling.ruling) {
                Some(Ruling::Rules(version)) => {
                    let at = *known.entry(version.0).or_insert(bodies.len());
                    if at == bodies.len() {
                        bodies.push(store.body(origin, history.body(version))?.into());
                    }
                    RulesOf::Body(at)
                }
                Some(Ruling::AllowAll(_)) => RulesOf::Nobody,
                Some(Ruling::Unreachable) => RulesOf::Unreachable,
                None => RulesOf::Unknown,
            };
            in_force.push(RulesInForce {
                at: Some(time),
                fetched_at: decided.map(|entry| entry.fetch.fetched_at),
                outcome: decided.map_or_else(String::new, |entry| entry.fetch.outcome.to_string()),
                rules,
            });
        }
        add(OriginRules { origin: origin.to_string(), bodies, in_force });
        Ok(())
    }

    fn of_file(&self, name: String, snapshot: Snapshot) -> OriginRules {
        let outcome = "file".to_owned();
        let rules = RulesInForce { at: None, fetched_at: None, outcome, rules: RulesOf::Body(0) };
        OriginRules { origin: name, bodies: vec![snapshot.body], in_force: vec![rules] }
    }

    fn bytes(facts: &OriginRules) -> usize {
        facts.bodies.iter().map(Vec::len).sum()
    }

    fn rows(
        &self,
        facts: &OriginRules,
        names: &[NamedProfile],
        take: &mut TakeRow<'_>,
    ) -> io::Result<()> {
        restrictions::rows(facts, names, take)
    }
}

impl FromStr for Every {
    type Err = Error;

    fn from_str(text: &str) -> Result<Every> {
        match text {
            "week" => Ok(Every::Week),
            "month" => Ok(Every::Month),
            "year" => Ok(Every::Year),
            _ => Err(Error::usage(format!("--every: '{text}' is not week, month or year"))),
        }
    }
}

impl Every {
    /// The last second of each period from that of `first` to that of `last`.
    fn ends(self, first: UtcTime, last: UtcTime) -> Vec<UtcTime> {
        let mut ends: Vec<UtcTime> = Vec::new();
        let mut from = first;
        while let Some(end) = self.end(from) {
            ends.push(end);
            if end >= last {
                break;
            }
            let Some(next) = UtcTime::from_unix_seconds(end.unix_seconds() + 1) else { break };
            from = next;
        }
        ends
    }

    /// The last second of the period of `time`.
    fn end(self, time: UtcTime) -> Option<UtcTime> {
        let day = Zone::UTC.day_of(time);
        let text = day.to_string();
        let (year, month) =
            (text.get(..4)?.parse::<u32>().ok()?, text.get(5..7)?.parse::<u32>().ok()?);
        let last = match self {
            Every::Week => {
                // The first day of 1970 was a Thursday.
                let weekday = (time.unix_seconds().div_euclid(DAY_SECONDS) + 3).rem_euclid(7);
                day.plus(6 - i32::try_from(weekday).ok()?)
            }
            Every::Month if month < 12 => {
                Day::parse(&format!("{year:04}-{:02}-01", month + 1))?.plus(-1)
            }
            Every::Month | Every::Year => Day::parse(&format!("{year:04}-12-31"))?,
        };
        time_named(&format!("{last}T23:59:59Z"))
    }
}

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
        pair.iter().try_for_each(|pair| rule_changes::rows(pair, names, take))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(every: Every, first: &str, last: &str) -> Vec<String> {
        let [first, last] = [first, last].map(|time| named_time(time).unwrap());
        every.ends(first, last).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn periods_end_with_their_last_second() {
        assert_eq!(
            ends(Every::Month, "2026-01-15", "2026-03-01"),
            ["2026-01-31T23:59:59Z", "2026-02-28T23:59:59Z", "2026-03-31T23:59:59Z"]
        );
        assert_eq!(
            ends(Every::Month, "2024-02-01", "2024-02-29"),
            ["2024-02-29T23:59:59Z"],
            "a leap year"
        );
        assert_eq!(
            ends(Every::Month, "2025-12-31", "2026-01-01"),
            ["2025-12-31T23:59:59Z", "2026-01-31T23:59:59Z"]
        );
        assert_eq!(ends(Every::Month, "2026-01-31T23:59:59Z", "2026-01-31T23:59:59Z").len(), 1);
        assert_eq!(
            ends(Every::Week, "2026-11-23", "2026-11-29"),
            ["2026-11-29T23:59:59Z"],
            "a Monday and a Sunday"
        );
        assert_eq!(
            ends(Every::Year, "2025-12-31", "2026-01-01"),
            ["2025-12-31T23:59:59Z", "2026-12-31T23:59:59Z"]
        );
    }
}
