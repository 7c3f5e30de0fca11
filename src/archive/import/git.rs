//! Imports the history of one file in a git repository: each commit that changed it is a snapshot
//! with the time of the commit.
//!
//! Only first parents are followed, because they are the history of the deployed branch: a merge
//! counts as one change at the time of the merge. A commit that removed the file means a 404. The
//! git program is run; it neither fetches nor writes, and the repository's configuration is not
//! executed.
//!
//! Commits, trees and blobs are read from `git cat-file` by id, never by a path in a commit. For a path, git gives
//! the same answer for a missing file and for a missing object.

use std::io::{BufRead, Read};
use std::{ffi::OsStr, path::Path};

use crate::archive::writer::KEPT_BYTES_MAX;
use crate::digest::hexadecimal;
use crate::error;
use crate::error::Error;
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::{Import, git_process::Process};

/// The longest path of a file within a repository.
const PREFIX_BYTES_MAX: u64 = 64 << 10;

/// The longest id of a commit, with its line end.
const ID_BYTES_MAX: u64 = 256;

/// Imports the history of the file at `path` as that of each of `origins`.
///
/// # Errors
/// If the archive cannot be written. Errors of git are problems.
pub fn import_git(path: &Path, origins: &[Origin], import: &mut Import<'_>) -> error::Result<()> {
    let Some(mut history) = import.read(History::open(path)) else { return Ok(()) };
    let source = format!("{} in git", path.display());
    while let Some(Some(version)) = import.read(history.next()) {
        let Some(Version { time, body }) = import.read(version) else { continue };
        let status = if body.is_some() { 200 } else { 404 };
        import.push_for_each(origins, time, status, &source, &body.unwrap_or_default())?;
    }
    Ok(())
}

/// A version of the file.
struct Version {
    time: UtcTime,
    /// `None` if the commit removed it.
    body: Option<Vec<u8>>,
}

/// Reads versions from the output of git, the latest first.
struct History<'a> {
    commits: Commits<'a>,
    objects: Objects,
    /// The path of the file within the repository.
    name: Vec<u8>,
}

impl<'a> History<'a> {
    fn open(path: &'a Path) -> error::Result<History<'a>> {
        let file = path.file_name().ok_or_else(|| {
            Error::invalid_file(path, "is not a file name; name a file of the repository")
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let (commits, objects, name) = Commits::open(path, folder, Some(file), &[])?;
        Ok(History { commits, objects, name })
    }

    /// The next older version. The inner error concerns only this version.
    fn next(&mut self) -> error::Result<Option<error::Result<Version>>> {
        let Some(commit) = self.commits.next()? else { return Ok(None) };
        match self.version(&commit) {
            Ok(version) => Ok(Some(Ok(version))),
            Err(Trouble::Object(why)) => Ok(Some(Err(self.commits.not_imported(&commit, &why)))),
            Err(Trouble::All(err)) => Err(self.commits.cannot_ask(err)),
        }
    }

    fn version(&mut self, commit: &str) -> Result<Version, Trouble> {
        let commit = self.objects.commit(commit)?;
        let body = match self.objects.find(&commit.tree, &self.name)? {
            FoundObject::File(id) => Some(self.objects.file(&id)?),
            FoundObject::Nothing => None,
            FoundObject::Unclear(why) => return Err(Trouble::Object(format!("it {why}"))),
        };
        Ok(Version { time: commit.time, body })
    }
}

/// The ids of the commits that changed a file or a folder.
pub(super) struct Commits<'a> {
    path: &'a Path,
    list: Process,
}

impl<'a> Commits<'a> {
    /// The commits that changed `file` in `folder`, or anything in the folder, in the order that
    /// `options` select; the objects of the repository; and the path of the file within it, or of the
    /// folder, with a slash at its end.
    pub(super) fn open(
        path: &'a Path,
        folder: &Path,
        file: Option<&OsStr>,
        options: &[&str],
    ) -> error::Result<(Commits<'a>, Objects, Vec<u8>)> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let run =
            |arguments: &[&OsStr]| Process::git(folder, arguments).map_err(|err| no_git(path, err));
        let look = run(&["rev-parse".as_ref(), "--show-prefix".as_ref()])?;
        let mut look = Commits { path, list: look };
        let mut prefix = Vec::new();
        look.list
            .ask(b"", |output| output.take(PREFIX_BYTES_MAX).read_to_end(&mut prefix))
            .map_err(|err| look.cannot_ask(err))?;
        look.end()?;
        let prefix = prefix.strip_suffix(b"\n").unwrap_or(&prefix);
        let within = [prefix, file.unwrap_or_default().as_encoded_bytes()].concat();
        // Not `log`, because its behaviour depends on the configuration.
        let words = [&["rev-list", "--first-parent"], options, &["HEAD", "--"]].concat();
        let mut arguments: Vec<&OsStr> = words.into_iter().map(OsStr::new).collect();
        arguments.push(file.unwrap_or(OsStr::new(".")));
        let list = run(&arguments)?;
        let objects = Objects::open(folder).map_err(|err| no_git(path, err))?;
        Ok((Commits { path, list }, objects, within))
    }

    /// The id of the next commit.
    pub(super) fn next(&mut self) -> error::Result<Option<String>> {
        let mut commit = String::new();
        self.list
            .ask(b"", |output| output.take(ID_BYTES_MAX).read_line(&mut commit))
            .map_err(|err| self.cannot_ask(err))?;
        if commit.is_empty() {
            self.end()?;
            return Ok(None);
        }
        commit.truncate(commit.trim_end().len());
        if !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Error::invalid_file(
                self.path,
                "git gave an invalid answer; check the repository with: git fsck",
            ));
        }
        Ok(Some(commit))
    }

