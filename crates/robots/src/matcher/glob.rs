//! Matches one pattern, split into literals, with one path. It allocates nothing, except for very
//! long literals with encoded characters.

use memchr::memmem;

use crate::url::path::Dialect;

use super::encoded;
use super::pattern::{End, encoded_special};

/// Path bytes times literal bytes up to which a simple loop searches for a literal. It is faster
/// for short paths. Longer ones use memmem, which is linear, or, with encoded characters, an
/// algorithm with a 64th of that product.
const NAIVE_STEPS_MAX: usize = 1 << 12;

/// A prepared pattern without `*` at its end, and without `$` as its anchor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shape<'a> {
    /// The literal at its start; may be empty.
    pub prefix: &'a [u8],
    /// The rest: empty, or from the first wildcard (in RFC 9309, the first encoded `*` or `$`) to
    /// the last literal byte.
    pub suffix: &'a [u8],
    /// Whether the path must end with the pattern.
    pub end: End,
    /// Whether the suffix can be compared byte by byte.
    pub spelling: WildcardSpelling,
}

/// The comparison of the bytes of a suffix.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum WildcardSpelling {
    /// Each byte stands for itself, except `*`.
    Plain,
    /// `%2A` and `%24` also stand for the encoded character.
    Encoded,
}

pub fn shape(pattern: &[u8], dialect: Dialect) -> Shape<'_> {
    let (text, end) = match pattern {
        [before @ .., b'*', b'$'] => (before, End::Open),
        [before @ .., b'$'] => (before, End::Anchored),
        _ => (pattern, End::Open),
    };
    let kept = match end {
        End::Open => text.iter().rposition(|byte| *byte != b'*').map_or(0, |last| last + 1),
        End::Anchored => text.len(),
    };
    let text = &text[..kept];
    let star = memchr::memchr(b'*', text);
    let special = first_special(text, dialect);
    let prefix_bytes = star.into_iter().chain(special).min().unwrap_or(text.len());
    let (prefix, suffix) = text.split_at(prefix_bytes);
    let spelling =
        if special.is_some() { WildcardSpelling::Encoded } else { WildcardSpelling::Plain };
    Shape { prefix, suffix, end, spelling }
}

fn first_special(text: &[u8], dialect: Dialect) -> Option<usize> {
    match dialect {
        Dialect::Google => None,
        Dialect::Rfc9309 => memchr::memchr_iter(b'%', text)
            .find(|at| encoded_special(&text[*at..], dialect).is_some()),
    }
}

impl Shape<'_> {
    #[inline]
    pub fn is_match(&self, path: &[u8]) -> bool {
        match path.strip_prefix(self.prefix) {
            Some(rest) => self.is_suffix_match(rest),
            None => false,
        }
    }

    /// Whether the suffix matches `rest`, the path after the prefix.
    #[inline]
    pub(crate) fn is_suffix_match(&self, rest: &[u8]) -> bool {
        match (self.suffix.is_empty(), self.end, self.spelling) {
            (true, End::Open, _) => true,
            (true, End::Anchored, _) => rest.is_empty(),
            (false, end, WildcardSpelling::Plain) => is_plain_match(self.suffix, end, rest),
            (false, end, WildcardSpelling::Encoded) => is_encoded_match(self.suffix, end, rest),
        }
    }
}

/// The leftmost match of each literal is as good as any other, because it leaves the most text for
/// the following wildcard. An anchored last literal is compared with the end instead.
fn is_plain_match(suffix: &[u8], end: End, mut rest: &[u8]) -> bool {
    let mut suffix = suffix;
    loop {
        while let [b'*', after @ ..] = suffix {
            suffix = after;
        }
        let literal_end = memchr::memchr(b'*', suffix).unwrap_or(suffix.len());
        let (literal, after) = suffix.split_at(literal_end);
        if after.is_empty() && end == End::Anchored {
            return rest.ends_with(literal);
        }
        let Some(at) = find(literal, rest) else { return false };
        if after.is_empty() {
            return true;
        }
        rest = &rest[at + literal.len()..];
        suffix = after;
    }
}

fn find(literal: &[u8], path: &[u8]) -> Option<usize> {
    if path.len().saturating_mul(literal.len()) > NAIVE_STEPS_MAX {
        return memmem::find(path, literal);
    }
    let (first, others) = literal.split_first()?;
    let Some(second) = others.first() else { return memchr::memchr(*first, path) };
    let is_here =
        |at: &usize| path.get(at + 1) == Some(second) && path[at + 1..].starts_with(others);
    memchr::memchr_iter(*first, path).find(is_here)
}

/// As [`is_plain_match`], character by character, because some characters are three bytes of the
/// pattern and one of the path. Only the last wildcard is retried.
fn is_encoded_match(suffix: &[u8], end: End, path: &[u8]) -> bool {
    if path.len().saturating_mul(suffix.len()) > NAIVE_STEPS_MAX {
        return encoded::is_match(suffix, end, path);
    }
    let (mut at, mut offset) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if at == suffix.len() && (end == End::Open || offset == path.len()) {
            return true;
        }
        if let Some(b'*') = suffix.get(at) {
            at += 1;
            retry = Some((at, offset));
        } else if let Some((suffix_bytes, path_bytes)) = character(&suffix[at..], &path[offset..]) {
            at += suffix_bytes;
            offset += path_bytes;
        } else {
            match retry {
                Some((star, from)) if from < path.len() => {
                    retry = Some((star, from + 1));
                    (at, offset) = (star, from + 1);
                }
                _ => return false,
            }
        }
    }
}

/// The bytes of the next character in suffix and path, if they match.
fn character(suffix: &[u8], path: &[u8]) -> Option<(usize, usize)> {
    if let Some((encoded, plain)) = encoded_special(suffix, Dialect::Rfc9309) {
        if path.starts_with(encoded) {
            return Some((3, 3));
        }
        return (path.first() == Some(&plain)).then_some((3, 1));
    }
    (!suffix.is_empty() && suffix.first() == path.first()).then_some((1, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        use End::*;
        let cases: [(&str, &str, &str, End); 12] = [
            ("/a", "/a", "", Open),
            ("/a***", "/a", "", Open),
            ("/a*$", "/a", "", Open),
            ("/a**$", "/a", "", Open),
            ("/a$", "/a", "", Anchored),
            ("/a$$", "/a$", "", Anchored),
            ("/a$*", "/a$", "", Open),
            ("/a*b**c$", "/a", "*b**c", Anchored),
            ("*.php*", "", "*.php", Open),
            ("*", "", "", Open),
            ("$", "", "", Anchored),
            ("", "", "", Open),
        ];
        for (pattern, prefix, suffix, end) in cases {
            let shape = shape(pattern.as_bytes(), Dialect::Google);
            assert_eq!(
                (shape.prefix, shape.suffix, shape.end),
                (prefix.as_bytes(), suffix.as_bytes(), end),
                "{pattern}"
            );
        }
        let shape = shape(b"/a%2Fb%24c$", Dialect::Rfc9309);
        assert_eq!((shape.prefix, shape.suffix), (&b"/a%2Fb"[..], &b"%24c"[..]));
    }
}
