//! Imports copies of address lists: files, directories, and the histories of git repositories. Which list a file holds,
//! and of which time it is, is known by its name.
//!
//! Copies of lists have names such as `gptbot-2026-03-01.json`, `GPTBot_20250311_115100.json`, `googlebot.ips`
//! or `2026-03-01/gptbot.json`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::crawlers::manifest::{MANIFEST, ManifestEntry};
use crate::crawlers::range_files::{HISTORY, all_urls, file_name, read_file, read_manifest};
use crate::crawlers::{range_archive::RangeArchive, registry::Registry};
use crate::error::{Error, Result};
use crate::files::visible_entries;
use crate::time::UtcTime;

use super::files::{FetchedAt, fetched_at};
use super::time_named;

/// The deepest folder of a directory that is read.
const DEPTH_MAX: usize = 8;

/// The most files of one directory with its folders.
const FILES_MAX: usize = 200_000;

/// A running import of address lists.
pub(crate) struct ListImport<'a> {
    /// The directory of lists.
    pub archive: &'a mut RangeArchive,
    /// The names of lists.
    pub names: &'a ListNames,
    /// The list of all files, if the user says so.
    pub url: Option<&'a str>,
    /// The time of files that do not say theirs.
    pub at: FetchedAt,
    /// Receives what could not be imported.
    pub problems: &'a mut dyn FnMut(Error),
    /// What was imported.
    pub imported: ImportedLists,
}

/// What an import has added.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct ImportedLists {
    /// Versions, or times of known ones.
    pub added: u64,
    /// Those that were known.
    pub known: u64,
    /// Files that hold no known list.
    pub others: u64,
}

