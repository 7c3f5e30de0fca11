//! Hidden files and directories of outputs that are not finished, which are removed on any exit.
//!
//! Those of a killed process are removed by the next run that writes the same output. A living
//! process holds a lock, which the system drops when the process ends, however it ends.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, io, sync::Mutex, thread, time::Duration};

use crate::mutex::lock;

/// The text between a file's name and the random digits after it.
const MARK: &str = ".botaudit-";

/// How often something is tried that others disturb.
const ATTEMPTS_MAX: usize = 100;

/// How often a stopped run looks whether its last step is over.
const COMMIT_POLL: Duration = Duration::from_millis(2);

/// What this process has not finished.
static UNFINISHED: Mutex<Unfinished> =
    Mutex::new(Unfinished { hidden: BTreeMap::new(), commits: 0 });

struct Unfinished {
    /// Hidden files and directories.
    hidden: BTreeMap<PathBuf, Kind>,
    /// The number of [`CommitGuard`]s.
    commits: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    File,
    Directory,
}

/// A last step, which [`remove_unfinished`] waits for.
#[derive(Debug)]
pub(crate) struct CommitGuard(());

/// A hidden file or directory, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Hidden(PathBuf);

/// A lock on an output.
#[derive(Debug)]
pub(crate) struct OutputLock {
    // Dropped in this order: the file is removed while it is locked.
    _hidden: Hidden,
    _file: File,
}

/// The read permissions of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Readers {
    /// Those of the existing file, or the default of new files.
    AsUsual,
    /// The user who runs the program.
    OwnerOnly,
}

/// Removes all hidden files and directories, after a last step in progress. Returns whether there
/// were any. Afterwards nothing can be put in place: the process must end.
pub(crate) fn remove_unfinished() -> bool {
    loop {
        let unfinished = lock(&UNFINISHED);
        if unfinished.commits == 0 {
            unfinished.hidden.iter().for_each(|(path, kind)| kind.remove(path));
            let is_any = !unfinished.hidden.is_empty();
            std::mem::forget(unfinished);
            return is_any;
        }
        drop(unfinished);
        thread::sleep(COMMIT_POLL);
    }
}

impl CommitGuard {
    /// Begins a last step.
    pub(crate) fn begin() -> CommitGuard {
        lock(&UNFINISHED).commits += 1;
        CommitGuard(())
    }
}

impl Drop for CommitGuard {
    fn drop(&mut self) {
        lock(&UNFINISHED).commits -= 1;
    }
}

impl Kind {
    /// What cannot be removed is left to the next run.
    fn remove(self, path: &Path) {
        let _ = match self {
            Kind::File => fs::remove_file(path),
            // A run that is stopped may create another file meanwhile.
            Kind::Directory => {
                repeated(io::ErrorKind::DirectoryNotEmpty, || fs::remove_dir_all(path))
            }
        };
    }
}

impl Hidden {
    /// Creates a directory with a random name beside `target`.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn directory(target: &Path) -> io::Result<Hidden> {
        let path = random_name(target)?;
        Ok(Hidden::made(path, Kind::Directory, |path| fs::create_dir(path))?.0)
    }

    /// Creates a file with a random name beside `target`.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn file(target: &Path, readers: Readers) -> io::Result<(Hidden, File)> {
        repeated(io::ErrorKind::AlreadyExists, || {
            // Its name cannot be guessed, and a link of that name is not followed.
            Hidden::made(random_name(target)?, Kind::File, |path| {
                let file = create_new(path, readers)?;
                // Only a run that clears leftovers can have locked it. Not all systems have locks.
                let _ = file.try_lock();
                if is_at(&file, path) { Ok(file) } else { Err(io::ErrorKind::AlreadyExists.into()) }
            })
        })
    }

    /// Creates the file `path`, which is locked, for the owner alone.
    ///
    /// # Errors
    /// If it exists or cannot be created.
    pub(crate) fn named(path: &Path) -> io::Result<(Hidden, File)> {
        Hidden::made(path.to_owned(), Kind::File, |path| {
            let file = create_new(path, Readers::OwnerOnly)?;
            let _ = file.try_lock();
            Ok(file)
        })
    }

    /// Gives the file `target` a second, random name, or copies it.
    ///
    /// # Errors
    /// If that fails.
    pub(crate) fn copy(target: &Path) -> io::Result<Hidden> {
        let copy = |path: &Path| {
            let copied = fs::hard_link(target, path).or_else(|_| fs::copy(target, path).map(drop));
            copied.inspect_err(|_| Kind::File.remove(path))
        };
        Ok(Hidden::made(random_name(target)?, Kind::File, copy)?.0)
    }

    /// Makes `path`. A signal does not come in between.
    fn made<T>(
        path: PathBuf,
        kind: Kind,
        make: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<(Hidden, T)> {
        let mut unfinished = lock(&UNFINISHED);
        let made = make(&path)?;
        unfinished.hidden.insert(path.clone(), kind);
        Ok((Hidden(path), made))
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let mut unfinished = lock(&UNFINISHED);
        if let Some(kind) = unfinished.hidden.remove(&self.0) {
            kind.remove(&self.0);
        }
    }
}

