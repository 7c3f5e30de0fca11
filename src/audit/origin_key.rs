//! The origin of a request, as far as its log has it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded::StableHash;
use crate::url::origin::Origin;

/// The `origin` column of a report.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum OriginKey {
    /// The log names no host and `--origin` was not given: written `-`.
    Unnamed,
    /// A host that cannot exist: written `(invalid)`.
    Invalid,
    /// All origins beyond the limit: written `(others)`.
    Others,
    /// A proper origin.
    Origin(Origin),
}

impl OriginKey {
    /// As reports write it.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            OriginKey::Unnamed => "-",
            OriginKey::Invalid => "(invalid)",
            OriginKey::Others => "(others)",
            OriginKey::Origin(origin) => origin.as_str(),
        }
    }

    /// The host in canonical form; `None` if none is known.
    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            OriginKey::Origin(origin) => Some(origin.host()),
            _ => None,
        }
    }

    /// The same with the port, unless it is the default.
    pub(crate) fn host_and_port(&self) -> Option<&str> {
        match self {
            OriginKey::Origin(origin) => Some(origin.host_and_port()),
            _ => None,
        }
    }
}

impl fmt::Display for OriginKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<OriginKey> for String {
    fn from(origin_key: OriginKey) -> String {
        origin_key.to_string()
    }
}

impl TryFrom<String> for OriginKey {
    type Error = String;

    /// Reads what is written.
    fn try_from(text: String) -> Result<OriginKey, String> {
        let known = [OriginKey::Unnamed, OriginKey::Invalid, OriginKey::Others];
        let known = known.into_iter().find(|origin_key| origin_key.to_string() == text);
        let origin = || {
            let origin = Origin::parse(text.as_bytes()).map(OriginKey::Origin);
            origin.filter(|origin| origin.to_string() == text)
        };
        known.or_else(origin).ok_or_else(|| format!("'{text}' is not an origin"))
    }
}

impl StableHash for OriginKey {
    fn stable_hash(&self) -> u64 {
        self.as_str().as_bytes().stable_hash()
    }
}

/// Whether an origin may be folded into `(others)`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum OriginRank {
    /// The user named it.
    Named,
    /// Its hash decides.
    Stranger(u64),
}

impl OriginRank {
    /// The rank of `origin_key`, which may be folded if it `is_stranger`.
    pub(crate) fn new(origin_key: &OriginKey, is_stranger: bool) -> OriginRank {
        match is_stranger {
            true => OriginRank::Stranger(origin_key.stable_hash()),
            false => OriginRank::Named,
        }
    }
}
