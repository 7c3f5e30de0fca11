//! A robots.txt as data: groups, their rules and sitemaps, each with its line.

use std::{num::NonZeroU32, ops::Range};

use bytes::Bytes;
use percent_encoding::percent_encode_byte;

use crate::named_enum;

use super::lines::is_space;
use super::usage::{UsageCategory, UsagePreference, UsageSignal};

/// The most User-agent lines of a group that are searched for the one of a crawler.
const TOKENS_MAX: usize = 1000;

/// Whether a crawler obeys `*` groups if no group names it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
pub enum StarGroups {
    /// It does, as in the standard, or nothing is known, which counts as the same.
    #[default]
    Honoured,
    /// It is documented to obey only groups that name it (AdsBot-Google).
    Ignored,
}

/// The content of one robots.txt.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ParsedRobotsTxt {
    /// The bytes that were read. Rules share them: a file has thousands, and memory for each took
    /// a fourth of the time.
    pub body: Bytes,
    /// In the order of the file; groups of one product token are not merged yet.
    pub groups: Vec<Group>,
    /// In the order of the file.
    pub sitemaps: Vec<Sitemap>,
    /// At most one for each list of User-agent lines, in the order of the file.
    pub crawl_delays: Vec<CrawlDelay>,
    /// Statements about the use of what is fetched, in the order of the file.
    pub usage: Vec<UsageStatement>,
    /// The URLs of licences (`License`, RSL 1.0), in the order of the file.
    pub licenses: Vec<Sitemap>,
    /// How many lines the text has; the last may be empty.
    pub lines: u32,
}

impl ParsedRobotsTxt {
    /// The rule on line `line`, with its group.
    pub fn rule_at(&self, line: u32) -> Option<(&Group, &Rule)> {
        let starts_by =
            |group: &Group| group.product_tokens.first().is_some_and(|token| token.line <= line);
        let group = &self.groups[self.groups.partition_point(starts_by).checked_sub(1)?];
        let rule = group.rules.binary_search_by_key(&line, |rule| rule.line).ok()?;
        Some((group, &group.rules[rule]))
    }
}

/// Consecutive User-agent lines, and the rules after them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Group {
    /// The values of its User-agent lines; at least one.
    pub product_tokens: Vec<ProductToken>,
    /// Its Allow and Disallow lines; none if the file ends with User-agent lines.
    pub rules: Vec<Rule>,
}

/// The value of a User-agent line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProductToken {
    /// As written, without the whitespace around it; may be empty.
    pub written: Box<[u8]>,
    /// 1-based.
    pub line: u32,
    /// The first line after it, before the next User-agent line or rule, with another field. Some
    /// parsers end a group there; the protocol does not.
    pub other_field: Option<NonZeroU32>,
}

impl Group {
    /// The line of another field that stands between the last User-agent line for `product_token`
    /// (or `*`) and the next one of the group. Rules of the group apply only because such a field
    /// does not end it.
    pub fn continued_over(&self, product_token: &[u8]) -> Option<u32> {
        let names = |token: &ProductToken| match product_token {
            b"*" => token.is_star(),
            _ => token.names(product_token),
        };
        let tokens = &self.product_tokens;
        let (_, before_last) = tokens.split_last()?;
        let field = before_last.iter().rposition(|token| token.other_field.is_some())?;
        // A longer list is hostile, and this is asked for each request in evidence.
        let searched = tokens.len().saturating_sub(TOKENS_MAX);
        let named = searched + tokens[searched..].iter().rposition(names)?;
        tokens.get(named..=field)?.iter().find_map(|token| token.other_field).map(NonZeroU32::get)
    }
}

impl ProductToken {
    /// Whether it means all crawlers: `*`, alone or followed by whitespace and more text.
    pub fn is_star(&self) -> bool {
        match &*self.written {
            [b'*'] => true,
            [b'*', next, ..] => is_space(*next),
            _ => false,
        }
    }

    /// The part that Google's parser reads: the leading letters, `_` and `-`. `MJ12bot` gives `MJ`.
    pub fn google_form(&self) -> &[u8] {
        self.prefix(|byte| byte.is_ascii_alphabetic())
    }

