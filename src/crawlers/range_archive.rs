//! Writes a directory of what operators publish, address lists or keys, that keeps earlier versions.
//!
//! The directory has the newest list of each URL, so that it can be used without its history. When another
//! list takes its place, the older one moves to `history/`. A list that was fetched again and has not
//! changed is kept once, with the times at which it was seen.

use std::fs;
use std::path::{Path, PathBuf};

use crate::digest::sha256;
use crate::error::{Error, Result};
use crate::staged::replace;
use crate::time::{DAY_SECONDS, UtcTime};

use super::manifest::{self, MANIFEST, ManifestEntry};
use super::range_files::{HISTORY, file_name, read_file, read_manifest};
use super::range_list::{Filter, RangeList};
use super::{identity::CONTRADICTING_DAYS, networks::Networks};

/// A kind of files that operators publish and change.
#[derive(Debug)]
pub(crate) struct PublishedKind {
    /// What a file of this kind is.
    pub what: &'static str,
    /// When a file says that it was made, if it does; the error says why it is of another kind.
    pub read: fn(&[u8]) -> std::result::Result<Option<UtcTime>, String>,
}

/// Lists of addresses.
pub(crate) const ADDRESS_LISTS: PublishedKind = PublishedKind {
    what: "a list of addresses",
    read: |text| {
        let list = RangeList::read(text, None);
        match list.networks.is_empty() {
            true => Err(list.first_fault.unwrap_or_default()),
            false => Ok(list.created),
        }
    },
};

/// The most seconds between two sightings of a list that tell as much as one more in between.
const SIGHTINGS_APART_MAX: i64 = 2 * CONTRADICTING_DAYS * DAY_SECONDS;

/// The longest part of a file's name that comes from the URL, so that the rest fits.
const NAME_BYTES_MAX: usize = 150;

/// A directory of lists that is being written.
#[derive(Debug)]
pub(crate) struct RangeArchive {
    directory: PathBuf,
    kind: &'static PublishedKind,
    newest: Vec<ManifestEntry>,
    history: Vec<ManifestEntry>,
}

impl RangeArchive {
    /// Reads the manifests in `directory`, if there are any.
    ///
    /// # Errors
    /// If they cannot be read, or are not manifests.
    pub(crate) fn open(directory: &Path, kind: &'static PublishedKind) -> Result<RangeArchive> {
        let known = |path: PathBuf| match fs::exists(&path) {
            Ok(false) => Ok(Vec::new()),
            _ => read_manifest(&path),
        };
        let newest = known(directory.join(MANIFEST))?;
        let history = known(directory.join(HISTORY).join(MANIFEST))?;
        Ok(RangeArchive { directory: directory.to_owned(), kind, newest, history })
    }

