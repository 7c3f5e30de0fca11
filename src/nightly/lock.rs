//! A lock on the reports of a site: one run at a time.
//!
//! The system holds the lock and drops it when the process ends, however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::time::UtcTime;

/// The file that is locked, in the directory of a site's reports.
const LOCK: &str = ".lock";

/// The most bytes that are read of the holder of a lock.
const HOLDER_BYTES_MAX: u64 = 200;

/// The result of taking a lock.
#[derive(Debug)]
pub(crate) enum Locked {
    /// It is ours until the file is dropped.
    Ours(File),
    /// Another run holds it, with its description.
    Theirs(String),
}

/// Locks `directory`, which is created if it does not exist.
///
/// # Errors
/// If locking is not possible.
pub(crate) fn lock(directory: &Path, now: UtcTime) -> Result<Locked> {
    lock_by(&directory.join(LOCK), now)
}

/// Locks the file `path`, which is created if it does not exist.
///
/// # Errors
/// If locking is not possible.
pub(crate) fn lock_by(path: &Path, now: UtcTime) -> Result<Locked> {
    let cannot = |err| Error::io("cannot lock", path, err);
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(cannot)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(path).map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::Error(err)) => return Err(cannot(err)),
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // It may be writing just now.
            let _ = file.take(HOLDER_BYTES_MAX).read_to_string(&mut holder);
            let holder = match holder.trim() {
                "" => "another run",
                holder => holder,
            };
            return Ok(Locked::Theirs(format!("{} is locked by {holder}", path.display())));
        }
    }
    let holder = format!("process {} since {now}\n", std::process::id());
    let written = file
        .set_len(0)
        .and_then(|()| file.seek(SeekFrom::Start(0)))
        .and_then(|_| file.write_all(holder.as_bytes()));
    written.map_err(cannot)?;
    Ok(Locked::Ours(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_run_learns_which_run_holds_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let reports = dir.path().join("a/b");
        let now = UtcTime::from_unix_seconds(0).unwrap();
        let Locked::Ours(first) = lock(&reports, now).unwrap() else { panic!("nobody was first") };
        let Locked::Theirs(who) = lock(&reports, now).unwrap() else { panic!("both have it") };
        let expected = format!("process {} since 1970-01-01T00:00:00Z", std::process::id());
        assert!(who.ends_with(&expected), "{who}");
        drop(first);
        assert!(matches!(lock(&reports, now).unwrap(), Locked::Ours(_)));
    }
}
