//! The files of a directory of range lists, and which list each holds.
//!
//! The directory itself has the newest list of each URL. `history/` in it has earlier ones, which only its
//! own manifest names. Mirrors and older downloads have lists by their former URLs.

use std::collections::{BTreeSet, HashMap};
use std::{fs, io, path::Path};

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::files::{read_up_to, visible_entries};
use crate::time::UtcTime;

use super::list_times::{Content, ListTimes, Sighting};
use super::manifest::{self, MANIFEST, ManifestEntry};
use super::range_list::{Filter, RangeList};
use super::registry::Registry;
use super::{address_times::TooManyChanges, crawler::Crawler, networks::Networks};

/// The largest list that is read; AWS's, the largest known, has 2 MiB.
pub(crate) const LIST_BYTES_MAX: u64 = 16 << 20;

/// The largest manifest, of several hundred thousand versions.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;

/// The longest name that is derived from a URL, in bytes; file systems allow 255.
const NAME_BYTES_MAX: usize = 200;

/// The most versions of one list that are used, the newest: one for each day of 27 years.
const VERSIONS_MAX: usize = 10_000;

/// The fault of a list whose versions are not used.
pub(super) const TOO_MANY_CHANGES: &str = "its versions differ too much to be kept in memory";

/// The folder of earlier lists.
pub(crate) const HISTORY: &str = "history";

/// One published list.
#[derive(Debug)]
pub(crate) struct List {
    /// The URL at which its operator publishes it.
    pub url: String,
    /// The file in the directory; `None` if there is none.
    pub file: Option<String>,
    /// When it was made, if it says so.
    pub created: Option<UtcTime>,
    /// The time of the download, from the manifest, or else the modification time of the file.
    pub fetched_at: Option<UtcTime>,
    /// The part that could not be read, if any.
    pub fault: Option<String>,
    /// The first and the last time at which it was seen; `None` if no version has an address.
    pub seen: Option<(UtcTime, UtcTime)>,
    /// Its versions, if there are earlier ones.
    pub versions: Option<Versions>,
    /// Its addresses through time.
    pub times: ListTimes,
}

/// The versions of one list.
#[derive(Clone, Debug)]
pub(crate) struct Versions {
    /// How many there are.
    pub count: usize,
    /// The first and the last time at which one was seen.
    pub span: Option<(UtcTime, UtcTime)>,
    /// How many could not be read whole.
    pub faulty: usize,
    /// Why not, for the first of them.
    pub first_fault: Option<String>,
}

/// The name of the file that holds the list of `url`, where no manifest says otherwise: the URL without
/// scheme and `www.`, and `_` for whatever is neither a letter, a digit, `.` nor `-`.
///
/// `https://www.bing.com/toolbox/bingbot.json` is in `bing.com_toolbox_bingbot.json`.
pub(crate) fn file_name(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' };
    let name: String = rest.chars().map(plain).take(NAME_BYTES_MAX).collect();
    // A name must neither be hidden nor lead out of the directory.
    name.trim_start_matches('.').trim_end_matches('_').to_owned()
}

/// The last part of a URL's path, as `wget` and `curl -O` name downloads.
fn last_part(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (_, path) = rest.split_once('/')?;
    let last = path.trim_end_matches('/').rsplit('/').next()?;
    (!last.is_empty() && !last.starts_with('.') && !last.contains(['?', '#'])).then_some(last)
}

/// How many lists of the registry have a URL that ends in each last part.
fn last_parts(registry: &Registry) -> HashMap<&str, usize> {
    let urls: BTreeSet<&String> =
        registry.iter().flat_map(|(_, crawler): (_, &Crawler)| &crawler.ip_list_urls).collect();
    let mut counts = HashMap::new();
    for url in urls {
        let of_list: BTreeSet<&str> = all_urls(url).filter_map(last_part).collect();
        of_list.into_iter().for_each(|last| *counts.entry(last).or_default() += 1);
    }
    counts
}

