//! Puts two outputs in their places together.
//!
//! No system call renames two files at once. Between the two renames, a record beside the first
//! output says how to take it back. If the process is killed there, the next run that writes the
//! same output takes it back.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{ffi::OsString, time::SystemTime};

use serde::{Deserialize, Serialize};

use super::hidden::{Hidden, hidden_name, is_leftover, open_existing};

/// The end of the hidden name of a record.
const PENDING: &str = "pending";

/// The largest record that is read, in bytes.
const RECORD_BYTES_MAX: u64 = 64 << 10;

/// An output that is not in its place yet: what it is, and its path when it is there.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Unplaced {
    node: Node,
    target: PathBuf,
}

/// A file or directory, however it is renamed: device, inode, and when it was created.
#[derive(Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Node(u64, u64, Option<SystemTime>);

/// What is about to happen.
#[derive(Debug, Deserialize, Serialize)]
struct Record {
    first: Unplaced,
    /// The name of the file that was in the place of the first output, in the same directory.
    older: Option<OsString>,
    second: Unplaced,
}

/// The record of two outputs of a running process, which has locked it. It is removed when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Pending {
    _record: Hidden,
    _file: File,
}

impl Unplaced {
    /// The output that is at `hidden` now. `None` if the system does not identify files.
    pub(crate) fn new(hidden: &Path, target: &Path) -> Option<Unplaced> {
        Some(Unplaced { node: node(hidden)?, target: std::path::absolute(target).ok()? })
    }

    fn is_in_place(&self) -> bool {
        node(&self.target).is_some_and(|node| node == self.node)
    }
}

impl Pending {
    /// Records that `first` is put in its place, and then `second`. `older` is a second name of the
    /// file in the place of `first`. `None` if another process is writing the same file.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub(crate) fn new(
        first: Unplaced,
        older: Option<&Path>,
        second: Unplaced,
    ) -> io::Result<Option<Pending>> {
        let (hidden, mut file) = match Hidden::named(&hidden_name(&first.target, PENDING)?) {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            created => created?,
        };
        let older = older.and_then(Path::file_name).map(OsString::from);
        file.write_all(&serde_json::to_vec(&Record { first, older, second })?)?;
        Ok(Some(Pending { _record: hidden, _file: file }))
    }
}

/// Takes the output `target` back if a run was killed after it had placed it and before it placed
/// its second output. `own` is a new file of this process: records of other users are ignored.
///
/// # Errors
/// If the older file cannot be restored.
pub(crate) fn take_back(target: &Path, own: &File) -> io::Result<()> {
    let path = hidden_name(target, PENDING)?;
    let is_own = |data: &Metadata| {
        data.is_file() && data.len() <= RECORD_BYTES_MAX && is_of_same_user(data, own)
    };
    if !path.symlink_metadata().is_ok_and(|data| is_own(&data)) {
        return Ok(());
    }
    // A running process has locked its own.
    let Ok(file) = open_existing(&path) else { return Ok(()) };
    if file.try_lock().is_err() {
        return Ok(());
    }
    // A process that was killed while it wrote the record has placed nothing.
    if let Ok(record) = serde_json::from_slice::<Record>(&fs::read(&path)?)
        && node(target) == Some(record.first.node)
        && !record.second.is_in_place()
    {
        match record.older {
            Some(name) if is_leftover(&name, target) => {
                fs::rename(target.with_file_name(name), target)?;
            }
            Some(_) => {}
            None => fs::remove_file(target)?,
        }
    }
    fs::remove_file(path)
}

/// Whether the output `target` is in its place, but not its second output, because a run was killed
/// or is still between the two.
///
/// # Errors
/// If the record of such a run cannot be read.
pub(crate) fn is_ahead(target: &Path) -> io::Result<bool> {
    let path = hidden_name(target, PENDING)?;
    if !path.symlink_metadata().is_ok_and(|data| data.is_file() && data.len() <= RECORD_BYTES_MAX) {
        return Ok(false);
    }
    let record = serde_json::from_slice::<Record>(&fs::read(&path)?);
    Ok(record.is_ok_and(|record| {
        node(target) == Some(record.first.node) && !record.second.is_in_place()
    }))
}

#[cfg(unix)]
fn node(path: &Path) -> Option<Node> {
    use std::os::unix::fs::MetadataExt;
    let data = fs::symlink_metadata(path).ok()?;
    Some(Node(data.dev(), data.ino(), data.created().ok()))
}

#[cfg(not(unix))]
fn node(_: &Path) -> Option<Node> {
    None
}

#[cfg(unix)]
fn is_of_same_user(data: &Metadata, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().is_ok_and(|own| own.uid() == data.uid())
}

#[cfg(not(unix))]
fn is_of_same_user(_: &Metadata, _: &File) -> bool {
    true
}
