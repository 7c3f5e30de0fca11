//! Where a request was addressed, as far as its log says.

use std::fmt;

use crate::url::origin::Origin;

/// The `origin` column of a report.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Place {
    /// The log names no host and `--origin` was not given: written `-`.
    Unnamed,
    /// A host that cannot exist: written `(invalid)`.
    Invalid,
    /// All places past the cap: written `(others)`.
    Others,
    /// A proper origin.
    Origin(Origin),
}

impl Place {
    /// The host in canonical form; `None` where none is known.
    pub fn host(&self) -> Option<&str> {
        match self {
            Place::Origin(origin) => Some(origin.host()),
            _ => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Unnamed => "-",
            Place::Invalid => "(invalid)",
            Place::Others => "(others)",
            Place::Origin(origin) => origin.as_str(),
        })
    }
}