/// The files of a directory, and which list each holds.
pub(super) struct Files<'a> {
    directory: &'a Path,
    names: BTreeSet<String>,
    entries: Vec<ManifestEntry>,
    history: HashMap<String, Vec<ManifestEntry>>,
    ends: HashMap<&'a str, usize>,
}

/// What a file contains.
struct ReadList {
    content: Content,
    created: Option<UtcTime>,
    written_at: Option<UtcTime>,
    fault: Option<String>,
}

impl ReadList {
    fn open(path: &Path, entry: Option<&ManifestEntry>, filter: Option<Filter<'_>>) -> ReadList {
        match read_file(path) {
            Err(err) => ReadList {
                content: Content::default(),
                created: None,
                written_at: None,
                fault: Some(format!("cannot be read: {err}")),
            },
            Ok((text, written_at)) => {
                let read = RangeList::read(&text, filter);
                let fault = cut_short(entry, text.len()).or_else(|| fault(&read));
                let networks = Networks::new(read.networks);
                let content = Content { networks, is_whole: fault.is_none() };
                ReadList { content, created: read.created, written_at, fault }
            }
        }
    }
}

impl<'a> Files<'a> {
    /// Those of `directory`.
    ///
    /// # Errors
    /// If it cannot be listed, or contains an invalid manifest.
    pub(super) fn open(directory: &'a Path, registry: &'a Registry) -> Result<Files<'a>> {
        let names = names_in(directory)?;
        let entries = match names.contains(MANIFEST) {
            true => read_manifest(&directory.join(MANIFEST))?,
            false => Vec::new(),
        };
        let mut history: HashMap<String, Vec<ManifestEntry>> = HashMap::new();
        let of_history = directory.join(HISTORY).join(MANIFEST);
        if names.contains(HISTORY) && of_history.is_file() {
            for entry in read_manifest(&of_history)? {
                history.entry(entry.url.clone()).or_default().push(entry);
            }
        }
        Ok(Files { directory, names, entries, history, ends: last_parts(registry) })
    }

    /// The lists of a crawler: those of the registry, or else those that its page named.
    pub(super) fn urls_of<'b>(&'b self, crawler: &'b Crawler) -> Vec<&'b str> {
        if !crawler.ip_list_urls.is_empty() {
            return crawler.ip_list_urls.iter().map(String::as_str).collect();
        }
        let is_its = |entry: &&ManifestEntry| {
            entry.crawlers.iter().any(|name| name.eq_ignore_ascii_case(&crawler.name))
        };
        self.entries.iter().filter(is_its).map(|entry| entry.url.as_str()).collect()
    }

    /// Names in the directory that hold no list of `used`.
    pub(super) fn unused(&self, used: &BTreeSet<&str>) -> Vec<String> {
        let is_own = |name: &str| name == MANIFEST || (name == HISTORY && !self.history.is_empty());
        let is_unused = |name: &&String| !is_own(name) && !used.contains(name.as_str());
        self.names.iter().filter(is_unused).cloned().collect()
    }

    /// The list of `url`.
    pub(super) fn read(&self, url: &str, filter: Option<Filter<'_>>) -> List {
        let entry_of = |url| self.entries.iter().find(|entry| entry.url == url);
        let entry = all_urls(url).find_map(entry_of);
        let file = match entry {
            Some(entry) => Some(entry.file.clone()),
            None => all_urls(url).find_map(|url| self.file_of(url)),
        };
        let mut list = List {
            url: url.to_owned(),
            file,
            created: None,
            fetched_at: entry.map(|entry| entry.fetched_at),
            fault: None,
            seen: None,
            versions: None,
            times: ListTimes::default(),
        };
        let mut newest = None;
        match &list.file {
            None => list.fault = Some("not in the directory".to_owned()),
            Some(file) => {
                let read = ReadList::open(&self.directory.join(file), entry, filter);
                list.created = read.created;
                list.fetched_at = list.fetched_at.or(read.written_at);
                let seen = entry.map(|entry| entry.seen.as_slice()).unwrap_or_default();
                let seen: Vec<Option<UtcTime>> = match seen {
                    [] => vec![list.created.or(list.fetched_at)],
                    seen => seen.iter().copied().map(Some).collect(),
                };
                list.fault = read.fault;
                newest = Some((read.content, seen));
            }
        }
        self.read_times(&mut list, newest, filter);
        list
    }

    /// Reads all versions of `list`; the first content is that of the directory itself.
    fn read_times(
        &self,
        list: &mut List,
        newest: Option<(Content, Vec<Option<UtcTime>>)>,
        filter: Option<Filter<'_>>,
    ) {
        let of_url = |url: &str| self.history.get(url).map(Vec::as_slice).unwrap_or_default();
        let mut entries: Vec<&ManifestEntry> = all_urls(&list.url).flat_map(of_url).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_seen()));
        entries.truncate(VERSIONS_MAX);
        let path = |entry: &ManifestEntry| self.directory.join(HISTORY).join(&entry.file);
        let seconds = |time: UtcTime| time.unix_seconds();
        let (first, seen) = newest.unzip();
        let mut sightings: Vec<Sighting> = seen
            .unwrap_or_default()
            .into_iter()
            .map(|at| Sighting { at: at.map(seconds), content: 0 })
            .collect();
        for (entry, content) in entries.iter().zip(1..) {
            let seen = entry.times();
            sightings.extend(seen.map(|at| Sighting { at: Some(seconds(at)), content }));
        }
        let mut faults: HashMap<usize, String> = HashMap::new();
        let read = |number: usize| {
            let Some(&entry) = number.checked_sub(1).and_then(|at| entries.get(at)) else {
                return first.clone().unwrap_or_default();
            };
            let read = ReadList::open(&path(entry), Some(entry), filter);
            if let Some(fault) = read.fault {
                faults.insert(number, format!("{HISTORY}/{}: {fault}", entry.file));
            }
            read.content
        };
        let span = span_of(&sightings);
        match ListTimes::new(sightings, read) {
            Ok(times) => {
                let has_address = !times.stays.v4.is_empty() || !times.stays.v6.is_empty();
                list.seen = span.filter(|_| has_address);
                list.times = times;
            }
            Err(TooManyChanges) => list.fault = Some(TOO_MANY_CHANGES.to_owned()),
        }
        if let Some(newest) = entries.first() {
            // Lists that were only imported.
            if list.file.is_none() {
                list.file = Some(format!("{HISTORY}/{}", newest.file));
                list.fetched_at = newest.last_seen();
                list.fault = faults.get(&1).cloned();
            }
            list.versions = Some(Versions {
                count: entries.len() + usize::from(first.is_some()),
                span,
                faulty: faults.len(),
                first_fault: faults.into_iter().min().map(|(_, fault)| fault),
            });
        }
    }

    fn file_of(&self, url: &str) -> Option<String> {
        let last =
            || last_part(url).filter(|last| self.ends.get(last) == Some(&1)).map(str::to_owned);
        let is_there = |name: &String| self.names.contains(name);
        Some(file_name(url)).filter(is_there).or_else(|| last().filter(is_there))
    }
}

