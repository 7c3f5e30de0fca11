//! A request target: origin-form, absolute-form, or one without a path (RFC 9112 section 3.2).

/// The longest scheme that is accepted, in bytes; the longest registered ones are shorter.
pub const SCHEME_BYTES_MAX: usize = 32;

/// The target of a request, as logged, without the escapes of the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target<'a> {
    /// Origin-form: a path and query. `//x/y` is a path, never a network-path reference.
    Path(&'a [u8]),
    /// Absolute-form, with its own origin. `path` may be empty or begin with `?` or `#`.
    Absolute {
        /// The part before `://`.
        scheme: &'a [u8],
        /// `[user@]host[:port]`.
        authority: &'a [u8],
        /// The rest.
        path: &'a [u8],
    },
    /// `*`, the authority of a CONNECT, or a text that cannot be compared with rules.
    NoPath,
}

impl<'a> Target<'a> {
    /// Determines the form of `target` in a request with `method`.
    #[inline]
    pub fn of(method: &[u8], target: &'a [u8]) -> Target<'a> {
        if method == b"CONNECT" {
            return Target::NoPath;
        }
        if target.first() == Some(&b'/') {
            return Target::Path(target);
        }
        let Some((scheme, rest)) = split_scheme(target) else { return Target::NoPath };
        let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
        Target::Absolute { scheme, authority: &rest[..end], path: &rest[end..] }
    }

    /// The unprepared path and query, if there is one.
    #[inline]
    pub fn path(self) -> Option<&'a [u8]> {
        match self {
            Target::Path(path) | Target::Absolute { path, .. } => Some(path),
            Target::NoPath => None,
        }
    }
}

/// Splits `scheme://rest`; `None` if `url` does not begin with a scheme and `://`.
pub fn split_scheme(url: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = url.iter().take(SCHEME_BYTES_MAX + 1).position(|&byte| byte == b':')?;
    let (scheme, rest) = (&url[..colon], &url[colon + 1..]);
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    if is_scheme { Some((scheme, rest.strip_prefix(b"//")?)) } else { None }
}

/// The unprepared path and query of `text`, a path or a URL; may be empty or begin with `?` or `#`.
///
/// A path begins with `/` or `//`. In any other text, the part before the first `/`, `?` or `#`
/// after a scheme is a host.
pub fn path_of(text: &[u8]) -> &[u8] {
    if text.first() == Some(&b'/') {
        return text;
    }
    let rest = split_scheme(text).map_or(text, |(_, rest)| rest);
    let start = rest.iter().position(|byte| b"/?#".contains(byte));
    &rest[start.unwrap_or(rest.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_a_path() {
        assert_eq!(Target::of(b"GET", b"//wp-admin/x"), Target::Path(b"//wp-admin/x"));
        assert_eq!(Target::of(b"GET", b"/http://a/b"), Target::Path(b"/http://a/b"));
    }

    #[test]
    fn absolute_form_carries_its_origin() {
        let expected = Target::Absolute { scheme: b"http", authority: b"u@h:81", path: b"?q" };
        assert_eq!(Target::of(b"GET", b"http://u@h:81?q"), expected);
    }

    #[test]
    fn what_has_no_path_has_none() {
        for target in [b"*".as_slice(), b"", b"example.com:443", b"x/y", b"mailto:x"] {
            assert_eq!(Target::of(b"OPTIONS", target), Target::NoPath, "{target:?}");
        }
        assert_eq!(Target::of(b"CONNECT", b"/x"), Target::NoPath);
    }

    #[test]
    fn paths_of_paths_and_urls() {
        let cases = [
            ("/a?b#c", "/a?b#c"),
            ("//a/b", "//a/b"),
            ("https://a.example/b?c", "/b?c"),
            ("HTTP://u:p@a.example:81?b=/c", "?b=/c"),
            ("http://a.example", ""),
            ("a.example/b", "/b"),
            ("?b=http://a.example/", "?b=http://a.example/"),
            ("#b", "#b"),
            ("", ""),
            ("*", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(path_of(text.as_bytes()), expected.as_bytes(), "{text}");
        }
    }
}
