//! Checks all outputs before anything is read: an output must not be an input, and an existing file
//! must have been written by botaudit.
//!
//! A shell that expands `--evidence access.log*` makes the live log the value of the flag. So a
//! file is replaced only if its content shows that botaudit wrote it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::{ffi::OsStr, fs, io, iter, sync::Arc};

use memchr::memmem;

use crate::archive::directory::Directory;
use crate::audit::{collected_file::is_collected, tally::file::is_tally};
use crate::classify::{answer::VerdictWord, summary::summary_header, verdicts::COLUMNS};
use crate::error::{Error, Result};
use crate::input::open::open;
use crate::input::source::{Location, Source};
use crate::staged::is_stdout;
use crate::table::schema::TableSchema;

use super::tables::{EVENTS, REQUESTS_EVIDENCE, TREND};
use super::{directory::check_replaceable, html::shell::GENERATOR, nights::HEADLINE_START};

/// The most decompressed bytes of an existing file that are read.
const HEAD_BYTES_MAX: usize = 256 << 10;

/// The most links that one path leads through.
const LINKS_MAX: usize = 40;

/// The content of an output file, and how an existing one is recognised.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OutputContent<'a> {
    /// The evidence, recognised by its header.
    Evidence,
    /// The verdicts of `classify`, recognised by the columns after those of the input, or by these
    /// columns and a verdict in the first row.
    Verdicts(Option<&'a [String]>),
    /// A table, recognised by its columns: those of CSV, or those of JSON Lines.
    Table(&'static TableSchema),
    /// A tally, recognised by its first line.
    Tally,
    /// The result of a first pass, recognised by its first line.
    Collected,
    /// The night summary, recognised by its first word.
    Night,
    /// `trend.csv`, recognised by its header.
    Trend,
    /// `events.csv`, recognised by its header.
    Events,
    /// `index.html`, recognised by its generator.
    Page,
    /// `botaudit.prom`, recognised by the name of its first metric.
    Metrics,
    /// Rules of `deny`, recognised by the name of the command.
    Deny,
    /// A manual page, recognised by its title.
    Manual,
    /// A file that the caller did not recognise.
    Foreign,
}

/// Whether files that botaudit did not write may be replaced.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Overwrite {
    /// No.
    Own,
    /// Yes (`--force`).
    Any,
}

/// The inputs and outputs of a run.
#[derive(Debug)]
pub(crate) struct Outputs {
    overwrite: Overwrite,
    uses: HashMap<Identity, Use>,
    read: BTreeSet<PathBuf>,
    written: BTreeSet<PathBuf>,
}

