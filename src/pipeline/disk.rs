//! Files that wait for the disk on threads of their own, while others are still written.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::mutex::lock;

/// The threads that wait at the same time: a single wait takes as long as some together.
const THREADS_MAX: usize = 4;

/// The open files for which no thread waits yet.
const QUEUED_MAX: usize = 32;

/// Written files that are on their way to the disk.
#[derive(Debug)]
pub(crate) struct DiskWaits {
    /// All that were added.
    names: BTreeSet<OsString>,
    /// `None` at the end.
    sender: Option<SyncSender<WrittenFile>>,
    /// A thread holds it while it waits for its next file.
    receiver: Arc<Mutex<Receiver<WrittenFile>>>,
    threads: Vec<JoinHandle<Result<(), FailedFile>>>,
    /// Without threads.
    result: Result<(), FailedFile>,
}

/// A file with all its bytes, or a directory, by its name.
type WrittenFile = (OsString, File);

/// A file that did not get to the disk, and why.
pub(crate) type FailedFile = (OsString, io::Error);

impl Default for DiskWaits {
    fn default() -> DiskWaits {
        let (sender, receiver) = sync_channel(QUEUED_MAX);
        let receiver = Arc::new(Mutex::new(receiver));
        let (names, threads) = Default::default();
        DiskWaits { names, sender: Some(sender), receiver, threads, result: Ok(()) }
    }
}

impl DiskWaits {
    /// Begins to wait for a file. If the system starts no thread, waits until it is on disk.
    pub(crate) fn add(&mut self, name: OsString, file: File) {
        self.names.insert(name.clone());
        if self.threads.len() < THREADS_MAX {
            let files = Arc::clone(&self.receiver);
            let started = thread::Builder::new().spawn(move || {
                let mut result = Ok(());
                while let Some(file) = next(&files) {
                    wait(file, &mut result);
                }
                result
            });
            self.threads.extend(started);
        }
        match &self.sender {
            Some(sender) if !self.threads.is_empty() => {
                sender.send((name, file)).expect("there is a receiver");
            }
            _ => wait((name, file), &mut self.result),
        }
    }

    /// Whether a file of this name was added.
    pub(crate) fn has(&self, name: &OsStr) -> bool {
        self.names.contains(name)
    }

    /// Waits for all files.
    ///
    /// # Errors
    /// If the disk is full or fails.
    pub(crate) fn finish(mut self) -> Result<(), FailedFile> {
        self.sender = None;
        let mut result = std::mem::replace(&mut self.result, Ok(()));
        for thread in self.threads.drain(..) {
            result = result.and(thread.join().unwrap_or_else(|why| resume_unwind(why)));
        }
        result
    }
}

/// Files that nobody waits for any more are closed, so that their directory can be removed.
impl Drop for DiskWaits {
    fn drop(&mut self) {
        self.sender = None;
        while next(&self.receiver).is_some() {}
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// The next file; `None` after the last one.
fn next(files: &Mutex<Receiver<WrittenFile>>) -> Option<WrittenFile> {
    lock(files).recv().ok()
}

/// Waits for a file, unless one before has failed.
fn wait((name, file): WrittenFile, result: &mut Result<(), FailedFile>) {
    if result.is_ok() {
        *result = file.sync_all().map_err(|err| (name, err));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_names() {
        let dir = tempfile::tempdir().unwrap();
        for count in [0, 1, 3, 2 * QUEUED_MAX] {
            let mut waits = DiskWaits::default();
            for at in 0..count {
                let file = File::create(dir.path().join(format!("{at}"))).unwrap();
                waits.add(format!("{at}").into(), file);
            }
            assert!((0..count).all(|at| waits.has(format!("{at}").as_ref())));
            assert!(!waits.has(format!("{count}").as_ref()));
            waits.finish().unwrap();
        }
    }

    /// A device cannot get to a disk. The files after it are more than those that wait in a queue.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_get_to_the_disk_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = || File::create(dir.path().join("file")).unwrap();
        let null = || File::options().write(true).open("/dev/null").unwrap();
        let mut waits = DiskWaits::default();
        (0..THREADS_MAX).for_each(|_| waits.add("null".into(), null()));
        (0..2 * QUEUED_MAX).for_each(|_| waits.add("file".into(), file()));
        assert_eq!(waits.finish().unwrap_err().0, "null");
    }
}