    fn end(&mut self) -> error::Result<()> {
        let (went_well, words) = self.list.end().map_err(|err| self.cannot_ask(err))?;
        let failed = || Error::invalid_file(self.path, format!("git reports: {words}"));
        if went_well { Ok(()) } else { Err(failed()) }
    }

    /// The error for a git that does not answer.
    pub(super) fn cannot_ask(&self, err: std::io::Error) -> Error {
        Error::io("cannot get from git", self.path, err)
    }

    /// The error for a commit that is not imported.
    pub(super) fn not_imported(&self, commit: &str, why: &str) -> Error {
        Error::invalid_file(self.path, format!("not imported from commit {commit}: {why}"))
    }
}

/// The error for a git that cannot be run for `path`.
fn no_git(path: &Path, err: std::io::Error) -> Error {
    match err.kind() {
        std::io::ErrorKind::NotFound => {
            Error::invalid_file(path, "git is needed to read its history; install it first")
        }
        _ => Error::io("cannot run git to read", path, err),
    }
}

/// A limit for commits; the needed lines precede the message.
const COMMIT_BYTES_MAX: usize = 1 << 20;

/// A directory of over a million files.
const TREE_BYTES_MAX: usize = 64 << 20;

/// The longest first line of an answer.
const HEAD_BYTES_MAX: u64 = 1024;

/// The objects of one repository, by id.
pub(crate) struct Objects {
    process: Process,
}

/// A parsed commit.
pub(crate) struct Commit {
    /// The time of the commit.
    pub time: UtcTime,
    /// The id of its root directory.
    pub tree: String,
}

/// The content of a commit at a path.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum FoundObject {
    /// The id of a file.
    File(String),
    /// No file: nothing, or a directory.
    Nothing,
    /// Something else, such as a symbolic link: its content is not known.
    Unclear(&'static str),
}

/// An entry of a directory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct TreeEntry {
    /// Its name in the directory.
    pub name: Vec<u8>,
    /// The id of its object.
    pub id: String,
    /// Whether it is a file, not a link.
    pub is_file: bool,
    /// Whether it is a directory.
    pub is_folder: bool,
}

/// Why an object cannot be read.
pub(crate) enum Trouble {
    /// A problem of this object only, as text.
    Object(String),
    /// A problem of the git process.
    All(std::io::Error),
}

impl From<std::io::Error> for Trouble {
    fn from(err: std::io::Error) -> Trouble {
        Trouble::All(err)
    }
}

impl Objects {
    /// Opens the repository that contains `folder`.
    ///
    /// # Errors
    /// If git cannot be run.
    pub(crate) fn open(folder: &Path) -> std::io::Result<Objects> {
        let arguments = ["cat-file", "--batch"].map(OsStr::new);
        Ok(Objects { process: Process::git(folder, &arguments)? })
    }

    /// The commit with this id.
    ///
    /// # Errors
    /// If it cannot be read or is malformed.
    pub(crate) fn commit(&mut self, id: &str) -> Result<Commit, Trouble> {
        let bytes = self.object(id, "commit", COMMIT_BYTES_MAX)?;
        commit(&bytes).ok_or_else(|| Trouble::Object(format!("commit {id} has no valid time")))
    }