/// Locks the output `target` against other runs.
///
/// # Errors
/// Of the kind `WouldBlock` if another run has locked it, or if locking is not possible.
pub(crate) fn lock_output(target: &Path) -> io::Result<OutputLock> {
    let path = lock_name(target)?;
    let (hidden, file) = repeated(io::ErrorKind::AlreadyExists, || {
        Hidden::made(path.clone(), Kind::File, |path| {
            let file = match open_existing(path) {
                // A link that leads nowhere is not followed.
                Err(err) if err.kind() == io::ErrorKind::NotFound => {
                    create_new(path, Readers::AsUsual)?
                }
                existing => existing?,
            };
            file.try_lock()?;
            if is_at(&file, path) { Ok(file) } else { Err(io::ErrorKind::AlreadyExists.into()) }
        })
    })?;
    Ok(OutputLock { _hidden: hidden, _file: file })
}

/// The lock file of the output `target`.
pub(crate) fn lock_name(target: &Path) -> io::Result<PathBuf> {
    hidden_name(target, "lock")
}

/// Repeats `action` while others disturb it, which gives errors of the kind `disturbed`.
fn repeated<T>(disturbed: io::ErrorKind, action: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let mut done = action();
    for _ in 1..ATTEMPTS_MAX {
        if !done.as_ref().is_err_and(|err| err.kind() == disturbed) {
            break;
        }
        done = action();
    }
    done
}

/// Whether `name` is a hidden name beside `target` that a killed run may have left.
pub(crate) fn is_leftover(name: &OsStr, target: &Path) -> bool {
    let digits = target.file_name().and_then(|target| {
        let name = name.as_encoded_bytes().strip_prefix(b".")?;
        name.strip_prefix(target.as_encoded_bytes())?.strip_prefix(MARK.as_bytes())
    });
    digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit))
}

/// Removes the files that killed runs left beside `target`. A running process has locked its own.
pub(crate) fn clear_leftovers(target: &Path) {
    for path in leftovers(target) {
        if path.symlink_metadata().is_ok_and(|data| data.is_file())
            && let Ok(file) = open_existing(&path)
            && file.try_lock().is_ok()
        {
            Kind::File.remove(&path);
        }
    }
}

/// Removes the directories that killed runs left beside `target`, whose lock this run must hold.
pub(crate) fn clear_directories(target: &Path) {
    leftovers(target).for_each(|path| Kind::Directory.remove(&path));
}

fn leftovers(target: &Path) -> impl Iterator<Item = PathBuf> + use<'_> {
    let parent =
        target.parent().map(|dir| if dir.as_os_str().is_empty() { Path::new(".") } else { dir });
    let entries = parent.and_then(|parent| fs::read_dir(parent).ok()).into_iter().flatten();
    let entries = entries.flatten().filter(|entry| is_leftover(&entry.file_name(), target));
    entries.map(|entry| entry.path())
}

/// Whether `file` still has the name `path`, which is not a link.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let node = |data: fs::Metadata| (data.dev(), data.ino());
        let (of_file, of_path) = (file.metadata().map(node), fs::symlink_metadata(path).map(node));
        matches!((of_file, of_path), (Ok(of_file), Ok(of_path)) if of_file == of_path)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.is_file()
    }
}

/// Opens a file to lock it. Some network file systems only lock what may be written.
pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path).or_else(|err| match err.kind() {
        io::ErrorKind::PermissionDenied => File::open(path),
        _ => Err(err),
    })
}

/// A new file.
fn create_new(path: &Path, readers: Readers) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::OwnerOnly {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = readers;
    options.open(path)
}

fn random_name(target: &Path) -> io::Result<PathBuf> {
    let mut digits = [0; 8];
    getrandom::fill(&mut digits).map_err(io::Error::other)?;
    hidden_name(target, &format!("{:016x}", u64::from_le_bytes(digits)))
}

/// The hidden name beside `target` that ends in `end`.
pub(crate) fn hidden_name(target: &Path, end: &str) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mark = format!("{MARK}{end}");
    let hidden: OsString = [OsStr::new("."), name, OsStr::new(&mark)].into_iter().collect();
    Ok(target.with_file_name(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_at_a_time_holds_the_lock_of_an_output() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("report");
        let is_refused =
            || lock_output(&target).is_err_and(|err| err.kind() == io::ErrorKind::WouldBlock);
        let held = lock_output(&target).unwrap();
        assert!(is_refused());
        drop(held);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        // A killed run leaves the file.
        let path = lock_name(&target).unwrap();
        fs::write(&path, "").unwrap();
        let held = lock_output(&target).unwrap();
        assert!(is_refused());
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn a_directory_is_removed_while_files_are_created_in_it() {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..20 {
            let hidden = Hidden::directory(&dir.path().join("report")).unwrap();
            let path = hidden.path().to_owned();
            let create = |name: usize| File::create_new(path.join(name.to_string()));
            thread::scope(|scope| {
                scope.spawn(|| (0..500).take_while(|&name| create(name).is_ok()).count());
                while !path.join("20").exists() {}
                drop(hidden);
            });
            assert!(!path.exists());
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("report");
        let (other, gone) = (dir.path().join("other"), dir.path().join("gone"));
        fs::write(&other, "other").unwrap();
        let path = lock_name(&target).unwrap();
        for leads_to in [&other, &gone] {
            std::os::unix::fs::symlink(leads_to, &path).unwrap();
            assert!(lock_output(&target).is_err());
            assert!(create_new(&path, Readers::AsUsual).is_err());
            fs::remove_file(&path).unwrap();
        }
        assert!(!gone.exists() && fs::read(&other).unwrap() == b"other");
        let linked = dir.path().join(".report.botaudit-1f");
        std::os::unix::fs::symlink(&other, &linked).unwrap();
        clear_leftovers(&target);
        assert!(linked.is_symlink() && other.exists());
    }
}
