//! Whether a request came from the crawler that its user agent names.

use serde::{Deserialize, Serialize};

use crate::named_enum::named_enum;

named_enum! {
    /// Whether the address of a request confirms its user agent.
    #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Identity {
        /// The operator's ranges or DNS rule contain the address.
        Verified = "verified",
        /// They were loaded completely and contradict it.
        Spoofed = "spoofed",
        /// Nothing is known that would decide.
        Unverified = "unverified",
    }
}