    /// Whether it names the crawler that calls itself `product_token`.
    ///
    /// A crawler obeys its whole name, also where Google's grammar has no room
    /// for its digits (`MJ12bot`) or its dots and spaces (`archive.org_bot`).
    /// For names of letters, `_` and `-` this is Google's rule.
    pub fn names(&self, product_token: &[u8]) -> bool {
        !product_token.is_empty()
            && !self.is_star()
            && self
                .interpretations()
                .iter()
                .any(|interpretation| interpretation.eq_ignore_ascii_case(product_token))
    }

    /// All names that it may be read as, most of them often the same; meaningless for `*`.
    pub fn interpretations(&self) -> [&[u8]; 3] {
        let with_digits = self.prefix(|byte| byte.is_ascii_alphanumeric());
        [self.google_form(), with_digits, &self.written]
    }

    fn prefix(&self, is_part: impl Fn(u8) -> bool) -> &[u8] {
        let is_part = |byte: &u8| is_part(*byte) || matches!(byte, b'_' | b'-');
        let end = self.written.iter().position(|byte| !is_part(byte));
        &self.written[..end.unwrap_or(self.written.len())]
    }
}

/// One Allow or Disallow line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// What it does to the paths it matches.
    pub directive: Directive,
    /// As it is compared: `%xx` in upper case, bytes from 0x80 on percent-encoded.
    pub pattern: Bytes,
    /// 1-based.
    pub line: u32,
    /// Only where escaping changed it, which is rare.
    unescaped: Option<Box<[u8]>>,
}

impl Rule {
    /// The rule that the value `written` makes on line `line`.
    pub fn new(directive: Directive, written: impl Into<Bytes>, line: u32) -> Rule {
        let written = written.into();
        match escape(&written).filter(|pattern| *pattern != written) {
            Some(pattern) => {
                let unescaped = Some((*written).into());
                Rule { directive, pattern: pattern.into(), line, unescaped }
            }
            None => Rule { directive, pattern: written, line, unescaped: None },
        }
    }

    /// The same rule, compared by `pattern`.
    #[must_use]
    pub fn compared_by(self, pattern: Bytes) -> Rule {
        let written = self.written();
        let unescaped = (*written != *pattern).then(|| written.into());
        Rule { pattern, unescaped, ..self }
    }

    /// The pattern as written, without the whitespace around it.
    pub fn written(&self) -> &[u8] {
        self.unescaped.as_deref().unwrap_or(&self.pattern)
    }
}

named_enum! {
    /// What a rule does to the paths it matches.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum Directive {
        Allow = "allow",
        Disallow = "disallow",
    }
}

/// A line with a URL: a sitemap, or a licence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sitemap {
    /// As written; it may not be a URL.
    pub url: Box<[u8]>,
    /// 1-based.
    pub line: u32,
}

/// A rule's value as Google's parser escapes it. Nothing is ever decoded, and
/// ASCII other than the hex digits of `%xx` stays, also spaces and controls. `None` where there is
/// nothing to escape.
fn escape(written: &[u8]) -> Option<Vec<u8>> {
    if !crate::bytes::any(written, |byte| (byte == b'%') | (byte >= 0x80)) {
        return None;
    }
    let mut escaped = Vec::with_capacity(written.len());
    let mut rest = written;
    while let [first, after @ ..] = rest {
        rest = after;
        match (*first, after) {
            (b'%', [high, low, after @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                escaped.extend([b'%', high.to_ascii_uppercase(), low.to_ascii_uppercase()]);
                rest = after;
            }
            (byte @ 0x80.., _) => escaped.extend(percent_encode_byte(byte).bytes()),
            (byte, _) => escaped.push(byte),
        }
    }
    Some(escaped)
}

/// The delay for the crawlers of one list of User-agent lines.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CrawlDelay {
    /// The value as written.
    pub written: Box<[u8]>,
    /// 1-based.
    pub line: u32,
    /// The delay in milliseconds; `None` if the value is not a number.
    pub milliseconds: Option<u64>,
    /// Its group: an index into [`ParsedRobotsTxt::groups`].
    pub(super) group: usize,
    /// The product tokens of that group that it applies to.
    pub(super) product_tokens: Range<usize>,
}