impl ListImport<'_> {
    /// Imports the file or directory at `path`.
    ///
    /// # Errors
    /// If the archive cannot be written. What cannot be read is a problem.
    pub(crate) fn import(&mut self, path: &Path) -> Result<()> {
        if !path.is_dir() {
            if self.url_of(path).is_none() {
                (self.problems)(Error::invalid_file(
                    path,
                    "its name is not that of a known list; add --url with the URL of its list",
                ));
                return Ok(());
            }
            return self.import_file(path);
        }
        let mut left = FILES_MAX;
        self.import_directory(path, DEPTH_MAX, &mut left)
    }

    fn import_directory(&mut self, path: &Path, depth: usize, left: &mut usize) -> Result<()> {
        if path.join(MANIFEST).is_file() && self.url.is_none() {
            return self.import_archive(path);
        }
        let listed = visible_entries(path).map_err(|err| Error::io("cannot list", path, err));
        for entry in self.read(listed).unwrap_or_default() {
            if *left == 0 {
                let why = format!("has more than {FILES_MAX} files; import its folders one by one");
                (self.problems)(Error::invalid_file(path, why));
                return Ok(());
            }
            *left -= 1;
            // A link may lead in a circle.
            let is_directory = entry.is_dir() && !entry.is_symlink();
            if is_directory && depth > 0 {
                self.import_directory(&entry, depth - 1, left)?;
            } else if !entry.is_file() || self.url_of(&entry).is_none() {
                self.imported.others += 1;
            } else {
                self.import_file(&entry)?;
            }
            if *left == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    fn url_of(&self, path: &Path) -> Option<String> {
        self.url.or_else(|| self.names.url_of(path)).map(str::to_owned)
    }

    /// Imports all lists of another directory of lists, with its history.
    fn import_archive(&mut self, path: &Path) -> Result<()> {
        let history = path.join(HISTORY);
        for (folder, is_needed) in [(path, true), (history.as_path(), false)] {
            let manifest = folder.join(MANIFEST);
            if !is_needed && !manifest.is_file() {
                continue;
            }
            for entry in self.read(read_manifest(&manifest)).unwrap_or_default() {
                match self.names.url_now(&entry.url).map(str::to_owned) {
                    Some(url) => self.import_entry(&folder.join(&entry.file), &url, &entry)?,
                    None => self.imported.others += 1,
                }
            }
        }
        Ok(())
    }

    fn import_entry(&mut self, path: &Path, url: &str, entry: &ManifestEntry) -> Result<()> {
        let Some((text, created)) = self.text(path) else { return Ok(()) };
        if text.len() as u64 != entry.size_bytes {
            let why = format!(
                "has {} bytes, but {MANIFEST} says {}; not imported",
                text.len(),
                entry.size_bytes
            );
            (self.problems)(Error::invalid_file(path, why));
            return Ok(());
        }
        let first = created.filter(|_| entry.seen.is_empty());
        let times: Vec<UtcTime> = match first {
            Some(first) => vec![first],
            None => entry.times().collect(),
        };
        times.into_iter().try_for_each(|at| self.add(url, &text, at))
    }

    fn import_file(&mut self, path: &Path) -> Result<()> {
        let Some(url) = self.url_of(path) else { return Ok(()) };
        let Some((text, created)) = self.text(path) else { return Ok(()) };
        let times = match (created, time_of(path)) {
            (Some(created), None) => vec![created],
            (Some(created), Some(dated)) => both(created, dated),
            (None, Some(dated)) => vec![dated],
            (None, None) => self.read(fetched_at(path, self.at)).into_iter().collect(),
        };
        times.into_iter().try_for_each(|at| self.add(&url, &text, at))
    }

    /// Adds the version that was the current one at `at`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn add(&mut self, url: &str, text: &[u8], at: UtcTime) -> Result<()> {
        match self.archive.add_version(url, text, at)? {
            true => self.imported.added += 1,
            false => self.imported.known += 1,
        }
        Ok(())
    }

    /// The text of a list, and when it was made.
    fn text(&mut self, path: &Path) -> Option<(Vec<u8>, Option<UtcTime>)> {
        let read = read_file(path).map_err(|err| Error::io("cannot read", path, err));
        let (text, _) = self.read(read)?;
        let created = self.checked(path, &text)?;
        Some((text, created))
    }

    /// When the list `text` was made, if it says so; `None` for what is not a list.
    pub(crate) fn checked(&mut self, place: &Path, text: &[u8]) -> Option<Option<UtcTime>> {
        let kind = self.archive.kind();
        match (kind.read)(text) {
            Ok(created) => Some(created),
            Err(fault) => {
                let why = format!("not {}: {fault}", kind.what);
                (self.problems)(Error::invalid_file(place, why));
                None
            }
        }
    }

    /// The value; `None` for an error, which is a problem.
    pub(crate) fn read<T>(&mut self, read: Result<T>) -> Option<T> {
        read.map_err(|problem| (self.problems)(problem)).ok()
    }
}

/// The times of a list that was made at `created` and fetched at `dated`, which may be only a day.
pub(crate) fn both(created: UtcTime, dated: UtcTime) -> Vec<UtcTime> {
    let later = created.unix_seconds() - dated.unix_seconds();
    match later {
        // Made on that day; or the name is wrong.
        0.. => vec![created],
        _ => vec![created, dated],
    }
}

/// Where a file of a repository was, for messages.
pub(crate) fn place_in(repository: &Path, path: &[u8], commit: &str) -> PathBuf {
    repository.join(format!("{} in commit {commit}", String::from_utf8_lossy(path)))
}

/// Parts of names of crawlers: other names, such as `ips` or `all`, are those of many lists.
const CRAWLER_WORDS: [&str; 6] = ["agent", "bot", "crawler", "fetcher", "spider", "user"];

/// The shortest name of a list without its ending.
const STEM_BYTES_MIN: usize = 6;

/// The URLs of lists by the names that their files may have.
#[derive(Default)]
pub(crate) struct ListNames {
    /// In lower case; `None` if it is the name of several lists.
    urls: HashMap<String, Option<String>>,
    /// The lists of the registry.
    known: HashSet<String>,
    /// Whether any other URL may be that of a list, too.
    is_open: bool,
}

