//! `Crawl-delay`: not part of the protocol, but in use in many files, and followed by some
//! crawlers.
//!
//! It changes no verdict. Crawlers that read it treat it as a rule: a Crawl-delay closes the list
//! of User-agent lines above it. So in
//!
//! ```text
//! User-agent: bingbot
//! Crawl-delay: 10
//!
//! User-agent: *
//! Disallow: /private
//! ```
//!
//! only bingbot has a delay, although Google's parser sees one group for both. If one list has
//! several delays, the shortest counts.

use std::ops::Range;

use super::model::{CrawlDelay, ParsedRobotsTxt};

/// The longest delay; longer ones are cut to it. It is over 30,000 years.
const SECONDS_MAX: u64 = 1_000_000_000_000;

/// Milliseconds of a delay in seconds, such as `10`, `0.5`, `.5` or `1.`; finer parts are dropped.
/// `None` for anything else.
pub fn milliseconds(value: &[u8]) -> Option<u64> {
    let mut parts = value.splitn(2, |&byte| byte == b'.');
    let (whole, part) = (parts.next()?, parts.next().unwrap_or_default());
    let is_number = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
    if (whole.is_empty() && part.is_empty()) || !is_number(whole) || !is_number(part) {
        return None;
    }
    let digit = |byte: u8| u64::from(byte - b'0');
    let seconds = whole
        .iter()
        .fold(0, |sum: u64, &byte| sum.saturating_mul(10).saturating_add(digit(byte)))
        .min(SECONDS_MAX);
    let thousandths = [0, 1, 2]
        .map(|at| part.get(at).copied().unwrap_or(b'0'))
        .iter()
        .fold(0, |sum, &byte| sum * 10 + digit(byte));
    Some(seconds * 1000 + thousandths)
}

/// Finds the list of User-agent lines above a field that closes it, line by line.
#[derive(Debug, Default)]
pub(super) struct UserAgentList {
    /// The index of the first product token of the current list in its group.
    start: usize,
    /// Whether the current list is closed: the next User-agent line begins another.
    is_closed: bool,
}

impl UserAgentList {
    /// Handles a User-agent line, the last one in `robots`.
    pub(super) fn user_agent(&mut self, robots: &ParsedRobotsTxt) {
        let tokens = robots.groups.last().map_or(0, |group| group.product_tokens.len());
        if self.is_closed || tokens <= 1 {
            self.start = tokens.saturating_sub(1);
        }
        self.is_closed = false;
    }

    /// Closes the list: its group, and its product tokens there. `None` outside of groups.
    pub(super) fn close(&mut self, robots: &ParsedRobotsTxt) -> Option<(usize, Range<usize>)> {
        let tokens = robots.groups.last()?.product_tokens.len();
        self.is_closed = true;
        Some((robots.groups.len() - 1, self.start..tokens))
    }

    /// Handles a Crawl-delay line. Outside of groups it has no effect.
    pub(super) fn crawl_delay(&mut self, robots: &mut ParsedRobotsTxt, written: &[u8], line: u32) {
        let Some((group, product_tokens)) = self.close(robots) else { return };
        let milliseconds = milliseconds(written);
        let delay =
            CrawlDelay { written: written.into(), line, milliseconds, group, product_tokens };
        match robots.crawl_delays.last_mut() {
            Some(last)
                if (last.group, &last.product_tokens) == (delay.group, &delay.product_tokens) =>
            {
                if delay.is_milder_than(last) {
                    *last = delay;
                }
            }
            _ => robots.crawl_delays.push(delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::parse::parse_body;

    #[test]
    fn numbers_and_what_is_none() {
        let cases: [(&[u8], Option<u64>); 18] = [
            (b"10", Some(10_000)),
            (b"0", Some(0)),
            (b"007", Some(7_000)),
            (b"0.5", Some(500)),
            (b".5", Some(500)),
            (b"1.", Some(1_000)),
            (b"2.0625", Some(2_062)),
            (b"0.0009", Some(0)),
            (b"99999999999999999999999999", Some(SECONDS_MAX * 1000)),
            (b"", None),
            (b".", None),
            (b"-1", None),
            (b"+1", None),
            (b"10s", None),
            (b"1,5", None),
            (b"1.2.3", None),
            (b"1e3", None),
            (b"\xff\0", None),
        ];
        for (value, expected) in cases {
            assert_eq!(milliseconds(value), expected, "{}", value.escape_ascii());
        }
    }

    /// Each delay as `line value: product tokens`.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let robots = parse_body(text.as_bytes());
        let described = |delay: &CrawlDelay| {
            let tokens = delay.product_tokens(&robots).iter();
            let tokens: Vec<String> =
                tokens.map(|token| String::from_utf8_lossy(&token.written).into()).collect();
            let written = String::from_utf8_lossy(&delay.written);
            format!("{} {written}: {}", delay.line, tokens.join(" "))
        };
        assert_eq!(
            robots.crawl_delays.iter().map(described).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn a_delay_is_meant_for_the_list_above_it() {
        check("User-agent: a\nCrawl-delay: 10\n\nUser-agent: *\nDisallow: /\n", &["2 10: a"]);
        check(
            "User-agent: a\nUser-agent: b\ncrawl-DELAY: 1\nUser-agent: c\nCrawl-delay: 2\n",
            &["3 1: a b", "5 2: c"],
        );
        check("User-agent: a\nDisallow: /\nCrawl-delay: 5 # s\n", &["3 5: a"]);
        check("User-agent: a\nDisallow: /\nUser-agent: b\nAllow: /\nCrawl-delay: 5\n", &["5 5: b"]);
        check("Crawl-delay: 5\nUser-agent: a\nDisallow: /\n", &[]);
        check("User-agent: a\nCrawl-delayed: 5\n", &[]);
    }

    #[test]
    fn the_shortest_of_several_counts() {
        check("User-agent: a\nCrawl-delay: 5\nCrawl-delay: 2\nCrawl-delay: 9\n", &["3 2: a"]);
        check("User-agent: a\nCrawl-delay: soon\nDisallow: /\nCrawl-delay: 9\n", &["4 9: a"]);
        check("User-agent: a\nCrawl-delay: soon\nCrawl-delay: later\n", &["2 soon: a"]);
    }
}
