//! The violating requests of the subject, from the evidence file of the audit.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::{cell::Cell, path::Path, rc::Rc, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::bounded::StableHash;
use crate::error::{Error, Result};
use crate::input::open::{Opened, open};
use crate::input::source::{Location, Source};
use crate::table::escape::shown;
use crate::time::{UtcTime, Zone};

use super::subject::Subject;

/// The most clients and targets that have counts of their own.
const DISTINCT_MAX: usize = 10_000;

/// The most lines that a letter or a message quotes for each client.
pub(crate) const LINES_MAX: usize = 30;

/// The most targets of all clients together.
const TARGETS_MAX: usize = 1 << 20;

/// The longest row. A line of a log has at most 1 MiB, of which a few bytes may be escaped as four.
const RECORD_BYTES_MAX: usize = 8 << 20;

/// The longest time and the longest name of a client.
const NAME_BYTES_MAX: usize = 1024;

/// The bytes of a user agent that are quoted.
const USER_AGENT_BYTES_MAX: usize = 4096;

/// The most bytes that are quoted of all clients together.
const QUOTED_BYTES_MAX: usize = 64 << 20;

/// The columns that are read.
const COLUMNS: [&str; 11] = [
    "time_utc",
    "client",
    "method",
    "target",
    "status",
    "bytes",
    "user_agent",
    "origin",
    "crawler",
    "identity",
    "line",
];

/// The columns about signatures, which older files lack.
const SIGNATURE_COLUMNS: [&str; 6] =
    ["robots_digest", "rule_line", "signed_by", "signature_key", "signature_base", "signature"];

/// The most signed requests of one rule that are enclosed.
const SIGNED_OF_RULE_MAX: usize = 3;

/// The most of all rules.
const SIGNED_MAX: usize = 30;

/// The bytes of a method and a target that are quoted.
const REQUEST_BYTES_MAX: usize = 1024;

/// The signed requests of an evidence file.
#[derive(Debug, Default)]
pub(crate) struct SignedRows {
    /// How many there are.
    pub requests: u64,
    /// Those whose signed text the evidence file does not have.
    pub without_base: u64,
    /// The first of each rule.
    pub examples: Vec<SignedRow>,
}

/// A signed request.
#[derive(Debug)]
pub(crate) struct SignedRow {
    pub time: String,
    /// Method and target.
    pub request: String,
    pub robots_digest: String,
    pub rule_line: String,
    /// Where its agent publishes its keys.
    pub agent: String,
    pub thumbprint: String,
    /// What was signed.
    pub base: Vec<u8>,
    pub signature: Vec<u8>,
}

/// The requests of one client.
#[derive(Debug, Default)]
pub(crate) struct ClientRequests {
    pub requests: u64,
    pub bytes: u64,
    pub first: String,
    pub last: String,
    pub user_agent: String,
    /// The first requests, a line each.
    pub lines: Vec<String>,
    /// Their stable hashes.
    targets: BTreeSet<u64>,
    /// Whether others were not counted.
    has_more_targets: bool,
}

impl ClientRequests {
    /// The number of different targets, unless there are too many to count.
    pub(crate) fn targets(&self) -> Option<usize> {
        let targets = Some(self.targets.len()).filter(|_| !self.has_more_targets);
        targets.filter(|count| *count < DISTINCT_MAX)
    }
}

/// All requests of the subject.
#[derive(Debug, Default)]
pub(crate) struct EvidenceRows {
    pub requests: u64,
    /// By client, as the file has it; empty if it has none.
    pub clients: BTreeMap<String, ClientRequests>,
    /// Those with a valid signature.
    pub signed: SignedRows,
    /// Targets of all clients.
    targets: usize,
    /// Bytes of all quoted lines.
    quoted_bytes: usize,
}

impl EvidenceRows {
    /// Reads the evidence at `path`, and writes the rows of `subject` to `out`.
    ///
    /// # Errors
    /// If `path` is not an evidence file, is damaged, or `out` cannot be written.
    pub(crate) fn copy(
        path: &Path,
        subject: &Subject<'_>,
        out: &mut impl Write,
    ) -> Result<EvidenceRows> {
        let location = Location::File(path.to_owned());
        let source = Source { name: path.display().to_string(), location };
        let record_bytes = Rc::default();
        let opened = open(&source, &Arc::default())?;
        let decoded = Decoded { opened, record_bytes: Rc::clone(&record_bytes) };
        let mut reader = csv::Reader::from_reader(decoded);
        let wrong = |why: String| Error::invalid_file(path, why);
        let header = reader.headers().map_err(|err| wrong(err.to_string()))?.clone();
        let indexes: Option<Vec<usize>> =
            COLUMNS.iter().map(|name| header.iter().position(|column| column == *name)).collect();
        let indexes = indexes.ok_or_else(|| {
            wrong("is not an evidence file; run botaudit audit --evidence FILE".to_owned())
        })?;
        let of_signature: Option<Vec<usize>> = SIGNATURE_COLUMNS
            .iter()
            .map(|name| header.iter().position(|column| column == *name))
            .collect();
        let mut csv = csv::Writer::from_writer(out);
        let cannot = |err: csv::Error| Error::io("cannot copy", path, err.into());
        csv.write_record(&header).map_err(cannot)?;
        let mut rows = EvidenceRows::default();
        for record in reader.records() {
            let record = record.map_err(|err| wrong(err.to_string()))?;
            record_bytes.set(0);
            let cells = |at: usize| record.get(indexes[at]).unwrap_or_default();
            let cells: [&str; COLUMNS.len()] = std::array::from_fn(cells);
            let [time, client, .., origin, crawler, identity, _] = cells;
            if time.len().max(client.len()) > NAME_BYTES_MAX {
                let line = record.position().map_or(0, csv::Position::line);
                let why = "a time or a client is too long; create the file again";
                return Err(Error::invalid(path, line, why));
            }
            if subject.has(origin, crawler, identity) {
                csv.write_record(&record).map_err(cannot)?;
                rows.add(cells);
                if let Some(indexes) = &of_signature {
                    let cells_of = |at: usize| record.get(indexes[at]).unwrap_or_default();
                    rows.add_signed(cells, std::array::from_fn(cells_of));
                }
            }
        }
        csv.flush().map_err(|err| Error::io("cannot copy", path, err))?;
        Ok(rows)
    }

