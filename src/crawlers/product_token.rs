//! The name of a crawler as a caller gives it: its product token, or its whole User-Agent header.
//!
//! The matcher compares names as they are, like Google's. It would find no group for `GPTBot/1.2` or
//! for a header, and allow everything. So the names that people give pass here first.

use crate::crawlers::crawler::Crawler;
use crate::crawlers::identify::{Identified, USER_AGENT_BYTES_MAX};
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};

/// The sender of a User-Agent header.
#[derive(Clone, Copy, Debug)]
pub enum Sender<'r, 'h> {
    /// A crawler of the registry.
    Known(&'r Crawler),
    /// Any other: the first product token of the header, or `None` if it has none.
    Unknown(Option<&'h str>),
}

impl Registry {
    /// The product token in `text`, which may have a version after it, as in `GPTBot/1.2`.
    ///
    /// A product token is a crawler's name in User-agent lines. It has letters, digits, `-` and `_`;
    /// those of the registry may have any characters, such as `archive.org_bot`. Everything else is
    /// `None`.
    ///
    /// ```
    /// use botaudit::Registry;
    ///
    /// let registry = Registry::builtin();
    /// assert_eq!(registry.product_token("GPTBot/1.2"), Some("GPTBot"));
    /// assert_eq!(registry.product_token("mybot"), Some("mybot"));
    /// assert_eq!(registry.product_token("Sogou web spider"), Some("Sogou web spider"));
    /// assert_eq!(registry.product_token("Mozilla/5.0 (compatible; mybot/1.0)"), None);
    /// ```
    pub fn product_token<'t>(&self, text: &'t str) -> Option<&'t str> {
        product_token(text, |text| self.has_token(text))
    }

    /// As [`checked_token`], with the tokens of this registry.
    #[doc(hidden)]
    pub fn checked_token<'t>(&self, text: &'t str, for_header: &str) -> Result<&'t str> {
        checked_token(text, |text| self.has_token(text), for_header)
    }

    /// Whether a crawler has the product token `text`, in any ASCII case.
    #[doc(hidden)]
    pub fn has_token(&self, text: &str) -> bool {
        let mut tokens = self.crawlers().flat_map(|crawler| &crawler.product_tokens);
        tokens.any(|token| token.eq_ignore_ascii_case(text))
    }

    /// The sender of `user_agent`, the value of a User-Agent header.
    #[doc(hidden)]
    pub fn sender<'h>(&self, user_agent: &'h [u8]) -> Sender<'_, 'h> {
        match self.identify(user_agent) {
            Identified::Crawler(id) => Sender::Known(self.crawler(id)),
            Identified::Generic | Identified::Other => {
                Sender::Unknown(first_product_token(user_agent))
            }
        }
    }
}

/// The product token in `text`, as [`Registry::product_token`]. `is_known` is asked only about texts
/// with other characters than those of a usual token.
///
/// # Errors
/// If there is none. The sentence proposes `for_header` for a whole User-Agent header.
pub fn checked_token<'t>(
    text: &'t str,
    is_known: impl Fn(&str) -> bool,
    for_header: &str,
) -> Result<&'t str> {
    product_token(text, is_known).ok_or_else(|| not_a_token(text, for_header))
}

fn product_token(text: &str, is_known: impl Fn(&str) -> bool) -> Option<&str> {
    let is_token = |text: &str| is_plain(text) || is_known(text);
    if is_token(text) {
        return Some(text);
    }
    let (name, version) = text.split_once('/')?;
    (is_version(version) && is_token(name)).then_some(name)
}

/// The name in `user_agent` by which robots.txt can address its sender, whatever a registry knows.
///
/// This is the first product, `FooBot` of `FooBot/1.0 (+http://foo.example)`. After `Mozilla` it is
/// the product after `compatible;`, if there is one: `FooBot` of `Mozilla/5.0 (compatible;
/// FooBot/1.0; +http://foo.example)`. The name ends before the first character that is not a letter,
/// a digit, `-` or `_`. `None` if the header begins with another character.
pub fn first_product_token(user_agent: &[u8]) -> Option<&str> {
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

fn not_a_token(text: &str, for_header: &str) -> Error {
    Error::usage(match text {
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
    fn a_version_is_cut() {
        let registry = Registry::builtin();
        for (text, expected) in [
            ("GPTBot", "GPTBot"),
            ("gptbot/1.2", "gptbot"),
            ("a/v1.0-beta_2+x~3", "a"),
            ("a/V2", "a"),
            ("Foo-Bot_2/0", "Foo-Bot_2"),
            // Digits and the registry's own names: robots.txt files have groups for them.
            ("MJ12bot", "MJ12bot"),
            ("MJ12bot/v1.4.8", "MJ12bot"),
            ("AI2Bot", "AI2Bot"),
            ("360Spider", "360Spider"),
            ("008", "008"),
            ("archive.org_bot", "archive.org_bot"),
            ("ARCHIVE.org_bot/3.3.0", "ARCHIVE.org_bot"),
            ("Mail.RU_Bot/2.0", "Mail.RU_Bot"),
            ("Sogou web spider", "Sogou web spider"),
            ("sogou web spider/4.0", "sogou web spider"),
            ("Y!J", "Y!J"),
            ("Valve/Steam", "Valve/Steam"),
        ] {
            assert_eq!(registry.product_token(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn every_token_of_the_registry_is_one() {
        let registry = Registry::builtin();
        let tokens = registry.crawlers().flat_map(|crawler| &crawler.product_tokens);
        for token in tokens {
            assert_eq!(registry.product_token(token), Some(token.as_str()));
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let registry = Registry::builtin();
        for text in [
            "",
            " ",
            "*",
            "**",
            " GPTBot",
            "GPTBot ",
            "GPTBot 1.2",
            "GPTBot/",
            "GPTBot/*",
            "GPTBot/1.2 ",
            "GPTBot/1.2/3",
            "GPTBot/1.2 (+https://a.example)",
            "GPTBot/v",
            "GPTBot/beta",
            "GPTBot;",
            "GPTBot,CCBot",
            "(GPTBot)",
            "/1.2",
            "my.bot",
            "my bot/1.0",
            "böt",
            "bot\0",
            "bot\n",
            "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
            "https://a.example/",
        ] {
            assert_eq!(registry.product_token(text), None, "{text:?}");
            let sentence = registry.checked_token(text, "--user-agent").unwrap_err().to_string();
            assert!(
                sentence.starts_with(&format!("'{text}' is not a product token")),
                "{sentence}"
            );
            let is_offered = sentence.ends_with("for a whole User-Agent header, use --user-agent");
            assert_eq!(is_offered, text != "*", "{sentence}");
        }
    }

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

    #[test]
    fn the_registry_comes_before_the_first_product() {
        let registry = Registry::builtin();
        let sender = |header: &'static str| match registry.sender(header.as_bytes()) {
            Sender::Known(crawler) => format!("known {}", crawler.name),
            Sender::Unknown(token) => format!("unknown {}", token.unwrap_or("*")),
        };
        let gptbot = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
        assert_eq!(sender(gptbot), "known GPTBot");
        assert_eq!(sender("Mozilla/5.0 (compatible; UnheardOf/1.0; crawler)"), "unknown UnheardOf");
        assert_eq!(sender("unheard-of-crawler/1.0"), "unknown unheard-of-crawler");
        assert_eq!(sender(""), "unknown *");
    }
}
