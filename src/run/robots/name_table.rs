//! A table with rows for origins and names of crawlers, as CSV or JSON Lines.

use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, io};

use crate::archive::{Store, snapshot::Snapshot};
use crate::classify::restrictions::{NamedProfile, TakeRow};
use crate::error::{Error, Result};
use crate::judge::{messages::ignored_message, profile::CrawlerProfile};
use crate::numbers::{counted, grouped};
use crate::pipeline::parallel::mapped;
use crate::report::output::OutputFile;
use crate::report::outputs::{OutputContent, Outputs, Overwrite};
use crate::run::console::{RunOutcome, STDOUT_NAME, SharedConsole};
use crate::run::{crawlers::NamedCrawlers, sandbox::access_rights::TcpUse};
use crate::staged::is_stdout;
use crate::table::csv::{CsvTable, EachRow, Row, RowSink};
use crate::table::schema::{Cell, TableSchema};
use crate::url::origin::Origin;

/// How many facts are in memory at the same time.
const FACTS_AT_ONCE: usize = 256;

/// The bytes of robots.txt files after which no more are read before their rows are written.
const BYTES_AT_ONCE: usize = 32 << 20;

/// The most names with their own line in the summary.
const NAMES_SHOWN: usize = 20;

/// What a run counted, by word, for each name.
type Totals = Vec<BTreeMap<&'static str, u64>>;

/// A kind of table.
pub(super) trait TableKind: Sync {
    /// What some rows need to know.
    type Facts: Send + Sync;

    /// The columns.
    const SCHEMA: &'static TableSchema;

    /// What the summary counts.
    const COUNTED: &'static str;

    /// Checks that `store` can answer.
    fn check(&self, store: &Store) -> Result<()>;

    /// Gives the facts of an origin with a history to `add`.
    fn of_origin(
        &self,
        store: &Store,
        origin: &Origin,
        add: &mut dyn FnMut(Self::Facts),
    ) -> Result<()>;

    /// The facts of a single file.
    fn of_file(&self, name: String, snapshot: Snapshot) -> Self::Facts;

    /// The bytes of the robots.txt files in `facts`.
    fn bytes(facts: &Self::Facts) -> usize;

    /// The rows of `facts`, by `names`. `take` gets each.
    fn rows(
        &self,
        facts: &Self::Facts,
        names: &[NamedProfile],
        take: &mut TakeRow<'_>,
    ) -> io::Result<()>;
}

/// A table to be written.
#[derive(Debug)]
pub(crate) struct NameTable {
    /// A robots.txt file, directory or archive.
    pub robots: PathBuf,
    /// The crawlers.
    pub crawlers: NamedCrawlers,
    /// Whether rows are JSON objects.
    pub is_json: bool,
    /// The output file; `None` or `-` means standard output.
    pub output: Option<PathBuf>,
    /// Which existing files may be overwritten.
    pub overwrite: Overwrite,
    /// Who follows the run.
    pub console: SharedConsole,
}

impl NameTable {
    /// Writes the table.
    pub(super) fn write<K: TableKind>(&self, kind: &K) -> Result<RunOutcome> {
        self.check_files::<K>()?;
        let registry = self.crawlers.registry()?;
        let (names, profiles) = self.crawlers.profiles(&registry)?;
        let names = named_profiles(names.into_iter().zip(profiles));
        if names.is_empty() {
            return Err(Error::usage("no crawler given; use --crawler, --token or --user-agent"));
        }
        let store = Store::open(&self.robots)?;
        kind.check(&store)?;
        let mut output = self.output::<K>()?;
        let mut totals: Totals = vec![BTreeMap::new(); names.len()];
        let failures = each_batch(kind, &store, &mut |facts| {
            for (text, of_some) in mapped(&facts, |of| rendered(kind, of, &names, self.is_json)) {
                output.put(&text)?;
                for (all, of_name) in totals.iter_mut().zip(of_some) {
                    for (word, times) in of_name {
                        *all.entry(word).or_default() += times;
                    }
                }
            }
            Ok(())
        })?;
        output.commit()?;
        let ignored = ignored_message(store.ignored_names().iter());
        failures.iter().chain(&ignored).for_each(|message| self.console.warn(message));
        summary(K::COUNTED, &names, &totals).iter().for_each(|line| self.console.say(line));
        Ok(if failures.is_empty() { RunOutcome::Done } else { RunOutcome::Incomplete })
    }

    fn check_files<K: TableKind>(&self) -> Result<()> {
        let mut outputs = Outputs::new(self.overwrite);
        outputs.reads_robots("--robots", &self.robots);
        self.crawlers.file.iter().for_each(|path| outputs.reads("--crawlers", path));
        if let Some(output) = self.output.as_deref().filter(|path| !is_stdout(path)) {
            outputs.file("-o", output, OutputContent::Table(K::SCHEMA))?;
        }
        self.console.begin_with(&outputs, TcpUse::None);
        Ok(())
    }

    fn output<K: TableKind>(&self) -> Result<OutputFile> {
        let mut output = match self.output.as_deref().filter(|path| !is_stdout(path)) {
            Some(path) => OutputFile::create(path)?,
            None => OutputFile::stream(Path::new(STDOUT_NAME), self.console.stdout()?)?,
        };
        if !self.is_json {
            let header = CsvTable::with_header(Vec::new(), K::SCHEMA).and_then(CsvTable::finish);
            output.put(&header.expect("memory can be written"))?;
        }
        Ok(output)
    }
}

