//! The two readings of a path: that of Google's parser, whose documentation and tests compare
//! percent-encodings as they stand, and that of RFC 9309 section 2.2.2, which decodes unreserved
//! characters before it compares, and takes `%2A` and `%24` for literal `*` and `$`.

use std::str::FromStr;

#[cfg(feature = "cli")]
use serde::Serialize;

/// How percent-encodings and wildcards of a rule and a path are read.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "cli", derive(Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Dialect {
    /// As Google's open parser compares: nothing is decoded.
    #[default]
    Google,
    /// As RFC 9309 section 2.2.2 asks: unreserved characters are decoded first.
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