    fn add(&mut self, cells: [&str; COLUMNS.len()]) {
        let [time, client, method, target, status, bytes, user_agent, ..] = cells;
        self.requests += 1;
        let is_full = self.clients.len() >= DISTINCT_MAX;
        if is_full && !self.clients.contains_key(client) {
            return;
        }
        let of = self.clients.entry(client.to_owned()).or_default();
        of.requests += 1;
        of.bytes = of.bytes.saturating_add(bytes.parse().unwrap_or(0));
        if of.first.is_empty() || *time < *of.first {
            of.first = time.to_owned();
            of.user_agent = shown(beginning(user_agent));
        }
        if *time > *of.last {
            of.last = time.to_owned();
        }
        of.has_more_targets |= self.targets >= TARGETS_MAX;
        if of.targets().is_some() && of.targets.insert(target.as_bytes().stable_hash()) {
            self.targets += 1;
        }
        if of.lines.len() < LINES_MAX && self.quoted_bytes < QUOTED_BYTES_MAX {
            let client = if client.is_empty() { "-" } else { client };
            let (time, client, status, bytes) =
                (shown(time), shown(client), shown(status), shown(bytes));
            let request = quoted(&format!("{} {}", shown(method), shown(target)));
            let user_agent = quoted(&shown(user_agent));
            let line = format!("{time} {client} \"{request}\" {status} {bytes} \"{user_agent}\"");
            self.quoted_bytes += line.len();
            of.lines.push(line);
        }
    }
}

impl EvidenceRows {
    /// Adds a request, if it is signed.
    fn add_signed(&mut self, cells: [&str; COLUMNS.len()], signed: [&str; 6]) {
        let [robots_digest, rule_line, agent, thumbprint, base, signature] = signed.map(shown);
        if agent.is_empty() {
            return;
        }
        self.signed.requests += 1;
        let (Some(base), Some(signature)) = (bytes_of(&base), bytes_of(&signature)) else {
            self.signed.without_base += 1;
            return;
        };
        let rule = (&robots_digest, &rule_line);
        let examples = &mut self.signed.examples;
        let of_rule =
            examples.iter().filter(|known| (&known.robots_digest, &known.rule_line) == rule);
        if of_rule.count() < SIGNED_OF_RULE_MAX && examples.len() < SIGNED_MAX {
            let [time, _, method, target, ..] = cells.map(beginning).map(shown);
            let request = format!("{method} {target}");
            let request = quoted(&cut(&request, REQUEST_BYTES_MAX));
            let request = format!("\"{request}\"");
            let row = SignedRow {
                time,
                request,
                robots_digest,
                rule_line,
                agent,
                thumbprint,
                base,
                signature,
            };
            examples.push(row);
        }
    }
}

impl SignedRow {
    /// When it was made, in seconds since the epoch.
    pub(crate) fn unix_seconds(&self) -> Option<i64> {
        Zone::UTC.parse(&self.time).map(UtcTime::unix_seconds)
    }
}

/// The bytes of a cell `:base64:`.
fn bytes_of(cell: &str) -> Option<Vec<u8>> {
    let text = cell.strip_prefix(':')?.strip_suffix(':')?;
    BASE64_STANDARD.decode(text).ok()
}

/// The first characters of `text`.
fn cut(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}

/// The first bytes of `user_agent`, as many as are read of one.
fn beginning(user_agent: &str) -> &str {
    let mut end = user_agent.len().min(USER_AGENT_BYTES_MAX);
    while !user_agent.is_char_boundary(end) {
        end -= 1;
    }
    &user_agent[..end]
}

/// `text` between quotes.
fn quoted(text: &str) -> String {
    text.replace('"', "\\x22")
}

/// The decompressed bytes of a file; damage is an error, and so is a row without an end.
struct Decoded {
    opened: Opened,
    /// Bytes since the last row.
    record_bytes: Rc<Cell<usize>>,
}

impl Read for Decoded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.record_bytes.get() > RECORD_BYTES_MAX {
            let mib = RECORD_BYTES_MAX >> 20;
            let why = format!("is not an evidence file: a row has more than {mib} MiB");
            return Err(io::Error::other(why));
        }
        match out.is_empty() {
            true => Ok(0),
            false => {
                let read = self.opened.read(out);
                let count = read.map_err(|damage| io::Error::other(damage.to_string()))?;
                self.record_bytes.update(|bytes| bytes + count);
                Ok(count)
            }
        }
    }
}
