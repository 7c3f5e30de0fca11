//! The two readings of a path: Google's and RFC 9309's (rep.md section E).

/// How percent-encodings and wildcards of a rule and a path are read.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Dialect {
    /// As Google's open parser compares: nothing is decoded.
    #[default]
    Google,
    /// As RFC 9309 section 2.2.2 asks: unreserved characters are decoded first.
    Rfc9309,
}
