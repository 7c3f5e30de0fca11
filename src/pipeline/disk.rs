//! Files that wait for the disk on threads of their own, while others are still written.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};

/// The threads that wait at the same time: a single wait takes as long as some together.
const THREADS_MAX: usize = 4;

/// Written files that are on their way to the disk.
#[derive(Debug)]
pub(crate) struct DiskWaits {
    sender: Sender<WrittenFile>,
    receiver: Receiver<WrittenFile>,
    threads: Vec<JoinHandle<Result<Vec<OsString>, FailedFile>>>,
}

/// A file with all its bytes, by its name in the directory.
type WrittenFile = (OsString, File);

/// A file that did not get to the disk, and why.
pub(crate) type FailedFile = (OsString, io::Error);

impl Default for DiskWaits {
    fn default() -> DiskWaits {
        let (sender, receiver) = unbounded();
        DiskWaits { sender, receiver, threads: Vec::new() }
    }
}

impl DiskWaits {
    /// Begins to wait for a file.
    pub(crate) fn add(&mut self, name: OsString, file: File) {
        if self.threads.len() < THREADS_MAX {
            let files = self.receiver.clone();
            let started = thread::Builder::new().spawn(move || all_on_disk(&files));
            // The system may start no more threads. Files that no thread waits for are not among the finished ones.
            self.threads.extend(started);
        }
        if !self.threads.is_empty() {
            // There is a receiver.
            let _ = self.sender.send((name, file));
        }
    }

    /// Waits for all files, and returns the names of those that are on disk. Others may be missing, if threads
    /// could not be started.
    ///
    /// # Errors
    /// If the disk is full or fails.
    pub(crate) fn finish(self) -> Result<BTreeSet<OsString>, FailedFile> {
        let DiskWaits { sender, receiver, threads } = self;
        drop((sender, receiver));
        let mut finished = BTreeSet::new();
        let mut failed = None;
        for thread in threads {
            match thread.join() {
                Ok(Ok(names)) => finished.extend(names),
                Ok(Err(file)) => failed = failed.or(Some(file)),
                // Its files are not among the finished ones.
                Err(_) => {}
            }
        }
        failed.map_or(Ok(finished), Err)
    }
}

fn all_on_disk(files: &Receiver<WrittenFile>) -> Result<Vec<OsString>, FailedFile> {
    let on_disk = |(name, file): WrittenFile| match file.sync_all() {
        Ok(()) => Ok(name),
        Err(err) => Err((name, err)),
    };
    files.iter().map(on_disk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_get_to_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        for count in [0, 1, 3, 40] {
            let mut waits = DiskWaits::default();
            let names: BTreeSet<OsString> = (0..count).map(|at| format!("{at}").into()).collect();
            for name in &names {
                waits.add(name.clone(), File::create(dir.path().join(name)).unwrap());
            }
            assert_eq!(waits.finish().unwrap(), names);
        }
    }

    /// A terminal cannot be waited for; what cannot get to a disk is an error with its name.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_get_to_the_disk_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let mut waits = DiskWaits::default();
        for at in 0..9 {
            waits.add(format!("{at}").into(), File::create(dir.path().join("file")).unwrap());
        }
        waits.add("null".into(), File::options().write(true).open("/dev/null").unwrap());
        assert_eq!(waits.finish().unwrap_err().0, "null");
    }
}
