//! Splits a URL of a list into authority, and path with query.

use botaudit_robots::named_enum;
use memchr::memchr3;

use crate::url::path::split_scheme;

/// The longest URL that is judged; servers refuse longer ones.
pub const URL_BYTES_MAX: usize = 64 << 10;

/// A URL in its parts, slices of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UrlParts<'a> {
    /// As written.
    pub scheme: &'a [u8],
    /// `[user@]host[:port]`, as written.
    pub authority: &'a [u8],
    /// Path, query and fragment; may be empty.
    pub rest: &'a [u8],
}

named_enum! {
    /// Why a text is not a valid URL.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum InvalidUrl {
        /// It is empty.
        Empty = "empty",
        /// Over [`URL_BYTES_MAX`].
        TooLong = "too-long",
        /// It has no scheme, and there is no default scheme.
        NoScheme = "no-scheme",
        /// It is only a path.
        Relative = "relative",
        /// It has a scheme, but nothing after `//`.
        NoHost = "no-host",
        /// Its host or port is not valid.
        BadHost = "bad-host",
    }
}

impl<'a> UrlParts<'a> {
    /// Splits `url`. Without a scheme, it is read as host and path under `default_scheme`.
    ///
    /// # Errors
    /// If it is not a valid URL. The host itself is not checked here.
    pub fn of(url: &'a [u8], default_scheme: Option<&'a str>) -> Result<UrlParts<'a>, InvalidUrl> {
        if url.is_empty() {
            return Err(InvalidUrl::Empty);
        }
        if url.len() > URL_BYTES_MAX {
            return Err(InvalidUrl::TooLong);
        }
        let (scheme, rest) = match split_usual_scheme(url).or_else(|| split_scheme(url)) {
            Some(parts) => parts,
            None => (default_scheme.unwrap_or("").as_bytes(), without_scheme(url)?),
        };
        if scheme.is_empty() {
            return Err(InvalidUrl::NoScheme);
        }
        let end = memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        Ok(UrlParts { scheme, authority, rest })
    }
}

/// The rest of `url` after `key`, the scheme and authority of another URL, if `url` begins with the
/// same bytes. `None` means that they may differ.
pub(crate) fn rest_after<'a>(key: &[u8], url: &'a [u8]) -> Option<&'a [u8]> {
    let rest = url.strip_prefix(key)?;
    let ends = matches!(rest.first(), None | Some(b'/' | b'?' | b'#'));
    let is_sure = ends && url.len() <= URL_BYTES_MAX && split_usual_scheme(key).is_some();
    is_sure.then_some(rest)
}

/// A fast path of [`split_scheme`] for the usual schemes.
fn split_usual_scheme(url: &[u8]) -> Option<(&[u8], &[u8])> {
    ["https://", "http://"].iter().find_map(|start| {
        let rest = url.strip_prefix(start.as_bytes())?;
        Some((&url[..start.len() - "://".len()], rest))
    })
}

/// The part after `//`.
fn without_scheme(url: &[u8]) -> Result<&[u8], InvalidUrl> {
    if let Some(rest) = url.strip_prefix(b"//") {
        return Ok(rest);
    }
    match url[0] {
        b'/' | b'?' | b'#' | b'.' => Err(InvalidUrl::Relative),
        _ if names_other_scheme(url) => Err(InvalidUrl::NoHost),
        _ => Ok(url),
    }
}

