//! A directory of published range lists, and the crawlers that their addresses belong to.
//!
//! A list is found by the URL at which its operator publishes it (`ip_list_urls` of the
//! registry): in the file that `manifest.json` names for it, or else in the one that is named
//! like the URL ([`file_name`]), or else in one named like the URL's last part, where no
//! other list's URL ends so.

use crate::crawlers::crawler::{Crawler, CrawlerId};
use crate::crawlers::manifest::{self, MANIFEST, ManifestEntry};
use crate::crawlers::networks::{Network, Networks};
use crate::crawlers::range_list::{Filter, RangeList};
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::files::{read_up_to, visible_entries};
use crate::time::UtcTime;

use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::{fs, io, net::IpAddr, path::Path};

/// The largest list that is read; AWS's, the largest known, has 2 MiB.
pub const LIST_BYTES_MAX: u64 = 16 << 20;

/// The longest name that is derived from a URL, in bytes; file systems allow 255.
const NAME_BYTES_MAX: usize = 200;

/// The result of looking an address up in range lists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RangeAnswer {
    /// A list contains the address.
    Contains,
    /// All lists of the crawler were read to the last entry, and none contains it.
    Contradicts,
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
}

/// One published list.
#[derive(Debug)]
pub struct List {
    /// The URL at which its operator publishes it.
    pub url: String,
    /// The file in the directory; `None` if there is none.
    pub file: Option<String>,
    /// The day of its creation, if it has one.
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

    /// Looks `address` up in the lists of `crawler`. If it may have been zeroed in part for
    /// privacy, it is outside only if no address that it may stand for is in a list.
    #[inline]
    pub fn answer(&self, crawler: CrawlerId, address: IpAddr) -> RangeAnswer {
        let Some(&Some(set)) = self.by_crawler.get(crawler.index()) else {
            return RangeAnswer::NoAnswer;
        };
        let RangeSet { networks, is_whole, .. } = &self.sets[set];
        if networks.contains(address) {
            RangeAnswer::Contains
        } else if !is_whole || networks.overlaps(Network::possibly_masked(address)) {
            RangeAnswer::NoAnswer
        } else {
            RangeAnswer::Contradicts
        }
    }

    /// All networks of the lists of `crawler`, as far as they could be read.
    pub fn networks_of(&self, crawler: CrawlerId) -> impl Iterator<Item = Network> {
        let set = self.by_crawler.get(crawler.index()).copied().flatten();
        set.into_iter().flat_map(|set| self.sets[set].networks.iter())
    }

    /// The lists of `crawler`, found or not; none where its operator publishes none.
    pub fn lists_of(&self, crawler: CrawlerId) -> impl Iterator<Item = &List> {
        let set = self.by_crawler.get(crawler.index()).copied().flatten();
        set.into_iter().flat_map(|set| self.sets[set].lists.iter().map(|&list| &self.lists[list]))
    }

    /// Files of the directory that are not lists of a crawler, in order.
    pub fn unused(&self) -> &[String] {
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
        }
    }
}

