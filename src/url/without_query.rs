//! A request target without what identifies a person or a session: its query, and the like.
//!
//! What was removed leaves its mark, so that a reader sees that there was something: `/a?`,
//! `/a;jsessionid=`, `http://@example.com/`.

use std::{borrow::Cow, ops::Range};

use super::path::split_scheme;

/// `target` without
///
/// - its query, also after a `?` that is percent-encoded once or more, and its fragment;
/// - the values of path parameters that name a session, such as `;jsessionid=…`;
/// - the user and the password of an absolute target, or of an authority alone.
pub(crate) fn without_query(target: &[u8]) -> Cow<'_, [u8]> {
    if !target.iter().any(|byte| matches!(byte, b'?' | b'#' | b';' | b'%' | b'@')) {
        return Cow::Borrowed(target);
    }
    let path = &target[..end_of_path(target)];
    let authority = authority_of(path);
    let mut kept = path[..authority.start].to_vec();
    // Up to the last `@`, because a password may have one.
    let user_info = path[authority.clone()].iter().rposition(|&byte| byte == b'@');
    push_without_sessions(&path[authority.start + user_info.unwrap_or(0)..], &mut kept);
    if kept.len() == target.len() { Cow::Borrowed(target) } else { Cow::Owned(kept) }
}

/// Where the query or fragment begins, after its mark.
fn end_of_path(target: &[u8]) -> usize {
    let starts = (0..target.len()).filter(|&at| matches!(target[at], b'?' | b'#' | b'%'));
    let mut ends = starts.filter_map(|at| match target[at] {
        b'%' => Some(at + encoded(&target[at..], b"3F")?),
        _ => Some(at + 1),
    });
    ends.next().unwrap_or(target.len())
}

/// The length of `%` and `digits` at the start of `text`, with `25` before the digits for each
/// further encoding.
fn encoded(text: &[u8], digits: &[u8; 2]) -> Option<usize> {
    let mut length = 1;
    text.first().filter(|&&byte| byte == b'%')?;
    while text[length..].starts_with(b"25") {
        length += 2;
    }
    let is_it = text[length..].get(..2)?.eq_ignore_ascii_case(digits);
    is_it.then_some(length + 2)
}

/// Where the authority of an absolute target begins and ends; empty for a path.
fn authority_of(target: &[u8]) -> Range<usize> {
    let start = match target.first() {
        Some(b'/') | None => return 0..0,
        Some(_) => split_scheme(target).map_or(0, |(_, rest)| target.len() - rest.len()),
    };
    let end = target[start..].iter().position(|byte| b"/?#".contains(byte));
    start..end.map_or(target.len(), |end| start + end)
}

/// Appends `path` without the values of parameters that name a session.
fn push_without_sessions(mut path: &[u8], kept: &mut Vec<u8>) {
    while let Some(at) = path.iter().position(|&byte| matches!(byte, b';' | b'%')) {
        let mark = if path[at] == b';' { Some(1) } else { encoded(&path[at..], b"3B") };
        let start = at + mark.unwrap_or(1);
        kept.extend_from_slice(&path[..start]);
        path = &path[start..];
        if let Some(value) = mark.and_then(|_| start_of_session(path)) {
            kept.extend_from_slice(&path[..value]);
            path = &path[value..];
            path = &path[end_of_value(path)..];
        }
    }
    kept.extend_from_slice(path);
}

/// Where the value of the parameter at the start of `text` begins, if it names a session.
fn start_of_session(text: &[u8]) -> Option<usize> {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let end = text.iter().position(|byte| !is_of_name(byte))?;
    let name = text[..end].to_ascii_lowercase();
    let is_session = name == b"sid" || name.windows(4).any(|part| part == b"sess");
    let mark = match text[end] {
        b'=' => 1,
        _ => encoded(&text[end..], b"3D")?,
    };
    is_session.then_some(end + mark)
}

/// Where the value at the start of `text` ends: at the next directory or parameter.
fn end_of_value(text: &[u8]) -> usize {
    let is_end = |at: &usize| match text[*at] {
        b'/' | b';' | b'?' | b'#' => true,
        b'%' => [b"2F", b"3B"].iter().any(|digits| encoded(&text[*at..], digits).is_some()),
        _ => false,
    };
    (0..text.len()).find(is_end).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn nothing_personal_stays() {
        for (target, expected) in [
            ("/a?b=c?d", "/a?"),
            ("/a", "/a"),
            ("/a?", "/a?"),
            ("", ""),
            ("*", "*"),
            ("/a#token=secret", "/a#"),
            ("/a#b?c", "/a#"),
            ("/a%3Fq=secret", "/a%3F"),
            ("/a%3fq=secret?x", "/a%3f"),
            ("/a%253Fq=secret", "/a%253F"),
            ("/a%25253fq=secret", "/a%25253f"),
            ("/100%25/b%3", "/100%25/b%3"),
            ("/a%", "/a%"),
            ("/a;jsessionid=SECRET", "/a;jsessionid="),
            ("/a;JSESSIONID=SECRET/b;v=1?c", "/a;JSESSIONID=/b;v=1?"),
            ("/a%3Bjsessionid%3DSECRET%2Fb", "/a%3Bjsessionid%3D%2Fb"),
            ("/a%253bjsessionid%253dSECRET/b", "/a%253bjsessionid%253d/b"),
            ("/a;sid=SECRET;PHPSESSID=SECRET;v=2/b", "/a;sid=;PHPSESSID=;v=2/b"),
            ("/a;v=1/b;lang=en", "/a;v=1/b;lang=en"),
            ("/a;jsessionid/b;sidebar=1", "/a;jsessionid/b;sidebar=1"),
            ("http://user:password@example.com/a?b", "http://@example.com/a?"),
            ("http://user:p@ss@example.com:80/a@b", "http://@example.com:80/a@b"),
            ("HTTP://user@example.com", "HTTP://@example.com"),
            ("http://example.com/@user/a", "http://example.com/@user/a"),
            ("user:password@example.com:443", "@example.com:443"),
            ("example.com:443", "example.com:443"),
            ("a;jsessionid=SECRET", "a;jsessionid="),
            ("/@user/b", "/@user/b"),
            ("//user@example.com/b", "//user@example.com/b"),
            ("http://user:pass@example.com", "http://@example.com"),
        ] {
            let found = without_query(target.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), expected, "{target}");
            let again = without_query(&found).into_owned();
            assert_eq!(again, *found, "{target}");
        }
    }

    #[test]
    fn any_bytes() {
        const SOME: &[u8] = b"/?#;%@:=23BFDbfd5sidSES\xff\0a";
        let mut random = Random::new();
        for _ in 0..20_000 {
            let target: Vec<u8> = (0..24).map(|_| SOME[random.below(SOME.len())]).collect();
            let found = without_query(&target);
            assert!(found.len() <= target.len());
            assert_eq!(without_query(&found), found, "{target:?}");
        }
    }
}
