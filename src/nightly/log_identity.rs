//! Finds which files are logs that were read before, and how far.
//!
//! The content decides, not the inode. A file is a known log if it begins with all the lines that were read of it. If
//! it has fewer lines, it is the beginning of the log, or a copy of that, if the hashes of some of these lines agree.
//! A short file with another name is no copy: some equal lines may be chance.

use std::fs::{self, File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use xxhash_rust::xxh3::Xxh3;

use crate::audit::probe::examine;
use crate::input::content_hash::{Checkpoint, Prefix};
use crate::input::copies::HEAD_BYTES;
use crate::input::raw_reader::{ReadError, ReadErrorCause};
use crate::input::source::{FileId, Location, Source, lasting_name};
use crate::input::{chunks::Chunks, open::open};
use crate::logs::format::Hints;

use super::state::change::RecordedInput;

/// The bytes at either end of a file on disk that identify an unchanged one.
const END_BYTES: u64 = 4 << 10;

/// Decompressed bytes that are looked at at once.
const STEP_BYTES: usize = 256 << 10;

/// The lines of a new log that are read to order it among others with the same beginning.
const NEW_LINES: u64 = 64;

/// A compressed file that ends early and was written to since is not finished; past it, it is
/// damaged.
const UNFINISHED_MAX: Duration = Duration::from_secs(86_400);

/// The identity of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum LogIdentity {
    /// The log with this number, maybe with more lines than were read.
    Known(i64),
    /// The beginning of the log with this number; all of it was read.
    BeginningOf(i64),
    /// A new short log, with its beginning, though the log with this number and another name begins with the same lines.
    Alike(Vec<u128>, i64),
    /// A new log, with its beginning.
    New(Vec<u128>),
    /// It has no whole line, for this reason or not yet.
    Empty(Option<ReadError>),
}

/// The fingerprint of an unchanged file: its size and its ends on disk. `None` if it is not a file,
/// or cannot be read.
pub(crate) fn fingerprint(path: &Path) -> Option<[u8; 24]> {
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok().filter(|data| data.is_file())?.len();
    let mut hasher = Xxh3::new();
    let mut bytes = Vec::new();
    (&mut file).take(END_BYTES).read_to_end(&mut bytes).ok()?;
    file.seek(SeekFrom::Start(size.saturating_sub(END_BYTES))).ok()?;
    file.take(END_BYTES).read_to_end(&mut bytes).ok()?;
    hasher.update(&bytes);
    let mut fingerprint = [0; 24];
    fingerprint[..8].copy_from_slice(&size.to_be_bytes());
    fingerprint[8..].copy_from_slice(&hasher.digest128().to_be_bytes());
    Some(fingerprint)
}

/// The known logs of a site, by the hash of their first line, and by that of their first lines if they have more: logs
/// with the same header differ in these.
pub(crate) struct KnownLogs<'a> {
    by_first: BTreeMap<u128, Vec<&'a RecordedInput>>,
    by_several: BTreeMap<u128, Vec<&'a RecordedInput>>,
}

/// The index of the mark after several lines.
const SEVERAL: usize = 7;

