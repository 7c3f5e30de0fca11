//! What a run may write to, checked before anything is read: an output is no input, and what
//! stands there is botaudit's own or new.
//!
//! A shell that expands `--evidence access.log*` makes the live log the value of the flag. So a
//! file is replaced only where its content shows that botaudit wrote it.

use std::path::{Path, PathBuf};
use std::{collections::HashMap, fs, io, sync::Arc};

use memchr::memmem;

use crate::archive::directory::Directory;
use crate::audit::{collected_file::is_collected, tally::file::is_tally};
use crate::classify::answer::VerdictWord;
use crate::error::{Error, Result};
use crate::input::open::open;
use crate::input::source::{Location, Source};
use crate::staged::is_stdout;

use super::columns::column::TableSchema;
use super::columns::tables::{EVENTS, REQUESTS_EVIDENCE, TREND};
use super::verdicts::COLUMNS;
use super::{classified::summary_header, directory::check_replaceable, night_text::HEADLINE_START};

/// Decompressed bytes of an existing file that are looked at.
const HEAD_BYTES_MAX: usize = 256 << 10;

/// What is written to a file, and how one is recognised that an earlier run wrote.
#[derive(Clone, Copy, Debug)]
pub enum OutputContent<'a> {
    /// The violating requests, by their header.
    Evidence,
    /// What `classify` writes: by the columns after those of the input, or by these columns and a
    /// verdict in the first row.
    Verdicts(Option<&'a [String]>),
    /// A tally, by its first line.
    Tally,
    /// What a first pass found, by its first line.
    Collected,
    /// The night as plain text, by its first word.
    Night,
    /// `trend.csv`, by its header.
    Trend,
    /// `events.csv`, by its header.
    Events,
    /// A manual page, by its title.
    Manual,
    /// A file that only the caller can recognise, and did not.
    Foreign,
}

/// Whether files that botaudit did not write may be replaced.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Overwrite {
    /// They may not.
    Own,
    /// They may, as the user wants it (`--force`).
    Any,
}

/// The inputs and outputs of a run.
#[derive(Debug)]
pub struct Outputs {
    overwrite: Overwrite,
    uses: HashMap<Identity, Use>,
}

