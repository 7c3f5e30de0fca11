//! Directories of keys through time: which keys an agent published at the time of a request.
//!
//! `crawlers fetch-keys` and `crawlers import-keys` write them, in the same form as address lists.
//!
//! Names of agents and hosts of their directories are those of Cloudflare's directory of bots. That a host is in the
//! table proves nothing: a signature is verified by the keys that the host publishes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::signatures::check::{DIRECTORY_PATH, Directories, KeyAnswer};
use crate::signatures::keys::{PublicKey, read_keys};
use crate::time::UtcTime;

use super::address_times::{Absence, Moment, absence, around};
use super::manifest::{MANIFEST, ManifestEntry};
use super::range_archive::PublishedKind;
use super::range_files::{HISTORY, read_file, read_manifest};

/// The most versions of one directory that are used, the newest.
const VERSIONS_MAX: usize = 10_000;

/// Directories of keys.
pub(crate) const KEY_DIRECTORIES: PublishedKind =
    PublishedKind { what: "a directory of keys", read: |text| read_keys(text).map(|_| None) };

/// Whether two directories have the same keys.
pub(crate) fn are_same_keys(left: &[u8], right: &[u8]) -> bool {
    read_keys(left).is_ok_and(|left| read_keys(right).is_ok_and(|right| left == right))
}

/// The directories of an archive, by their URLs.
#[derive(Debug, Default)]
pub struct KeyArchive {
    directories: BTreeMap<String, DirectoryTimes>,
}

/// A key with the directory that published it.
#[derive(Debug)]
pub(crate) struct PublishedKey<'k> {
    pub key: &'k PublicKey,
    /// The file of the directory in the archive.
    pub path: &'k Path,
    /// Its content.
    pub text: Vec<u8>,
    /// When it was seen; `None` if this is not known.
    pub seen: Option<UtcTime>,
}

/// One directory through time.
#[derive(Debug, Default)]
struct DirectoryTimes {
    contents: Vec<Vec<PublicKey>>,
    /// A file of each content.
    files: Vec<PathBuf>,
    /// In the order of time; the version of a moment is the index of its content.
    moments: Vec<Moment>,
    /// The crawlers of the registry whose keys these are, in lower case.
    crawlers: Vec<String>,
    /// Files that could not be read.
    faults: Vec<String>,
}

impl KeyArchive {
    /// Reads the archive in `directory`.
    ///
    /// # Errors
    /// If it has no manifest, or an invalid one. A directory of keys that cannot be read is no error.
    pub(crate) fn open(directory: &Path) -> Result<KeyArchive> {
        let mut archive = KeyArchive::default();
        let history = directory.join(HISTORY);
        for folder in [history.as_path(), directory] {
            let manifest = folder.join(MANIFEST);
            if !manifest.is_file() {
                continue;
            }
            let mut entries = read_manifest(&manifest)?;
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_seen()));
            entries.iter().for_each(|entry| archive.add(folder, entry));
        }
        if archive.directories.is_empty() {
            let why = "contains no directory of keys; download some with: botaudit crawlers \
                       fetch-keys DIR";
            return Err(Error::invalid_file(directory, why.to_owned()));
        }
        archive.directories.values_mut().for_each(DirectoryTimes::settle);
        Ok(archive)
    }

    fn add(&mut self, folder: &Path, entry: &ManifestEntry) {
        let times = self.directories.entry(entry.url.clone()).or_default();
        if times.contents.len() == VERSIONS_MAX {
            return;
        }
        let of_table = SignatureAgent::of_directory(&entry.url).map(|agent| agent.crawler);
        let named = entry.crawlers.iter().map(String::as_str).chain(of_table);
        times.crawlers.extend(named.filter(|name| !name.is_empty()).map(str::to_ascii_lowercase));
        let path = folder.join(&entry.file);
        let text = read_file(&path).map_err(|err| err.to_string()).and_then(|(text, _)| {
            let is_whole = text.len() as u64 == entry.size_bytes;
            is_whole.then_some(text).ok_or_else(|| "its size is not that of the manifest".into())
        });
        let read = text.and_then(|text| read_keys(&text));
        let (is_whole, keys) = match read {
            Ok((keys, others)) => (others == 0, keys),
            Err(why) => {
                times.faults.push(format!("{}: {why}", path.display()));
                (false, Vec::new())
            }
        };
        let version = match times.contents.iter().position(|known| *known == keys) {
            Some(known) => known,
            None => {
                times.contents.push(keys);
                times.files.push(path);
                times.contents.len() - 1
            }
        };
        times.moments.extend(entry.times().map(|at| Moment {
            at: Some(at.unix_seconds()),
            version,
            is_whole,
        }));
    }

    /// Whether the directory at `url` is that of the crawler `name`.
    pub(crate) fn is_of_crawler(&self, url: &str, name: &str) -> bool {
        self.crawlers(url).any(|known| known.eq_ignore_ascii_case(name))
    }

    /// The crawlers of the registry whose directory is at `url`, in lower case.
    pub(crate) fn crawlers(&self, url: &str) -> impl Iterator<Item = &str> {
        self.directories.get(url).into_iter().flat_map(|of| &of.crawlers).map(String::as_str)
    }

    /// The key with this thumbprint that the directory at `url` had at `time`, as a file of the archive
    /// still has it.
    pub(crate) fn published(
        &self,
        url: &str,
        thumbprint: &str,
        time: i64,
    ) -> Option<PublishedKey<'_>> {
        let times = self.directories.get(url)?;
        let (key, moment) = times.key_near(thumbprint, time)?;
        let path = &times.files[moment.version];
        let (text, _) = read_file(path).ok()?;
        let (keys, _) = read_keys(&text).ok()?;
        let seen = moment.at.and_then(UtcTime::from_unix_seconds);
        keys.contains(key).then_some(PublishedKey { key, path, text, seen })
    }

    /// How many directories there are, and the first and the last time at which one was seen.
    pub(crate) fn extent(&self) -> (usize, Option<(UtcTime, UtcTime)>) {
        let moments = self.directories.values().flat_map(|of| &of.moments);
        let times = moments.filter_map(|moment| UtcTime::from_unix_seconds(moment.at?));
        (self.directories.len(), times.clone().min().zip(times.max()))
    }

    /// Files that could not be read, and why.
    pub(crate) fn faults(&self) -> impl Iterator<Item = &str> {
        self.directories.values().flat_map(|of| &of.faults).map(String::as_str)
    }
}

