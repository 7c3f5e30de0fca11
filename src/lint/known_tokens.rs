//! The names that known crawlers answer to, and how much a name differs from them.

use std::collections::HashMap;

use strsim::osa_distance;

use crate::crawlers::crawler::{CrawlDelaySupport, Crawler};
use crate::crawlers::{identify::Identified, registry::Registry};

/// The shortest name that counts as a part of two glued ones; shorter ones are parts by chance.
const GLUED_BYTES_MIN: usize = 6;

/// The longest first name of two; a hostile file has long ones.
const GLUED_BYTES_MAX: usize = 60;

/// A registry by product token.
#[derive(Debug)]
pub struct KnownTokens<'r> {
    registry: &'r Registry,
    /// The crawlers of each product token in lower case, in matching order.
    by_token: HashMap<Vec<u8>, Vec<&'r Crawler>>,
    /// All product tokens as spelled in the registry, in matching order and without duplicates.
    tokens: Vec<&'r str>,
}

impl<'r> KnownTokens<'r> {
    /// The names of all crawlers in `registry`.
    pub fn new(registry: &'r Registry) -> KnownTokens<'r> {
        let mut names = KnownTokens { registry, by_token: HashMap::new(), tokens: Vec::new() };
        for (_, crawler) in registry.iter() {
            for token in &crawler.product_tokens {
                let crawlers = names.by_token.entry(lower(token.as_bytes())).or_default();
                if crawlers.is_empty() {
                    names.tokens.push(token);
                }
                crawlers.push(crawler);
            }
        }
        names
    }

    /// The crawlers that answer to `token`, in any ASCII case.
    pub(super) fn crawlers(&self, token: &[u8]) -> &[&'r Crawler] {
        self.by_token.get(&lower(token)).map_or(&[], Vec::as_slice)
    }

    /// The crawler that `token` means: the one with this name, or else the first one with this as
    /// its first token. Others answer to it only if no group names them.
    pub(super) fn principal(&self, token: &[u8]) -> Option<&'r Crawler> {
        let crawlers = self.crawlers(token).iter();
        let is_own = |crawler: &&&Crawler| is_same(crawler.product_tokens[0].as_bytes(), token);
        let is_called = |crawler: &&Crawler| is_same(crawler.name.as_bytes(), token);
        let own: Vec<&'r Crawler> = crawlers.filter(is_own).copied().collect();
        own.iter().copied().find(is_called).or(own.first().copied())
    }

    /// Whether a crawler has this name, even if it answers to another token or to none.
    pub(super) fn is_crawler(&self, name: &[u8]) -> bool {
        std::str::from_utf8(name).is_ok_and(|name| self.registry.find(name).is_some())
    }

    /// The crawler that sends this user agent.
    pub(super) fn by_user_agent(&self, user_agent: &[u8]) -> Option<&'r Crawler> {
        match self.registry.identify(user_agent) {
            Identified::Crawler(id) => Some(self.registry.crawler(id)),
            Identified::Generic | Identified::Other | Identified::Empty => None,
        }
    }

    /// The name that `written` probably means: it differs by one letter, by two in a long name, or
    /// by a missing `bot` or `-User`. The first letter must be equal, and short last words (`-SA`, `-BA`) must
    /// be equal because they distinguish products.
    pub(super) fn closest(&self, written: &[u8]) -> Option<&'r str> {
        let slips_max = match written.len() {
            0..7 => 0,
            7..12 => 1,
            _ => 2,
        };
        let slips = |token: &&'r str| {
            let token = token.as_bytes();
            if !is_same(written.get(..1)?, token.get(..1)?) {
                return None;
            }
            let missing = token.split_at_checked(written.len()).filter(|_| written.len() >= 4);
            let missing = missing.filter(|(start, _)| is_same(start, written));
            match missing.map(|(_, end)| end.to_ascii_lowercase()).as_deref() {
                Some(b"bot") => return Some(1),
                Some(b"-user") => return Some(2),
                _ => {}
            }
            distance(written, token, slips_max).filter(|_| is_last_word_safe(written, token))
        };
        let close = self.tokens.iter().filter_map(|token| Some((slips(token)?, *token)));
        close.min_by_key(|(slips, _)| *slips).map(|(_, token)| token)
    }

    /// The two known names of which `written` consists, if nothing is between them.
    pub(super) fn glued<'w>(&self, written: &'w [u8]) -> Option<(&'w [u8], &'w [u8])> {
        let is_known =
            |name: &[u8]| name.len() >= GLUED_BYTES_MIN && !self.crawlers(name).is_empty();
        let splits = GLUED_BYTES_MIN..written.len().min(GLUED_BYTES_MAX);
        splits
            .map(|at| written.split_at(at))
            .find(|(first, second)| is_known(first) && is_known(second))
    }

    /// The crawlers that are documented to honour Crawl-delay, in matching order.
    pub(super) fn that_honour_crawl_delay(&self) -> Vec<&'r str> {
        let honour = |crawler: &&Crawler| {
            matches!(crawler.crawl_delay, CrawlDelaySupport::Honoured | CrawlDelaySupport::Partly)
        };
        let crawlers = self.registry.iter().map(|(_, crawler)| crawler);
        crawlers.filter(honour).map(|crawler| crawler.name.as_str()).collect()
    }
}

fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Whether the words after the last `-` are equal, or long enough for a typo.
fn is_last_word_safe(one: &[u8], other: &[u8]) -> bool {
    const WORD_BYTES_MIN: usize = 4;
    let last = |name| -> Option<&[u8]> { <[u8]>::rsplit(name, |byte| *byte == b'-').next() };
    let (one, other) = (last(one).unwrap_or(one), last(other).unwrap_or(other));
    one.len().min(other.len()) >= WORD_BYTES_MIN || is_same(one, other)
}

fn lower(token: &[u8]) -> Vec<u8> {
    token.to_ascii_lowercase()
}

/// The longest word that is compared, in bytes.
const WORD_BYTES_MAX: usize = 40;

/// Letters of a name for each one that may be wrong.
const LETTERS_PER_SLIP: usize = 6;

/// Shorter names get no proposal, because too many are similar.
const SPELT_LENGTH_MIN: usize = 5;

/// The most slips for which a word may be meant that is written as `word`.
pub(crate) fn slips_max(word: &str) -> usize {
    match word.len() {
        length if length < SPELT_LENGTH_MIN => 0,
        length => (length / LETTERS_PER_SLIP).clamp(1, 2),
    }
}

/// The number of letters that were added, removed, changed or swapped with their neighbour, in any
/// ASCII case; `None` if it is more than `slips_max`, or if a word is longer than 40 bytes.
pub(crate) fn distance(written: &[u8], meant: &[u8], slips_max: usize) -> Option<usize> {
    let (rows, columns) = (written.len(), meant.len());
    if rows.max(columns) > WORD_BYTES_MAX || rows.abs_diff(columns) > slips_max {
        return None;
    }
    // Each byte is one character, whatever its value.
    let text = |word: &[u8]| -> String {
        word.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect()
    };
    Some(osa_distance(&text(written), &text(meant))).filter(|slips| *slips <= slips_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names() {
        let registry = Registry::builtin();
        let names = KnownTokens::new(&registry);
        let cases = [
            ("Googelbot", Some("Googlebot")),
            ("google", Some("Googlebot")),
            ("ChatGPT", Some("ChatGPT-User")),
            ("claude", Some("ClaudeBot")),
            ("bingbot", Some("bingbot")),
            ("ClaudBot", Some("ClaudeBot")),
            ("WebZAP", None),
            ("SemrushBot-SX", None),
            ("DisouSpider", None),
            ("Boogelbot", None),
            ("bot", None),
            ("", None),
        ];
        for (written, expected) in cases {
            assert_eq!(names.closest(written.as_bytes()), expected, "{written}");
        }
    }

    #[test]
    fn slips() {
        let cases = [
            ("alow", "allow", Some(1)),
            ("ALLOW", "allow", Some(0)),
            ("dsiallow", "disallow", Some(1)),
            ("useragnet", "user-agent", Some(2)),
            ("delay", "allow", None),
            ("", "ab", Some(2)),
            ("ab", "", Some(2)),
            ("abc", "", None),
        ];
        for (written, meant, expected) in cases {
            assert_eq!(distance(written.as_bytes(), meant.as_bytes(), 2), expected, "{written}");
        }
        // A byte that is not UTF-8 is one letter.
        assert_eq!(distance(b"al\xffow", b"allow", 2), Some(1));
        assert_eq!(distance(b"al\xc3\xbcow", b"allow", 2), Some(2));
        assert_eq!(distance(b"ba", b"ab", 1), Some(1));
        assert_eq!(distance(b"bxa", b"ab", 2), None);
        assert_eq!(distance(&[b'a'; 41], &[b'a'; 41], 2), None);
    }
}
