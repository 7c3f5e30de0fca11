//! A directory of published range lists, and the crawlers that their addresses belong to.
//!
//! A list is found by the URL at which its operator publishes it (`ip_list_urls` of the
//! registry): in the file that `manifest.json` names for it, or else in the one that is named
//! like the URL ([`file_name`]), or else in one named like the URL's last part, where no
//! other list's URL ends so. The same is tried with the URLs at which it was published before.

use crate::crawlers::crawler::{Crawler, CrawlerId};
use crate::crawlers::identity::ContradictingTimes;
use crate::crawlers::manifest::{self, MANIFEST, ManifestEntry};
use crate::crawlers::networks::{Network, Networks};
use crate::crawlers::range_list::{Filter, RangeList};
use crate::crawlers::registry::Registry;
use crate::crawlers::renamed_lists::all_urls;
use crate::error::{Error, Result};
use crate::files::{read_up_to, visible_entries};
use crate::time::UtcTime;

use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::{fs, io, net::IpAddr, path::Path};

/// The largest list that is read; AWS's, the largest known, has 2 MiB.
pub(crate) const LIST_BYTES_MAX: u64 = 16 << 20;

/// The longest name that is derived from a URL, in bytes; file systems allow 255.
const NAME_BYTES_MAX: usize = 200;

/// The result of looking an address up in range lists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RangeAnswer {
    /// A list contains the address.
    Contains,
    /// All lists of the crawler were read to the last entry, are of the time of the request, and
    /// none contains it.
    Contradicts,
    /// The same, but a list is of another time.
    LacksAtOtherTime,
    /// There is no list of this crawler, or one is missing or could not be read whole.
    NoAnswer,
}

/// The lists of all crawlers of one registry.
#[derive(Debug, Default)]
pub struct Ranges {
    /// For each crawler; `None` if its operator publishes no list.
    by_crawler: Vec<Option<usize>>,
    /// The merged networks of each distinct set of lists.
    sets: Vec<RangeSet>,
    /// In the order of their URLs.
    lists: Vec<List>,
    /// Names in the directory that were not used, in order.
    unused: Vec<String>,
}

#[derive(Debug)]
struct RangeSet {
    /// Places in `lists`.
    lists: Vec<usize>,
    networks: Networks,
    /// Whether all lists are complete, so that an address outside is spoofed.
    is_whole: bool,
    /// When that holds.
    times: ContradictingTimes,
}

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
    networks: Vec<Network>,
}

impl Ranges {
    /// Reads the lists of `registry` that are in `directory`.
    ///
    /// # Errors
    /// If the directory cannot be listed, contains no list that the registry names, or contains an
    /// invalid manifest. A list that cannot be read is not an error but a fault of that list.
    pub fn open(directory: &Path, registry: &Registry) -> Result<Ranges> {
        let names = names_in(directory)?;
        let entries = match names.contains(MANIFEST) {
            true => read_manifest(&directory.join(MANIFEST))?,
            false => Vec::new(),
        };
        let files =
            Files { directory, names: &names, entries: &entries, ends: last_parts(registry) };
        let mut ranges = Ranges::default();
        let mut indexes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut sets: HashMap<Vec<usize>, usize> = HashMap::new();
        for (_, crawler) in registry.iter() {
            let mut lists = Vec::new();
            for url in &crawler.ip_list_urls {
                let index = *indexes.entry((url, &crawler.ip_list_format)).or_insert_with(|| {
                    ranges.lists.push(files.read(url, Filter::of_format(&crawler.ip_list_format)));
                    ranges.lists.len() - 1
                });
                lists.push(index);
            }
            let set = (!lists.is_empty()).then(|| {
                *sets.entry(lists).or_insert_with_key(|lists| {
                    ranges.sets.push(RangeSet::new(lists, &ranges.lists));
                    ranges.sets.len() - 1
                })
            });
            ranges.by_crawler.push(set);
        }
        if ranges.lists.iter().all(|list| list.file.is_none()) {
            return Err(nothing_found(directory));
        }
        ranges.lists.iter_mut().for_each(|list| list.networks = Vec::new());
        let used: BTreeSet<&str> =
            ranges.lists.iter().filter_map(|list| list.file.as_deref()).collect();
        let is_unused = |name: &&String| name.as_str() != MANIFEST && !used.contains(name.as_str());
        ranges.unused = names.iter().filter(is_unused).cloned().collect();
        Ok(ranges)
    }

