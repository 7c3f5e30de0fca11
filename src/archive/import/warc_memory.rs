//! What the WARC files of one import know of each other.

use super::{redirects::Redirects, revisits::Payloads};

/// What is remembered from one WARC file to the next of a run.
#[derive(Debug, Default)]
pub struct WarcMemory {
    pub(super) payloads: Payloads,
    pub(super) redirects: Redirects,
}