    /// The object at `path`, such as `a/b`, below the directory with the id `tree`.
    ///
    /// # Errors
    /// If a directory on the way cannot be read.
    pub(crate) fn find(&mut self, tree: &str, path: &[u8]) -> Result<FoundObject, Trouble> {
        let mut tree = tree.to_owned();
        let mut names = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            let id_bytes = tree.len() / 2;
            let directory = self.tree(&tree)?;
            let entry = entry(&directory, name, id_bytes).map_err(|Damaged| damaged(&tree))?;
            let Some((kind, id)) = entry else { return Ok(FoundObject::Nothing) };
            let is_last = names.peek().is_none();
            match (kind, is_last) {
                (Kind::Link, _) => return Ok(FoundObject::Unclear("is a symbolic link")),
                (Kind::Submodule, false) => return Ok(FoundObject::Unclear("is in a submodule")),
                (Kind::Blob, true) => return Ok(FoundObject::File(id)),
                (Kind::Tree, false) => tree = id,
                // A directory with this name is not a file, and a file has no entries.
                _ => return Ok(FoundObject::Nothing),
            }
        }
        Ok(FoundObject::Nothing)
    }

    /// The file with this id, up to the bytes kept of a robots.txt.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn file(&mut self, id: &str) -> Result<Vec<u8>, Trouble> {
        self.content(id, KEPT_BYTES_MAX)
    }

    /// The first `bytes_max` bytes of the file with this id.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn content(&mut self, id: &str, bytes_max: usize) -> Result<Vec<u8>, Trouble> {
        self.object(id, "blob", bytes_max)
    }

    /// The files and folders in the directory with the id `tree`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn entries(&mut self, tree: &str) -> Result<Vec<TreeEntry>, Trouble> {
        let directory = self.tree(tree)?;
        let entries = Entries { rest: &directory, id_bytes: tree.len() / 2 };
        let named = |entry: Result<Entry<'_>, Damaged>| {
            let (mode, name, id) = entry.map_err(|Damaged| damaged(tree))?;
            let kind = kind(mode).map_err(|Damaged| damaged(tree))?;
            let (name, id) = (name.to_vec(), hexadecimal(id));
            let (is_file, is_folder) = (kind == Kind::Blob, kind == Kind::Tree);
            Ok(TreeEntry { name, id, is_file, is_folder })
        };
        entries.map(named).collect()
    }

    fn tree(&mut self, tree: &str) -> Result<Vec<u8>, Trouble> {
        let directory = self.object(tree, "tree", TREE_BYTES_MAX)?;
        if directory.len() == TREE_BYTES_MAX {
            return Err(Trouble::Object(format!("directory {tree} is too large")));
        }
        Ok(directory)
    }

    /// The first `bytes_max` bytes of the object `id`.
    fn object(&mut self, id: &str, kind: &str, bytes_max: usize) -> Result<Vec<u8>, Trouble> {
        let unclear = || std::io::Error::other("an invalid answer");
        let answer = self.process.ask(format!("{id}\n").as_bytes(), |output| {
            let mut head = Vec::new();
            output.by_ref().take(HEAD_BYTES_MAX).read_until(b'\n', &mut head)?;
            if head.is_empty() {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let head = String::from_utf8(head).map_err(|_| unclear())?;
            if head.trim_end().ends_with(" missing") {
                return Ok(None);
            }
            let words: Vec<&str> = head.trim_end().split(' ').collect();
            let [_, found, size] = words[..] else { return Err(unclear()) };
            let size: u64 = size.parse().map_err(|_| unclear())?;
            let mut object = output.take(size.saturating_add(1));
            let mut body = Vec::new();
            object.by_ref().take(size.min(bytes_max as u64)).read_to_end(&mut body)?;
            std::io::copy(&mut object, &mut std::io::sink())?;
            if object.limit() > 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            Ok(Some((found == kind).then_some(body)))
        });
        match answer {
            Ok(Some(Some(body))) => Ok(body),
            Ok(Some(None)) => Err(Trouble::Object(format!("object {id} is not a {kind}"))),
            Ok(None) => Err(Trouble::Object(format!(
                "object {id} is missing in the repository; complete a partial clone first (git \
                 fetch --refetch --no-filter)"
            ))),
            Err(err) if err.kind() == std::io::ErrorKind::TimedOut => Err(err.into()),
            Err(err) => {
                let (_, words) = self.process.end()?;
                let why = if words.is_empty() { err.to_string() } else { words };
                Err(std::io::Error::other(why).into())
            }
        }
    }
}

