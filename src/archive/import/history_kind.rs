//! Which make of history a file is.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};

use super::{manifest, open};

/// Bytes by which the make of a file is told.
const LOOK_BYTES: usize = 4096;

/// The makes of histories that are told by looking.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Make {
    /// A directory of files.
    Directory,
    /// A CSV manifest.
    Manifest,
    /// A WARC file, gzipped or not.
    Warc,
    /// Anything else is taken for a robots.txt.
    RobotsTxt,
}

/// Tells the make of `path` by looking.
///
/// # Errors
/// Where it cannot be read.
pub fn make_of(path: &Path) -> Result<Make> {
    let metadata = std::fs::metadata(path).map_err(|err| Error::io("cannot read", path, err))?;
    if metadata.is_dir() {
        return Ok(Make::Directory);
    }
    let mut opened = open(path, &Arc::default())?;
    let mut start = vec![0; LOOK_BYTES];
    let mut filled = 0;
    // Damage from the start on is told by whoever reads the file.
    while filled < start.len()
        && let Ok(count @ 1..) = opened.read(&mut start[filled..])
    {
        filled += count;
    }
    let start = &start[..filled];
    Ok(if start.trim_ascii_start().starts_with(b"WARC/") {
        Make::Warc
    } else if manifest::is_header(start) {
        Make::Manifest
    } else {
        Make::RobotsTxt
    })
}