impl ListNames {
    /// The names of the lists in `registry`.
    pub(crate) fn new(registry: &Registry) -> ListNames {
        let mut names = ListNames::default();
        for (_, crawler) in registry.iter() {
            for now in &crawler.ip_list_urls {
                names.known.insert(now.clone());
                for url in all_urls(now) {
                    names.add(&file_name(url), now);
                    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                    names.add(last, now);
                    names.add(stem(last), now);
                }
            }
        }
        // The name of a crawler comes after those of all lists.
        let mut of_crawlers = ListNames::default();
        for (_, crawler) in registry.iter() {
            if let [url] = crawler.ip_list_urls.as_slice() {
                of_crawlers.add(&crawler.name, url);
            }
        }
        for (name, url) in of_crawlers.urls {
            names.urls.entry(name).or_insert(url);
        }
        names
    }

    /// The names of files that hold what is published at `urls`, and of hosts that publish one of
    /// them. Whatever else is named by its URL is accepted.
    pub(crate) fn of_urls<'a>(urls: impl Iterator<Item = &'a str>) -> ListNames {
        let mut names = ListNames { is_open: true, ..ListNames::default() };
        for url in urls {
            names.known.insert(url.to_owned());
            names.add(&file_name(url), url);
            let host = url.split('/').nth(2).unwrap_or_default();
            names.add(host, url);
            names.add(&format!("{host}.json"), url);
        }
        names
    }

    fn add(&mut self, name: &str, url: &str) {
        let entry = self.urls.entry(name.to_lowercase());
        let known = entry.or_insert_with(|| Some(url.to_owned()));
        if known.as_deref() != Some(url) {
            *known = None;
        }
    }

    /// Whether a crawler uses the list of `url`, now or formerly.
    pub(crate) fn url_now<'a>(&'a self, url: &'a str) -> Option<&'a str> {
        let mut known = self.known.iter().map(String::as_str);
        let now = known.find(|now| all_urls(now).any(|of| of == url));
        now.or_else(|| Some(url).filter(|_| self.is_open && url.starts_with("https://")))
    }

    /// The URL of the list in the file or folder with this path; the folder counts if the file's own name
    /// is only a time.
    pub(crate) fn url_of(&self, path: &Path) -> Option<&str> {
        let name = path.file_name()?.to_str()?;
        let own = undated(name);
        if own.is_empty() || undated(stem(name)).is_empty() {
            return self.url_of_name(path.parent()?.file_name()?.to_str()?);
        }
        self.url_of_name(name)
    }

    fn url_of_name(&self, name: &str) -> Option<&str> {
        let get = |name: &str| self.urls.get(name)?.as_deref();
        let name = undated(name).to_lowercase();
        if let Some(url) = get(&name) {
            return Some(url);
        }
        let stem = stem(&name).trim_matches(is_between);
        let is_of_crawler = CRAWLER_WORDS.iter().any(|word| stem.contains(word));
        get(stem).filter(|_| is_of_crawler && stem.len() >= STEM_BYTES_MIN)
    }
}

/// The time in the name of a file, or else in that of its folder.
pub(crate) fn time_of(path: &Path) -> Option<UtcTime> {
    let name = |path: &Path| path.file_name()?.to_str().map(str::to_owned);
    let in_name = |path: &Path| dated(&name(path)?).map(|(_, time)| time);
    in_name(path).or_else(|| path.parent().and_then(in_name))
}

/// `name` without the time in it.
fn undated(name: &str) -> String {
    let Some((place, _)) = dated(name) else { return name.to_owned() };
    let (before, after) = (&name[..place.start], &name[place.end..]);
    format!("{}{}", before.trim_end_matches(is_between), after.trim_start_matches(is_apart))
}

