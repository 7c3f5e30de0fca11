//! The name that an unknown crawler gives itself in its user agent.
//!
//! A guess for readers who want to name the crawler in their robots.txt. Where a robots.txt has this
//! name, its groups decide; these crawlers have no violations, whatever is decided. The
//! first match of this list counts: a word that sounds like a crawler's name (`FooBot`), a product
//! with a version that is not a browser's (`Foo/1.2`), the word after `compatible`, the first word.
//! Addresses of pages and mail, and words after `like`, are skipped.

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Parts of the names of crawlers, in lower case, separated by spaces.
const CRAWLER_PARTS: &str = "bot crawl spider scrap fetch slurp archiver monitor";

/// General words that are not names, in the same form.
const COMMON_WORDS: &str = "bot bots robot robots crawler crawlers spider scraper fetcher \
    monitor monitoring webcrawler compatible http";

/// Words in the user agents of browsers, engines and systems, in the same form.
const BROWSER_WORDS: &str = "mozilla applewebkit webkit chrome chromium headlesschrome safari \
    gecko khtml version mobile firefox fxios crios edg edge opr opera presto trident msie \
    seamonkey samsungbrowser build windows linux x11 macintosh iphone ipad android ubuntu u \
    en-us en x86_64 wow64 win64 like cfnetwork darwin dalvik konqueror ucbrowser iceweasel";

/// The likely product token in `user_agent`; `None` if there is none.
pub(crate) fn declared_name(user_agent: &[u8]) -> Option<&[u8]> {
    let (mut product, mut compatible, mut first) = (None, None, None);
    for word in named_words(user_agent) {
        if word.sounds_like_a_crawler() {
            return Some(word.name);
        }
        if word.version == Version::Given {
            product = product.or(Some(word.name));
        }
        if word.is_after_compatible {
            compatible = compatible.or(Some(word.name));
        }
        if user_agent.starts_with(word.name) {
            first = Some(word.name);
        }
    }
    product.or(compatible).or(first)
}

/// The products that `user_agent` names, each with its place, in order: words with a version, words that sound like
/// a crawler's name, and the word at the beginning or after `compatible` if it stands alone. `Mozilla` and other parts
/// of browsers are none.
pub(super) fn products(user_agent: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let is_product = |word: &NamedWord<'_>| {
        word.version == Version::Given
            || word.sounds_like_a_crawler()
            || (word.is_alone && (word.at == 0 || word.is_after_compatible))
    };
    named_words(user_agent).filter(is_product).map(|word| (word.at, word.name))
}

/// A word of a user agent that may be a name.
struct NamedWord<'u> {
    name: &'u [u8],
    /// Where it begins.
    at: usize,
    version: Version,
    is_after_compatible: bool,
    /// Whether it has a version, or no other name follows without a sign between.
    is_alone: bool,
}

impl NamedWord<'_> {
    fn sounds_like_a_crawler(&self) -> bool {
        CRAWLER_PARTS.split(' ').any(|part| contains(self.name, part.as_bytes()))
    }
}

/// Whether a version follows a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Version {
    Given,
    /// A word: `OICrawler/Nutch`.
    Word,
    None,
}

fn named_words<'u>(user_agent: &'u [u8]) -> impl Iterator<Item = NamedWord<'u>> {
    let mut before: &[u8] = b"";
    let of_word = move |(at, word): (usize, &'u [u8])| {
        let is_after = |what: &[u8]| before.eq_ignore_ascii_case(what);
        let (is_after_like, is_after_compatible) = (is_after(b"like"), is_after(b"compatible"));
        before = word;
        let (name, version) = name(word).filter(|_| !is_after_like)?;
        if is_one_of(name, BROWSER_WORDS) || is_one_of(name, COMMON_WORDS) {
            return None;
        }
        let rest = &user_agent[at + word.len()..];
        let next = rest.trim_ascii_start();
        let is_followed = next.len() < rest.len()
            && words(next).next().is_some_and(|(at, word)| at == 0 && self::name(word).is_some());
        let is_alone = version != Version::None || !is_followed;
        Some(NamedWord { name, at, version, is_after_compatible, is_alone })
    };
    words(user_agent).filter_map(of_word)
}