    /// What its files are.
    pub(crate) fn kind(&self) -> &'static PublishedKind {
        self.kind
    }

    /// The newest lists.
    pub(crate) fn newest(&self) -> &[ManifestEntry] {
        &self.newest
    }

    /// Puts the list of `url`, which was downloaded at `now`, in the place of an older one, and keeps
    /// that, unless `are_same` says that users find the same in both. The pages of `crawlers` named it.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn put_newest(
        &mut self,
        url: &str,
        text: &[u8],
        now: UtcTime,
        are_same: &dyn Fn(&[u8], &[u8]) -> bool,
        crawlers: &[String],
    ) -> Result<()> {
        let created = (self.kind.read)(text).ok().flatten().filter(|&created| created <= now);
        let mut seen = Vec::new();
        if let Some((known, known_text)) = self.known(url) {
            let is_same = known_text == text || are_same(&known_text, text);
            let (last, first) = (known.last_seen(), known.times().next());
            let is_new = created.is_some_and(|created| last.is_none_or(|last| created > last));
            match is_same {
                true => seen = known.times().collect(),
                false => self.keep(&known, &known_text, first.unwrap_or(now))?,
            }
            // A list that changed without a new time was made at an unknown one.
            seen.extend(created.filter(|_| is_new));
        } else {
            seen.extend(created);
        }
        seen.push(now);
        seen.sort_unstable();
        self.thin(url, &mut seen);
        let file = file_name(url);
        replace(&self.directory.join(&file), text)?;
        let size_bytes = text.len() as u64;
        self.newest.retain(|known| known.url != url);
        self.newest.push(ManifestEntry {
            url: url.to_owned(),
            file,
            fetched_at: now,
            size_bytes,
            seen,
            crawlers: crawlers.to_vec(),
        });
        self.newest.sort_by(|left, right| left.url.cmp(&right.url));
        // Written after each list, so that it is correct whenever the run is stopped.
        replace(&self.directory.join(MANIFEST), manifest::write(&self.newest).as_bytes())
    }

    /// The list of `url` in the directory itself, and when it was seen; `None` if there is none, or
    /// it is not the one that the manifest names.
    fn known(&self, url: &str) -> Option<(ManifestEntry, Vec<u8>)> {
        let named = self.newest.iter().find(|entry| entry.url == url);
        let file = named.map_or_else(|| file_name(url), |entry| entry.file.clone());
        let (text, written_at) = read_file(&self.directory.join(&file)).ok()?;
        let created = (self.kind.read)(&text).ok()?;
        let size_bytes = text.len() as u64;
        if named.is_some_and(|entry| entry.size_bytes != size_bytes) {
            return None;
        }
        let mut entry = match named {
            Some(entry) => entry.clone(),
            None => {
                let (url, fetched_at) = (url.to_owned(), written_at?);
                ManifestEntry {
                    url,
                    file,
                    fetched_at,
                    size_bytes,
                    seen: Vec::new(),
                    crawlers: Vec::new(),
                }
            }
        };
        if entry.seen.is_empty() {
            let created = created.filter(|&created| created <= entry.fetched_at);
            entry.seen.push(created.unwrap_or(entry.fetched_at));
        }
        Some((entry, text))
    }

    /// Adds the version `text` of the list of `url`, which was the current one at `at`. Returns
    /// whether it was not known.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn add_version(&mut self, url: &str, text: &[u8], at: UtcTime) -> Result<bool> {
        let is_newest = self
            .known(url)
            .is_some_and(|(known, known_text)| known_text == text && known.seen.contains(&at));
        let end = digest_of(text);
        let is_it = |entry: &&mut ManifestEntry| entry.url == url && entry.file.ends_with(&end);
        let known = self.history.iter_mut().find(is_it);
        if is_newest || known.as_ref().is_some_and(|known| known.seen.contains(&at)) {
            return Ok(false);
        }
        match known {
            Some(known) => {
                known.seen.push(at);
                known.seen.sort_unstable();
            }
            None => {
                let entry = ManifestEntry {
                    url: url.to_owned(),
                    file: String::new(),
                    fetched_at: at,
                    size_bytes: text.len() as u64,
                    seen: vec![at],
                    crawlers: Vec::new(),
                };
                self.write(&entry, text, at)?;
            }
        }
        Ok(true)
    }

    /// Writes the manifest of the history.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn save_history(&self) -> Result<()> {
        let path = self.directory.join(HISTORY).join(MANIFEST);
        replace(&path, manifest::write(&self.history).as_bytes())
    }

    /// Moves a list into the history.
    fn keep(&mut self, known: &ManifestEntry, text: &[u8], first: UtcTime) -> Result<()> {
        self.write(known, text, first)?;
        self.save_history()
    }

    fn write(&mut self, entry: &ManifestEntry, text: &[u8], first: UtcTime) -> Result<()> {
        let folder = self.directory.join(HISTORY);
        fs::create_dir_all(&folder).map_err(|err| Error::io("cannot create", &folder, err))?;
        let time = first.to_string().replace(':', "-");
        let name: String = file_name(&entry.url).chars().take(NAME_BYTES_MAX).collect();
        let file = format!("{name}.{time}-{}", digest_of(text));
        replace(&folder.join(&file), text)?;
        self.history.retain(|known| known.file != file);
        self.history.push(ManifestEntry { file, ..entry.clone() });
        self.history.sort_by(|left, right| (&left.url, &left.seen).cmp(&(&right.url, &right.seen)));
        Ok(())
    }

    /// Leaves out sightings without which no answer changes.
    fn thin(&self, url: &str, seen: &mut Vec<UtcTime>) {
        let of_others = self.history.iter().filter(|entry| entry.url == url);
        let last_other = of_others.filter_map(ManifestEntry::last_seen).max();
        if let &[.., before, _, last] = seen.as_slice()
            && last_other.is_none_or(|other| other < before)
            && last.unix_seconds() - before.unix_seconds() <= SIGHTINGS_APART_MAX
        {
            seen.remove(seen.len() - 2);
        }
    }
}