    /// Looks the `address` of a request at `time` up in the lists of `crawler`. If it may have been
    /// zeroed in part for privacy, it is outside only if no address that it may stand for is in a
    /// list.
    #[inline]
    pub(crate) fn answer(&self, crawler: CrawlerId, address: IpAddr, time: UtcTime) -> RangeAnswer {
        let Some(RangeSet { networks, is_whole, times, .. }) = self.set_of(crawler) else {
            return RangeAnswer::NoAnswer;
        };
        if networks.contains(address) {
            RangeAnswer::Contains
        } else if !is_whole || networks.overlaps(Network::possibly_masked(address)) {
            RangeAnswer::NoAnswer
        } else if times.contain(time) {
            RangeAnswer::Contradicts
        } else {
            RangeAnswer::LacksAtOtherTime
        }
    }

    /// Whether a list of `crawler` contains `address`.
    pub(crate) fn contain(&self, crawler: CrawlerId, address: IpAddr) -> bool {
        self.set_of(crawler).is_some_and(|set| set.networks.contains(address))
    }

    /// All networks of the lists of `crawler`, as far as they could be read.
    pub(crate) fn networks_of(&self, crawler: CrawlerId) -> impl Iterator<Item = Network> {
        self.set_of(crawler).into_iter().flat_map(|set| set.networks.iter())
    }

    /// The lists of `crawler`, found or not; none where its operator publishes none.
    pub(crate) fn lists_of(&self, crawler: CrawlerId) -> impl Iterator<Item = &List> {
        let set = self.set_of(crawler).into_iter();
        set.flat_map(|set| set.lists.iter().map(|&list| &self.lists[list]))
    }

    fn set_of(&self, crawler: CrawlerId) -> Option<&RangeSet> {
        let set = self.by_crawler.get(crawler.index()).copied().flatten()?;
        Some(&self.sets[set])
    }

    /// Files of the directory that are not lists of a crawler, in order.
    pub(crate) fn unused(&self) -> &[String] {
        &self.unused
    }
}

impl RangeSet {
    fn new(indexes: &[usize], lists: &[List]) -> RangeSet {
        let chosen = || indexes.iter().map(|&index| &lists[index]);
        RangeSet {
            lists: indexes.to_vec(),
            networks: Networks::new(chosen().flat_map(|list| list.networks.iter().copied())),
            is_whole: chosen().all(|list| list.fault.is_none()),
            times: ContradictingTimes::of_all(chosen().map(List::time)),
        }
    }
}

impl List {
    /// The time that it is of, as far as that is known.
    fn time(&self) -> Option<UtcTime> {
        self.created.or(self.fetched_at)
    }
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
struct Files<'a> {
    directory: &'a Path,
    names: &'a BTreeSet<String>,
    entries: &'a [ManifestEntry],
    ends: HashMap<&'a str, usize>,
}

impl Files<'_> {
    fn read(&self, url: &str, filter: Option<Filter<'_>>) -> List {
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
            networks: Vec::new(),
        };
        let Some(file) = &list.file else {
            list.fault = Some("not in the directory".to_owned());
            return list;
        };
        match read_file(&self.directory.join(file)) {
            Err(err) => list.fault = Some(format!("cannot be read: {err}")),
            Ok((text, written_at)) => {
                let read = RangeList::read(&text, filter);
                list.fault = cut_short(entry, text.len()).or_else(|| fault(&read));
                list.created = read.created;
                list.fetched_at = list.fetched_at.or(written_at);
                list.networks = read.networks;
            }
        }
        list
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

fn read_manifest(path: &Path) -> Result<Vec<ManifestEntry>> {
    let (text, _) = read_file(path).map_err(|err| Error::io("cannot read", path, err))?;
    manifest::read(path, &text)
}

/// The bytes of a file, and when it was last written.
fn read_file(path: &Path) -> io::Result<(Vec<u8>, Option<UtcTime>)> {
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

fn nothing_found(directory: &Path) -> Error {
    let url = "https://openai.com/gptbot.json";
    let why = format!(
        "contains no list of a known crawler; name each file like the URL of its list: {url} is \
         {} or gptbot.json",
        file_name(url)
    );
    Error::invalid_file(directory, why)
}

#[cfg(test)]
mod tests;
