//! Imports into an archive: WARC files, manifests, directories, git histories; valid, invalid and
//! cut.
//!
//! - `warc`: responses, redirects and revisits as in published crawls.
//! - `files`: manifests, directories, exports.
//! - `git`: histories of repositories, also hostile ones.

mod bench;
mod files;
mod git;
mod warc;
