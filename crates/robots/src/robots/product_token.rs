//! The name of a crawler as a caller gives it: its product token, or its whole User-Agent header.
//!
//! Rules are selected by names as they are, like Google's parser does it. It would find no group for
//! `GPTBot/1.2` or for a header, and allow everything. So the names that people give pass here first.

use std::{error::Error, fmt};

/// The part of a user agent that counts, in bytes. Web servers cut a header line at 8 KiB, and real
/// user agents are shorter than 1 KiB; a hostile one must not take more time.
pub const USER_AGENT_BYTES_MAX: usize = 4096;

/// The product tokens of the crawlers that botaudit knows, if they have other characters than
/// letters, digits, `-` and `_`. `UPDATE_TOKENS=1 cargo test --lib crawlers::builtin` writes them.
pub const UNUSUAL_TOKENS: &str = include_str!("unusual_tokens.txt");

/// A text that is no product token, because no User-agent line could name it.
///
/// Shown, it says why, and what to write instead.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidToken(String);

impl fmt::Display for InvalidToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for InvalidToken {}

/// Whether `text` is one of [`UNUSUAL_TOKENS`], in any ASCII case.
pub fn is_unusual_token(text: &str) -> bool {
    UNUSUAL_TOKENS.lines().any(|token| token.eq_ignore_ascii_case(text))
}

/// The product token in `text`, which may have a version after it, as in `GPTBot/1.2`. `is_known` is
/// asked only about texts with other characters than those of a usual token.
///
/// # Errors
/// If there is none. The sentence proposes `for_header` for a whole User-Agent header.
pub fn checked_token<'t>(
    text: &'t str,
    is_known: impl Fn(&str) -> bool,
    for_header: &str,
) -> Result<&'t str, InvalidToken> {
    product_token(text, is_known).ok_or_else(|| not_a_token(text, for_header))
}

/// As [`checked_token`], without the sentence.
pub fn product_token(text: &str, is_known: impl Fn(&str) -> bool) -> Option<&str> {
    let is_token = |text: &str| is_plain(text) || is_known(text);
    if is_token(text) {
        return Some(text);
    }
    let (name, version) = text.split_once('/')?;
    (is_version(version) && is_token(name)).then_some(name)
}

/// The name in `user_agent`, a whole User-Agent header, by which robots.txt can address its sender.
///
/// This is the first product, `FooBot` of `FooBot/1.0 (+http://foo.example)`. After `Mozilla` it is
/// the product after `compatible;`, if there is one: `FooBot` of `Mozilla/5.0 (compatible;
/// FooBot/1.0; +http://foo.example)`. The name ends before the first character that is not a letter,
/// a digit, `-` or `_`. `None` if the header begins with another character.
///
/// ```
/// use botaudit_robots::{RobotsTxt, first_product_token};
///
/// let robots = RobotsTxt::parse("User-agent: FooBot\nDisallow: /\n");
/// let header = "Mozilla/5.0 (compatible; FooBot/1.0; +http://foo.example)";
/// let matcher = robots.matcher(first_product_token(header))?;
/// assert!(!matcher.is_allowed("/x"));
/// # Ok::<(), botaudit_robots::InvalidToken>(())
/// ```
pub fn first_product_token(user_agent: &(impl AsRef<[u8]> + ?Sized)) -> Option<&str> {
    let user_agent = user_agent.as_ref();
    let header = user_agent[..user_agent.len().min(USER_AGENT_BYTES_MAX)].trim_ascii_start();
    let first = name_of(header);
    let is_mozilla = first.is_some_and(|name| name.eq_ignore_ascii_case("Mozilla"));
    is_mozilla.then(|| compatible_product(header)).flatten().or(first)
}

/// The product after the first `compatible;` that has one.
fn compatible_product(header: &[u8]) -> Option<&str> {
    const WORD: &[u8] = b"compatible";
    let is_word = |at: &usize| {
        header[*at..].get(..WORD.len()).is_some_and(|text| text.eq_ignore_ascii_case(WORD))
    };
    let after =
        (0..header.len()).filter(is_word).map(|at| header[at + WORD.len()..].trim_ascii_start());
    after
        .filter_map(|rest| {
            let rest = rest.strip_prefix(b";")?.trim_ascii_start();
            let name = name_of(rest)?;
            // Not the scheme of a URL, nor the host of an address.
            let ends =
                matches!(rest.get(name.len()), None | Some(b'/' | b';' | b')' | b' ' | b'\t'));
            ends.then_some(name)
        })
        .next()
}

/// The letters, digits, `-` and `_` at the start of `text`.
fn name_of(text: &[u8]) -> Option<&str> {
    let end = text.iter().position(|byte| !is_part(*byte)).unwrap_or(text.len());
    let name = std::str::from_utf8(&text[..end]).ok()?;
    name.contains(|part: char| part.is_ascii_alphanumeric()).then_some(name)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_part)
}

/// `1.2`, `v2`, `1.0-beta+3`.
fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
    digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.bytes().all(|byte| is_part(byte) || matches!(byte, b'.' | b'+' | b'~'))
}

fn not_a_token(text: &str, for_header: &str) -> InvalidToken {
    InvalidToken(match text {
        "*" => "'*' is not a product token but stands for all crawlers that no group names; any \
                such name gives its verdict, for example mybot"
            .to_owned(),
        _ => format!(
            "'{text}' is not a product token, which is a crawler's name in User-agent lines: letters, \
             digits, - and _, such as GPTBot or GPTBot/1.2; for a whole User-Agent header, use \
             {for_header}"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_product_of_a_header() {
        let cases: [(&[u8], Option<&str>); 21] = [
            (b"FooBot", Some("FooBot")),
            (b" FooBot/1.0 (+http://foo.example)", Some("FooBot")),
            (b"Foo-Bot_2 Bar/1.0", Some("Foo-Bot_2")),
            (b"Foo.Bot/1.0", Some("Foo")),
            (b"Mozilla/5.0 (compatible; FooBot/1.0; +http://foo.example)", Some("FooBot")),
            (b"mozilla/5.0 (COMPATIBLE ;FooBot)", Some("FooBot")),
            (b"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Foo-Bot; +http://x) Chrome/1", Some("Foo-Bot")),
            (b"Mozilla/5.0 (X11) Safari/537.36 (compatible; +http://a.example) (compatible; Foo 2)", Some("Foo")),
            (b"Mozilla/5.0 (compatible; http://a.example)", Some("Mozilla")),
            (b"Mozilla/5.0 (compatible; bot@a.example)", Some("Mozilla")),
            (b"Mozilla/5.0 (compatible)", Some("Mozilla")),
            (b"Mozilla/5.0 (compatible;", Some("Mozilla")),
            (b"Mozilla/5.0 (Windows NT 10.0) Firefox/1.0", Some("Mozilla")),
            // Only Mozilla hides its product in a comment.
            (b"FooBot/1.0 (compatible; BarBot/1.0)", Some("FooBot")),
            (b"Mozilla2 (compatible; BarBot/1.0)", Some("Mozilla2")),
            (b"", None),
            (b"-", None),
            (b"  ", None),
            (b"(compatible; FooBot/1.0)", None),
            (b"+http://a.example", None),
            (b"\xff\xfeFooBot", None),
        ];
        for (header, expected) in cases {
            assert_eq!(first_product_token(header), expected, "{}", header.escape_ascii());
        }
        let long = [&b"Mozilla/5.0 "[..], &b"(compatible; ".repeat(100_000)].concat();
        assert_eq!(first_product_token(&long), Some("Mozilla"));
    }
}
