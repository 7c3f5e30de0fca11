//! Reads files and lists directories, with limits.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The room for a file at first, which is enough for nearly all that are small.
const ROOM_BYTES: u64 = 16 << 10;

/// The bytes of the file `path`; `None` if it has more than `bytes_max`.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn read_up_to(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    take_up_to(File::open(path)?, bytes_max)
}

/// The bytes of `reader`; `None` if it has more than `bytes_max`.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn take_up_to(reader: impl Read, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    // Without room at first, a small file takes several reads.
    let mut bytes = Vec::with_capacity(bytes_max.min(ROOM_BYTES) as usize);
    reader.take(bytes_max + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= bytes_max).then_some(bytes))
}

/// The sorted paths of all entries of `directory`, except hidden ones.
///
/// # Errors
/// If it cannot be listed.
pub(crate) fn visible_entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = visible_entries_and_kinds(directory)?;
    Ok(entries.into_iter().map(|(path, _)| path).collect())
}

/// The same with the kind of each as far as the list has it, which takes no look at the entry itself.
/// That of a link is of the link.
///
/// # Errors
/// If it cannot be listed.
pub(crate) fn visible_entries_and_kinds(
    directory: &Path,
) -> io::Result<Vec<(PathBuf, Option<FileType>)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            entries.push((entry.path(), entry.file_type().ok()));
        }
    }
    // All are in one directory; comparing paths part by part would take ten times as long.
    entries.sort_unstable_by(|(left, _), (right, _)| left.as_os_str().cmp(right.as_os_str()));
    Ok(entries)
}