/// What a file is already used for.
#[derive(Clone, Copy, Debug)]
enum Use {
    Input(&'static str),
    Output(&'static str),
}

/// By what two paths are known to lead to the same file.
#[derive(Debug, Eq, Hash, PartialEq)]
enum Identity {
    /// Device and inode.
    #[cfg(unix)]
    Node(u64, u64),
    /// The path without links; of a file that does not exist yet, too.
    Path(PathBuf),
    Stdout,
}

impl Outputs {
    /// Without inputs so far.
    pub fn new(overwrite: Overwrite) -> Outputs {
        Outputs { overwrite, uses: HashMap::new() }
    }

    /// The run reads `path`, which is what `role` names: `--robots`.
    pub fn reads(&mut self, role: &'static str, path: &Path) {
        // Whoever reads a pipe or a device keeps nobody from writing to one.
        if !is_special(path)
            && let Some(identity) = identity(path)
        {
            self.uses.insert(identity, Use::Input(role));
        }
    }

    /// The run reads all of `sources`.
    pub fn reads_sources(&mut self, role: &'static str, sources: &[Source]) {
        for source in sources {
            if let Location::File(path) = &source.location {
                self.reads(role, path);
            }
        }
    }

    /// The run reads all robots.txt files that `path` names: a file, an archive, or a directory.
    pub fn reads_robots(&mut self, role: &'static str, path: &Path) {
        self.reads(role, path);
        if path.is_dir()
            && let Ok(directory) = Directory::open(path)
        {
            directory.files().for_each(|file| self.reads(role, file));
        }
    }

    /// The run reads files that stand directly in the directory `path`.
    pub fn reads_files_of(&mut self, role: &'static str, path: &Path) {
        self.reads(role, path);
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            self.reads(role, &entry.path());
        }
    }

    /// The file `path`, of which `flag` says what it `is` for, may be written to.
    ///
    /// # Errors
    /// Where it is an input or another output, or something stands there that is not ours.
    pub fn file(&mut self, flag: &'static str, path: &Path, is: OutputContent<'_>) -> Result<()> {
        if is_stdout(path) {
            return self.claim(flag, path, Identity::Stdout);
        }
        self.updated(flag, path)?;
        if path.is_dir() {
            let why = format!("is a directory; use {flag} with the name of a file");
            return Err(Error::invalid_file(path, why));
        }
        if self.overwrite == Overwrite::Any || is_replaceable(path, is)? {
            return Ok(());
        }
        let why = format!(
            "already exists and was not written by botaudit; not overwritten; use another file \
             for {flag}, or add --force"
        );
        Err(Error::invalid_file(path, why))
    }

    /// The same of a file that is read before it is written to, so that whoever reads it refuses
    /// what is not ours.
    ///
    /// # Errors
    /// Where it is an input or another output.
    pub fn updated(&mut self, flag: &'static str, path: &Path) -> Result<()> {
        if is_stdout(path) {
            let why =
                format!("is read, too, so it cannot be standard output; use {flag} with a file");
            return Err(Error::invalid_file(path, why));
        }
        match identity(path).filter(|_| !is_special(path)) {
            Some(identity) => self.claim(flag, path, identity),
            None => Ok(()),
        }
    }

    fn claim(&mut self, flag: &'static str, path: &Path, identity: Identity) -> Result<()> {
        self.refuse_if_used(flag, path, &identity)?;
        self.uses.insert(identity, Use::Output(flag));
        Ok(())
    }

    /// The report directory `path` may be written to.
    ///
    /// # Errors
    /// Where it is an input or holds one, or something stands there that is no report of ours.
    pub fn directory(&mut self, flag: &'static str, path: &Path) -> Result<()> {
        check_directory_name(flag, path)?;
        self.updated(flag, path)?;
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            if let Some(identity) = identity(&entry.path()) {
                self.refuse_if_used(flag, &entry.path(), &identity)?;
            }
        }
        check_replaceable(path)
    }

    fn refuse_if_used(&self, flag: &str, path: &Path, identity: &Identity) -> Result<()> {
        let why = match self.uses.get(identity) {
            None => return Ok(()),
            Some(Use::Input(role)) => {
                format!("is an input ({role}) and cannot be overwritten; use another {flag}")
            }
            Some(Use::Output(other)) => {
                format!("cannot be both {other} and {flag}; use another {flag}")
            }
        };
        Err(Error::invalid_file(path, why))
    }
}

/// That the directory `path`, which `flag` names, is not to be standard output.
///
/// # Errors
/// Where it is.
pub fn check_directory_name(flag: &str, path: &Path) -> Result<()> {
    match is_stdout(path) {
        true => Err(Error::usage(format!(
            "{flag} is a directory and cannot be written to standard output (-); name a directory"
        ))),
        false => Ok(()),
    }
}

/// Whether it is a pipe or a device.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

fn identity(path: &Path) -> Option<Identity> {
    #[cfg(unix)]
    if let Ok(data) = fs::metadata(path) {
        use std::os::unix::fs::MetadataExt;
        return Some(Identity::Node(data.dev(), data.ino()));
    }
    if let Ok(path) = fs::canonicalize(path) {
        return Some(Identity::Path(path));
    }
    let absolute = std::path::absolute(path).ok()?;
    let parent = fs::canonicalize(absolute.parent()?).ok()?;
    Some(Identity::Path(parent.join(absolute.file_name()?)))
}

