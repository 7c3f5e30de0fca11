//! Imports into an archive: WARC files, manifests, directories, git histories; good, bad and cut.
//!
//! - `warc`: responses, redirects and revisits as crawls publish them.
//! - `files`: manifests, directories, git histories, exports.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod bench;
mod files;
mod warc;