impl<'a> KnownLogs<'a> {
    /// Orders `inputs`.
    pub(crate) fn new(inputs: &'a [RecordedInput]) -> KnownLogs<'a> {
        let mut known = KnownLogs { by_first: BTreeMap::new(), by_several: BTreeMap::new() };
        for input in inputs {
            let marks = &input.reached.marks;
            if let Some(mark) = marks.get(SEVERAL) {
                known.by_several.entry(*mark).or_default().push(input);
            }
            if let Some(mark) = marks.first() {
                known.by_first.entry(*mark).or_default().push(input);
            }
        }
        known
    }

    /// The identity of `source`. `None` if it cannot be opened.
    pub(crate) fn identify(&self, source: &Source) -> Option<LogIdentity> {
        let opened = open(source, &Arc::default()).ok()?;
        let mut chunks = Chunks::of_log(FileId::from_index(0), opened, STEP_BYTES);
        let mut comparison: Option<LogComparison<'_>> = None;
        let mut buffer = Vec::new();
        while comparison.as_ref().is_none_or(LogComparison::is_undecided) {
            let Some(chunk) = chunks.next_chunk(buffer) else { break };
            let whole = memchr::memrchr(b'\n', &chunk.bytes).map_or(0, |lf| lf + 1);
            let bytes = &chunk.bytes[..whole];
            if !bytes.is_empty() {
                comparison.get_or_insert_with(|| self.comparison(bytes)).look_at(bytes);
            }
            buffer = chunk.bytes;
        }
        Some(match comparison {
            None => LogIdentity::Empty(chunks.ending().damage),
            Some(comparison) => comparison.found(&lasting_name(&source.name)),
        })
    }

    /// A comparison of a content that begins with the lines `bytes` with all logs that may begin with them.
    fn comparison(&self, bytes: &[u8]) -> LogComparison<'a> {
        let mut prefix = Prefix::new();
        let several = memchr::memchr_iter(b'\n', bytes).nth(SEVERAL);
        prefix.absorb(&bytes[..several.map_or(bytes.len(), |lf| lf + 1)]);
        let marks = prefix.marks();
        let of = |logs: &BTreeMap<u128, Vec<&'a RecordedInput>>, mark: Option<&u128>| {
            mark.and_then(|mark| logs.get(mark)).cloned().unwrap_or_default()
        };
        let mut candidates = of(&self.by_first, marks.first());
        if let Some(mark) = marks.get(SEVERAL) {
            candidates.retain(|input| input.reached.marks.len() <= SEVERAL);
            candidates.extend(of(&self.by_several, Some(mark)));
        }
        candidates.sort_by_key(|input| (input.reached.bytes, input.id));
        // Logs without requests may have equal headers.
        let is_request = |line: &[u8]| !line.starts_with(b"#") && !line.trim_ascii().is_empty();
        let has_requests = bytes.split(|&byte| byte == b'\n').any(is_request);
        let prefix = Prefix::new();
        LogComparison { prefix, candidates, has_requests, agreed: 0, known: None }
    }
}

/// A content, as far as it was looked at.
struct LogComparison<'a> {
    prefix: Prefix,
    /// The candidates, by how far they were read.
    candidates: Vec<&'a RecordedInput>,
    /// Whether its first lines are more than a header.
    has_requests: bool,
    /// Marks of the content that the candidates agree with.
    agreed: usize,
    known: Option<i64>,
}

impl LogComparison<'_> {
    fn is_undecided(&self) -> bool {
        let is_new = self.known.is_none() && self.candidates.is_empty();
        !self.candidates.is_empty() || (is_new && self.prefix.lines() < NEW_LINES)
    }

    fn look_at(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let next = self.candidates.first().map_or(u64::MAX, |input| input.reached.bytes);
            let before = next.saturating_sub(self.prefix.bytes());
            let part = bytes.len().min(usize::try_from(before).unwrap_or(usize::MAX));
            self.prefix.absorb(&bytes[..part]);
            bytes = &bytes[part..];
            self.drop_mismatches();
            while let Some(input) = self.candidates.first()
                && input.reached.bytes <= self.prefix.bytes()
            {
                if is_reached(&input.reached, &self.prefix) {
                    self.known = Some(input.id);
                }
                self.candidates.remove(0);
            }
        }
    }

    fn drop_mismatches(&mut self) {
        let new = &self.prefix.marks()[self.agreed..];
        let at = self.agreed;
        self.candidates.retain(|input| {
            let theirs = input.reached.marks.get(at..).unwrap_or_default();
            theirs.iter().zip(new).all(|(theirs, ours)| theirs == ours)
        });
        self.agreed = self.prefix.marks().len();
    }

    /// The identity of a file with this [`lasting_name`].
    fn found(self, name: &str) -> LogIdentity {
        // More was read of the remaining candidates than the file has.
        let longer = self.candidates.last().map(|input| input.id);
        let is_short = self.prefix.bytes() < HEAD_BYTES as u64;
        let may_be_chance = is_short && self.candidates.iter().all(|input| input.name != name);
        match (self.known, longer) {
            (Some(known), Some(_)) if may_be_chance => LogIdentity::Known(known),
            (None, Some(longer)) if may_be_chance && self.has_requests => {
                LogIdentity::Alike(self.prefix.marks().to_vec(), longer)
            }
            (_, Some(longer)) => LogIdentity::BeginningOf(longer),
            (Some(known), None) => LogIdentity::Known(known),
            (None, None) => LogIdentity::New(self.prefix.marks().to_vec()),
        }
    }
}

fn is_reached(reached: &Checkpoint, prefix: &Prefix) -> bool {
    reached.bytes == prefix.bytes() && reached.hash == prefix.hash()
}

