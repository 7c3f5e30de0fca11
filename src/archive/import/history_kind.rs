//! Detects the kind of history at a path.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};

use super::{manifest, open};

/// The bytes of a file that are examined.
const LOOK_BYTES: usize = 4096;

/// The kind of history at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HistoryKind {
    /// A directory of files.
    Directory,
    /// A CSV manifest.
    Manifest,
    /// A WARC file, gzipped or not.
    Warc,
    /// Any other file counts as a robots.txt.
    RobotsTxt,
}

/// The kind of `path`, by its first bytes.
///
/// # Errors
/// If it cannot be read.
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