fn cut_short(entry: Option<&ManifestEntry>, size_bytes: usize) -> Option<String> {
    let expected = entry?.size_bytes;
    let found = size_bytes as u64;
    (found != expected)
        .then(|| format!("has {found} bytes, but {MANIFEST} says {expected}; download it again"))
}

fn fault(list: &RangeList) -> Option<String> {
    let first = list.first_fault.as_ref()?;
    Some(match list.faults {
        1 => first.clone(),
        faults => format!("{first} (and {} more)", faults - 1),
    })
}

/// Names in `directory`, without hidden ones and those that are not UTF-8, which no URL gives.
fn names_in(directory: &Path) -> Result<BTreeSet<String>> {
    let entries = visible_entries(directory);
    let entries = entries.map_err(|err| Error::io("cannot list --ip-ranges", directory, err))?;
    let names = entries.iter().filter_map(|path| path.file_name()?.to_str());
    Ok(names.map(str::to_owned).collect())
}

/// The entries of the manifest at `path`.
///
/// # Errors
/// If it cannot be read, or is not a manifest.
pub(crate) fn read_manifest(path: &Path) -> Result<Vec<ManifestEntry>> {
    let failed = |err| Error::io("cannot read", path, err);
    let text = read_up_to(path, MANIFEST_BYTES_MAX).map_err(failed)?;
    let why = || io::Error::other(format!("larger than {} MiB", MANIFEST_BYTES_MAX >> 20));
    let text = text.ok_or_else(|| failed(why()))?;
    manifest::read(path, &text)
}