/// Whether a file that ends early is still being written.
pub(crate) fn is_unfinished(source: &Source, damage: ReadError) -> bool {
    let Location::File(path) = &source.location else { return false };
    let modified = fs::metadata(path).and_then(|data| data.modified());
    // A clock that was put back makes it no older.
    let age = modified.map(|time| time.elapsed().unwrap_or_default());
    matches!(damage.cause, ReadErrorCause::Truncated(_))
        && age.is_ok_and(|age| age < UNFINISHED_MAX)
}

/// Whether `source` can be read several times.
pub(crate) fn is_file(source: &Source) -> bool {
    matches!(&source.location, Location::File(path) if path.is_file())
}

/// The most files that are examined of a log and its rotated files. A short file may contain only
/// requests without a host, though the log has others.
const FILES_MAX: usize = 3;

/// Whether logs name hosts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct LogHosts {
    /// Logs without a host in any of their first lines.
    pub unnamed: Vec<String>,
    /// Whether another log names hosts.
    pub is_any_named: bool,
}

/// The examined files of a log.
#[derive(Default)]
struct Examined {
    files: usize,
    /// Whether one of them names a host.
    is_named: bool,
}

impl LogHosts {
    /// Examines the regular files of `sources`. A file that cannot be opened, or without requests,
    /// says nothing.
    pub(crate) fn of(sources: &[Source], hints: &Hints) -> LogHosts {
        let mut logs: BTreeMap<String, Examined> = BTreeMap::new();
        for source in sources.iter().filter(|source| is_file(source)) {
            let log = logs.entry(lasting_name(&source.name)).or_default();
            if log.is_named || log.files == FILES_MAX {
                continue;
            }
            if let Ok(probe) = examine(source, hints)
                && probe.records > 0
            {
                log.files += 1;
                log.is_named = probe.records_with_host > 0;
            }
        }
        let is_any_named = logs.values().any(|log| log.is_named);
        logs.retain(|_, log| log.files > 0 && !log.is_named);
        LogHosts { unnamed: logs.into_keys().collect(), is_any_named }
    }
}

/// The files behind the names of some sources at one time.
///
/// A name is resolved twice: when the logs are listed and when they are opened. If it points to
/// another file in between, the lines of the first file are missing from the report. A log may grow
/// in between, because the new lines belong to a later day.
#[derive(Clone, Debug)]
pub(crate) struct LogFiles(Vec<Option<Metadata>>);

impl LogFiles {
    /// As they are now.
    pub(crate) fn of(sources: &[Source]) -> LogFiles {
        let metadata = |source: &Source| match &source.location {
            Location::File(path) => fs::metadata(path).ok(),
            _ => None,
        };
        LogFiles(sources.iter().map(metadata).collect())
    }

    /// Whether a name points to another file or to none since then, or a file was truncated. `now`
    /// has the same sources.
    pub(crate) fn is_rotated(&self, now: &LogFiles) -> bool {
        self.0.iter().zip(&now.0).any(|(before, now)| match (before, now) {
            (Some(before), Some(now)) => {
                is_other_file(before, now) || (now.is_file() && now.len() < before.len())
            }
            (Some(_), None) => true,
            (None, _) => false,
        })
    }
}

#[cfg(unix)]
fn is_other_file(before: &Metadata, now: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (before.dev(), before.ino()) != (now.dev(), now.ino())
}

