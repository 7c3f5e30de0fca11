//! How far robots.txt files restrict crawlers, as a table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::archive::import::time_named;
use crate::archive::{Store, entry::HistoryEntry, snapshot::Snapshot};
use crate::classify::restrictions::{
    NamedProfile, OriginRules, RESTRICTIONS, RulesInForce, RulesOf, rows,
};
use crate::error::{Error, Result};
use crate::judge::history::History;
use crate::judge::profile::CrawlerProfile;
use crate::judge::timeline::{BeforeFirst, Ruling};
use crate::numbers::{counted, grouped};
use crate::pipeline::mapped::mapped;
use crate::report::output::OutputFile;
use crate::report::outputs::{OutputContent, Outputs, Overwrite};
use crate::staged::is_stdout;
use crate::table::cell::Cell;
use crate::table::csv::{CsvTable, EachValues, Row, RowSink};
use crate::time::{Day, UtcTime, Zone};
use crate::url::origin::Origin;

use super::super::console::SharedConsole;
use super::super::crawler_names::NamedCrawlers;
use super::super::outcome::RunOutcome;
use super::super::output::STDOUT_NAME;
use super::super::sandbox::access_rights::TcpUse;
use super::named::named_time;

/// Origins whose files are in memory at the same time.
const ORIGINS_AT_ONCE: usize = 256;

/// Seconds of a day.
const DAY_SECONDS: i64 = 86_400;

/// The most names with their own line in the summary.
const NAMES_SHOWN: usize = 20;

/// A table to be made.
#[derive(Debug)]
pub(crate) struct RestrictionsRun {
    /// A robots.txt file, directory or archive.
    pub robots: PathBuf,
    /// The crawlers.
    pub crawlers: NamedCrawlers,
    /// The time of the rules; `None` means that of the newest snapshot.
    pub at: Option<String>,
    /// The periods at whose ends the rules count, instead of one time.
    pub every: Option<Every>,
    /// Whether rows are JSON objects.
    pub is_json: bool,
    /// The file to write; `None` and - are standard output.
    pub output: Option<PathBuf>,
    /// Which files may be replaced.
    pub overwrite: Overwrite,
    /// Who follows the run.
    pub console: SharedConsole,
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

/// Rows by restriction, for each name.
type Totals = Vec<BTreeMap<&'static str, u64>>;

impl RestrictionsRun {
    /// Writes the table.
    ///
    /// # Errors
    /// If a name or time is not valid, the files cannot be read, or the table cannot be written.
    pub(crate) fn run(self) -> Result<RunOutcome> {
        self.check_files()?;
        let registry = self.crawlers.registry()?;
        let (names, profiles) = self.crawlers.profiles(&registry)?;
        let names: Vec<NamedProfile> = names
            .into_iter()
            .zip(profiles)
            .map(|(name, profile)| NamedProfile { name, profile })
            .collect();
        if names.is_empty() {
            return Err(Error::usage("no crawler given; use --crawler, --token or --user-agent"));
        }
        let times = Times::new(self.at.as_deref(), self.every)?;
        let store = Store::open(&self.robots)?;
        times.check(&store)?;
        let mut table = Table::new(&self, &names)?;
        let mut read = |origins: Vec<OriginRules>| table.add(&origins, &names);
        let failures = each_origin(&store, times, &mut read)?;
        let totals = table.finish()?;
        failures.iter().for_each(|failure| self.console.warn(failure));
        summary(&names, &totals).iter().for_each(|line| self.console.say(line));
        Ok(if failures.is_empty() { RunOutcome::Done } else { RunOutcome::Incomplete })
    }

