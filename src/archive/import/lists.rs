//! Imports copies of address lists: files, directories, and the histories of git repositories.

use std::path::{Path, PathBuf};

use crate::crawlers::manifest::{MANIFEST, ManifestEntry};
use crate::crawlers::range_archive::RangeArchive;
use crate::crawlers::range_files::{HISTORY, read_file, read_manifest};
use crate::error::{Error, Result};
use crate::files::visible_entries;
use crate::time::UtcTime;

use super::files::{FetchedAt, fetched_at};
use super::list_names::{ListNames, time_of};

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
}