impl CrawlDelay {
    /// The product tokens that it applies to.
    pub fn product_tokens<'a>(&self, robots: &'a ParsedRobotsTxt) -> &'a [ProductToken] {
        &robots.groups[self.group].product_tokens[self.product_tokens.clone()]
    }

    /// Whether this is preferred to `other`: the shorter one, the earlier of equal ones, and a
    /// number before an invalid value.
    pub fn is_milder_than(&self, other: &CrawlDelay) -> bool {
        let key = |delay: &CrawlDelay| (delay.milliseconds.unwrap_or(u64::MAX), delay.line);
        key(self) < key(other)
    }
}

/// A Content-Usage or Content-Signal line in a group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UsageStatement {
    pub signal: UsageSignal,
    /// Its path and line, as of a Disallow; the path is empty if it is about all paths.
    pub path: Rule,
    /// At most one for each category, by category.
    pub preferences: Box<[(UsageCategory, UsagePreference)]>,
    /// Its group: an index into [`ParsedRobotsTxt::groups`].
    pub(super) group: usize,
    /// The product tokens of that group that it applies to.
    pub(super) product_tokens: Range<usize>,
}

impl UsageStatement {
    /// The product tokens that it applies to.
    pub fn product_tokens<'a>(&self, robots: &'a ParsedRobotsTxt) -> &'a [ProductToken] {
        &robots.groups[self.group].product_tokens[self.product_tokens.clone()]
    }

    pub fn preference(&self, category: UsageCategory) -> Option<UsagePreference> {
        let mut preferences = self.preferences.iter();
        preferences.find(|(known, _)| *known == category).map(|(_, preference)| *preference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(written: &str) -> ProductToken {
        ProductToken { written: written.as_bytes().into(), line: 1, other_field: None }
    }

    #[test]
    fn escaping() {
        let check = |written: &[u8], expected: &str| {
            let rule = Rule::new(Directive::Allow, written.to_vec(), 1);
            assert_eq!(String::from_utf8_lossy(&rule.pattern), expected);
            assert_eq!(rule.written(), written);
        };
        check(b"/a%2fb%C3%a9", "/a%2Fb%C3%A9");
        check("/ツ".as_bytes(), "/%E3%83%84");
        check(b"/\xe9", "/%E9");
        check(b"/a b\"<\x01\x7f%zz%4", "/a b\"<\x01\x7f%zz%4");
        check(b"%%41%a%", "%%41%a%");
        check(b"", "");
    }

    #[test]
    fn stars() {
        for written in ["*", "* foo", "*\x0bfoo", "*\t"] {
            assert!(token(written).is_star(), "{written:?}");
        }
        for written in ["", "*foo", "**", "*/", "foo", "foo *"] {
            assert!(!token(written).is_star(), "{written:?}");
        }
    }

    #[test]
    fn what_google_reads() {
        let cases = [
            ("googlebot/1.2", "googlebot"),
            ("googlebot*", "googlebot"),
            ("foo bar", "foo"),
            ("foo,bar", "foo"),
            ("foo;x", "foo"),
            ("a_b-c", "a_b-c"),
            ("MJ12bot", "MJ"),
            ("008", ""),
            ("360Spider", ""),
            ("*foo", ""),
            ("", ""),
        ];
        for (written, expected) in cases {
            assert_eq!(token(written).google_form(), expected.as_bytes(), "{written}");
        }
    }

    #[test]
    fn names_with_digits_and_dots() {
        let yes = [
            ("MJ12bot", "mj12bot"),
            ("MJ12bot/1.4", "MJ12bot"),
            ("MJ12bot", "MJ"),
            ("008", "008"),
            ("archive.org_bot", "archive.org_bot"),
            ("Sogou web spider", "sogou web spider"),
            ("Y!J", "y!j"),
            ("Googlebot/2.1", "googlebot"),
        ];
        for (written, name) in yes {
            assert!(token(written).names(name.as_bytes()), "{written} {name}");
        }
        let no = [
            ("MJ12bot", "MJ1"),
            ("Googlebot", "Googlebot-News"),
            ("Googlebot-News", "Googlebot"),
            ("*", "*"),
            ("008", ""),
            ("* foo", "* foo"),
        ];
        for (written, name) in no {
            assert!(!token(written).names(name.as_bytes()), "{written} {name}");
        }
    }
}
