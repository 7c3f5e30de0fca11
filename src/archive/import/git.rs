//! Imports the history of one file in a git repository: each commit that changed it is a snapshot
//! with the time of the commit.
//!
//! Only first parents are followed, because they are the history of the deployed branch: a merge
//! counts as one change at the time of the merge. A commit that removed the file means a 404. The
//! git program is run; it neither fetches nor writes, and the repository's configuration is not
//! executed.

use std::io::{BufRead, Read};
use std::{ffi::OsStr, path::Path};

use crate::error::{Error, Result};
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::git_objects::{FoundObject, Objects, Trouble};
use super::{Import, git_process::Process};

/// The longest path of a file within a repository.
const PREFIX_BYTES_MAX: u64 = 64 << 10;

/// The longest id of a commit, with its line end.
const ID_BYTES_MAX: u64 = 256;

/// Imports the history of the file at `path` as that of each of `origins`.
///
/// # Errors
/// If the archive cannot be written. Errors of git are problems.
pub fn import_git(path: &Path, origins: &[Origin], import: &mut Import<'_>) -> Result<()> {
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
    fn open(path: &'a Path) -> Result<History<'a>> {
        let file = path.file_name().ok_or_else(|| {
            Error::invalid_file(path, "is not a file name; name a file of the repository")
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let (commits, objects, name) = Commits::open(path, folder, Some(file), &[])?;
        Ok(History { commits, objects, name })
    }

    /// The next older version. The inner error concerns only this version.
    fn next(&mut self) -> Result<Option<Result<Version>>> {
        let Some(commit) = self.commits.next()? else { return Ok(None) };
        match self.version(&commit) {
            Ok(version) => Ok(Some(Ok(version))),
            Err(Trouble::Object(why)) => Ok(Some(Err(self.commits.not_imported(&commit, &why)))),
            Err(Trouble::All(err)) => Err(self.commits.cannot_ask(err)),
        }
    }

    fn version(&mut self, commit: &str) -> std::result::Result<Version, Trouble> {
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
    ) -> Result<(Commits<'a>, Objects, Vec<u8>)> {
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
    pub(super) fn next(&mut self) -> Result<Option<String>> {
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

    fn end(&mut self) -> Result<()> {
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
