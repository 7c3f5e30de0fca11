//! The violating requests of the subject, from the evidence file of the audit; and of signed ones what they signed, the
//! keys, and how to verify them without this program.
//!
//! The names of the files of signed requests contain only numbers, because agents and their keys are foreign text.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::{cell::Cell, path::Path, rc::Rc, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::bounded::StableHash;
use crate::crawlers::key_archive::{KeyArchive, PublishedKey};
use crate::error::{Error, Result};
use crate::input::open::{Opened, open};
use crate::input::source::{Location, Source};
use crate::numbers::{counted, grouped};
use crate::table::escape::{shown, visible, without_mark};
use crate::time::{UtcTime, Zone};

use super::{Files, subject::Subject};

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
            if subject.has([origin, crawler, identity].map(without_mark)) {
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

/// The keys that were enclosed, by where they were published and by their thumbprint.
type EnclosedKeys = BTreeMap<(String, String), usize>;

/// Writes the files about `rows`, and gives the section of the letter; empty if no request is signed.
pub(super) fn write_signed(
    files: &mut Files<'_>,
    subject: &Subject<'_>,
    rows: &SignedRows,
    keys: Option<&KeyArchive>,
) -> Result<String> {
    let signed: u64 = subject.broken().map(|broken| broken.tally.signed).sum();
    if signed == 0 {
        return Ok(String::new());
    }
    let mut text = format!(
        "\nSigned requests\n\n\
         {} of the requests against robots.txt had a valid signature (RFC 9421, Web Bot Auth) by a\n\
         key that its agent published. The owner of the key signed a request to this host. Who sees a\n\
         signature can send it again until it expires.\n",
        grouped(signed)
    );
    if rows.examples.is_empty() {
        text += match (rows.requests, rows.without_base) {
            (0, _) => "The signatures are not enclosed: there is no evidence file that has them.\n",
            _ => {
                "The signatures are not enclosed: the evidence file leaves out what they signed.\n"
            }
        };
        return Ok(text);
    }
    text += &format!(
        "Enclosed: {}, the first for each rule.\n",
        counted(rows.examples.len() as u64, "example")
    );
    let mut enclosed = EnclosedKeys::new();
    for (number, row) in (1..).zip(&rows.examples) {
        text += &example(files, (number, row), keys, &mut enclosed)?;
    }
    Ok(text)
}

/// Writes the files about one request, and gives its lines of the letter.
fn example(
    files: &mut Files<'_>,
    (number, row): (usize, &SignedRow),
    keys: Option<&KeyArchive>,
    enclosed: &mut EnclosedKeys,
) -> Result<String> {
    let (base, signature) = (format!("signed-{number}.base"), format!("signed-{number}.signature"));
    files.write(&base, &row.base)?;
    files.write(&signature, &row.signature)?;
    let mut text = format!(
        "\n{number}. {} {}, robots.txt line {}\n   signed by {}, key {}\n   \
         signed text: {base}; signature: {signature}\n",
        row.time,
        row.request,
        row.rule_line,
        visible(row.agent.as_bytes()),
        visible(row.thumbprint.as_bytes())
    );
    let published = match (keys, row.unix_seconds()) {
        (None, _) => Err("this folder was made without --signature-keys"),
        (Some(_), None) => Err("the evidence file has no valid time"),
        (Some(keys), Some(time)) => keys
            .published(&row.agent, &row.thumbprint, time)
            .ok_or("the archive of keys does not have it any more"),
    };
    let published = published.and_then(|published| {
        let verifies = published.key.verifies(&row.base, &row.signature);
        verifies.then_some(published).ok_or("the key in the archive does not verify the signature")
    });
    let published = match published {
        Ok(published) => published,
        Err(why) => return Ok(text + &format!("   The key is not enclosed: {why}.\n")),
    };
    let key_number = write_key(files, row, &published, enclosed)?;
    let pem = format!("key-{key_number}.pem");
    let other_form = published.key.other_form(&row.signature);
    let for_openssl = match other_form {
        Some(der) => {
            let name = format!("signed-{number}.der");
            files.write(&name, &der)?;
            name
        }
        None => signature,
    };
    text += &format!(
        "   key: {pem}, key-{key_number}.jwk; published in keys-{key_number}.json, as archived\n   \
         {}\n   to verify:\n   {}\n",
        match published.seen {
            Some(seen) => format!("at {seen}"),
            None => "at an unknown time".to_owned(),
        },
        published.key.openssl_command(&base, &for_openssl, &pem)
    );
    Ok(text)
}

/// Writes the key of `row`, unless that was done, and gives its number.
fn write_key(
    files: &mut Files<'_>,
    row: &SignedRow,
    published: &PublishedKey<'_>,
    enclosed: &mut EnclosedKeys,
) -> Result<usize> {
    let version = published.path.display().to_string();
    let next = enclosed.len() + 1;
    let number = *enclosed.entry((version, row.thumbprint.clone())).or_insert(next);
    if number == next {
        files.write(&format!("key-{number}.pem"), published.key.pem().as_bytes())?;
        files
            .write(&format!("key-{number}.jwk"), format!("{}\n", published.key.jwk()).as_bytes())?;
        files.write(&format!("keys-{number}.json"), &published.text)?;
    }
    Ok(number)
}
