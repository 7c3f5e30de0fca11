//! Replaces a report directory in one step.
//!
//! The report is written to a hidden directory beside the target, which is then exchanged with it.
//! If a run fails or is killed, the previous report stays unchanged. The next run removes what was
//! left over.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{io, sync::Mutex, thread, time::Duration};

use serde::Deserialize;

use crate::audit::tally::file::TALLY;
use crate::error::{Error, Result};
use crate::mutex::lock;
use crate::staged::is_leftover;

use super::files::{PAGE, RUN_JSON};

/// Leftovers without a lock are removed after this time.
const LEFTOVER_AGE_MIN: Duration = Duration::from_secs(60);

/// The lock file. It is held while the directory is written, and removed before the exchange.
const LOCK: &str = ".lock";

/// A report being written.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    staged: PathBuf,
    /// `None` after the report was exchanged or discarded.
    lock: Mutex<Option<File>>,
}

impl Staging {
    /// Prepares to replace `target`, which need not exist.
    ///
    /// # Errors
    /// If `target` is neither a report nor an empty directory, or its parent cannot be written to.
    pub fn open(target: &Path) -> Result<Staging> {
        let target = resolved(target)?;
        check_replaceable(&target)?;
        let prefix = staging_prefix(&target);
        clear_leftovers(&target, &prefix);
        let mut name = prefix;
        name.push(std::process::id().to_string());
        let staged = target.with_file_name(name);
        let cannot_write =
            |err| Error::io("cannot write to the parent directory of -o", &target, err);
        if let Some(parent) = staged.parent() {
            fs::create_dir_all(parent).map_err(cannot_write)?;
        }
        fs::create_dir(&staged).map_err(cannot_write)?;
        let lock = File::create(staged.join(LOCK)).map_err(cannot_write)?;
        lock.lock().map_err(cannot_write)?;
        Ok(Staging { target, staged, lock: Mutex::new(Some(lock)) })
    }

    /// The name of `path` within the report; `None` if it is outside.
    pub fn name_within<'a>(&self, path: &'a Path) -> Option<&'a OsStr> {
        let parent = std::path::absolute(path).ok()?.parent()?.to_owned();
        let parent = fs::canonicalize(&parent).unwrap_or(parent);
        (parent == self.target).then(|| path.file_name()).flatten()
    }

    /// The path of the report file `name` before the exchange.
    pub fn staged(&self, name: &OsStr) -> PathBuf {
        self.staged.join(name)
    }

    /// Creates a file of the report.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(&self, name: &str) -> Result<File> {
        let path = self.staged.join(name);
        File::create(&path).map_err(|err| Error::io("cannot write", &path, err))
    }

    /// Puts the report in place.
    ///
    /// # Errors
    /// If that fails; the previous report is then unchanged.
    pub fn commit(&self) -> Result<()> {
        let mut lock = lock(&self.lock);
        if lock.is_none() {
            return Err(Error::usage("the run was stopped; an older report is unchanged"));
        }
        check_replaceable(&self.target)?;
        let cannot_write = |err| Error::io("cannot write -o", &self.target, err);
        sync(&self.staged).map_err(cannot_write)?;
        fs::remove_file(self.staged.join(LOCK)).map_err(cannot_write)?;
        exchange(&self.staged, &self.target).map_err(cannot_write)?;
        *lock = None;
        Ok(())
    }

    /// Discards the report unless it is already in place. Returns whether it was discarded. Waits
    /// for a `commit` in progress.
    pub fn discard(&self) -> bool {
        let is_open = lock(&self.lock).take().is_some();
        if is_open {
            // The next run removes what cannot be removed now.
            let _ = fs::remove_dir_all(&self.staged);
        }
        is_open
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.discard();
    }
}

/// Removes the report at `directory`.
///
/// # Errors
/// If it is not a botaudit report; nothing is removed then.
pub fn remove_report(directory: &Path) -> Result<()> {
    check_replaceable(directory)?;
    fs::remove_dir_all(directory).map_err(|err| Error::io("cannot remove", directory, err))
}

/// Resolves symbolic links, so that both directories are on one file system.
fn resolved(target: &Path) -> Result<PathBuf> {
    let cannot_write = |err| Error::io("cannot write -o", target, err);
    let absolute = match fs::canonicalize(target) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            std::path::absolute(target).map_err(cannot_write)?
        }
        found => return found.map_err(cannot_write),
    };
    if absolute.file_name().is_none() { Err(nameless(target)) } else { Ok(absolute) }
}

fn nameless(target: &Path) -> Error {
    Error::invalid_file(target, "cannot be a report directory; use -o with a name")
}

/// The fields of `run.json` that identify a report.
#[derive(Deserialize)]
struct RunFile {
    program: String,
    files: Vec<String>,
}

/// Checks that `target` does not exist, is an empty directory, or is a botaudit report.
///
/// # Errors
/// If it is anything else or cannot be read.
pub fn check_replaceable(target: &Path) -> Result<()> {
    let entries = match fs::read_dir(target) {
        Ok(entries) => entries,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(Error::io("cannot replace -o", target, err)),
    };
    if target.parent().is_none() {
        return Err(nameless(target));
    }
    let names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>();
    let names = names.map_err(|err| Error::io("cannot list -o", target, err))?;
    if names.is_empty() {
        return Ok(());
    }
    let run = fs::read(target.join(RUN_JSON))
        .ok()
        .and_then(|json| serde_json::from_slice::<RunFile>(&json).ok());
    let Some(run) = run.filter(|run| run.program == env!("CARGO_PKG_NAME")) else {
        let why =
            "is not a report of botaudit; not overwritten; use another -o, or empty the directory";
        return Err(Error::invalid_file(target, why));
    };
    let is_ours = |name: &OsString| {
        is_leftover(name, PAGE)
            || [RUN_JSON, PAGE, TALLY].iter().any(|file| *name == **file)
            || run.files.iter().any(|file| *name == **file)
    };
    let Some(name) = names.iter().find(|name| !is_ours(name)) else { return Ok(()) };
    let why = format!(
        "is not part of the older report; move it, or use another -o than {}",
        target.display()
    );
    Err(Error::invalid_file(&target.join(name.display().to_string()), why))
}

