//! The memory shared by the WARC files of one import.

use super::{redirects::Redirects, revisits::Payloads};

/// Payloads and redirects of the WARC files of a run so far.
#[derive(Debug, Default)]
pub struct WarcMemory {
    pub(super) payloads: Payloads,
    pub(super) redirects: Redirects,
}
