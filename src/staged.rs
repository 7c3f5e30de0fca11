//! Writes files in one step: an output is whole, or it is not there.
//!
//! A new file has a hidden name beside its target until it is whole.

pub mod hidden;
pub mod pending;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use hidden::{CommitGuard, Hidden, Readers, clear_leftovers, open_existing};
use pending::{Pending, Unplaced};

/// A file that gets its name only with [`StagedFile::commit`]. If it is dropped before, it is
/// removed, and an existing file stays unchanged. A pipe or a device is written directly.
#[derive(Debug)]
pub(crate) struct StagedFile {
    file: File,
    /// `None` if it is written directly.
    way: Option<Way>,
}

/// The hidden name and the final name.
#[derive(Debug)]
struct Way {
    hidden: Hidden,
    target: PathBuf,
}

/// Whether an output of this name is standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl StagedFile {
    /// A pipe or device, which is written directly.
    pub(crate) fn stream(file: File) -> StagedFile {
        StagedFile { file, way: None }
    }

    /// Prepares to write `path`, or the target of a symbolic link. The permissions of an existing
    /// file are kept. What killed runs left of it is removed.
    ///
    /// # Errors
    /// If its directory cannot be written to, or it is a directory.
    pub(crate) fn create(path: &Path) -> io::Result<StagedFile> {
        StagedFile::create_for(path, Readers::AsUsual)
    }

    fn create_for(path: &Path, readers: Readers) -> io::Result<StagedFile> {
        let existing = fs::metadata(path).ok();
        let resolved = fs::canonicalize(path).ok();
        if existing.as_ref().is_some_and(|existing| !existing.is_file() || resolved.is_none()) {
            // Replacing /dev/null by a file would break it; so would replacing /dev/stdout if it
            // leads to a file without a name.
            return File::options().write(true).open(path).map(StagedFile::stream);
        }
        let target = resolved.unwrap_or_else(|| path.to_owned());
        let (hidden, file) = Hidden::file(&target, readers)?;
        pending::take_back(&target, &file)?;
        clear_leftovers(&target);
        if let Some(existing) = existing.filter(|_| readers == Readers::AsUsual) {
            file.set_permissions(existing.permissions())?;
        }
        Ok(StagedFile { file, way: Some(Way { hidden, target }) })
    }

    /// The hidden name.
    pub(crate) fn hidden(&self) -> Option<&Path> {
        self.way.as_ref().map(|way| way.hidden.path())
    }

    /// Waits until the file is on disk.
    ///
    /// # Errors
    /// If the disk is full.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.way.as_ref().map_or(Ok(()), |_| self.file.sync_all())
    }

    /// Puts the file in its place. It should be on disk before.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub(crate) fn commit(self) -> io::Result<()> {
        let Some(way) = &self.way else { return Ok(()) };
        let _commit = CommitGuard::begin();
        fs::rename(way.hidden.path(), &way.target)
    }

    /// The file, before it is put in its place; `None` if it is written directly.
    pub(crate) fn unplaced(&self) -> Option<Unplaced> {
        self.way.as_ref().and_then(|way| Unplaced::new(way.hidden.path(), &way.target))
    }

    /// Puts the file in its place, and then the output `second` by `last`. If that fails, the
    /// existing file is restored. If the process is killed in between, the next run that writes
    /// this file restores it.
    ///
    /// # Errors
    /// If one of them fails.
    pub(crate) fn commit_with(
        self,
        second: Option<Unplaced>,
        last: impl FnOnce() -> Result<()>,
        cannot_write: impl Fn(io::Error) -> Error,
    ) -> Result<()> {
        let _commit = CommitGuard::begin();
        let Some(way) = &self.way else { return last() };
        // A running process has locked its own, which `clear_leftovers` does not remove.
        let (older, _lock) = self.older().map_err(&cannot_write)?.unzip();
        let pending = self.unplaced().zip(second).map(|(first, second)| {
            Pending::new(first, older.as_ref().map(Hidden::path), second).map_err(&cannot_write)
        });
        let _pending = pending.transpose()?;
        fs::rename(way.hidden.path(), &way.target).map_err(cannot_write)?;
        last().inspect_err(|_| {
            // If this fails after another error, there is nothing left to try.
            let _ = match &older {
                Some(older) => fs::rename(older.path(), &way.target),
                None => fs::remove_file(&way.target),
            };
        })
    }

    /// A second name of the file in its place, if there is one, and the locked file.
    fn older(&self) -> io::Result<Option<(Hidden, Option<File>)>> {
        let Some(Way { target, .. }) = &self.way else { return Ok(None) };
        if !fs::symlink_metadata(target).is_ok_and(|data| data.is_file()) {
            return Ok(None);
        }
        let older = Hidden::copy(target)?;
        let lock =
            open_existing(older.path()).and_then(|file| Ok(file.try_lock().map(|()| file)?));
        Ok(Some((older, lock.ok())))
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes `bytes` to `path` in one step: an existing file stays until everything is written.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let replaced = staged(path, bytes, Readers::AsUsual).and_then(StagedFile::commit);
    replaced.map_err(|err| Error::io("cannot write", path, err))
}