/// The name of the file that holds the list of `url`, where no manifest says otherwise: the URL without
/// scheme and `www.`, and `_` for whatever is neither a letter, a digit, `.` nor `-`.
///
/// `https://www.bing.com/toolbox/bingbot.json` is in `bing.com_toolbox_bingbot.json`.
pub fn file_name(url: &str) -> String {
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

/// How many URLs of the registry end in each last part.
fn last_parts(registry: &Registry) -> HashMap<&str, usize> {
    let urls: BTreeSet<&String> =
        registry.iter().flat_map(|(_, crawler): (_, &Crawler)| &crawler.ip_list_urls).collect();
    let mut counts = HashMap::new();
    for last in urls.into_iter().filter_map(|url| last_part(url)) {
        *counts.entry(last).or_default() += 1;
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
        let entry = self.entries.iter().find(|entry| entry.url == url);
        let file = match entry {
            Some(entry) => Some(entry.file.clone()),
            None => self.file_of(url),
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
mod tests {
    use super::*;

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(directory.path().join(name), text).unwrap());
        directory
    }

    fn answers(files: &[(&str, &str)], cases: &[(&str, &str, RangeAnswer)]) -> Ranges {
        let registry = Registry::builtin();
        let directory = directory(files);
        let ranges = Ranges::open(directory.path(), &registry).unwrap();
        for (crawler, address, expected) in cases {
            let id = registry.find(crawler).unwrap();
            let address = address.parse().unwrap();
            assert_eq!(ranges.answer(id, address), *expected, "{crawler} {address}");
        }
        ranges
    }

    const COMMON: &str = "developers.google.com_static_crawling_ipranges_common-crawlers.json";

    #[test]
    fn names_are_derived_from_urls() {
        for (url, expected) in [
            ("https://www.bing.com/toolbox/bingbot.json", "bing.com_toolbox_bingbot.json"),
            ("https://developers.google.com/static/crawling/ipranges/common-crawlers.json", COMMON),
            ("https://www.cloudflare.com/ips-v4/", "cloudflare.com_ips-v4"),
            ("https://x.example/a.php?format=json&b=%2F", "x.example_a.php_format_json_b__2F"),
            ("http://../../etc/passwd", "_.._etc_passwd"),
        ] {
            assert_eq!(file_name(url), expected);
            assert!(!file_name(url).contains('/'));
        }
        // No two lists of the registry share a file.
        let registry = Registry::builtin();
        let urls: BTreeSet<_> =
            registry.iter().flat_map(|(_, crawler)| &crawler.ip_list_urls).collect();
        let names: BTreeSet<_> = urls.iter().map(|url| file_name(url)).collect();
        assert_eq!(names.len(), urls.len());
    }

    #[test]
    fn the_lists_of_a_crawler_decide() {
        use RangeAnswer::*;
        let google = r#"{"prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}"#;
        let special = r#"{"prefixes": [{"ipv4Prefix": "72.14.199.0/24"}]}"#;
        answers(
            &[
                (COMMON, google),
                ("special-crawlers.json", special),
                ("gptbot.json", "20.171.206.7"),
            ],
            &[
                ("Googlebot", "66.249.64.1", Contains),
                ("Googlebot-Image", "::ffff:66.249.64.1", Contains),
                ("Googlebot", "66.249.65.1", Contradicts),
                // Google's, but not this crawler's.
                ("Googlebot", "72.14.199.1", Contradicts),
                ("AdsBot-Google", "72.14.199.1", Contains),
                ("AdsBot-Google", "66.249.64.1", Contradicts),
                ("FeedFetcher-Google", "66.249.64.1", NoAnswer),
                ("GPTBot", "20.171.206.7", Contains),
                ("GPTBot", "2001:db8::1", Contradicts),
                // It may stand for 256 addresses, and one of them is in the list.
                ("GPTBot", "20.171.206.0", NoAnswer),
                ("GPTBot", "20.171.207.0", Contradicts),
                ("Bytespider", "66.249.64.1", NoAnswer),
            ],
        );
    }

    #[test]
    fn what_is_not_whole_contradicts_nobody() {
        use RangeAnswer::*;
        let ranges = answers(
            &[
                ("ipv4", "192.0.2.1"),
                ("gptbot.json", "192.0.2.1\nx\ny"),
                ("bingbot.json", "{"),
                ("geofeed", "<p>"),
            ],
            &[
                // The other list of Pingdom, of IPv6, is missing.
                ("Pingdom", "192.0.2.1", Contains),
                ("Pingdom", "192.0.2.2", NoAnswer),
                ("GPTBot", "192.0.2.1", Contains),
                ("GPTBot", "192.0.2.2", NoAnswer),
                ("bingbot", "192.0.2.1", NoAnswer),
                ("FacebookBot", "192.0.2.1", NoAnswer),
            ],
        );
        let registry = Registry::builtin();
        let faults = |name: &str| {
            let lists = ranges.lists_of(registry.find(name).unwrap());
            lists.map(|list| list.fault.clone().unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(faults("GPTBot"), ["line 2: 'x': not an address or network (and 1 more)"]);
        assert_eq!(faults("Pingdom"), ["", "not in the directory"]);
    }

    #[test]
    fn the_manifest_names_files_and_dates() {
        let manifest = |size: usize| {
            format!(
                r#"{{"schema_version": 1, "lists": [{{"url": "https://openai.com/gptbot.json", "file": "a",
                    "fetched_at_utc": "2026-03-01T10:00:00Z", "size_bytes": {size}}}]}}"#
            )
        };
        let list = r#"{"creationTime": "2026-02-01T00:00:00", "prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}"#;
        let registry = Registry::builtin();
        let gptbot = registry.find("GPTBot").unwrap();
        let ranges = answers(&[("a", list), (MANIFEST, &manifest(list.len())), ("b", "")], &[]);
        let found = ranges.lists_of(gptbot).next().unwrap();
        assert_eq!(found.created.unwrap().to_string(), "2026-02-01T00:00:00Z");
        assert_eq!(found.fetched_at.unwrap().to_string(), "2026-03-01T10:00:00Z");
        assert_eq!((found.fault.as_deref(), ranges.unused()), (None, &["b".to_owned()][..]));

        let ranges = answers(&[("a", list), (MANIFEST, &manifest(1000))], &[]);
        let fault = ranges.lists_of(gptbot).next().unwrap().fault.clone().unwrap();
        assert!(
            fault.ends_with("bytes, but manifest.json says 1000; download it again"),
            "{fault}"
        );
    }

    #[test]
    fn a_directory_without_lists_is_an_error() {
        let registry = Registry::builtin();
        let open = |path: &Path| Ranges::open(path, &registry).unwrap_err().to_string();
        assert!(
            open(Path::new("/nonexistent")).starts_with("cannot list --ip-ranges /nonexistent: ")
        );
        let directory = directory(&[("x.json", "{}")]);
        assert!(open(directory.path()).contains("is openai.com_gptbot.json or gptbot.json"));
    }
}