/// The first time in `name`, and its place.
fn dated(name: &str) -> Option<(std::ops::Range<usize>, UtcTime)> {
    let bytes = name.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let starts = (0..bytes.len()).filter(|&at| is_digit(at) && (at == 0 || !is_digit(at - 1)));
    starts.into_iter().find_map(|start| {
        // The longest first.
        [20, 19, 16, 15, 14, 10, 8].into_iter().find_map(|length| {
            let end = start + length;
            let text = name.get(start..end).filter(|_| !is_digit(end))?;
            let time = time_in(text)?;
            let is_plausible = (0..=32_503_680_000).contains(&time.unix_seconds());
            (is_plausible && text.starts_with(['1', '2'])).then_some((start..end, time))
        })
    })
}

/// The time that all of `text` says.
fn time_in(text: &str) -> Option<UtcTime> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let others = || text.chars().filter(|c| !c.is_ascii_digit());
    if !others().all(|c| "-_TZ:".contains(c)) {
        return None;
    }
    match (digits.len(), text.len()) {
        (8, 8) => time_named(&format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..])),
        (8, 10) => time_named(&text.replace('_', "-")),
        (14, _) => time_named(&digits),
        _ => None,
    }
}

/// `name` without its ending.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 4 => stem,
        _ => name,
    }
}

fn is_between(c: char) -> bool {
    "-_.@ ".contains(c)
}

fn is_apart(c: char) -> bool {
    "-_@ ".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::DAY_SECONDS;

    #[test]
    fn a_list_is_of_the_time_that_it_says_and_of_its_download() {
        let at = |day: i64| UtcTime::from_unix_seconds(day * DAY_SECONDS).unwrap();
        assert_eq!(both(at(3), at(5)), [at(3), at(5)]);
        assert_eq!(both(at(5), at(5)), [at(5)]);
        assert_eq!(both(at(6), at(5)), [at(6)]);
    }

    #[test]
    fn names_of_copies_are_known() {
        let names = ListNames::new(&Registry::builtin());
        let google = "https://developers.google.com/static/crawling/ipranges/common-crawlers.json";
        let openai = "https://openai.com/gptbot.json";
        for (path, url, time) in [
            ("gptbot.json", openai, ""),
            ("openai.com_gptbot.json", openai, ""),
            ("iplists/googlebot.ips", google, ""),
            ("GPTBot_20250311_115100.json", openai, "2025-03-11T11:51:00Z"),
            (
                "ChatGPT-User_20250325_182641.json",
                "https://openai.com/chatgpt-user.json",
                "2025-03-25T18:26:41Z",
            ),
            ("gptbot-2026-03-01.json", openai, "2026-03-01T00:00:00Z"),
            ("gptbot.json.20260301", openai, "2026-03-01T00:00:00Z"),
            ("2026-03-01-gptbot.txt", openai, "2026-03-01T00:00:00Z"),
            ("2026-03-01/gptbot.json", openai, "2026-03-01T00:00:00Z"),
            ("gptbot/2026-03-01T04-00-00Z.json", openai, "2026-03-01T04:00:00Z"),
            ("gptbot.json/20260301040000", openai, "2026-03-01T04:00:00Z"),
            // A crawler with one list of another name.
            ("AhrefsBot.ips", "https://api.ahrefs.com/v3/public/crawler-ip-ranges", ""),
            // Names of many lists, or of none.
            ("ips", "", ""),
            ("ips.txt", "", ""),
            ("all.ips", "", ""),
            ("ip-ranges.json", "", ""),
            ("README.md", "", ""),
            ("2026-03-01", "", "2026-03-01T00:00:00Z"),
            ("x-2026-13-01-99999999", "", ""),
            ("v10000101-8.8.8.8", "", ""),
            ("", "", ""),
        ] {
            let path = Path::new(path);
            assert_eq!(names.url_of(path).unwrap_or_default(), url, "{}", path.display());
            let found = time_of(path).map(|time| time.to_string()).unwrap_or_default();
            assert_eq!(found, time, "{}", path.display());
        }
        assert_eq!(names.url_now(google), Some(google));
        assert_eq!(
            names.url_now("https://developers.google.com/search/apis/ipranges/googlebot.json"),
            Some(google)
        );
        assert_eq!(names.url_now("https://example.com/"), None);
    }
}
