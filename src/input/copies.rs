//! Finds logs that are copies of each other, by their content.
//!
//! During rotation the same lines may be in two files: under two names, or in a compressed copy
//! that is still being written. A file whose whole content is the beginning of another file adds
//! nothing. The whole content is compared, because logs may begin with equal headers. Most files
//! differ in their first bytes, and of these nothing else is read.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::merge::merge_fields;

use super::open::{Opened, open};
use super::raw_reader::{ReadError, ReadErrorCause};
use super::source::{Location, Source, lasting_name};

/// The decompressed bytes that are compared first; a file with fewer is short.
pub(crate) const HEAD_BYTES: usize = 4 << 10;

/// Decompressed bytes that are compared at once.
const STEP_BYTES: usize = 256 << 10;

/// Sources without those that others contain.
#[derive(Clone, Debug, Default)]
pub(crate) struct DistinctLogs {
    /// The sources that are read, in the given order.
    pub sources: Vec<Source>,
    /// The others.
    pub repeats: Repeats,
}

/// Logs whose lines are in other logs, too, or may be.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Repeats {
    /// Logs that are not read.
    pub copies: BTreeSet<SkippedCopy>,
    /// Logs that are read.
    pub alike: BTreeSet<AlikeLogs>,
}

merge_fields!(Repeats { copies, alike });

/// A log that another one holds all of.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct SkippedCopy {
    /// The log that is skipped.
    pub name: String,
    /// The log that contains all of it.
    pub of: String,
    /// Why the rest of the skipped log could not be read, and so may be missing in the other one.
    pub damage: Option<String>,
}

/// A short log that may be the beginning of another one. Its name does not say so.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct AlikeLogs {
    /// The short log.
    pub name: String,
    /// The log that begins with the same lines.
    pub of: String,
}

impl Repeats {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.copies.is_empty() && self.alike.is_empty()
    }

    /// The number of logs that are not read, though a damage may hide what others lack.
    pub(crate) fn damaged(&self) -> usize {
        self.copies.iter().filter(|copy| copy.damage.is_some()).count()
    }

    /// A sentence for each log that is not read.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.copies.iter().map(|SkippedCopy { name, of, damage }| match damage {
            None => format!("{name} was not counted: {of} contains all of it"),
            Some(damage) => format!(
                "{name} was not counted: {of} contains all that can be read of it ({damage})"
            ),
        })
    }

    /// A sentence for each log that is read, but may repeat another one.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.alike.iter().map(AlikeLogs::warning)
    }
}

impl AlikeLogs {
    /// A sentence that says so.
    pub(crate) fn warning(&self) -> String {
        let AlikeLogs { name, of } = self;
        format!(
            "{name} was counted, though {of} begins with the same lines: it is too short to \
             tell a copy from chance; if it is a copy, leave it out"
        )
    }
}

/// Removes sources that are contained in others. A short one is a copy only of one with the same [`lasting_name`] in the
/// same directory: some equal lines may be chance. Of equal ones, one that is not damaged stays, and
/// of several the first. Empty sources and those that are not files stay.
pub(crate) fn without_copies(sources: Vec<Source>) -> DistinctLogs {
    let mut contents = Contents::of(&sources);
    let order = contents.order();
    let mut copy_of: Vec<Option<usize>> = vec![None; sources.len()];
    let mut alike = BTreeSet::new();
    // In this order, all contents with the same beginning follow it directly.
    for (at, &part) in order.iter().enumerate().rev() {
        let longer = &order[at + 1..];
        let whole = match contents.is_short(part) {
            true => {
                let whole = contents.short_copy(part, longer);
                if whole.is_none() {
                    alike.extend(contents.alike(part, longer));
                }
                whole
            }
            false => longer.first().copied().filter(|&next| contents.begins(part, next)),
        };
        copy_of[part] = whole.map(|whole| copy_of[whole].unwrap_or(whole));
    }
    let copies = contents.copies(&copy_of);
    let kept = sources.into_iter().zip(&copy_of).filter(|(_, of)| of.is_none());
    let sources = kept.map(|(source, _)| source).collect();
    DistinctLogs { sources, repeats: Repeats { copies, alike } }
}

/// Whether the content of `part` is the beginning of `whole`.
pub(crate) fn is_beginning(part: &Source, whole: &Source) -> bool {
    let contents = Content::open(part).zip(Content::open(whole));
    contents.is_some_and(|mut contents| Comparison::of(&mut contents).begins())
}

/// A compressed copy next to the file that it is made of: the compression has not ended.
fn is_being_compressed(part: &Source, whole: &Source, damage: ReadError) -> bool {
    let ReadErrorCause::Truncated(kind) = damage.cause else { return false };
    part.name.strip_suffix(kind.suffix()) == Some(&whole.name)
}

