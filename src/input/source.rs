//! What the user named (files, directories, patterns, `-`) to a list of sources.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use glob::MatchOptions;

use crate::error::{Error, Result};

/// Something to read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Source {
    /// The path as the user would write it, `-` for standard input. Bytes that
    /// are not UTF-8 are replaced: it is for people, not for opening.
    pub name: String,
    /// Where its bytes are.
    pub place: Place,
}

/// Where the bytes of a source are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// Standard input.
    Stdin,
    /// A file, or anything else that can be opened by a path.
    File(PathBuf),
}

impl Source {
    /// Bytes as they lie on disk; `None` where that cannot be known beforehand.
    pub fn size_bytes(&self) -> Option<u64> {
        match &self.place {
            Place::Stdin => None,
            Place::File(path) => {
                fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|data| data.len())
            }
        }
    }
}

/// The place of a source in the list that [`expand`] gave.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FileId(u32);

impl FileId {
    /// Of the source at `index`.
    pub fn from_index(index: usize) -> FileId {
        FileId(u32::try_from(index).expect("nobody has four thousand million files"))
    }

    /// Into the list of sources.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Like a shell: a `*` matches no hidden file and no `/`.
const LIKE_A_SHELL: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// All sources that `arguments` name, sorted by name. A directory stands for the
/// files directly in it, but for hidden ones; a pattern that the shell left
/// alone for what it matches. A file that is reached in several ways comes once,
/// under the first of its names. What does not exist is an error.
pub fn expand(arguments: &[OsString]) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    let mut stdin = None;
    for argument in arguments {
        if argument == "-" {
            stdin = Some(Source { name: "-".to_owned(), place: Place::Stdin });
        } else {
            expand_argument(argument, &mut paths)?;
        }
    }
    paths.sort_unstable();
    let mut names: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for path in paths {
        // A pipe of the shell (`<(...)`) has a path that leads nowhere.
        let canonical = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        names.entry(canonical).or_insert(path);
    }
    let mut paths: Vec<PathBuf> = names.into_values().collect();
    paths.sort_unstable();
    Ok(stdin.into_iter().chain(paths.into_iter().map(file)).collect())
}

fn file(path: PathBuf) -> Source {
    Source { name: path.to_string_lossy().into_owned(), place: Place::File(path) }
}

fn expand_argument(argument: &OsStr, paths: &mut Vec<PathBuf>) -> Result<()> {
    let path = Path::new(argument);
    match fs::metadata(path) {
        Ok(data) if data.is_dir() => {
            if add_directory(path, paths)? == 0 {
                return Err(Error::invalid_file(
                    path,
                    "no files in this directory; name its files or another",
                ));
            }
            Ok(())
        }
        Ok(_) => {
            paths.push(path.to_owned());
            Ok(())
        }
        Err(err) => match argument.to_str() {
            Some(pattern) if pattern.contains(['*', '?', '[']) => add_pattern(pattern, paths),
            _ => Err(Error::io("cannot open", path, err)),
        },
    }
}

/// Adds what `pattern` matches; a directory among that stands for its files.
fn add_pattern(pattern: &str, paths: &mut Vec<PathBuf>) -> Result<()> {
    let invalid = |why: String| Error::invalid_file(Path::new(pattern), why);
    let matches = glob::glob_with(pattern, LIKE_A_SHELL)
        .map_err(|err| invalid(format!("invalid pattern: {err}")))?;
    let mut count = 0;
    for path in matches {
        let path = path.map_err(|err| {
            let path = err.path().to_owned();
            Error::io("cannot read", &path, err.into())
        })?;
        if path.is_dir() {
            count += add_directory(&path, paths)?;
        } else {
            paths.push(path);
            count += 1;
        }
    }
    if count == 0 {
        return Err(invalid("no file matches this pattern".to_owned()));
    }
    Ok(())
}

/// Adds the files of a directory and gives how many.
fn add_directory(directory: &Path, paths: &mut Vec<PathBuf>) -> Result<usize> {
    let cannot_read = |err| Error::io("cannot read the directory", directory, err);
    let before = paths.len();
    for entry in fs::read_dir(directory).map_err(cannot_read)? {
        let entry = entry.map_err(cannot_read)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        let data = fs::metadata(&path).map_err(|err| Error::io("cannot open", &path, err))?;
        if data.is_file() {
            paths.push(path);
        }
    }
    Ok(paths.len() - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with some files, and the names that `arguments` (relative to
    /// it) give, also relative; an error gives its message.
    fn names(arguments: &[&str]) -> std::result::Result<Vec<String>, String> {
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
        expand(&arguments)
            .map(|sources| sources.iter().map(|source| source.name.replace(&prefix, "")).collect())
            .map_err(|err| err.to_string().replace(&prefix, ""))
    }

    #[track_caller]
    fn check(arguments: &[&str], expected: &[&str]) {
        assert_eq!(names(arguments).unwrap(), expected);
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
    fn patterns_match_as_in_a_shell() {
        check(&["logs/*"], &["logs/a.log.gz", "logs/b.log", "logs/below/c.log"]);
        check(&["*/?.log*"], &["logs/a.log.gz", "logs/b.log"]);
        check(&["x[1].log"], &["x[1].log"]);
    }

    #[test]
    fn what_is_not_there_is_named() {
        for (argument, expected) in [
            ("gone.log", "cannot open gone.log: "),
            ("gone*.log", "gone*.log: no file matches this pattern"),
            ("logs/***", "logs/***: invalid pattern: "),
            ("empty", "empty: no files in this directory"),
        ] {
            let message = names(&["logs/b.log", argument]).unwrap_err();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
