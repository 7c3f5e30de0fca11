//! The sender of a folder.

/// Who sends the folder.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    /// A person, a company, or the host.
    pub organisation: String,
    /// An e-mail address.
    pub contact: Option<String>,
}