impl DirectoryTimes {
    fn settle(&mut self) {
        self.moments.sort_by_key(|moment| moment.at);
        self.crawlers.sort();
        self.crawlers.dedup();
    }

    /// The key that the directory had when it was last seen before `time`, or first seen after it.
    fn key_near(&self, thumbprint: &str, time: i64) -> Option<(&PublicKey, &Moment)> {
        let around = around(&self.moments, time).iter();
        // Two versions of one second count together.
        let of_second = around.clone().filter(|moment| moment.at == Some(time));
        of_second.chain(around).find_map(|moment| {
            let mut keys = self.contents[moment.version].iter();
            Some((keys.find(|key| key.thumbprint == thumbprint)?, moment))
        })
    }
}

impl Directories for KeyArchive {
    fn key(&self, url: &str, thumbprint: &str, time: i64) -> KeyAnswer<'_> {
        let Some(times) = self.directories.get(url) else { return KeyAnswer::NoDirectory };
        if let Some((key, _)) = times.key_near(thumbprint, time) {
            return KeyAnswer::Key(key);
        }
        match absence(&times.moments, time) {
            Absence::Contradicts => KeyAnswer::NotInDirectory,
            Absence::OfOtherTime | Absence::Undecided => KeyAnswer::OtherTime,
        }
    }
}

/// Host, name of the agent, and its crawler in the registry, if it has one.
const TABLE: &str = include_str!("signature_agents.csv");

/// An agent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SignatureAgent {
    /// The host that publishes its keys.
    pub host: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The crawler of the registry that it is; empty if there is none.
    pub crawler: &'static str,
}

impl SignatureAgent {
    /// All agents, by host.
    pub(crate) fn all() -> impl Iterator<Item = SignatureAgent> {
        TABLE.lines().skip(1).map(|line| {
            let mut cells = line.split(',');
            let mut cell = || cells.next().unwrap_or_default();
            SignatureAgent { host: cell(), name: cell(), crawler: cell() }
        })
    }

    /// The URL of its keys.
    pub(crate) fn directory(&self) -> String {
        format!("https://{}{DIRECTORY_PATH}", self.host)
    }

