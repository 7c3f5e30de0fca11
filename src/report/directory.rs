//! Replaces a report directory in one step.
//!
//! The report is written to a hidden directory beside the target, which is then exchanged with it.
//! If a run fails or is killed, the previous report stays unchanged. The next run removes what was
//! left over. A lock file beside the target refuses a second run at the same time.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{env, io, sync::Mutex};

use serde::Deserialize;

use crate::audit::tally::file::TALLY;
use crate::error::{Error, Result};
use crate::mutex::lock;
use crate::pipeline::disk::{DiskWaits, FailedFile};
use crate::staged::hidden::{
    CommitGuard, Hidden, OutputLock, clear_directories, hidden_name, is_leftover, lock_name,
    lock_output,
};
use crate::staged::pending::Unplaced;

use super::tables::{PAGE, RUN_JSON};

/// The end of the hidden name of the older report between two renames.
const OLD: &str = "old";

/// Exchanges two directories.
type Exchange = fn(&Path, &Path) -> io::Result<()>;

/// A report being written.
#[derive(Debug)]
pub(crate) struct Staging {
    /// As the user wrote it.
    name: PathBuf,
    /// With links resolved.
    target: PathBuf,
    // Dropped in this order: the lock is held until the directory is removed.
    /// Its files that are on their way to the disk.
    waits: Mutex<DiskWaits>,
    staged: Hidden,
    _lock: OutputLock,
}

impl Staging {
    /// Prepares to replace `target`, which need not exist.
    ///
    /// # Errors
    /// If `target` is neither a report nor an empty directory, its parent cannot be written to, or
    /// another run is writing it.
    pub(crate) fn open(target: &Path) -> Result<Staging> {
        let name = target.to_owned();
        let target = resolved(target)?;
        let cannot_write =
            |err| Error::io("cannot write to the parent directory of -o", &name, err);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(cannot_write)?;
        }
        let lock = lock_output(&target).map_err(|err| match err.kind() {
            io::ErrorKind::WouldBlock => {
                let why =
                    "another run is writing this report; wait until it ends, or use another -o";
                Error::refused(&name, why)
            }
            // Of another user, or not a file.
            _ => match lock_name(&target) {
                Ok(path) if path.symlink_metadata().is_ok() => {
                    Error::io("cannot use the lock file of -o (remove it)", &path, err)
                }
                _ => cannot_write(err),
            },
        })?;
        restore(&target).map_err(cannot_write)?;
        check_replaceable(&target)?;
        clear_directories(&target);
        let staged = Hidden::directory(&target).map_err(cannot_write)?;
        Ok(Staging { name, target, waits: Mutex::default(), staged, _lock: lock })
    }

    /// The name of `path` within the report; `None` if it is outside.
    pub(crate) fn name_within<'a>(&self, path: &'a Path) -> Option<&'a OsStr> {
        let parent = std::path::absolute(path).ok()?.parent()?.to_owned();
        let parent = fs::canonicalize(&parent).unwrap_or(parent);
        (parent == self.target).then(|| path.file_name()).flatten()
    }

    /// The path of the report file `name` before the exchange.
    pub(crate) fn staged(&self, name: &OsStr) -> PathBuf {
        self.staged.path().join(name)
    }

    /// The directory that becomes the report.
    pub(crate) fn directory(&self) -> &Path {
        self.staged.path()
    }

    /// The report, before it is put in its place.
    pub(crate) fn unplaced(&self) -> Option<Unplaced> {
        Unplaced::new(self.staged.path(), &self.target)
    }

    /// Creates a file of the report with what `write` writes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(
        &self,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<()> {
        let written = File::create_new(self.staged(name.as_ref())).and_then(|mut file| {
            write(&mut file)?;
            Ok(file)
        });
        let file = written.map_err(|err| self.cannot_write((name.into(), err)))?;
        lock(&self.waits).add(name.into(), file);
        Ok(())
    }

    fn cannot_write(&self, (name, err): FailedFile) -> Error {
        Error::io("cannot write", &self.name.join(name), err)
    }

    /// Waits until all files of the report are on disk, so that `commit` takes no time.
    ///
    /// # Errors
    /// If the disk is full or fails, or the target can no longer be replaced.
    pub(crate) fn prepare(&self) -> Result<()> {
        check_replaceable(&self.target)?;
        let mut waits = std::mem::take(&mut *lock(&self.waits));
        let cannot_write = |err| Error::io("cannot write -o", &self.name, err);
        let entries = fs::read_dir(self.staged.path()).map_err(cannot_write)?;
        for entry in entries {
            let entry = entry.map_err(cannot_write)?;
            let name = entry.file_name();
            if !waits.has(&name) {
                // Evidence, and folders for operators, have writers of their own.
                match File::open(entry.path()) {
                    Ok(file) => waits.add(name, file),
                    Err(err) => return Err(self.cannot_write((name, err))),
                }
            }
        }
        waits.finish().map_err(|failed| self.cannot_write(failed))
    }

    /// Puts the report in place. It should be prepared before.
    ///
    /// # Errors
    /// If that fails; the previous report is then unchanged.
    pub(crate) fn commit(self) -> Result<()> {
        self.commit_by(exchange)
    }

    fn commit_by(self, exchange: Exchange) -> Result<()> {
        let _commit = CommitGuard::begin();
        let put = put(self.staged.path(), &self.target, exchange);
        put.map_err(|err| Error::io("cannot write -o", &self.name, err))
    }
}