/// Whether nothing is lost where `path` is replaced by `content`.
fn is_replaceable(path: &Path, content: OutputContent<'_>) -> Result<bool> {
    match fs::metadata(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(err) => return Err(Error::io("cannot read", path, err)),
        // A pipe or a device is written to as it stands; a directory is refused by whoever opens it.
        Ok(data) if !data.is_file() || data.len() == 0 => return Ok(true),
        Ok(_) => {}
    }
    let source =
        Source { name: path.display().to_string(), location: Location::File(path.to_owned()) };
    let mut opened = open(&source, &Arc::default())?;
    let (mut head, mut filled, mut read) = (vec![0; HEAD_BYTES_MAX], 0, Ok(1));
    while filled < head.len() && matches!(read, Ok(1..)) {
        read = opened.read(&mut head[filled..]);
        filled += read.unwrap_or(0);
    }
    let is_empty = filled == 0 && read.is_ok();
    Ok(is_empty || content.is_in(&head[..filled]))
}

impl OutputContent<'_> {
    /// Whether a file with this head was written by botaudit.
    fn is_in(self, head: &[u8]) -> bool {
        match self {
            OutputContent::Evidence => has_header(head, &REQUESTS_EVIDENCE),
            OutputContent::Trend => has_header(head, &TREND),
            OutputContent::Events => has_header(head, &EVENTS),
            OutputContent::Verdicts(columns) => {
                unquoted(first_line(head)) == unquoted(summary_header().trim_end().as_bytes())
                    || [b',', b'\t'].iter().any(|&delimiter| is_table(head, delimiter, columns))
                    || is_object(head, columns)
            }
            OutputContent::Tally => is_tally(head),
            OutputContent::Collected => is_collected(head),
            OutputContent::Night => head.starts_with(HEADLINE_START.as_bytes()),
            OutputContent::Manual => memmem::find(head, b".TH BOTAUDIT").is_some(),
            OutputContent::Foreign => false,
        }
    }
}

fn first_line(head: &[u8]) -> &[u8] {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn has_header(head: &[u8], table: &TableSchema) -> bool {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    unquoted(first_line(head)) == names.join(",").as_bytes()
}

/// A header without quotes, which earlier versions did not write.
fn unquoted(header: &[u8]) -> Vec<u8> {
    header.iter().copied().filter(|&byte| byte != b'"').collect()
}

/// Whether these are verdicts as CSV or TSV.
fn is_table(head: &[u8], delimiter: u8, columns: Option<&[String]>) -> bool {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(delimiter).flexible(true).has_headers(false).from_reader(head);
    let text = |cell: &[u8]| String::from_utf8_lossy(cell).into_owned();
    let records = reader.into_byte_records().map_while(std::result::Result::ok);
    let mut records = records.map(|record| record.iter().map(text).collect::<Vec<String>>());
    let Some(header) = records.next() else { return false };
    if header.ends_with(&COLUMNS.map(str::to_owned)) {
        return true;
    }
    let Some(row) = records.next() else { return false };
    let is_verdict = |at: usize| row.get(at).is_some_and(|cell| is_verdict_word(cell));
    let wide = header.windows(2).position(|pair| pair == ["url", "origin"]);
    let is_wide =
        wide.is_some_and(|at| header.len() > at + 2 && (at + 2..header.len()).all(is_verdict));
    let is_asked = columns.is_some_and(|columns| columns == header);
    is_wide || (is_asked && (0..header.len()).any(is_verdict))
}

/// Whether these are verdicts as JSON Lines.
fn is_object(head: &[u8], columns: Option<&[String]>) -> bool {
    type Object = serde_json::Map<String, serde_json::Value>;
    let Ok(object) = serde_json::from_slice::<Object>(first_line(head)) else { return false };
    let is_asked = columns.is_some_and(|columns| {
        columns.len() == object.len() && columns.iter().all(|name| object.contains_key(name))
    });
    (is_asked || object.contains_key("url"))
        && object.values().any(|value| value.as_str().is_some_and(is_verdict_word))
}

fn is_verdict_word(text: &str) -> bool {
    VerdictWord::from_name(text).is_some()
}
