//! Writes files in one step: an output is whole, or it is not there.
//!
//! A new file has a hidden name beside its target until it is whole.

pub mod hidden;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use hidden::{CommitGuard, Hidden, Readers, clear_leftovers};

/// A file that gets its name only with [`StagedFile::commit`]. If it is dropped before, it is
/// removed, and an existing file stays unchanged. A pipe or a device is written directly.
#[derive(Debug)]
pub struct StagedFile {
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

/// A file that is in its place, but can be taken back.
#[derive(Debug)]
pub struct PlacedFile(Option<(Way, Previous)>);

/// The file that was there before.
#[derive(Debug)]
enum Previous {
    Absent,
    /// It has the hidden name of the new file.
    Exchanged,
    /// It has this name, too.
    Kept(Hidden),
}

/// Exchanges two files or directories.
pub type Exchange = fn(&Path, &Path) -> io::Result<()>;

/// Whether an output of this name is standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl StagedFile {
    /// A pipe or device, which is written directly.
    pub fn stream(file: File) -> StagedFile {
        StagedFile { file, way: None }
    }

    /// Prepares to write `path`, or the target of a symbolic link. The permissions of an existing
    /// file are kept. What killed runs left of it is removed.
    ///
    /// # Errors
    /// If its directory cannot be written to, or it is a directory.
    pub fn create(path: &Path) -> io::Result<StagedFile> {
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
        clear_leftovers(&target);
        let (hidden, file) = Hidden::file(&target, readers)?;
        if let Some(existing) = existing.filter(|_| readers == Readers::AsUsual) {
            file.set_permissions(existing.permissions())?;
        }
        Ok(StagedFile { file, way: Some(Way { hidden, target }) })
    }

    /// The hidden name.
    pub fn hidden(&self) -> Option<&Path> {
        self.way.as_ref().map(|way| way.hidden.path())
    }

    /// Waits until the file is on disk.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn sync(&self) -> io::Result<()> {
        self.way.as_ref().map_or(Ok(()), |_| self.file.sync_all())
    }

    /// Puts the file in its place. It should be on disk before.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub fn commit(self) -> io::Result<()> {
        let Some(way) = &self.way else { return Ok(()) };
        let _commit = CommitGuard::begin();
        fs::rename(way.hidden.path(), &way.target)
    }

    /// Puts the file in its place, so that it can be taken back.
    ///
    /// # Errors
    /// If that fails; an existing file is then unchanged.
    pub fn place(self) -> io::Result<PlacedFile> {
        self.place_by(exchange)
    }

    fn place_by(self, exchange: Exchange) -> io::Result<PlacedFile> {
        let Some(way) = self.way else { return Ok(PlacedFile(None)) };
        let (hidden, target) = (way.hidden.path(), &way.target);
        let previous = match fs::symlink_metadata(target) {
            Ok(data) if data.is_file() && exchange(hidden, target).is_ok() => Previous::Exchanged,
            Ok(data) if data.is_file() => {
                let kept = Hidden::copy(target)?;
                fs::rename(hidden, target)?;
                Previous::Kept(kept)
            }
            _ => {
                fs::rename(hidden, target)?;
                Previous::Absent
            }
        };
        Ok(PlacedFile(Some((way, previous))))
    }
}

impl PlacedFile {
    /// Restores what was there before.
    pub fn take_back(&self) {
        let Some((Way { hidden, target }, previous)) = &self.0 else { return };
        // If this fails after another error, there is nothing left to try.
        let _ = match previous {
            Previous::Absent => fs::remove_file(target),
            Previous::Exchanged => fs::rename(hidden.path(), target),
            Previous::Kept(kept) => fs::rename(kept.path(), target),
        };
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
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let replaced = staged(path, bytes, Readers::AsUsual).and_then(StagedFile::commit);
    replaced.map_err(|err| Error::io("cannot write", path, err))
}

/// As [`replace`], but only the owner may read the file on systems with permissions, whatever the
/// permissions of an existing file.
///
/// # Errors
/// If it cannot be written.
pub fn replace_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let replaced = staged(path, bytes, Readers::OwnerOnly).and_then(StagedFile::commit);
    replaced.map_err(|err| Error::io("cannot write", path, err))
}

/// Writes several files as [`replace`] does: all of them or none.
///
/// # Errors
/// If one cannot be written.
pub fn replace_all(files: &[(&Path, Vec<u8>)]) -> Result<()> {
    let ready = files.iter().map(|(path, bytes)| Ok((*path, ready(path, bytes)?)));
    place_all(ready.collect::<Result<_>>()?)
}

fn place_all(files: Vec<(&Path, StagedFile)>) -> Result<()> {
    let _commit = CommitGuard::begin();
    let mut placed = Vec::new();
    for (path, file) in files {
        match file.place() {
            Ok(file) => placed.push(file),
            Err(err) => {
                placed.iter().for_each(PlacedFile::take_back);
                return Err(Error::io("cannot write", path, err));
            }
        }
    }
    Ok(())
}

/// `bytes` on disk, to be committed as the file `path`.
///
/// # Errors
/// If they cannot be written.
pub fn ready(path: &Path, bytes: &[u8]) -> Result<StagedFile> {
    let file = staged(path, bytes, Readers::AsUsual);
    file.map_err(|err| Error::io("cannot write", path, err))
}

fn staged(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<StagedFile> {
    let mut file = StagedFile::create_for(path, readers)?;
    file.write_all(bytes)?;
    file.sync()?;
    Ok(file)
}

/// Exchanges `first` and `second` at once, which not every system can.
///
/// # Errors
/// If it cannot.
#[cfg(target_os = "linux")]
pub fn exchange(first: &Path, second: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, first, CWD, second, RenameFlags::EXCHANGE)?)
}

/// Exchanges `first` and `second` at once, which not every system can.
///
/// # Errors
/// If it cannot.
#[cfg(not(target_os = "linux"))]
pub fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
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

    /// Some file systems cannot exchange files.
    #[test]
    fn a_file_in_its_place_is_taken_back() {
        let unable: Exchange = |_, _| Err(io::ErrorKind::Unsupported.into());
        for exchange in [exchange, unable] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.csv");
            written(&path, "old").place_by(exchange).unwrap().take_back();
            assert!(names(dir.path()).is_empty(), "{:?}", names(dir.path()));
            for (text, is_kept) in [("old", true), ("new", false), ("newer", true)] {
                let placed = written(&path, text).place_by(exchange).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
                if !is_kept {
                    placed.take_back();
                    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
                }
            }
            assert_eq!(names(dir.path()), ["a.csv"]);
        }
    }

    #[test]
    fn several_files_are_replaced_together_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let (first, last) = (dir.path().join("a.csv"), dir.path().join("b.csv"));
        let files = |text: &str| [(&*first, text.into()), (&*last, text.into())];
        replace_all(&files("old")).unwrap();
        fs::remove_file(&last).unwrap();
        let staged = vec![(&*first, written(&first, "new")), (&*last, written(&last, "new"))];
        // The directory appears after the file was prepared.
        fs::create_dir(&last).unwrap();
        assert!(place_all(staged).is_err());
        assert_eq!(fs::read(&first).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["a.csv", "b.csv"]);
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
