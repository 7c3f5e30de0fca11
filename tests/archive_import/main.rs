//! Imports into an archive: WARC files, manifests, directories, git histories; good, bad and cut.
//!
//! - `warc`: responses, redirects and revisits as crawls publish them.
//! - `files`: manifests, directories, exports.
//! - `git`: histories of repositories, also of those that mean harm.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod bench;
mod files;
mod git;
mod warc;