#[cfg(not(unix))]
fn is_other_file(before: &Metadata, now: &Metadata) -> bool {
    before.created().ok() != now.created().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use crate::input::source::expand;

    fn reached(text: &str) -> Checkpoint {
        let mut prefix = Prefix::new();
        prefix.absorb(text.as_bytes());
        prefix.reached()
    }

    /// The identity of a file with `text` after the logs `known` were read; they are numbered from
    /// 1.
    #[track_caller]
    fn check(known: &[&str], text: &str, expected: &LogIdentity) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, text).unwrap();
        let inputs: Vec<RecordedInput> = (1..)
            .zip(known)
            .map(|(id, text)| RecordedInput {
                id,
                name: "log".to_owned(),
                reached: reached(text),
                ..RecordedInput::default()
            })
            .collect();
        let known = KnownLogs::new(&inputs);
        let source = Source { name: "log.1".to_owned(), location: Location::File(path) };
        let found = known.identify(&source).unwrap();
        match (&found, expected) {
            (LogIdentity::New(_), LogIdentity::New(_)) => {}
            _ => assert_eq!(found, *expected, "{text:.40}"),
        }
        // A short file with another name is no copy of a longer log.
        let other = Source { name: "other".to_owned(), ..source };
        let of_other = known.identify(&other).unwrap();
        match (found, of_other) {
            (LogIdentity::New(_), LogIdentity::New(_)) => {}
            (LogIdentity::BeginningOf(of), LogIdentity::Alike(_, alike))
                if text.len() < HEAD_BYTES =>
            {
                assert_eq!(of, alike, "{text:.40}");
            }
            (found, of_other) => assert_eq!(found, of_other, "{text:.40}"),
        }
    }

    #[test]
    fn the_content_decides() {
        use LogIdentity::*;
        let new = New(Vec::new());
        check(&[], "a\nb\n", &new);
        check(&["a\n"], "", &Empty(None));
        check(&["a\n"], "half a line", &Empty(None));
        check(&["a\nb\n"], "a\nb\n", &Known(1));
        check(&["a\nb\n"], "a\nb\nc\nd", &Known(1));
        check(&["a\nb\n"], "a\nc\n", &new);
        check(&["a\nb\nc\n"], "a\nb\n", &BeginningOf(1));
        check(&["a\nb\nc\n"], "a\nx\n", &new);
        check(&["a\nb\n", "a\nc\n"], "a\nc\nd\n", &Known(2));
        check(&["a\n", "a\nb\n"], "a\nb\nc\n", &Known(2));
    }

    #[test]
    fn equal_headers_make_no_two_logs_one() {
        use LogIdentity::*;
        let header = "#Fields: a b c\n".repeat(1_000);
        let known = format!("{header}one\n");
        check(&[&known], &known, &Known(1));
        check(&[&known], &format!("{known}more\n"), &Known(1));
        check(&[&known], &format!("{header}two\n"), &New(Vec::new()));
        check(&[&known], &format!("{header}two\nmore\n"), &New(Vec::new()));
        check(&[&known], &header[..header.len() / 3 / 15 * 15], &BeginningOf(1));
    }

    #[test]
    fn a_log_is_named_if_one_of_its_files_names_a_host() {
        const COMBINED: &str =
            "192.0.2.1 - - [01/Mar/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"x\"\n";
        let dir = tempfile::tempdir().unwrap();
        let vhost = format!("a.example:443 {COMBINED}");
        for (name, text) in [
            ("plain.log", COMBINED),
            ("plain.log.1", COMBINED),
            ("vhost.log", vhost.as_str()),
            ("mixed.log", COMBINED),
            ("mixed.log.1", vhost.as_str()),
            ("empty.log", ""),
            ("odd.log", "what\n"),
        ] {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let hosts = |pattern: &str| {
            let found =
                LogHosts::of(&expand(&[dir.path().join(pattern).into()]), &Hints::default());
            (found.unnamed.len(), found.is_any_named)
        };
        assert_eq!(hosts("plain.log*"), (1, false));
        assert_eq!(hosts("vhost.log*"), (0, true));
        assert_eq!(hosts("mixed.log*"), (0, true));
        assert_eq!(hosts("[eo]*.log"), (0, false));
        assert_eq!(hosts("gone.log"), (0, false));
        assert_eq!(hosts("*"), (1, true));
    }

    #[track_caller]
    fn check_rotation(change: fn(&Path), expected: bool) {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("access.log");
        fs::write(&log, "one\n").unwrap();
        let sources = expand(&[log.as_os_str().to_owned(), dir.path().join("gone").into()]);
        let before = LogFiles::of(&sources);
        change(&log);
        assert_eq!(before.is_rotated(&LogFiles::of(&sources)), expected);
    }

    #[test]
    fn a_log_may_grow_but_not_go() {
        check_rotation(|_| {}, false);
        check_rotation(|log| fs::write(log, "one\ntwo\n").unwrap(), false);
        check_rotation(|log| fs::write(log, "").unwrap(), true);
        check_rotation(|log| fs::remove_file(log).unwrap(), true);
        let rotate = |log: &Path| {
            fs::rename(log, log.with_extension("1")).unwrap();
            fs::write(log, "three\nfour\n").unwrap();
        };
        check_rotation(rotate, true);
    }
}
