//! The history of one file in a git repository: each commit that changed it is a snapshot, at the
//! time at which it was committed.
//!
//! Along a merge only what the merge brought counts, when it brought it: the first parents are the
//! history of the branch that is deployed. A commit that removed the file left the site without
//! one, which is a 404. Git itself is run; it neither fetches nor writes.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::archive::snapshot::{Fetch, SnapshotOutcome};
use crate::archive::writer::{KEPT_BYTES_MAX, NewSnapshot};
use crate::error::{Error, Result};
use crate::time::UtcTime;
use crate::url::origin::Origin;

use super::Import;

/// Imports the history of the file at `path` as that of each of `origins`.
///
/// # Errors
/// Where the archive cannot be written. Where git cannot say, that is a problem.
pub fn import_git(path: &Path, origins: &[Origin], import: &mut Import<'_>) -> Result<()> {
    let history = match History::open(path) {
        Ok(history) => history,
        Err(problem) => {
            import.problem(problem);
            return Ok(());
        }
    };
    for version in history {
        let version = match version {
            Ok(version) => version,
            Err(problem) => {
                import.problem(problem);
                return Ok(());
            }
        };
        let fetch = Fetch {
            fetched_at: version.time,
            outcome: SnapshotOutcome::Status(if version.body.is_some() { 200 } else { 404 }),
            max_age_seconds: None,
            chain: Vec::new(),
        };
        for origin in origins {
            import.push(NewSnapshot {
                origin: origin.clone(),
                fetch: fetch.clone(),
                source: format!("{} in git", path.display()),
                body: version.body.clone().unwrap_or_default().into(),
            })?;
        }
    }
    Ok(())
}

/// The file as a commit left it.
struct Version {
    time: UtcTime,
    /// `None` where the commit removed it.
    body: Option<Vec<u8>>,
}

/// Reads versions while git lists them, the latest first.
struct History<'a> {
    path: &'a Path,
    log: Child,
    lines: BufReader<ChildStdout>,
    objects: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Of the file, within the repository.
    name: Vec<u8>,
    is_over: bool,
}

impl<'a> History<'a> {
    fn open(path: &'a Path) -> Result<History<'a>> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let file = path.file_name().ok_or_else(|| Error::invalid_file(path, "names no file"))?;
        let prefix = git(folder, &["rev-parse".as_ref(), "--show-prefix".as_ref()])
            .output()
            .map_err(|err| no_git(path, err))?;
        if !prefix.status.success() {
            let why = String::from_utf8_lossy(&prefix.stderr).trim().to_owned();
            return Err(Error::invalid_file(path, format!("git says: {why}")));
        }
        let prefix = prefix.stdout.strip_suffix(b"\n").unwrap_or(&prefix.stdout);
        let name = [prefix, file.as_encoded_bytes()].concat();
        if name.contains(&b'\n') {
            return Err(Error::invalid_file(
                path,
                "git cannot be asked for a name with a line end",
            ));
        }
        let arguments = ["log", "-m", "--first-parent", "--no-renames", "--format=%H %ct", "--"];
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).chain([file]).collect();
        let mut log = git(folder, &arguments).spawn().map_err(|err| no_git(path, err))?;
        let arguments = ["cat-file".as_ref(), "--batch".as_ref()];
        let mut objects = git(folder, &arguments)
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|err| no_git(path, err))?;
        let lines = BufReader::new(log.stdout.take().expect("it was piped"));
        let ask = objects.stdin.take().expect("it was piped");
        let answers = BufReader::new(objects.stdout.take().expect("it was piped"));
        Ok(History { path, log, lines, objects, ask, answers, name, is_over: false })
    }

    fn read(&mut self) -> Result<Option<Version>> {
        let (path, cannot_read) =
            (self.path, |err| Error::io("cannot ask git for", self.path, err));
        let unclear = || Error::invalid_file(path, "git gave an answer that makes no sense");
        let mut line = String::new();
        if self.lines.read_line(&mut line).map_err(cannot_read)? == 0 {
            let status = self.log.wait().map_err(cannot_read)?;
            let said_nothing = || Error::invalid_file(path, "git log failed; run it to see why");
            return if status.success() { Ok(None) } else { Err(said_nothing()) };
        }
        let (commit, seconds) = line.trim().split_once(' ').ok_or_else(unclear)?;
        let time = seconds.parse().ok().and_then(UtcTime::from_unix_seconds).ok_or_else(unclear)?;
        let question = [commit.as_bytes(), b":", &self.name, b"\n"].concat();
        self.ask.write_all(&question).and_then(|()| self.ask.flush()).map_err(cannot_read)?;
        line.clear();
        let mut answer = Vec::new();
        self.answers.read_until(b'\n', &mut answer).map_err(cannot_read)?;
        if answer.ends_with(b" missing\n") {
            return Ok(Some(Version { time, body: None }));
        }
        let answer = String::from_utf8(answer).map_err(|_| unclear())?;
        let mut words = answer.split_whitespace().skip(1);
        let (kind, size) = (words.next(), words.next().and_then(|size| size.parse::<u64>().ok()));
        let size = size.ok_or_else(unclear)?;
        let body = self.content(size).map_err(cannot_read)?;
        // A directory of that name is no file.
        Ok(Some(Version { time, body: Some(body).filter(|_| kind == Some("blob")) }))
    }

    /// An object of `size` bytes and the line end after it; what is kept of it.
    fn content(&mut self, size: u64) -> std::io::Result<Vec<u8>> {
        let mut body = Vec::new();
        let mut object = (&mut self.answers).take(size + 1);
        object.by_ref().take(size.min(KEPT_BYTES_MAX as u64)).read_to_end(&mut body)?;
        std::io::copy(&mut object, &mut std::io::sink())?;
        Ok(body)
    }
}

impl Iterator for History<'_> {
    type Item = Result<Version>;

    fn next(&mut self) -> Option<Result<Version>> {
        if self.is_over {
            return None;
        }
        let version = self.read().transpose();
        self.is_over = !matches!(version, Some(Ok(_)));
        version
    }
}

impl Drop for History<'_> {
    fn drop(&mut self) {
        for child in [&mut self.log, &mut self.objects] {
            // Where it has ended already there is nothing to do.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn git(folder: &Path, arguments: &[&OsStr]) -> Command {
    let mut command = Command::new("git");
    command.arg("--literal-pathspecs").arg("-C").arg(folder).args(arguments);
    command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn no_git(path: &Path, err: std::io::Error) -> Error {
    match err.kind() {
        std::io::ErrorKind::NotFound => {
            Error::invalid_file(path, "git is needed to read its history; install it first")
        }
        _ => Error::io("cannot run git for", path, err),
    }
}