/// The table of `store` for applications, as CSV: parts of it go to `take`, without a header.
/// Returns why some files could not be read, and that others were not used.
pub(super) fn csv<K: TableKind>(
    kind: &K,
    store: &Store,
    crawlers: Vec<(String, CrawlerProfile)>,
    take: &mut dyn FnMut(Vec<u8>) -> Result<()>,
) -> Result<Vec<String>> {
    let names = named_profiles(crawlers);
    kind.check(store)?;
    let failures = each_batch(kind, store, &mut |facts| {
        let parts: Vec<(Vec<u8>, Totals)> = mapped(&facts, |of| rendered(kind, of, &names, false));
        take(parts.into_iter().flat_map(|(text, _)| text).collect())
    })?;
    Ok(failures.into_iter().chain(ignored_message(store.ignored_names().iter())).collect())
}

fn named_profiles(
    crawlers: impl IntoIterator<Item = (String, CrawlerProfile)>,
) -> Vec<NamedProfile> {
    crawlers.into_iter().map(|(name, profile)| NamedProfile { name, profile }).collect()
}

/// Gives the facts of each origin or file of `store` to `read`, in batches. Returns why some could
/// not be read.
fn each_batch<K: TableKind>(
    kind: &K,
    store: &Store,
    read: &mut dyn FnMut(Vec<K::Facts>) -> Result<()>,
) -> Result<Vec<String>> {
    let mut batch = Batch::<K> { facts: Vec::new(), bytes: 0, read, done: Ok(()) };
    let mut failures = Vec::new();
    let files = match store {
        Store::File(path) => vec![(path.display().to_string(), path.clone())],
        Store::Directory(directory) => directory.named_files(),
        Store::Archive(_) | Store::Memory(_) => {
            for origin in origins(store)? {
                let known = kind.of_origin(store, &origin, &mut |facts| batch.add(facts));
                failures.extend(known.err().map(|err| err.to_string()));
                if batch.done.is_err() {
                    return batch.done.map(|()| failures);
                }
            }
            Vec::new()
        }
    };
    for (name, path) in files {
        match Snapshot::from_file(&path) {
            Ok(snapshot) => batch.add(kind.of_file(name, snapshot)),
            Err(err) => failures.push(err.to_string()),
        }
        if batch.done.is_err() {
            break;
        }
    }
    batch.hand_on();
    batch.done.map(|()| failures)
}

fn origins(store: &Store) -> Result<Vec<Origin>> {
    let mut origins = Vec::new();
    match store {
        Store::Archive(archive) => archive.each_origin(|summary| {
            origins.push(summary.origin);
            Ok(())
        })?,
        Store::Memory(memory) => origins = memory.origins(),
        Store::File(_) | Store::Directory(_) => {}
    }
    Ok(origins)
}

/// Facts that wait for their rows.
struct Batch<'a, K: TableKind> {
    facts: Vec<K::Facts>,
    bytes: usize,
    read: &'a mut dyn FnMut(Vec<K::Facts>) -> Result<()>,
    /// An error if rows could not be written: nothing is read after that.
    done: Result<()>,
}

impl<K: TableKind> Batch<'_, K> {
    fn add(&mut self, facts: K::Facts) {
        self.bytes += K::bytes(&facts);
        self.facts.push(facts);
        if self.facts.len() >= FACTS_AT_ONCE || self.bytes >= BYTES_AT_ONCE {
            self.hand_on();
        }
    }

    fn hand_on(&mut self) {
        self.bytes = 0;
        let facts = std::mem::take(&mut self.facts);
        if self.done.is_ok() {
            self.done = (self.read)(facts);
        }
    }
}

/// The lines of `facts`, and what they count.
fn rendered<K: TableKind>(
    kind: &K,
    facts: &K::Facts,
    names: &[NamedProfile],
    is_json: bool,
) -> (Vec<u8>, Totals) {
    let mut totals: Totals = vec![BTreeMap::new(); names.len()];
    let mut text = Vec::new();
    let mut csv = CsvTable::without_header(Vec::new(), K::SCHEMA.columns.len());
    let taken = kind.rows(facts, names, &mut |counts, fill: &dyn Fn(&mut Row)| {
        if let Some((at, word)) = counts {
            *totals[at].entry(word).or_default() += 1;
        }
        match is_json {
            false => csv.row(fill),
            true => EachRow(|cells: Vec<Cell>| {
                push_object(K::SCHEMA, &cells, &mut text);
                Ok(())
            })
            .row(fill),
        }
    });
    let csv = taken.and_then(|()| csv.finish()).expect("memory can be written");
    text.extend(csv);
    (text, totals)
}

fn push_object(schema: &TableSchema, cells: &[Cell], text: &mut Vec<u8>) {
    let columns = schema.columns.iter().zip(cells);
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

/// What was counted, for all and for each name.
fn summary(counted_as: &str, names: &[NamedProfile], totals: &Totals) -> Vec<String> {
    let all: u64 = totals.iter().flat_map(BTreeMap::values).sum();
    let mut lines = vec![counted(all, counted_as)];
    for (named, of_name) in names.iter().zip(totals).take(NAMES_SHOWN) {
        let words = of_name.iter().map(|(word, times)| format!("{} {word}", grouped(*times)));
        let words = words.collect::<Vec<_>>();
        let words = if words.is_empty() { "none".to_owned() } else { words.join(", ") };
        lines.push(format!("  {}: {words}", named.name));
    }
    if let Some(more @ 1..) = names.len().checked_sub(NAMES_SHOWN) {
        lines.push(format!("  and {}", counted(more as u64, "more name")));
    }
    lines
}