/// The bytes of a file, and when it was last written.
pub(crate) fn read_file(path: &Path) -> io::Result<(Vec<u8>, Option<UtcTime>)> {
    // Checked before it is opened, because opening a pipe waits for its writer.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let written_at = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    let why = || format!("larger than {} MiB", LIST_BYTES_MAX >> 20);
    let text = read_up_to(path, LIST_BYTES_MAX)?.ok_or_else(|| io::Error::other(why()))?;
    Ok((text, written_at.map(UtcTime::from)))
}

/// The first and the last of the known times.
fn span_of(sightings: &[Sighting]) -> Option<(UtcTime, UtcTime)> {
    let times = sightings.iter().filter_map(|sighting| sighting.at);
    let (first, last) = times.clone().min().zip(times.max())?;
    UtcTime::from_unix_seconds(first).zip(UtcTime::from_unix_seconds(last))
}

/// A former URL of a list, and its URL now.
const RENAMED: [(&str, &str); 10] = [
    // Google moved its lists in March 2026, and gave the first of them another name.
    (
        "https://developers.google.com/static/search/apis/ipranges/googlebot.json",
        "https://developers.google.com/static/crawling/ipranges/common-crawlers.json",
    ),
    (
        "https://developers.google.com/search/apis/ipranges/googlebot.json",
        "https://developers.google.com/static/crawling/ipranges/common-crawlers.json",
    ),
    (
        "https://developers.google.com/static/search/apis/ipranges/special-crawlers.json",
        "https://developers.google.com/static/crawling/ipranges/special-crawlers.json",
    ),
    (
        "https://developers.google.com/search/apis/ipranges/special-crawlers.json",
        "https://developers.google.com/static/crawling/ipranges/special-crawlers.json",
    ),
    (
        "https://developers.google.com/static/search/apis/ipranges/user-triggered-fetchers.json",
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers.json",
    ),
    (
        "https://developers.google.com/search/apis/ipranges/user-triggered-fetchers.json",
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers.json",
    ),
    (
        "https://developers.google.com/static/search/apis/ipranges/user-triggered-fetchers-google.json",
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers-google.json",
    ),
    (
        "https://developers.google.com/search/apis/ipranges/user-triggered-fetchers-google.json",
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers-google.json",
    ),
    (
        "https://www.perplexity.ai/perplexitybot.json",
        "https://www.perplexity.com/perplexitybot.json",
    ),
    (
        "https://www.perplexity.ai/perplexity-user.json",
        "https://www.perplexity.com/perplexity-user.json",
    ),
];

/// `url`, and then the former URLs of its list.
pub(crate) fn all_urls(url: &str) -> impl Iterator<Item = &str> {
    let former = RENAMED.iter().filter(move |(_, now)| *now == url).map(|(former, _)| *former);
    std::iter::once(url).chain(former)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::registry::Registry;

    #[test]
    fn lists_of_the_registry_are_found_by_former_urls() {
        let registry = Registry::builtin();
        let has = |url: &str| {
            registry.iter().any(|(_, crawler)| crawler.ip_list_urls.iter().any(|of| of == url))
        };
        for (former, now) in RENAMED {
            assert!(has(now), "{now}");
            assert!(!has(former), "{former}");
            assert!(all_urls(now).any(|url| url == former));
        }
    }
}