/// Removes the report at `directory`.
///
/// # Errors
/// If it is not a botaudit report; nothing is removed then.
pub(crate) fn remove_report(directory: &Path) -> Result<()> {
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
    Error::refused(target, "cannot be a report directory; use -o with a name")
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
pub(crate) fn check_replaceable(target: &Path) -> Result<()> {
    let entries = match fs::read_dir(target) {
        Ok(entries) => entries,
        Err(err) if err.kind() == io::ErrorKind::NotFound && target.is_symlink() => {
            let why = "is a link to a directory that does not exist; create it, or use another -o";
            return Err(Error::refused(target, why));
        }
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(Error::io("cannot replace -o", target, err)),
    };
    if target.parent().is_none() {
        return Err(nameless(target));
    }
    // A shell in it would be left in a directory that is removed.
    if matches!((fs::canonicalize(target), env::current_dir()), (Ok(it), Ok(at)) if it == at) {
        let why = "is the current directory and cannot be replaced; use -o with another directory";
        return Err(Error::refused(target, why));
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
        return Err(Error::refused(target, why));
    };
    let is_ours = |name: &OsString| {
        let files = run.files.iter().map(String::as_str).chain([RUN_JSON, PAGE, TALLY]);
        files.into_iter().any(|file| *name == *file || is_leftover(name, file.as_ref()))
    };
    let Some(name) = names.iter().find(|name| !is_ours(name)) else { return Ok(()) };
    let why = format!(
        "is not part of the older report; move it, or use -o with another directory than {}",
        target.display()
    );
    Err(Error::refused(&target.join(name.display().to_string()), why))
}

/// Exchanges `first` and `second` at once, which not every system can.
#[cfg(target_os = "linux")]
fn exchange(first: &Path, second: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, first, CWD, second, RenameFlags::EXCHANGE)?)
}

/// Exchanges `first` and `second` at once, which not every system can.
#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Puts `staged` in the place of `target`. The older report gets the name `staged`, or is removed.
fn put(staged: &Path, target: &Path, exchange: Exchange) -> io::Result<()> {
    if !target.exists() {
        return fs::rename(staged, target);
    }
    if exchange(staged, target).is_ok() {
        return Ok(());
    }
    let old = hidden_name(target, OLD)?;
    fs::rename(target, &old)?;
    if let Err(err) = fs::rename(staged, target) {
        fs::rename(&old, target)?;
        return Err(err);
    }
    // If this fails, the next run removes it.
    let _ = fs::remove_dir_all(old);
    Ok(())
}