/// The sources with what is known of their contents.
struct Contents<'a> {
    sources: &'a [Source],
    /// The beginnings; `None` for what is not a file, cannot be opened or is empty.
    heads: Vec<Option<Head>>,
    /// The results of comparisons; the first index is the smaller one.
    compared: BTreeMap<(usize, usize), Comparison>,
    /// The damage that ended a source, as far as it was read.
    damages: Vec<Option<ReadError>>,
}

/// The beginning of a file's content.
struct Head {
    /// At most [`HEAD_BYTES`]; not empty.
    bytes: Vec<u8>,
    file: Option<FileNumber>,
}

/// How two contents compare.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    /// By where they first differ; a beginning is less.
    order: Ordering,
    /// Whether one of them is the beginning of the other.
    is_alike: bool,
}

/// The device and the inode of a file. Equal ones are the same file under two names.
type FileNumber = (u64, u64);

impl<'a> Contents<'a> {
    fn of(sources: &'a [Source]) -> Contents<'a> {
        let mut heads = Vec::with_capacity(sources.len());
        let mut damages = Vec::with_capacity(sources.len());
        for source in sources {
            // There is nothing to compare a single one with.
            let content = if sources.len() > 1 { Content::open(source) } else { None };
            let (head, damage) = content.map(Head::of).unwrap_or_default();
            heads.push(head);
            damages.push(damage);
        }
        Contents { sources, heads, compared: BTreeMap::new(), damages }
    }

    fn head(&self, index: usize) -> &Head {
        self.heads[index].as_ref().expect("only those with a head are compared")
    }

    /// Whether all of it is in its head.
    fn is_short(&self, index: usize) -> bool {
        self.head(index).bytes.len() < HEAD_BYTES
    }

    fn is_same_file(&self, left: usize, right: usize) -> bool {
        let file = self.head(left).file;
        file.is_some() && file == self.head(right).file
    }

    /// Those with a head, by content. Of equal contents, the one to keep comes last.
    fn order(&mut self) -> Vec<usize> {
        let with_head = |&index: &usize| self.heads[index].is_some();
        let mut all: Vec<usize> = (0..self.sources.len()).filter(with_head).collect();
        let key =
            |index: usize| (&self.head(index).bytes, self.damages[index].is_none(), Reverse(index));
        all.sort_by(|&left, &right| key(left).cmp(&key(right)));
        let mut order: Vec<usize> = Vec::with_capacity(all.len());
        for index in all {
            let is_like_it = |other: &&usize| {
                !self.is_short(index) && self.head(**other).bytes == self.head(index).bytes
            };
            let start = order.len() - order.iter().rev().take_while(is_like_it).count();
            // A file may change between two comparisons, so these may contradict each other, on
            // which a sort may panic.
            let before = |&other: &usize| self.kept_order(other, index).is_lt();
            let at = start + order[start..].partition_point(before);
            order.insert(at, index);
        }
        order
    }

    /// By content; of equal ones, damaged ones first, then later ones.
    fn kept_order(&mut self, left: usize, right: usize) -> Ordering {
        let order = self.compare(left, right).map_or(Ordering::Equal, |compared| compared.order);
        let key = |index: usize| (self.damages[index].is_none(), Reverse(index));
        order.then_with(|| key(left).cmp(&key(right)))
    }

    /// Whether the content of `part` is the beginning of that of `whole`.
    fn begins(&mut self, part: usize, whole: usize) -> bool {
        if self.is_short(part) {
            return self.head(whole).bytes.starts_with(&self.head(part).bytes);
        }
        self.head(part).bytes == self.head(whole).bytes
            && self.compare(part, whole).is_some_and(Comparison::begins)
    }

    /// `None` if one of them can no longer be opened.
    fn compare(&mut self, left: usize, right: usize) -> Option<Comparison> {
        if self.is_same_file(left, right) {
            return Some(Comparison { order: Ordering::Equal, is_alike: true });
        }
        let (first, second) = (left.min(right), left.max(right));
        let compared = match self.compared.get(&(first, second)) {
            Some(known) => *known,
            None => {
                let mut contents =
                    (Content::open(&self.sources[first])?, Content::open(&self.sources[second])?);
                let compared = Comparison::of(&mut contents);
                self.damages[first] = self.damages[first].or(contents.0.damage);
                self.damages[second] = self.damages[second].or(contents.1.damage);
                self.compared.insert((first, second), compared);
                compared
            }
        };
        let order = if left == first { compared.order } else { compared.order.reverse() };
        Some(Comparison { order, ..compared })
    }

    /// Those of `longer` that begin with the short source `part`.
    fn with_beginning(&self, part: usize, longer: &[usize]) -> impl Iterator<Item = usize> {
        let beginning = &self.head(part).bytes;
        let starts = |whole: &usize| self.head(*whole).bytes.starts_with(beginning);
        longer.iter().copied().take_while(starts)
    }

    /// The source that the short source `part` is a copy of, by its name.
    fn short_copy(&self, part: usize, longer: &[usize]) -> Option<usize> {
        let mut wholes = self.with_beginning(part, longer).peekable();
        wholes.peek()?;
        let name = name_in_directory(&self.sources[part]);
        wholes.find(|&whole| {
            self.is_same_file(part, whole) || name_in_directory(&self.sources[whole]) == name
        })
    }

    /// The source that begins with the short source `part`, if that has requests.
    fn alike(&self, part: usize, longer: &[usize]) -> Option<AlikeLogs> {
        // Logs without requests may have equal headers.
        let is_request = |line: &[u8]| !line.starts_with(b"#") && !line.trim_ascii().is_empty();
        let has_requests = self.head(part).bytes.split(|&byte| byte == b'\n').any(is_request);
        let whole = self.with_beginning(part, longer).next().filter(|_| has_requests)?;
        let [name, of] = [part, whole].map(|index| self.sources[index].name.clone());
        Some(AlikeLogs { name, of })
    }

    fn copies(&self, copy_of: &[Option<usize>]) -> BTreeSet<SkippedCopy> {
        let copy = |(index, whole): (usize, &Option<usize>)| {
            let (part, whole) = (&self.sources[index], &self.sources[(*whole)?]);
            let damage = self.damages[index];
            let damage = damage.filter(|damage| !is_being_compressed(part, whole, *damage));
            let damage = damage.map(|damage| damage.to_string());
            Some(SkippedCopy { name: part.name.clone(), of: whole.name.clone(), damage })
        };
        copy_of.iter().enumerate().filter_map(copy).collect()
    }
}

/// The name of a file without the suffixes of rotation, with its directory.
fn name_in_directory(source: &Source) -> Option<(PathBuf, String)> {
    let Location::File(path) = &source.location else { return None };
    let name = lasting_name(&path.file_name()?.to_string_lossy());
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    Some((fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned()), name))
}