/// The words, each with its place.
pub(super) fn words(user_agent: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let is_between = |byte: &u8| *byte <= b' ' || b"();,\"'<>[]{}|".contains(byte);
    let mut at = 0;
    let placed = user_agent.split(is_between).map(move |word| {
        let place = at;
        at += word.len() + 1;
        (place, word)
    });
    placed.filter(|(_, word)| !word.is_empty())
}

/// The name in a word such as `FooBot/1.2`; `None` for addresses, numbers and anything else.
fn name(word: &[u8]) -> Option<(&[u8], Version)> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.!".contains(byte);
    let end = word.iter().position(|byte| !is_part(byte)).unwrap_or(word.len());
    let (name, rest) = word.split_at(end);
    let digit = rest.iter().skip(1).find(|byte| !matches!(byte, b'v' | b'V'));
    let version = match rest {
        [] => Version::None,
        [b'/', ..] if digit.is_some_and(u8::is_ascii_digit) => Version::Given,
        [b'/' | b':'] => Version::None,
        [b'/', version @ ..] if version.iter().all(is_part) => Version::Word,
        _ => return None,
    };
    // A word with a dot is a host, with some exceptions.
    let has_dot = name.contains(&b'.');
    let is_host = has_dot && (!name.contains(&b'_') || version == Version::Word);
    let is_host = is_host && version != Version::Given;
    let is_name = name.iter().any(u8::is_ascii_alphabetic)
        && name.first().is_some_and(u8::is_ascii_alphanumeric)
        && name.len() <= NAME_BYTES_MAX
        && !name.to_ascii_lowercase().starts_with(b"www.");
    (is_name && !is_host).then_some((name, version))
}

fn is_one_of(name: &[u8], words: &str) -> bool {
    words.split(' ').any(|word| name.eq_ignore_ascii_case(word.as_bytes()))
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_found() {
        let cases = [
            ("AcmeCrawler/0.1 (+http://acme.example/bot)", "AcmeCrawler"),
            ("Mozilla/5.0 (compatible; FooBot/1.2; +http://foo.example/bot.html)", "FooBot"),
            ("Mozilla/5.0 (compatible; Foo/1.2; +http://foo.example/)", "Foo"),
            (
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Foo-Bot; +https://foo.example) Chrome/1.0 Safari/537.36",
                "Foo-Bot",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537.36 (compatible; Barometer; spider)",
                "Barometer",
            ),
            ("SBL-BOT (http://sbl.net)", "SBL-BOT"),
            ("archive.org_bot", "archive.org_bot"),
            ("2ip bot/1.1 (+http://2ip.io)", "2ip"),
            ("Thing (+http://thing.example/)", "Thing"),
            ("thing.py/v2.0 crawler", "thing.py"),
            ("Foo Spider/3 like Googlebot", "Foo"),
        ];
        for (user_agent, expected) in cases {
            let found = declared_name(user_agent.as_bytes()).map(String::from_utf8_lossy);
            assert_eq!(found.as_deref(), Some(expected), "{user_agent}");
        }
    }

    #[test]
    fn what_is_no_name() {
        let cases: [&[u8]; 9] = [
            b"",
            b"-",
            b"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/1.0",
            b"+http://bot.example/about",
            b"bot@crawler.example",
            b"(bot) crawler",
            b"www.crawler.example",
            b"crawler.example/bot",
            b"\xff\xfe\0()/;;",
        ];
        for user_agent in cases {
            let found = declared_name(user_agent).map(String::from_utf8_lossy);
            assert_eq!(found.as_deref(), None, "{}", user_agent.escape_ascii());
        }
    }
}
