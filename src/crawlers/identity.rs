//! Whether a request came from the crawler that its user agent names.

use serde::{Deserialize, Serialize};

/// What the address of a request says of its user agent.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Identity {
    /// The operator's ranges or DNS rule contain the address.
    Verified,
    /// They were loaded completely and contradict it.
    Spoofed,
    /// Nothing is known that would decide.
    Unverified,
}

impl Identity {
    /// All of them, in the order of their places.
    pub const ALL: [Identity; 3] = [Identity::Verified, Identity::Spoofed, Identity::Unverified];

    /// The name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Identity::Verified => "verified",
            Identity::Spoofed => "spoofed",
            Identity::Unverified => "unverified",
        }
    }
}