impl Head {
    /// With the damage that ended it, if any.
    fn of(mut content: Content) -> (Option<Head>, Option<ReadError>) {
        let mut bytes = vec![0; HEAD_BYTES];
        let filled = content.fill(&mut bytes);
        bytes.truncate(filled);
        (Some(Head { bytes, file: content.file }).filter(|_| filled > 0), content.damage)
    }
}

impl Comparison {
    /// Reads both until they differ, or one of them ends.
    fn of((first, second): &mut (Content, Content)) -> Comparison {
        let (mut left, mut right) = (vec![0; STEP_BYTES], vec![0; STEP_BYTES]);
        loop {
            let (in_first, in_second) = (first.fill(&mut left), second.fill(&mut right));
            let common = in_first.min(in_second);
            match left[..common].cmp(&right[..common]) {
                Ordering::Equal if common == STEP_BYTES => {}
                Ordering::Equal => {
                    return Comparison { order: in_first.cmp(&in_second), is_alike: true };
                }
                order => return Comparison { order, is_alike: false },
            }
        }
    }

    /// Whether the first is the beginning of the second.
    fn begins(self) -> bool {
        self.is_alike && self.order != Ordering::Greater
    }
}

/// A file that is compared.
struct Content {
    opened: Opened,
    file: Option<FileNumber>,
    damage: Option<ReadError>,
}

impl Content {
    /// `None` if it is not a file, or cannot be opened.
    fn open(source: &Source) -> Option<Content> {
        let Location::File(path) = &source.location else { return None };
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let opened = open(source, &Arc::default()).ok()?;
        Some(Content { opened, file: file_number(&metadata), damage: None })
    }

    /// Fills `out` as far as possible, and returns the number of bytes.
    fn fill(&mut self, out: &mut [u8]) -> usize {
        let mut filled = 0;
        while filled < out.len() {
            match self.opened.read(&mut out[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(damage) => {
                    self.damage = Some(damage);
                    break;
                }
            }
        }
        filled
    }
}

#[cfg(unix)]
fn file_number(metadata: &fs::Metadata) -> Option<FileNumber> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn file_number(_metadata: &fs::Metadata) -> Option<FileNumber> {
    None
}

#[cfg(test)]
mod tests;