fn staging_prefix(target: &Path) -> OsString {
    let name = target.file_name().unwrap_or_default();
    [OsStr::new("."), name, OsStr::new(".botaudit-")].into_iter().collect()
}

/// Removes what killed runs left beside `target`. A running process holds its lock.
fn clear_leftovers(target: &Path, prefix: &OsString) {
    let entries = target.parent().and_then(|parent| fs::read_dir(parent).ok());
    let prefix = prefix.as_encoded_bytes();
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let suffix = name.as_encoded_bytes().strip_prefix(prefix);
        if suffix.is_some_and(|id| !id.is_empty() && id.iter().all(u8::is_ascii_digit))
            && is_abandoned(&entry.path())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_abandoned(staged: &Path) -> bool {
    match File::open(staged.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(_) => {
            let made = fs::metadata(staged).and_then(|metadata| metadata.modified());
            matches!(made.map(|time| time.elapsed()), Ok(Ok(age)) if age > LEFTOVER_AGE_MIN)
        }
    }
}

/// Waits until all files of `directory` are on disk. The waits run in parallel, because a single
/// one takes as long as all together.
fn sync(directory: &Path) -> io::Result<()> {
    let entries: Vec<_> = fs::read_dir(directory)?.collect::<io::Result<_>>()?;
    thread::scope(|scope| {
        let sync = |entry: fs::DirEntry| move || File::open(entry.path())?.sync_all();
        let start = |entry| thread::Builder::new().spawn_scoped(scope, sync(entry));
        let waiting: Vec<_> = entries.into_iter().map(start).collect::<io::Result<_>>()?;
        let done = |waiting: thread::ScopedJoinHandle<'_, io::Result<()>>| {
            waiting.join().unwrap_or_else(|_| Err(io::Error::other("a thread was lost")))
        };
        waiting.into_iter().try_for_each(done)
    })
}

/// Puts `staged` in the place of `target` and removes the old directory.
fn exchange(staged: &Path, target: &Path) -> io::Result<()> {
    if !target.exists() {
        return fs::rename(staged, target);
    }
    if exchange_at_once(staged, target).is_ok() {
        // The new report is in place; the next run removes the old one if this one cannot.
        let _ = fs::remove_dir_all(staged);
        return Ok(());
    }
    let mut old = staged.as_os_str().to_owned();
    old.push("0");
    fs::rename(target, &old)?;
    if let Err(err) = fs::rename(staged, target) {
        fs::rename(&old, target)?;
        return Err(err);
    }
    let _ = fs::remove_dir_all(old);
    Ok(())
}

#[cfg(target_os = "linux")]
fn exchange_at_once(staged: &Path, target: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, staged, CWD, target, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange_at_once(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn write_report(target: &Path, text: &str) -> Result<()> {
        let staging = Staging::open(target)?;
        staging.create("summary.csv")?.write_all(text.as_bytes()).unwrap();
        let run = br#"{"program":"botaudit","files":["summary.csv"]}"#;
        staging.create(RUN_JSON)?.write_all(run).unwrap();
        staging.commit()
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_report_replaces_a_report_and_leaves_nothing_beside() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("report");
        write_report(&target, "old").unwrap();
        write_report(&target, "new").unwrap();
        assert_eq!(fs::read_to_string(target.join("summary.csv")).unwrap(), "new");
        assert_eq!(names(&target), ["run.json", "summary.csv"]);
        assert_eq!(names(dir.path()), ["report"]);
    }

    #[test]
    fn a_run_that_is_given_up_leaves_the_previous_report() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("report");
        write_report(&target, "old").unwrap();
        let staging = Staging::open(&target).unwrap();
        staging.create("summary.csv").unwrap();
        staging.discard();
        assert!(staging.commit().is_err());
        assert_eq!(fs::read_to_string(target.join("summary.csv")).unwrap(), "old");
        assert_eq!(names(dir.path()), ["report"]);
    }

    #[test]
    fn what_a_killed_run_left_is_cleared_but_not_what_a_living_one_writes() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("report");
        let killed = dir.path().join(".report.botaudit-1");
        fs::create_dir(&killed).unwrap();
        File::create(killed.join(LOCK)).unwrap();
        let living = dir.path().join(".report.botaudit-2");
        fs::create_dir(&living).unwrap();
        let lock = File::create(living.join(LOCK)).unwrap();
        lock.lock().unwrap();
        write_report(&target, "new").unwrap();
        assert_eq!(names(dir.path()), [".report.botaudit-2", "report"]);
    }

    #[test]
    fn what_is_not_ours_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let foreign = dir.path().join("photos");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("cat.jpg"), "").unwrap();
        assert!(
            write_report(&foreign, "")
                .unwrap_err()
                .to_string()
                .contains("is not a report of botaudit")
        );
        let ours = dir.path().join("report");
        write_report(&ours, "old").unwrap();
        fs::write(ours.join("notes.txt"), "").unwrap();
        let message = write_report(&ours, "").unwrap_err().to_string();
        assert!(message.contains("notes.txt: is not part of the older report"), "{message}");
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(write_report(&file, "").is_err());
        let empty = dir.path().join("empty");
        fs::create_dir(&empty).unwrap();
        write_report(&empty, "new").unwrap();
    }
}
