//! Which kind of history a path holds.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};

use super::{manifest, open};

/// Bytes of a file that decide.
const LOOK_BYTES: usize = 4096;

/// What a path holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HistoryKind {
    /// A directory of files.
    Directory,
    /// A CSV manifest.
    Manifest,
    /// A WARC file, gzipped or not.
    Warc,
    /// Anything else is taken for a robots.txt.
    RobotsTxt,
}

/// What `path` holds, by its first bytes.
///
/// # Errors
/// Where it cannot be read.
pub fn kind_of(path: &Path) -> Result<HistoryKind> {
    let metadata = std::fs::metadata(path).map_err(|err| Error::io("cannot read", path, err))?;
    if metadata.is_dir() {
        return Ok(HistoryKind::Directory);
    }
    let mut opened = open(path, &Arc::default())?;
    let mut start = vec![0; LOOK_BYTES];
    let filled = opened.fill(&mut start);
    let start = &start[..filled];
    Ok(if start.trim_ascii_start().starts_with(b"WARC/") {
        HistoryKind::Warc
    } else if manifest::is_header(start) {
        HistoryKind::Manifest
    } else {
        HistoryKind::RobotsTxt
    })
}