/// Whether two texts are the same list for all who use it, through the entries of `filters`.
pub(crate) fn are_same_lists(left: &[u8], right: &[u8], filters: &[Option<Filter<'_>>]) -> bool {
    let read = |text, filter| {
        let list = RangeList::read(text, filter);
        (Networks::new(list.networks), list.faults)
    };
    filters.iter().all(|&filter| read(left, filter) == read(right, filter))
}

fn digest_of(text: &[u8]) -> String {
    sha256(&[text])[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: i64) -> UtcTime {
        UtcTime::from_unix_seconds(day * DAY_SECONDS).unwrap()
    }

    /// What the manifests say, with the days of each version.
    fn versions(directory: &Path) -> String {
        let archive = RangeArchive::open(directory, &ADDRESS_LISTS).unwrap();
        let show = |entry: &ManifestEntry| {
            let days = entry.seen.iter().map(|at| (at.unix_seconds() / DAY_SECONDS).to_string());
            days.collect::<Vec<_>>().join(",")
        };
        let show =
            |entries: &[ManifestEntry]| entries.iter().map(show).collect::<Vec<_>>().join(" ");
        format!("{} | {}", show(&archive.history), show(&archive.newest))
    }

    fn same_lists(left: &[u8], right: &[u8]) -> bool {
        are_same_lists(left, right, &[None])
    }

    const URL: &str = "https://example.com/bots.json";

    #[test]
    fn each_fetch_is_kept_once_with_its_times() {
        let directory = tempfile::tempdir().unwrap();
        let put = |text: &str, day: i64, expected: &str| {
            let mut archive = RangeArchive::open(directory.path(), &ADDRESS_LISTS).unwrap();
            archive.put_newest(URL, text.as_bytes(), at(day), &same_lists, &[]).unwrap();
            assert_eq!(versions(directory.path()), expected, "{text} {day}");
            let newest =
                fs::read_to_string(directory.path().join("example.com_bots.json")).unwrap();
            assert_eq!(newest, text);
        };
        let dated = |day: i64, address: &str| {
            format!(r#"{{"creationTime": "{}", "prefixes": ["{address}"]}}"#, at(day))
        };
        put(&dated(7, "192.0.2.1"), 10, " | 7,10");
        put(&dated(7, "192.0.2.1"), 20, " | 7,20");
        put(&dated(7, "192.0.2.1"), 40, " | 7,20,40");
        // The same addresses, written again.
        put(&dated(50, "192.0.2.1"), 51, " | 7,20,40,51");
        put(&dated(60, "192.0.2.2"), 61, "7,20,40,51 | 60,61");
        // A time that cannot be right: the list before was seen later; or it is in the future.
        put(&dated(55, "192.0.2.3"), 62, "7,20,40,51 60,61 | 62");
        put(&dated(99, "192.0.2.4"), 63, "7,20,40,51 60,61 62 | 63");
        put("192.0.2.3", 64, "7,20,40,51 60,61 62 63 | 64");
        let kept = fs::read_dir(directory.path().join(HISTORY)).unwrap().count();
        assert_eq!(kept, 5, "four versions and the manifest");
    }

    #[test]
    fn filters_decide_what_is_the_same() {
        let of = |service: &str, address: &str| {
            format!(
                r#"[{{"service": "mine", "ip": "192.0.2.1"}}, {{"service": "{service}", "ip": "{address}"}}]"#
            )
        };
        let filter = Filter::of_format("json where service=mine");
        for (filters, expected) in [(&[filter][..], " | 1,3"), (&[filter, None], "1 | 3")] {
            let directory = tempfile::tempdir().unwrap();
            for (day, address) in [(1, "192.0.2.7"), (3, "192.0.2.8")] {
                let mut archive = RangeArchive::open(directory.path(), &ADDRESS_LISTS).unwrap();
                let text = of("other", address);
                let are_same = |left: &[u8], right: &[u8]| are_same_lists(left, right, filters);
                archive.put_newest(URL, text.as_bytes(), at(day), &are_same, &[]).unwrap();
            }
            assert_eq!(versions(directory.path()), expected);
        }
    }

    /// Lists that were put there by hand. The time in a list counts unless it is later than the file.
    #[test]
    fn a_list_without_a_manifest_is_as_old_as_its_file() {
        for (created, expected) in [(7, "7 | 30"), (10, "10 | 30"), (99, "10 | 30")] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("example.com_bots.json");
            let created = at(created);
            let text = format!(r#"{{"creationTime": "{created}", "prefixes": ["192.0.2.1"]}}"#);
            fs::write(&path, text).unwrap();
            let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(10 * 86_400);
            fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
            let mut archive = RangeArchive::open(directory.path(), &ADDRESS_LISTS).unwrap();
            archive.put_newest(URL, b"192.0.2.2", at(30), &same_lists, &[]).unwrap();
            assert_eq!(versions(directory.path()), expected, "{created}");
        }
    }

    #[test]
    fn versions_from_elsewhere_are_added_once() {
        let directory = tempfile::tempdir().unwrap();
        let add = |text: &str, day: i64| {
            let mut archive = RangeArchive::open(directory.path(), &ADDRESS_LISTS).unwrap();
            let is_new = archive.add_version(URL, text.as_bytes(), at(day)).unwrap();
            archive.save_history().unwrap();
            is_new
        };
        assert!(add("192.0.2.1", 5) && add("192.0.2.2", 9) && !add("192.0.2.1", 5));
        assert!(add("192.0.2.1", 3), "the same at another time");
        assert_eq!(versions(directory.path()), "3,5 9 | ");
        let mut archive = RangeArchive::open(directory.path(), &ADDRESS_LISTS).unwrap();
        archive.put_newest(URL, b"192.0.2.2", at(9), &same_lists, &[]).unwrap();
        assert!(!archive.add_version(URL, b"192.0.2.2", at(9)).unwrap());
        assert_eq!(archive.history.len(), 2);
    }
}