    fn check_files(&self) -> Result<()> {
        let mut outputs = Outputs::new(self.overwrite);
        outputs.reads_robots("--robots", &self.robots);
        self.crawlers.file.iter().for_each(|path| outputs.reads("--crawlers", path));
        if let Some(output) = self.output.as_deref().filter(|path| !is_stdout(path)) {
            outputs.file("-o", output, OutputContent::Restrictions)?;
        }
        self.console.begin_with(&outputs, TcpUse::None);
        Ok(())
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
    let names = crawlers.into_iter().map(|(name, profile)| NamedProfile { name, profile });
    let names: Vec<NamedProfile> = names.collect();
    let times = Times::new(at, every.map(str::parse).transpose()?)?;
    times.check(store)?;
    each_origin(store, times, &mut |origins| {
        let parts: Vec<(Vec<u8>, Totals)> = mapped(&origins, |of| rendered(of, &names, false));
        take(parts.into_iter().flat_map(|(text, _)| text).collect())
    })
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

    /// Checks that `store` has times, if one is asked for.
    fn check(self, store: &Store) -> Result<()> {
        match store.has_history() || (self.at.is_none() && self.every.is_none()) {
            true => Ok(()),
            false => Err(Error::usage(
                "--at and --every need an archive: files have no times; see botaudit robots import",
            )),
        }
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

/// Gives the rules of each origin or file of `store` to `read`. Returns why some could not be read.
fn each_origin(
    store: &Store,
    times: Times,
    read: &mut dyn FnMut(Vec<OriginRules>) -> Result<()>,
) -> Result<Vec<String>> {
    let mut origins = Vec::new();
    match store {
        Store::Archive(archive) => archive.each_origin(|summary| {
            origins.push(summary.origin);
            Ok(())
        })?,
        Store::Memory(memory) => origins = memory.origins(),
        Store::File(path) => {
            return each_file(&[(path.display().to_string(), path.clone())], read);
        }
        Store::Directory(directory) => return each_file(&directory.named_files(), read),
    }
    let mut failures = Vec::new();
    for some in origins.chunks(ORIGINS_AT_ONCE) {
        let mut rules = Vec::new();
        for origin in some {
            match of_origin(store, origin, times) {
                Ok(of_origin) => rules.push(of_origin),
                Err(err) => failures.push(err.to_string()),
            }
        }
        read(rules)?;
    }
    Ok(failures)
}

fn of_origin(store: &Store, origin: &Origin, times: Times) -> Result<OriginRules> {
    let entries = store.history(origin)?;
    let history = History::new(&entries);
    let mut bodies = Vec::new();
    let mut known = BTreeMap::new();
    let mut in_force = Vec::new();
    for time in times.of(&entries) {
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
    Ok(OriginRules { origin: origin.to_string(), bodies, in_force })
}

/// Gives the rules of `files` to `read`, which have names. Returns why some could not be read.
fn each_file(
    files: &[(String, PathBuf)],
    read: &mut dyn FnMut(Vec<OriginRules>) -> Result<()>,
) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    for some in files.chunks(ORIGINS_AT_ONCE) {
        let mut rules = Vec::new();
        for (name, path) in some {
            match Snapshot::from_file(path) {
                Ok(snapshot) => rules.push(of_file(name.clone(), snapshot)),
                Err(err) => failures.push(err.to_string()),
            }
        }
        read(rules)?;
    }
    Ok(failures)
}

fn of_file(origin: String, snapshot: Snapshot) -> OriginRules {
    let outcome = "file".to_owned();
    let rules = RulesInForce { at: None, fetched_at: None, outcome, rules: RulesOf::Body(0) };
    OriginRules { origin, bodies: vec![snapshot.body], in_force: vec![rules] }
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

/// The output, and the sums of what was written.
struct Table {
    output: OutputFile,
    is_json: bool,
    totals: Totals,
}

impl Table {
    fn new(run: &RestrictionsRun, names: &[NamedProfile]) -> Result<Table> {
        let mut output = match run.output.as_deref().filter(|path| !is_stdout(path)) {
            Some(path) => OutputFile::create(path)?,
            None => OutputFile::stream(Path::new(STDOUT_NAME), run.console.stdout()?)?,
        };
        if !run.is_json {
            output.put(&header())?;
        }
        Ok(Table { output, is_json: run.is_json, totals: vec![BTreeMap::new(); names.len()] })
    }

    /// Adds the rows of `origins`, made by all threads, in order.
    fn add(&mut self, origins: &[OriginRules], names: &[NamedProfile]) -> Result<()> {
        let is_json = self.is_json;
        let rendered: Vec<(Vec<u8>, Totals)> = mapped(origins, |of| rendered(of, names, is_json));
        for (text, totals) in rendered {
            self.output.put(&text)?;
            for (all, of_origin) in self.totals.iter_mut().zip(totals) {
                for (word, rows) in of_origin {
                    *all.entry(word).or_default() += rows;
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Totals> {
        self.output.commit()?;
        Ok(self.totals)
    }
}

/// The header of the CSV file.
fn header() -> Vec<u8> {
    let header = CsvTable::with_header(Vec::new(), &RESTRICTIONS).and_then(CsvTable::finish);
    header.expect("memory can be written")
}

/// The lines of an origin, and their numbers.
fn rendered(of: &OriginRules, names: &[NamedProfile], is_json: bool) -> (Vec<u8>, Totals) {
    let mut totals: Totals = vec![BTreeMap::new(); names.len()];
    let mut text = Vec::new();
    let mut csv = CsvTable::without_header(Vec::new(), &RESTRICTIONS);
    let taken = rows(of, names, &mut |at, word, fill: &dyn Fn(&mut Row)| {
        *totals[at].entry(word).or_default() += 1;
        match is_json {
            false => csv.row(fill),
            true => EachValues(|cells: Vec<Cell>| {
                push_object(&cells, &mut text);
                Ok(())
            })
            .row(fill),
        }
    });
    let csv = taken.and_then(|()| csv.finish()).expect("memory can be written");
    text.extend(csv);
    (text, totals)
}

fn push_object(cells: &[Cell], text: &mut Vec<u8>) {
    let columns = RESTRICTIONS.columns.iter().zip(cells);
    let fields = columns.map(|(column, cell)| {
        let value = match cell {
            Cell::Empty => serde_json::Value::Null,
            Cell::Count(count) => (*count).into(),
            cell => cell.to_string().into(),
        };
        format!("\"{}\":{value}", column.name)
    });
    text.extend(format!("{{{}}}\n", fields.collect::<Vec<_>>().join(",")).into_bytes());
}

/// How many rows of each name have which restriction.
fn summary(names: &[NamedProfile], totals: &Totals) -> Vec<String> {
    let rows: u64 = totals.iter().flat_map(BTreeMap::values).sum();
    let mut lines = vec![counted(rows, "row")];
    for (named, of_name) in names.iter().zip(totals).take(NAMES_SHOWN) {
        let words = of_name.iter().map(|(word, rows)| format!("{} {word}", grouped(*rows)));
        let words = words.collect::<Vec<_>>().join(", ");
        lines.push(format!("  {}: {words}", named.name));
    }
    if let Some(more @ 1..) = names.len().checked_sub(NAMES_SHOWN) {
        lines.push(format!("  and {}", counted(more as u64, "more name")));
    }
    lines
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
