//! Expands the arguments of the user (files, directories, patterns, `-`) to a list of sources; and the part of a
//! log's name that rotation and compression do not change.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs};

use glob::MatchOptions;
use serde::{Deserialize, Serialize};

use crate::files::visible_entries;
use crate::numbers::counted;

/// Something to read.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Source {
    /// The path as the user would write it, `-` for standard input. Bytes that
    /// are not UTF-8 are replaced: it is for people, not for opening.
    pub name: String,
    /// Its location.
    pub location: Location,
}

/// The location of a source.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Location {
    /// Standard input.
    Stdin,
    /// A file, or anything else with a path.
    File(PathBuf),
    /// There is nothing to open, for this reason.
    Nowhere(String),
}

impl Source {
    /// The size on disk in bytes; `None` if it is not known before reading.
    pub(crate) fn size_bytes(&self) -> Option<u64> {
        match &self.location {
            Location::Stdin => None,
            Location::Nowhere(_) => Some(0),
            Location::File(path) => {
                fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|data| data.len())
            }
        }
    }
}

/// The index of a source in the list of [`expand`].
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct FileId(u32);

impl FileId {
    /// The id of the source at `index`.
    pub fn from_index(index: usize) -> FileId {
        FileId(u32::try_from(index).expect("nobody has four thousand million files"))
    }

    /// The index in the list of sources.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Like a shell: a `*` matches no hidden file and no `/`.
const LIKE_A_SHELL: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// All sources of `arguments`, sorted by name. A directory means the files directly in it, without
/// hidden ones; a pattern means its matches. A file with several names comes once, under the first
/// name. A missing file is included and fails when it is opened, so that the others are still read.
pub fn expand(arguments: &[OsString]) -> Vec<Source> {
    let mut found = SourceList::default();
    arguments.iter().for_each(|argument| found.add(argument));
    found.paths.sort_unstable();
    let mut names: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for path in found.paths {
        // The path of a pipe of the shell (`<(...)`) cannot be resolved.
        let canonical = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        names.entry(canonical).or_insert(path);
    }
    let mut sources = found.others;
    sources.extend(names.into_values().map(file));
    sources.sort_by(|left, right| left.name.cmp(&right.name));
    sources.dedup();
    sources
}

/// A sentence about the directories that [`expand`] finds in directories of `arguments` and does not read; `None` if
/// there are none. Empty ones and those that an argument names are not among them.
pub(crate) fn unread_directories(arguments: &[OsString]) -> Option<String> {
    let mut found = SourceList::default();
    arguments.iter().for_each(|argument| found.add(argument));
    let is_read = |directory: &Path| found.directories.iter().any(|read| read == directory);
    let has_entries = |directory: &Path| visible_entries(directory).is_ok_and(|of| !of.is_empty());
    let below = found.directories.iter().filter_map(|directory| visible_entries(directory).ok());
    let unread: Vec<PathBuf> = below
        .flatten()
        .filter(|path| path.is_dir() && !is_read(path) && has_entries(path))
        .collect();
    Some(format!(
        "not read: {} within the given directories; the first is {}; to read its files, name it, \
         too",
        counted(unread.len() as u64, "folder"),
        unread.first()?.display()
    ))
}

fn file(path: PathBuf) -> Source {
    Source { name: path.to_string_lossy().into_owned(), location: Location::File(path) }
}

/// The sources so far.
#[derive(Default)]
struct SourceList {
    paths: Vec<PathBuf>,
    /// Directories whose files are among the paths.
    directories: Vec<PathBuf>,
    /// Standard input, and missing files.
    others: Vec<Source>,
}

impl SourceList {
    fn add(&mut self, argument: &OsStr) {
        if argument == "-" {
            self.others.push(Source { name: "-".to_owned(), location: Location::Stdin });
            return;
        }
        let path = Path::new(argument);
        let pattern = argument.to_str().filter(|text| text.contains(['*', '?', '[']));
        match (fs::metadata(path), pattern) {
            (Ok(data), _) if data.is_dir() => self.add_directory(path),
            (Err(_), Some(pattern)) => self.add_pattern(pattern),
            _ => self.paths.push(path.to_owned()),
        }
    }

    /// Adds the matches of `pattern`; a directory means its files.
    fn add_pattern(&mut self, pattern: &str) {
        let matches = match glob::glob_with(pattern, LIKE_A_SHELL) {
            Ok(matches) => matches,
            Err(err) => return self.add_nothing(pattern, format!("invalid pattern: {err}")),
        };
        let before = self.paths.len() + self.others.len();
        for path in matches {
            match path {
                Ok(path) if path.is_dir() => self.add_directory(&path),
                Ok(path) => self.paths.push(path),
                Err(err) => {
                    self.add_nothing(
                        &err.path().to_string_lossy(),
                        format!("cannot read: {}", err.error()),
                    );
                }
            }
        }
        if self.paths.len() + self.others.len() == before {
            self.add_nothing(pattern, "no file matches this pattern".to_owned());
        }
    }

    fn add_directory(&mut self, directory: &Path) {
        let before = self.paths.len();
        self.directories.push(directory.to_owned());
        match visible_entries(directory) {
            Ok(entries) => self.paths.extend(entries.into_iter().filter(|path| !path.is_dir())),
            Err(err) => {
                self.add_nothing(&directory.to_string_lossy(), format!("cannot read: {err}"))
            }
        }
        if self.paths.len() == before {
            let why = "this directory contains no files; name another".to_owned();
            self.add_nothing(&directory.to_string_lossy(), why);
        }
    }

