//! Writes a file in one step.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The text between a file's name and the random digits after it.
const MARK: &str = ".botaudit-";

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

/// The read permissions of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Readers {
    /// Those of the existing file, or the default of new files.
    AsUsual,
    /// The user who runs the program.
    OwnerOnly,
}

/// A hidden file, which is removed when this is dropped.
#[derive(Debug)]
struct Hidden(PathBuf);

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
    /// file are kept.
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
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let hidden = target.with_file_name(hidden_name(name)?);
        // Its name cannot be guessed, and a link of that name is not followed.
        let file = create_new(&hidden, readers)?;
        let hidden = Hidden(hidden);
        if let Some(existing) = existing.filter(|_| readers == Readers::AsUsual) {
            file.set_permissions(existing.permissions())?;
        }
        Ok(StagedFile { file, way: Some(Way { hidden, target }) })
    }

    /// The hidden name, to be removed if the process ends before [`StagedFile::commit`].
    pub fn hidden(&self) -> Option<&Path> {
        self.way.as_ref().map(|way| &*way.hidden.0)
    }

    /// Puts the file in its place after it is on disk.
    ///
    /// # Errors
    /// If the disk is full or the file cannot be renamed.
    pub fn commit(self) -> io::Result<()> {
        let Some(way) = self.way else { return Ok(()) };
        self.file.sync_all()?;
        fs::rename(&way.hidden.0, &way.target)
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

impl Drop for Hidden {
    fn drop(&mut self) {
        // After a commit, this name does not exist.
        let _ = fs::remove_file(&self.0);
    }
}

/// Writes `bytes` to `path` in one step: an existing file stays until everything is written.
///
/// # Errors
/// If it cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_for(path, bytes, Readers::AsUsual)
}

/// As [`replace`], but only the owner may read the file on systems with permissions, whatever the
/// permissions of an existing file.
///
/// # Errors
/// If it cannot be written.
pub fn replace_private(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_for(path, bytes, Readers::OwnerOnly)
}

fn replace_for(path: &Path, bytes: &[u8], readers: Readers) -> Result<()> {
    let replaced = StagedFile::create_for(path, readers).and_then(|mut file| {
        file.write_all(bytes)?;
        file.commit()
    });
    replaced.map_err(|err| Error::io("cannot write", path, err))
}

/// Whether this is the name of a hidden file for `target` that a killed run may have left.
pub fn is_leftover(name: &OsStr, target: &str) -> bool {
    let number = name
        .as_encoded_bytes()
        .strip_prefix(b".")
        .and_then(|name| name.strip_prefix(target.as_bytes())?.strip_prefix(MARK.as_bytes()));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_hexdigit))
}

/// Removes what killed runs left in `directory` for `target`. No other process may write it now.
pub fn clear_leftovers(directory: &Path, target: &str) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if is_leftover(&entry.file_name(), target) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A new file.
fn create_new(path: &Path, readers: Readers) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::OwnerOnly {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)
}

fn hidden_name(name: &OsStr) -> io::Result<OsString> {
    let mut digits = [0; 8];
    getrandom::fill(&mut digits).map_err(io::Error::other)?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!("{MARK}{:016x}", u64::from_le_bytes(digits)));
    Ok(hidden)
}

#[cfg(test)]
mod tests {
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
        assert!(create_new(file.hidden().unwrap(), Readers::AsUsual).is_err());
        drop(other);
        assert!(is_leftover(&left, "a.csv"), "{left:?}");
        assert!(!is_leftover(&left, "b.csv") && !is_leftover("a.csv".as_ref(), "a.csv"));
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(dir.path()), ["a.csv"]);
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
