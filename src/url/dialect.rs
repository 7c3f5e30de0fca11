//! The dialects. Google's parser compares percent-encodings unchanged, according to its
//! documentation and tests. RFC 9309 section 2.2.2 decodes unreserved characters before the
//! comparison, and reads `%2A` and `%24` as literal `*` and `$`.

use std::str::FromStr;

#[cfg(feature = "cli")]
use serde::Serialize;

/// How percent-encodings and wildcards of a rule and a path are compared.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "cli", derive(Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Dialect {
    /// As Google's open parser: nothing is decoded.
    #[default]
    Google,
    /// As RFC 9309 section 2.2.2: unreserved characters are decoded first.
    Rfc9309,
}

impl FromStr for Dialect {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Dialect, &'static str> {
        match text {
            "google" => Ok(Dialect::Google),
            "rfc9309" => Ok(Dialect::Rfc9309),
            _ => Err("write google or rfc9309"),
        }
    }
}