/// `mailto:a@b`, `javascript:x`, but not `example.com:8080/`.
fn names_other_scheme(url: &[u8]) -> bool {
    let end = url.iter().position(|byte| b":/?#".contains(byte));
    end.is_some_and(|end| {
        url[end] == b':' && !url.get(end + 1).is_some_and(u8::is_ascii_digit) && end > 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: Result<(&str, &str, &str), InvalidUrl>) {
        let text = |bytes| std::str::from_utf8(bytes).unwrap();
        let address = UrlParts::of(url.as_bytes(), Some("https"));
        let address = address
            .map(|address| (text(address.scheme), text(address.authority), text(address.rest)));
        assert_eq!(address, expected, "{url}");
    }

    #[test]
    fn urls_are_split() {
        check("http://example.com", Ok(("http", "example.com", "")));
        check("HTTP://u:p@Example.com:81/a?b#c", Ok(("HTTP", "u:p@Example.com:81", "/a?b#c")));
        check("http://example.com?x", Ok(("http", "example.com", "?x")));
        check("example.com/a", Ok(("https", "example.com", "/a")));
        check("example.com:8080/a", Ok(("https", "example.com:8080", "/a")));
        check("//example.com/a", Ok(("https", "example.com", "/a")));
        check(
            "example.com/a?u=http://b.example/",
            Ok(("https", "example.com", "/a?u=http://b.example/")),
        );
    }

    /// Every text of a few bytes of the alphabet, behind the beginnings of URLs.
    #[test]
    fn the_short_way_leads_to_the_same_place() {
        let alphabet = b"hs:/?#@.A \xFF";
        for start in ["", "http", "https", "http:", "https:/", "http://", "https://", "HTTP://"] {
            for number in 0..alphabet.len().pow(4) {
                let letter = |digit| alphabet[number / alphabet.len().pow(digit) % alphabet.len()];
                let url =
                    [start.as_bytes(), &[letter(0), letter(1), letter(2), letter(3)]].concat();
                let slowly = split_scheme(&url).map(|(scheme, rest)| {
                    let end = rest.iter().position(|byte| b"/?#".contains(byte));
                    let (authority, rest) = rest.split_at(end.unwrap_or(rest.len()));
                    UrlParts { scheme, authority, rest }
                });
                let address = UrlParts::of(&url, None);
                match slowly {
                    Some(slowly) => assert_eq!(address, Ok(slowly), "{url:?}"),
                    None => assert!(address.is_err(), "{url:?}"),
                }
            }
        }
    }

    /// Any two texts of a few bytes behind the beginnings of URLs.
    #[test]
    fn what_follows_the_same_authority_is_the_rest() {
        let alphabet = b"hs:/?#@.";
        let texts: Vec<Vec<u8>> = ["http://", "https://", "http:/", "h"]
            .iter()
            .flat_map(|start| {
                (0..alphabet.len().pow(3)).map(move |number| {
                    let letter =
                        |digit| alphabet[number / alphabet.len().pow(digit) % alphabet.len()];
                    [start.as_bytes(), &[letter(0), letter(1), letter(2)]].concat()
                })
            })
            .collect();
        for other in texts.iter().step_by(7) {
            let Ok(of_other) = UrlParts::of(other, Some("https")) else { continue };
            let key = &other[..other.len() - of_other.rest.len()];
            for url in &texts {
                let address = UrlParts::of(url, Some("https"));
                let is_same = address.is_ok_and(|address| {
                    url.len() - address.rest.len() == key.len() && url.starts_with(key)
                });
                let rest = rest_after(key, url);
                if let Some(rest) = rest {
                    assert!(
                        is_same && address.is_ok_and(|address| address.rest == rest),
                        "{url:?}"
                    );
                } else {
                    assert!(!is_same || !key.starts_with(b"http"), "{key:?} {url:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_url_says_why() {
        check("", Err(InvalidUrl::Empty));
        check("/a", Err(InvalidUrl::Relative));
        check("?a", Err(InvalidUrl::Relative));
        check("../a", Err(InvalidUrl::Relative));
        check("mailto:a@example.com", Err(InvalidUrl::NoHost));
        check("javascript:alert(1)", Err(InvalidUrl::NoHost));
        assert_eq!(UrlParts::of(b"example.com/a", None), Err(InvalidUrl::NoScheme));
        assert_eq!(UrlParts::of(b"/a", None), Err(InvalidUrl::Relative));
        assert_eq!(UrlParts::of(&[b'a'; URL_BYTES_MAX + 1], None), Err(InvalidUrl::TooLong));
    }
}