    fn add_nothing(&mut self, name: &str, why: String) {
        self.others.push(Source { name: name.to_owned(), location: Location::Nowhere(why) });
    }
}

/// `name` without the suffixes of rotation and compression: `access.log` for `access.log.2.gz` and
/// `access.log-20261120.zst`.
pub(crate) fn lasting_name(name: &str) -> String {
    let mut name = name;
    loop {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let shorter = match name.rsplit_once('.') {
            Some((start, "gz" | "zst" | "bz2" | "xz" | "old")) => Some(start),
            Some((start, end)) if is_number(end) && end.len() <= 5 => Some(start),
            _ => name.rsplit_once('-').and_then(|(start, end)| {
                let is_date = is_number(end) && (8..=14).contains(&end.len());
                is_date.then_some(start)
            }),
        };
        match shorter.filter(|name| !name.is_empty() && !name.ends_with('/')) {
            Some(shorter) => name = shorter,
            None => return name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names and reasons that `arguments` give in a directory with some
    /// files; all relative to it.
    fn names(arguments: &[&str]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for directory in ["logs", "logs/below", "empty"] {
            fs::create_dir(root.join(directory)).unwrap();
        }
        for path in ["logs/b.log", "logs/a.log.gz", "logs/.hidden", "logs/below/c.log", "x[1].log"]
        {
            fs::write(root.join(path), b"").unwrap();
        }
        let arguments: Vec<OsString> = arguments
            .iter()
            .map(|name| if *name == "-" { "-".into() } else { root.join(name).into_os_string() })
            .collect();
        let prefix = format!("{}/", root.display());
        let name = |source: &Source| match &source.location {
            Location::Nowhere(why) => format!("{}: {why}", source.name).replace(&prefix, ""),
            _ => source.name.replace(&prefix, ""),
        };
        expand(&arguments).iter().map(name).collect()
    }

    #[track_caller]
    fn check(arguments: &[&str], expected: &[&str]) {
        assert_eq!(names(arguments), expected);
    }

    #[test]
    fn sorts_and_takes_each_file_once() {
        check(&["logs/b.log", "logs/a.log.gz"], &["logs/a.log.gz", "logs/b.log"]);
        check(&["logs/b.log", "logs/../logs/b.log"], &["logs/../logs/b.log"]);
        check(&["logs", "logs/*.log", "logs/b.log"], &["logs/a.log.gz", "logs/b.log"]);
        check(&["logs/b.log", "-", "-"], &["-", "logs/b.log"]);
    }

    #[test]
    fn a_directory_is_its_files_but_not_what_is_hidden_or_deeper() {
        check(&["logs"], &["logs/a.log.gz", "logs/b.log"]);
    }

    #[test]
    fn directories_that_are_not_read_are_named() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for directory in ["logs/below/deeper", "logs/empty", "logs/.hidden/x"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        fs::write(at("logs/below/a.log"), "").unwrap();
        let said = |names: &[&str]| {
            let names: Vec<OsString> = names.iter().map(|name| at(name).into()).collect();
            unread_directories(&names)
        };
        let why = said(&["logs"]).unwrap();
        let start = "not read: 1 folder within the given directories; the first is ";
        assert!(why.starts_with(start) && why.contains("logs/below;"), "{why}");
        assert_eq!(said(&["logs", "logs/below"]), None, "a directory without entries is no loss");
        assert_eq!(said(&["logs/below/a.log"]), None);
        fs::write(at("logs/below/deeper/b.log"), "").unwrap();
        assert!(said(&["logs/*"]).unwrap().contains("logs/below/deeper;"));
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        check(&["logs/*"], &["logs/a.log.gz", "logs/b.log", "logs/below/c.log"]);
        check(&["*/?.log*"], &["logs/a.log.gz", "logs/b.log"]);
        check(&["x[1].log"], &["x[1].log"]);
    }

    #[test]
    fn what_is_not_there_is_named_and_keeps_nothing_from_being_read() {
        check(&["logs/b.log", "gone.log"], &["gone.log", "logs/b.log"]);
        for (argument, expected) in [
            ("gone*.log", "gone*.log: no file matches this pattern"),
            ("logs/***", "logs/***: invalid pattern: "),
            ("empty", "empty: this directory contains no files"),
        ] {
            let names = names(&["x[1].log", argument]);
            assert!(names.iter().any(|name| name.starts_with(expected)), "{names:?}");
            assert!(names.contains(&"x[1].log".to_owned()), "{names:?}");
        }
    }

    #[test]
    fn names_last_over_rotation() {
        for name in [
            "/var/log/access.log",
            "/var/log/access.log.1",
            "/var/log/access.log.12.gz",
            "/var/log/access.log-20261120",
            "/var/log/access.log-20261120.zst",
            "/var/log/access.log-20261120-1763600000.bz2",
            "/var/log/access.log.old",
        ] {
            assert_eq!(lasting_name(name), "/var/log/access.log", "{name}");
        }
        assert_eq!(lasting_name("logs/.1"), "logs/.1");
        assert_eq!(lasting_name("u_ex261120.log"), "u_ex261120.log");
    }
}