/// As [`replace`], but only the owner may read the file on systems with permissions, whatever the
/// permissions of an existing file.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn replace_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let replaced = staged(path, bytes, Readers::OwnerOnly).and_then(StagedFile::commit);
    replaced.map_err(|err| Error::io("cannot write", path, err))
}

/// Writes two files as [`replace`] does: both or neither.
///
/// # Errors
/// If one cannot be written.
pub(crate) fn replace_both(first: (&Path, &[u8]), second: (&Path, &[u8])) -> Result<()> {
    commit_both((first.0, ready(first.0, first.1)?), (second.0, ready(second.0, second.1)?))
}

fn commit_both(first: (&Path, StagedFile), second: (&Path, StagedFile)) -> Result<()> {
    let cannot_write = |path| move |err| Error::io("cannot write", path, err);
    let unplaced = second.1.unplaced();
    let commit = || second.1.commit().map_err(cannot_write(second.0));
    first.1.commit_with(unplaced, commit, cannot_write(first.0))
}

/// `bytes` on disk, to be committed as the file `path`.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn ready(path: &Path, bytes: &[u8]) -> Result<StagedFile> {
    let file = staged(path, bytes, Readers::AsUsual);
    file.map_err(|err| Error::io("cannot write", path, err))
}

fn staged(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<StagedFile> {
    let mut file = StagedFile::create_for(path, readers)?;
    file.write_all(bytes)?;
    file.sync()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::hidden::is_leftover;
    use super::*;

    fn names(dir: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_old_file_stands_until_the_new_one_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        replace(&path, b"old").unwrap();
        let mut file = StagedFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let left = file.hidden().unwrap().file_name().unwrap().to_owned();
        let other = StagedFile::create(&path).unwrap();
        assert_ne!(other.hidden(), file.hidden());
        drop(other);
        assert!(is_leftover(&left, &path), "{left:?}");
        assert!(!is_leftover(&left, "b.csv".as_ref()) && !is_leftover("a.csv".as_ref(), &path));
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(dir.path()), ["a.csv"]);
    }

    fn written(path: &Path, text: &str) -> StagedFile {
        staged(path, text.as_bytes(), Readers::AsUsual).unwrap()
    }

    #[test]
    fn what_killed_runs_left_is_removed_but_not_what_a_living_one_writes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        let living = written(&path, "living");
        for name in [".a.csv.botaudit-1f", ".b.csv.botaudit-1f", ".a.csv.botaudit-x"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        replace(&path, b"new").unwrap();
        assert_eq!(names(dir.path()).len(), 4, "{:?}", names(dir.path()));
        assert!(!dir.path().join(".a.csv.botaudit-1f").exists());
        living.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"living");
    }

    fn commit_before(file: StagedFile, second: &StagedFile, result: Result<()>) -> Result<()> {
        let cannot_write = |err| Error::io("cannot write", Path::new("a.csv"), err);
        file.commit_with(second.unplaced(), || result, cannot_write)
    }

    #[test]
    fn a_file_in_its_place_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("a.csv"), dir.path().join("b"));
        let second = written(&other, "second");
        let fail = || Err(Error::usage("the second output failed"));
        assert!(commit_before(written(&path, "old"), &second, fail()).is_err());
        assert!(!path.exists());
        for (text, is_kept) in [("old", true), ("new", false), ("newer", true)] {
            let last = if is_kept { Ok(()) } else { fail() };
            let done = commit_before(written(&path, text), &second, last);
            assert_eq!(done.is_ok(), is_kept);
            let expected = if is_kept { text } else { "old" };
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        }
        drop(second);
        assert_eq!(names(dir.path()), ["a.csv"]);
    }

    #[test]
    fn two_files_are_replaced_together_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("a.csv"), dir.path().join("b.csv"));
        replace_both((&first, b"old"), (&second, b"old")).unwrap();
        replace_both((&first, b"new"), (&second, b"new")).unwrap();
        assert_eq!([fs::read(&first).unwrap(), fs::read(&second).unwrap()], [b"new", b"new"]);
        let newer = [&first, &second].map(|path| (path.as_path(), written(path, "newer")));
        fs::remove_file(&second).unwrap();
        // The directory appears after the file was prepared.
        fs::create_dir(&second).unwrap();
        let [of_first, of_second] = newer;
        assert!(commit_both(of_first, of_second).is_err());
        assert_eq!(fs::read(&first).unwrap(), b"new");
        assert_eq!(names(dir.path()), ["a.csv", "b.csv"]);
    }

    /// What a killed run leaves between its two renames, and a record that is not its own.
    #[test]
    fn a_file_without_its_second_output_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("a.csv"), dir.path().join("b"));
        let record = hidden::hidden_name(&path, "pending").unwrap();
        let killed = |is_finished: bool| {
            fs::write(&path, "old").unwrap();
            let (first, second) = (written(&path, "new"), written(&other, "second"));
            let (older, lock) = first.older().unwrap().unwrap();
            let unplaced = [first.unplaced().unwrap(), second.unplaced().unwrap()];
            let [of_first, of_second] = unplaced;
            let pending = Pending::new(of_first, Some(older.path()), of_second).unwrap();
            fs::rename(first.hidden().unwrap(), &path).unwrap();
            // Of a living run.
            drop(StagedFile::create(&path).unwrap());
            assert_eq!(fs::read(&path).unwrap(), b"new");
            let left = (fs::read(&record).unwrap(), older.path().to_owned());
            drop((pending, lock));
            fs::write(&record, &left.0).unwrap();
            if is_finished {
                second.commit().unwrap();
            }
            // Dropping `older` would remove it.
            std::mem::forget(older);
            left
        };
        for (is_finished, expected) in [(false, "old"), (true, "new")] {
            killed(is_finished);
            drop(StagedFile::create(&path).unwrap());
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
            assert!(names(dir.path()).iter().all(|name| name == "a.csv" || name == "b"));
        }
        fs::remove_file(&other).unwrap();
        // The record of a stranger, who names a file of somebody else.
        let (text, older) = killed(false);
        let stranger = dir.path().join("stranger");
        fs::write(&stranger, "stranger").unwrap();
        let name = older.file_name().unwrap().as_encoded_bytes();
        let bytes = |name: &[u8]| serde_json::to_string(name).unwrap();
        let changed = String::from_utf8(text).unwrap().replace(&bytes(name), &bytes(b"stranger"));
        assert!(changed.contains(&bytes(b"stranger")), "{changed}");
        fs::write(&record, changed).unwrap();
        drop(StagedFile::create(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(dir.path()), ["a.csv", "stranger"]);
    }

    #[test]
    fn a_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(StagedFile::create(dir.path()).is_err());
        assert!(StagedFile::create(Path::new("/")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        use std::os::unix::fs::FileTypeExt;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let reader = {
            let path = path.clone();
            std::thread::spawn(move || fs::read(path).unwrap())
        };
        replace(&path, b"rows").unwrap();
        // The reader is closed first, because it would wait for a writer forever.
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), b"rows");
        assert_eq!(names(dir.path()), ["pipe"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_private_is_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        replace_private(&path, b"new").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        replace_private(&path, b"newer").unwrap();
        assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, b"newer".to_vec()));
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_and_the_rights_of_its_file_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("file", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