/// The existing use of a file.
#[derive(Clone, Copy, Debug)]
enum Use {
    Input(&'static str),
    Output(&'static str),
}

/// The key by which two paths to the same file are recognised.
#[derive(Debug, Eq, Hash, PartialEq)]
enum Identity {
    /// Device and inode.
    #[cfg(unix)]
    Node(u64, u64),
    /// The path with links resolved, also of a file that does not exist yet.
    Path(PathBuf),
    Stdout,
}

#[cfg(unix)]
impl Identity {
    fn of(data: &fs::Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity::Node(data.dev(), data.ino())
    }
}

impl Outputs {
    /// No inputs and outputs yet.
    pub(crate) fn new(overwrite: Overwrite) -> Outputs {
        let (uses, read, written) = Default::default();
        Outputs { overwrite, uses, read, written }
    }

    /// The directories that hold the inputs, and those that are inputs; also pipes and devices.
    pub(crate) fn read_directories(&self) -> impl Iterator<Item = PathBuf> {
        self.read.iter().cloned()
    }

    /// The directories that outputs are created in; also pipes and devices.
    pub(crate) fn written_directories(&self) -> impl Iterator<Item = PathBuf> {
        self.written.iter().cloned()
    }

    /// Adds the directories of `other`, but not its files.
    pub(crate) fn add_directories_of(&mut self, other: &Outputs) {
        self.read.extend(other.read_directories());
        self.written.extend(other.written_directories());
    }

    /// Adds the input `path`, which was named by `role`, such as `--robots`.
    pub(crate) fn reads(&mut self, role: &'static str, path: &Path) {
        // There may be many files that are no links, so they are looked up once.
        if let Some((directory, identity)) = file_without_link(path) {
            if !self.read.contains(directory) {
                self.read.insert(directory.to_owned());
            }
            self.uses.insert(identity, Use::Input(role));
            return;
        }
        self.read.extend(directories_of(path));
        // Reading a pipe or a device does not prevent writing to one.
        if !is_special(path)
            && let Some(identity) = identity(path)
        {
            self.uses.insert(identity, Use::Input(role));
        }
    }

    /// Adds all of `sources` as inputs.
    pub(crate) fn reads_sources(&mut self, role: &'static str, sources: &[Source]) {
        for source in sources {
            if let Location::File(path) = &source.location {
                self.reads(role, path);
            }
        }
    }

    /// Adds all robots.txt files that `path` names as inputs: a file, an archive, or a directory.
    pub(crate) fn reads_robots(&mut self, role: &'static str, path: &Path) {
        self.reads(role, path);
        // What a killed run left of an archive is taken back by the next one that reads it.
        let journal = [target_of(path).as_os_str(), "-journal".as_ref()].join(OsStr::new(""));
        if Path::new(&journal).exists() {
            self.written.extend(directories_of(path));
        }
        if path.is_dir()
            && let Ok(directory) = Directory::open(path)
        {
            directory.files().for_each(|file| self.reads(role, file));
        }
    }

    /// Adds the files directly in the directory `path` as inputs.
    pub(crate) fn reads_files_of(&mut self, role: &'static str, path: &Path) {
        self.reads(role, path);
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            self.reads(role, &entry.path());
        }
    }

    /// Adds the output file `path` of `flag` with the content `is`.
    ///
    /// # Errors
    /// If it is an input or another output, or an existing file that botaudit did not write.
    pub(crate) fn file(
        &mut self,
        flag: &'static str,
        path: &Path,
        is: OutputContent<'_>,
    ) -> Result<()> {
        if is_stdout(path) {
            return self.claim(flag, path, Identity::Stdout);
        }
        self.updated(flag, path)?;
        if path.is_dir() {
            let why = format!("is a directory; use {flag} with the name of a file");
            return Err(Error::refused(path, why));
        }
        if self.overwrite == Overwrite::Any || is_replaceable(path, is)? {
            return Ok(());
        }
        let why = format!(
            "already exists and was not written by botaudit; not overwritten; use another file \
             for {flag}, or add --force"
        );
        Err(Error::refused(path, why))
    }

    /// Adds an output file that is also read. Its reader refuses a foreign file.
    ///
    /// # Errors
    /// If it is an input or another output.
    pub(crate) fn updated(&mut self, flag: &'static str, path: &Path) -> Result<()> {
        if is_stdout(path) {
            let why = format!(
                "is also an input, so it cannot be standard output; use {flag} with a file"
            );
            return Err(Error::refused(path, why));
        }
        self.written.extend(directories_of(path));
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

    /// Adds the report directory `path`.
    ///
    /// # Errors
    /// If it is an input or contains one, or exists and is not a report.
    pub(crate) fn directory(&mut self, flag: &'static str, path: &Path) -> Result<()> {
        check_directory_name(flag, path)?;
        self.updated(flag, path)?;
        // It is exchanged with another one beside it.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.written.extend(target.parent().into_iter().flat_map(directories_of));
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
        Err(Error::refused(path, why))
    }
}

/// Checks that the directory `path` of `flag` is not `-` for standard output.
///
/// # Errors
/// If it is.
pub(crate) fn check_directory_name(flag: &str, path: &Path) -> Result<()> {
    match is_stdout(path) {
        true => Err(Error::usage(format!(
            "{flag} is a directory and cannot be written to standard output (-); name a directory"
        ))),
        false => Ok(()),
    }
}

/// Links to the streams of the process, which lead to files elsewhere.
const STREAMS: [&str; 2] = ["/dev", "/proc"];

/// `path`, if it is a directory, a pipe or a device; else the directories that it and the target of
/// its link are in. Of these, the nearest that exists.
fn directories_of(path: &Path) -> impl Iterator<Item = PathBuf> {
    // A pipe without a name can be opened without any right.
    let special = is_special(path).then(|| fs::canonicalize(path).ok());
    let target = target_of(path);
    let is_stream = target != path && STREAMS.iter().any(|of| path.starts_with(of));
    let own = Some(path.to_owned()).filter(|_| !is_stream);
    let files = if special.is_some() { None } else { Some(target) };
    let files = files.into_iter().chain(own.filter(|_| special.is_none()));
    let directories = files.filter_map(|path| {
        let exists = |path: &&Path| path.as_os_str().is_empty() || path.is_dir();
        let found = path.ancestors().skip(usize::from(!path.is_dir())).find(exists)?;
        Some(if found.as_os_str().is_empty() { ".".into() } else { found.to_owned() })
    });
    special.flatten().into_iter().chain(directories)
}

/// Where the link `path` leads, whether or not that exists; `path` if it is not a link.
fn target_of(path: &Path) -> PathBuf {
    let next = |link: &PathBuf| Some(link.parent()?.join(fs::read_link(link).ok()?));
    let links = iter::successors(Some(path.to_owned()), next).take(LINKS_MAX);
    links.last().unwrap_or_default()
}

/// The directory and the key of `path`, if it is a file and no link.
#[cfg(unix)]
fn file_without_link(path: &Path) -> Option<(&Path, Identity)> {
    let data = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let directory = match path.parent()? {
        parent if parent.as_os_str().is_empty() => Path::new("."),
        parent => parent,
    };
    Some((directory, Identity::of(&data)))
}

#[cfg(not(unix))]
fn file_without_link(_path: &Path) -> Option<(&Path, Identity)> {
    None
}

/// Whether it is a pipe or a device.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

fn identity(path: &Path) -> Option<Identity> {
    #[cfg(unix)]
    if let Ok(data) = fs::metadata(path) {
        return Some(Identity::of(&data));
    }
    if let Ok(path) = fs::canonicalize(path) {
        return Some(Identity::Path(path));
    }
    let absolute = std::path::absolute(path).ok()?;
    let parent = fs::canonicalize(absolute.parent()?).ok()?;
    Some(Identity::Path(parent.join(absolute.file_name()?)))
}

/// Whether `path` can be replaced by `content` without losing a foreign file.
fn is_replaceable(path: &Path, content: OutputContent<'_>) -> Result<bool> {
    match fs::metadata(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(err) => return Err(Error::io("cannot read", path, err)),
        // A pipe or a device is written directly; opening a directory fails later.
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
            OutputContent::Table(table) => has_header(head, table) || has_keys(head, table),
            OutputContent::Tally => is_tally(head),
            OutputContent::Collected => is_collected(head),
            OutputContent::Night => head.starts_with(HEADLINE_START.as_bytes()),
            OutputContent::Page => memmem::find(head, GENERATOR.as_bytes()).is_some(),
            OutputContent::Metrics => head.starts_with(b"# HELP botaudit_"),
            OutputContent::Deny => memmem::find(head, b"botaudit deny").is_some(),
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

/// Whether the first line is an object with the columns of `table`, and no others.
fn has_keys(head: &[u8], table: &TableSchema) -> bool {
    type Object = serde_json::Map<String, serde_json::Value>;
    let object = serde_json::from_slice::<Object>(first_line(head)).unwrap_or_default();
    object.keys().eq(table.columns.iter().map(|column| column.name))
}

/// A header without quotes, as earlier versions wrote it.
fn unquoted(header: &[u8]) -> Vec<u8> {
    header.iter().copied().filter(|&byte| byte != b'"').collect()
}

/// Whether `head` has verdicts as CSV or TSV.
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

/// Whether `head` has verdicts as JSON Lines.
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
