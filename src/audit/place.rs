//! Where a request was addressed, as far as its log says.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bounded::StableHash;
use crate::url::origin::Origin;

/// The `origin` column of a report.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
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

impl From<Place> for String {
    fn from(place: Place) -> String {
        place.to_string()
    }
}

impl TryFrom<String> for Place {
    type Error = String;

    /// Reads what is written.
    fn try_from(text: String) -> Result<Place, String> {
        let known = [Place::Unnamed, Place::Invalid, Place::Others];
        let known = known.into_iter().find(|place| place.to_string() == text);
        let origin = || {
            let origin = Origin::parse(text.as_bytes()).map(Place::Origin);
            origin.filter(|origin| origin.to_string() == text)
        };
        known.or_else(origin).ok_or_else(|| format!("'{text}' is not an origin"))
    }
}

impl StableHash for Place {
    fn stable_hash(&self) -> u64 {
        self.to_string().as_bytes().stable_hash()
    }
}

/// Whether a place may be folded into `(others)`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Standing {
    /// The user named it.
    Named,
    /// Its hash decides.
    Stranger(u64),
}