    /// The agent with the directory at `url`.
    pub(crate) fn of_directory(url: &str) -> Option<SignatureAgent> {
        let host = url.strip_prefix("https://")?.strip_suffix(DIRECTORY_PATH)?;
        SignatureAgent::all().find(|agent| agent.host == host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::{range_archive::RangeArchive, registry::Registry};
    use crate::time::DAY_SECONDS;
    use crate::url::origin::Origin;

    const URL: &str = "https://chatgpt.com/.well-known/http-message-signatures-directory";

    /// A directory of Ed25519 keys, of which each has one byte.
    fn directory(keys: &[u8]) -> String {
        let key = |byte: &u8| {
            serde_json::json!({"kty": "OKP", "crv": "Ed25519",
                "x": base64::Engine::encode(&base64::prelude::BASE64_URL_SAFE_NO_PAD, [*byte; 32])})
        };
        serde_json::json!({ "keys": keys.iter().map(key).collect::<Vec<_>>() }).to_string()
    }

    fn thumbprint(key: u8) -> String {
        read_keys(directory(&[key]).as_bytes()).unwrap().0[0].thumbprint.clone()
    }

    /// The archive of directories that were fetched on these days.
    fn archive(versions: &[(i64, &str)]) -> Result<KeyArchive> {
        let place = tempfile::tempdir().unwrap();
        for (day, text) in versions {
            let mut archive = RangeArchive::open(place.path(), &KEY_DIRECTORIES).unwrap();
            let at = UtcTime::from_unix_seconds(day * DAY_SECONDS).unwrap();
            archive.put_newest(URL, text.as_bytes(), at, &are_same_keys, &[]).unwrap();
        }
        KeyArchive::open(place.path())
    }

    fn answer(archive: &KeyArchive, key: u8, day: i64) -> &'static str {
        match archive.key(URL, &thumbprint(key), day * DAY_SECONDS + 7) {
            KeyAnswer::Key(found) => {
                assert_eq!(found.thumbprint, thumbprint(key));
                "key"
            }
            KeyAnswer::NotInDirectory => "not in directory",
            KeyAnswer::OtherTime => "other time",
            KeyAnswer::NoDirectory => "no directory",
        }
    }

    #[test]
    fn keys_are_those_of_the_time() {
        let (one, both, two) = (directory(&[1]), directory(&[1, 2]), directory(&[2]));
        let archive =
            archive(&[(100, &one), (110, &one), (120, &both), (200, &two), (205, &two)]).unwrap();
        for (key, day, expected) in [
            (1, 50, "key"),
            (1, 115, "key"),
            (1, 150, "key"),
            (1, 201, "not in directory"),
            (1, 219, "other time"),
            (2, 105, "not in directory"),
            (2, 115, "key"),
            (2, 400, "key"),
            (3, 115, "not in directory"),
            (3, 160, "other time"),
            (3, 50, "other time"),
        ] {
            assert_eq!(answer(&archive, key, day), expected, "{key} {day}");
        }
        assert!(matches!(
            archive.key("https://x.example/keys", &thumbprint(1), 0),
            KeyAnswer::NoDirectory
        ));
        let days = |times: Option<(UtcTime, UtcTime)>| {
            times.map(|(first, last)| [first, last].map(|at| at.unix_seconds() / DAY_SECONDS))
        };
        assert_eq!((archive.extent().0, days(archive.extent().1)), (1, Some([100, 205])));
        assert!(archive.is_of_crawler(URL, "chatgpt agent"));
        assert!(!archive.is_of_crawler(URL, "GPTBot") && archive.faults().next().is_none());
    }

    /// Pages of several crawlers may name one directory.
    #[test]
    fn a_directory_is_that_of_each_crawler_whose_page_names_it() {
        let place = tempfile::tempdir().unwrap();
        let mut archive = RangeArchive::open(place.path(), &KEY_DIRECTORIES).unwrap();
        let crawlers = ["GPTBot", "bingbot"].map(str::to_owned);
        let (url, text) = ("https://a.example/keys", directory(&[1]));
        let at = UtcTime::from_unix_seconds(DAY_SECONDS).unwrap();
        archive.put_newest(url, text.as_bytes(), at, &are_same_keys, &crawlers).unwrap();
        let archive = KeyArchive::open(place.path()).unwrap();
        assert!(archive.is_of_crawler(url, "GPTBot") && archive.is_of_crawler(url, "Bingbot"));
        assert!(!archive.is_of_crawler(url, "ClaudeBot"));
        assert!(!archive.is_of_crawler("https://b.example/keys", "GPTBot"));
    }

    /// It may have been among those that could not be read.
    #[test]
    fn a_key_is_unknown_only_to_a_directory_that_was_read_whole() {
        let foreign = directory(&[1]).replace(r#"{"keys":["#, r#"{"keys":[{"kty":"other"},"#);
        let archive = archive(&[(100, &foreign)]).unwrap();
        assert_eq!((answer(&archive, 1, 100), answer(&archive, 2, 100)), ("key", "other time"));
        assert!(super::KeyArchive::open(Path::new("/nowhere")).is_err());
    }

    #[test]
    fn hosts_are_in_order_and_crawlers_are_known() {
        let all: Vec<SignatureAgent> = SignatureAgent::all().collect();
        assert!(all.len() > 100 && all.is_sorted_by_key(|agent| agent.host));
        assert!(all.windows(2).all(|pair| pair[0].host != pair[1].host));
        let registry = Registry::builtin();
        for agent in all {
            let origin = Origin::parse(agent.directory().as_bytes()).unwrap();
            assert_eq!((origin.host_and_port(), agent.name.is_empty()), (agent.host, false));
            assert!(
                agent.crawler.is_empty() || registry.find(agent.crawler).is_some(),
                "{agent:?}"
            );
            assert_eq!(SignatureAgent::of_directory(&agent.directory()), Some(agent));
        }
        assert_eq!(SignatureAgent::of_directory("https://example.com/keys"), None);
    }
}