/// Parses the head of a commit.
fn commit(bytes: &[u8]) -> Option<Commit> {
    let mut head = bytes.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    let tree = head.next()?.strip_prefix(b"tree ")?;
    let committer = head.find_map(|line| line.strip_prefix(b"committer "))?;
    let after_address = committer.rsplit(|byte| *byte == b'>').next()?;
    let seconds = str::from_utf8(after_address).ok()?.split_ascii_whitespace().next()?;
    let is_number = seconds.bytes().all(|byte| byte.is_ascii_digit());
    let time = seconds.parse().ok().filter(|_| is_number).and_then(UtcTime::from_unix_seconds)?;
    Some(Commit { time, tree: str::from_utf8(tree).ok()?.to_owned() })
}

struct Damaged;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Blob,
    Link,
    Tree,
    Submodule,
}

fn damaged(tree: &str) -> Trouble {
    Trouble::Object(format!("directory {tree} is damaged"))
}

/// The mode, the name and the id of an entry.
type Entry<'a> = (&'a [u8], &'a [u8], &'a [u8]);

/// The entries of a directory; the first that is damaged is the last.
struct Entries<'a> {
    rest: &'a [u8],
    id_bytes: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Damaged>;

    fn next(&mut self) -> Option<Result<Entry<'a>, Damaged>> {
        let rest = std::mem::take(&mut self.rest);
        if rest.is_empty() {
            return None;
        }
        let split = || {
            let space = memchr::memchr(b' ', rest)?;
            let end = memchr::memchr(0, rest).filter(|end| *end > space)?;
            let id = rest.get(end + 1..end + 1 + self.id_bytes)?;
            Some(((&rest[..space], &rest[space + 1..end], id), &rest[end + 1 + self.id_bytes..]))
        };
        let Some((entry, rest)) = split() else { return Some(Err(Damaged)) };
        self.rest = rest;
        Some(Ok(entry))
    }
}

/// As in git: by the kind of file, whatever its permissions.
fn kind(mode: &[u8]) -> Result<Kind, Damaged> {
    let mode = str::from_utf8(mode).ok().and_then(|mode| u32::from_str_radix(mode, 8).ok());
    Ok(match mode.ok_or(Damaged)? & 0o170_000 {
        0o100_000 => Kind::Blob,
        0o120_000 => Kind::Link,
        0o040_000 => Kind::Tree,
        _ => Kind::Submodule,
    })
}

/// The entry `name` of a directory: its kind and id.
fn entry(tree: &[u8], name: &[u8], id_bytes: usize) -> Result<Option<(Kind, String)>, Damaged> {
    for entry in (Entries { rest: tree, id_bytes }) {
        let (mode, found, id) = entry?;
        if found == name {
            return Ok(Some((kind(mode)?, hexadecimal(id))));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_by_their_head() {
        let check = |text: &str, expected: Option<i64>| {
            let time = commit(text.as_bytes()).map(|commit| commit.time.unix_seconds());
            assert_eq!(time, expected, "{text}");
        };
        check("tree a\nparent b\nauthor x <x> 1 +0000\ncommitter x <x> 2 +0000\n\nm", Some(2));
        check("tree a\ncommitter a > b <c> 3 -0100\n\nm", Some(3));
        check("tree a\nauthor x <x> 1 +0000\n\ncommitter x <x> 2 +0000\n", None);
        for time in ["", "x", "-1", "+1", "99999999999999", "99999999999999999999999"] {
            check(&format!("tree a\ncommitter x <x> {time} +0000\n\n"), None);
        }
        check("", None);
    }

    #[test]
    fn entries_of_directories_are_found_and_damage_is_damage() {
        let tree = b"100644 a\0\x01\x02120000 b\0\x03\x0440000 c\0\x05\x06160000 d\0 \0";
        let check = |name: &str, expected: Option<(Kind, &str)>| {
            let found = entry(tree, name.as_bytes(), 2).unwrap_or_else(|Damaged| panic!("{name}"));
            assert_eq!(found, expected.map(|(kind, id)| (kind, id.to_owned())), "{name}");
        };
        check("a", Some((Kind::Blob, "0102")));
        check("b", Some((Kind::Link, "0304")));
        check("c", Some((Kind::Tree, "0506")));
        check("d", Some((Kind::Submodule, "2000")));
        check("e", None);
        check("", None);
        for damaged in [&b"x"[..], b"100644 a", b"100644 a\0\x01", b"\0 a\0\x01\x02", b"9 e\0ab"] {
            assert!(entry(damaged, b"e", 2).is_err(), "{damaged:?}");
        }
    }
}
