//! The dialects. Google's parser compares percent-encodings unchanged, according to its
//! documentation and tests. RFC 9309 section 2.2.2 decodes unreserved characters before the
//! comparison, and reads `%2A` and `%24` as literal `*` and `$`.

use std::str::FromStr;

use crate::named_enum;

named_enum! {
    /// How percent-encodings and wildcards of a rule and a path are compared.
    #[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
    #[non_exhaustive]
    pub enum Dialect {
        /// As Google's open parser: nothing is decoded.
        #[default]
        Google = "google",
        /// As RFC 9309 section 2.2.2: unreserved characters are decoded first.
        Rfc9309 = "rfc9309",
    }
}

impl Dialect {
    /// The other one, for comparisons.
    #[doc(hidden)]
    pub fn other(self) -> Dialect {
        match self {
            Dialect::Google => Dialect::Rfc9309,
            Dialect::Rfc9309 => Dialect::Google,
        }
    }
}

impl FromStr for Dialect {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Dialect, &'static str> {
        let named = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == text);
        named.ok_or("write google or rfc9309")
    }
}