/// Restores the older report, if a run was killed between two renames; removes it, if the run was
/// killed after them.
fn restore(target: &Path) -> io::Result<()> {
    let old = hidden_name(target, OLD)?;
    if !old.is_dir() {
        return Ok(());
    }
    match fs::rename(&old, target) {
        Err(_) if target.join(RUN_JSON).is_file() => fs::remove_dir_all(old),
        restored => restored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn write_report(target: &Path, text: &str) -> Result<()> {
        staged_report(target, text)?.commit()
    }

    fn staged_report(target: &Path, text: &str) -> Result<Staging> {
        let staging = Staging::open(target)?;
        staging.write("summary.csv", |file| file.write_all(text.as_bytes()))?;
        let run = br#"{"program":"botaudit","files":["summary.csv"]}"#;
        staging.write(RUN_JSON, |file| file.write_all(run))?;
        Ok(staging)
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
        staging.write("summary.csv", |_| Ok(())).unwrap();
        drop(staging);
        assert_eq!(fs::read_to_string(target.join("summary.csv")).unwrap(), "old");
        assert_eq!(names(dir.path()), ["report"]);
    }

    /// A device cannot get to a disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_report_that_cannot_get_to_the_disk_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("report");
        write_report(&target, "old").unwrap();
        let failed = |write: &dyn Fn(&Staging)| {
            let staging = staged_report(&target, "new").unwrap();
            write(&staging);
            staging.prepare().unwrap_err().to_string()
        };
        let opened = failed(&|staging| {
            let null = || File::options().write(true).open("/dev/null");
            staging.write("statuses.csv", |file| null().map(|null| *file = null)).unwrap();
        });
        // By a writer of its own.
        let linked = failed(&|staging| {
            std::os::unix::fs::symlink("/dev/null", staging.staged("daily.csv".as_ref())).unwrap();
        });
        for (message, name) in [(opened, "statuses.csv"), (linked, "daily.csv")] {
            assert!(message.contains("cannot write") && message.contains(name), "{message}");
        }
        assert_eq!(fs::read_to_string(target.join("summary.csv")).unwrap(), "old");
        assert_eq!(names(dir.path()), ["report"]);
    }

    #[test]
    fn what_a_killed_run_left_is_cleared_and_a_living_one_refuses_others() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("report");
        for (name, file) in [("1f", "summary.csv"), ("lock", "")] {
            let killed = dir.path().join(format!(".report.botaudit-{name}"));
            match file {
                "" => fs::write(killed, "").unwrap(),
                file => {
                    fs::create_dir(&killed).unwrap();
                    fs::write(killed.join(file), "").unwrap();
                }
            }
        }
        let living = Staging::open(&target).unwrap();
        let message = write_report(&target, "new").unwrap_err().to_string();
        assert!(message.contains("another run is writing this report"), "{message}");
        living.write("summary.csv", |_| Ok(())).unwrap();
        drop(living);
        write_report(&target, "new").unwrap();
        assert_eq!(names(dir.path()), ["report"]);
    }

    /// Some file systems cannot exchange directories.
    #[test]
    fn two_renames_have_the_same_effect_and_a_kill_between_them_is_undone() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("report");
        let text = || fs::read_to_string(target.join("summary.csv")).unwrap();
        write_report(&target, "old").unwrap();
        let unable: Exchange = |_, _| Err(io::ErrorKind::Unsupported.into());
        staged_report(&target, "new").unwrap().commit_by(unable).unwrap();
        assert_eq!((text().as_str(), names(dir.path())), ("new", vec!["report".to_owned()]));
        let old = dir.path().join(".report.botaudit-old");
        for is_empty in [false, true] {
            fs::rename(&target, &old).unwrap();
            if is_empty {
                fs::create_dir(&target).unwrap();
            }
            drop(Staging::open(&target).unwrap());
            assert_eq!((text().as_str(), names(dir.path())), ("new", vec!["report".to_owned()]));
        }
        // A directory of somebody else.
        fs::rename(&target, &old).unwrap();
        fs::create_dir(&target).unwrap();
        fs::write(target.join("cat.jpg"), "").unwrap();
        assert!(Staging::open(&target).is_err() && old.is_dir());
        fs::remove_dir_all(&target).unwrap();
        drop(Staging::open(&target).unwrap());
        // Killed after both renames.
        fs::create_dir(&old).unwrap();
        fs::write(old.join("summary.csv"), "older").unwrap();
        drop(Staging::open(&target).unwrap());
        assert_eq!((text().as_str(), names(dir.path())), ("new", vec!["report".to_owned()]));
        // The second rename fails.
        let staging = staged_report(&target, "newer").unwrap();
        fs::remove_dir_all(staging.staged.path()).unwrap();
        assert!(staging.commit_by(unable).is_err());
        assert_eq!((text().as_str(), names(dir.path())), ("new", vec!["report".to_owned()]));
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
