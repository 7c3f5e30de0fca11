//! A parsed robots.txt for applications: the types at the root of the crate.

use std::{cell::RefCell, fmt, sync::Arc};

use crate::robots::model::{ParsedRobotsTxt, StarGroups};
use crate::robots::parse::parse_body;
use crate::robots::product_token::{InvalidToken, checked_token, is_unusual_token};
use crate::url::path::{Dialect, path_of, prepare};

use super::{compiled::CompiledPolicy, decision::Decision, limits::Limits, select::select};

/// The largest buffer for prepared paths that a thread keeps, in bytes.
const SCRATCH_BYTES_MAX: usize = 64 << 10;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A parsed robots.txt.
///
/// ```
/// use botaudit_robots::RobotsTxt;
///
/// let robots = RobotsTxt::parse("User-agent: Googlebot\nDisallow: /private/\n");
/// assert!(!robots.is_allowed("Googlebot", "/private/diary")?);
/// assert!(robots.is_allowed("Googlebot", "https://example.com/public")?);
/// assert!(robots.is_allowed("Bingbot", "/private/diary")?);
/// # Ok::<(), botaudit_robots::InvalidToken>(())
/// ```
#[derive(Clone)]
pub struct RobotsTxt {
    text: Arc<ParsedRobotsTxt>,
    dialect: Dialect,
}

impl RobotsTxt {
    /// Parses the bytes of a robots.txt.
    ///
    /// Parsing never fails: lines that are not valid are ignored, as RFC 9309 asks. Only the first
    /// 500 KiB count, which is Google's documented limit. Paths are compared in
    /// [`Dialect::Google`].
    pub fn parse(bytes: impl AsRef<[u8]>) -> RobotsTxt {
        let text = Arc::new(parse_body(bytes.as_ref()));
        RobotsTxt { text, dialect: Dialect::default() }
    }

    /// The same robots.txt with paths compared in `dialect`.
    ///
    /// ```
    /// use botaudit_robots::{Dialect, RobotsTxt};
    ///
    /// let google = RobotsTxt::parse("User-agent: *\nDisallow: /%62%61r");
    /// assert!(google.is_allowed("examplebot", "/bar")?);
    /// let rfc9309 = google.with_dialect(Dialect::Rfc9309);
    /// assert!(!rfc9309.is_allowed("examplebot", "/bar")?);
    /// # Ok::<(), botaudit_robots::InvalidToken>(())
    /// ```
    #[must_use]
    pub fn with_dialect(self, dialect: Dialect) -> RobotsTxt {
        RobotsTxt { dialect, ..self }
    }

    /// Whether the crawler named `product_token` may request `target`, a path or a URL.
    ///
    /// A product token is the crawler's name in User-agent lines, such as `Googlebot`. A version
    /// after it is ignored: `Googlebot/2.1`. [`first_product_token`] finds the one in a User-Agent
    /// header. For more than a few paths, [`RobotsTxt::matcher`] is much faster.
    ///
    /// [`first_product_token`]: crate::first_product_token
    ///
    /// # Errors
    /// If `product_token` is not one, because no group could name it. It has letters, digits, `-`
    /// and `_`, unless it is the name of a known crawler, such as `archive.org_bot`.
    pub fn is_allowed(
        &self,
        product_token: impl AsRef<str>,
        target: impl AsRef<[u8]>,
    ) -> Result<bool, InvalidToken> {
        Ok(self.matcher([product_token])?.is_allowed(target))
    }

    /// The rules for a crawler that answers to `product_tokens`, the most specific first.
    ///
    /// The first token that a group names decides; where no group names any of them, the groups
    /// for `*` apply.
    ///
    /// ```
    /// use botaudit_robots::{Decision, RobotsTxt};
    ///
    /// let robots = RobotsTxt::parse("User-agent: Googlebot\nDisallow: /private/\n");
    /// let matcher = robots.matcher(["Googlebot-Image", "Googlebot"])?;
    /// let Decision { allowed, line } = matcher.decide("/private/photo.jpg");
    /// assert_eq!((allowed, line), (false, Some(2)));
    /// # Ok::<(), botaudit_robots::InvalidToken>(())
    /// ```
    ///
    /// # Errors
    /// As [`RobotsTxt::is_allowed`].
    pub fn matcher<T: AsRef<str>>(
        &self,
        product_tokens: impl IntoIterator<Item = T>,
    ) -> Result<Matcher, InvalidToken> {
        let given: Vec<T> = product_tokens.into_iter().collect();
        let tokens = given
            .iter()
            .map(|token| checked_token(token.as_ref(), is_unusual_token, "first_product_token"));
        Ok(self.matcher_of(&tokens.collect::<Result<Vec<_>, _>>()?, StarGroups::Honoured))
    }

    /// The rules for a crawler that answers to `product_tokens`, without a check of these names. With
    /// [`StarGroups::Ignored`], the groups for `*` never apply, as documented for a few crawlers.
    ///
    /// ```
    /// use botaudit_robots::{RobotsTxt, StarGroups};
    ///
    /// let robots = RobotsTxt::parse("User-agent: *\nDisallow: /\n");
    /// let adsbot = robots.matcher_of(&["AdsBot-Google"], StarGroups::Ignored);
    /// assert!(adsbot.is_allowed("/x"));
    /// ```
    pub fn matcher_of(&self, product_tokens: &[impl AsRef<[u8]>], star: StarGroups) -> Matcher {
        let selection = select(&self.text, product_tokens, star);
        let policy = CompiledPolicy::new(&selection.rules(), self.dialect, &Limits::default());
        let lines = selection.lines().into();
        Matcher { policy: Arc::new(policy), lines, dialect: self.dialect }
    }

    /// The file as data.
    #[doc(hidden)]
    pub fn parsed(&self) -> &ParsedRobotsTxt {
        &self.text
    }

    /// The values of the Sitemap lines, in the order of the file. Nothing checks that they are URLs.
    pub fn sitemaps(&self) -> impl Iterator<Item = &[u8]> {
        self.text.sitemaps.iter().map(|sitemap| &*sitemap.url)
    }
}

impl fmt::Debug for RobotsTxt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParsedRobotsTxt { groups, sitemaps, .. } = &*self.text;
        f.debug_struct("RobotsTxt")
            .field("groups", &groups.len())
            .field("sitemaps", &sitemaps.len())
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

/// The rules of a [`RobotsTxt`] for one crawler, ready for any number of paths.
///
/// It keeps no reference to the [`RobotsTxt`], is cheap to clone, and threads can share it. A
/// decision allocates nothing for paths up to 16 KiB, with two exceptions: the first path in a
/// thread that needs encoding, and a wildcard pattern that has been tried a thousand times, which
/// is compiled once ([`Matcher::compile`] does so in advance).
#[derive(Clone)]
pub struct Matcher {
    policy: Arc<CompiledPolicy>,
    lines: Arc<[u32]>,
    dialect: Dialect,
}

impl Matcher {
    /// Whether the crawler may request `target`, and which line decides.
    ///
    /// `target` is a path with its query, or a URL, of which the scheme and host are ignored.
    /// `/robots.txt` without a query is always allowed.
    pub fn decide(&self, target: impl AsRef<[u8]>) -> Decision {
        let path = path_of(target.as_ref());
        SCRATCH.with_borrow_mut(|scratch| {
            let path = prepare(path, self.dialect, scratch);
            let decision = match path.is_robots_txt() {
                true => Decision::NO_RULE,
                false => self.policy.decide(path.as_bytes()).with_lines(&self.lines),
            };
            // A single long path must not keep its memory as long as the thread lives.
            if scratch.capacity() > SCRATCH_BYTES_MAX {
                *scratch = Vec::new();
            }
            decision
        })
    }

    /// Whether the crawler may request `target`: [`Matcher::decide`] without the line.
    pub fn is_allowed(&self, target: impl AsRef<[u8]>) -> bool {
        self.decide(target).allowed
    }

    /// Compiles all wildcard patterns now, and not when each has been tried a thousand times.
    ///
    /// Takes about 10 to 50 µs for each pattern.
    pub fn compile(&self) {
        self.policy.compile();
    }
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher")
            .field("rules", &self.lines.len())
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(robots: &RobotsTxt, product_token: &str, target: &str, expected: (bool, Option<u32>)) {
        let Decision { allowed, line } = robots.matcher([product_token]).unwrap().decide(target);
        assert_eq!((allowed, line), expected, "{product_token} {target}");
        assert_eq!(robots.is_allowed(product_token, target).unwrap(), allowed);
    }

    #[test]
    fn paths_and_urls() {
        let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /\nAllow: /a/*.css$\n");
        for target in ["/", "", "https://a.example", "a.example/x", "https://a.example/x?y#z"] {
            check(&robots, "examplebot", target, (false, Some(2)));
        }
        for target in ["/a/b.css", "https://a.example/a/b.css#c", "a.example/a/b.css"] {
            check(&robots, "examplebot", target, (true, Some(3)));
        }
        for target in ["/robots.txt", "https://a.example/robots.txt#x"] {
            check(&robots, "examplebot", target, (true, None));
        }
        check(&robots, "examplebot", "/robots.txt?x", (false, Some(2)));
        check(&robots, "examplebot", "//robots.txt", (false, Some(2)));
    }

    #[test]
    fn a_long_path_leaves_no_room_behind() {
        let robots = RobotsTxt::parse("User-agent: *\nDisallow: /*x$");
        let matcher = robots.matcher(["examplebot"]).unwrap();
        let path = format!("/{}x", "é".repeat(1 << 20));
        assert!(!matcher.is_allowed(&path) && matcher.is_allowed(path + "y"));
        assert!(SCRATCH.with_borrow(Vec::capacity) <= SCRATCH_BYTES_MAX);
    }

    /// Such names match no group, so "allowed" would be wrong.
    #[test]
    fn a_version_is_cut_and_a_header_is_refused() {
        let robots = RobotsTxt::parse(
            "User-agent: GPTBot\nUser-agent: archive.org_bot\nDisallow: /\nUser-agent: *\nAllow: /",
        );
        for token in ["GPTBot", "gptbot/1.2", "archive.org_bot", "Archive.org_bot/1.0"] {
            check(&robots, token, "/x", (false, Some(3)));
        }
        let header = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
        for text in [header, "", "*", "my bot", "GPTBot/"] {
            let error = robots.is_allowed(text, "/x").unwrap_err().to_string();
            assert!(error.starts_with(&format!("'{text}' is not a product token")), "{error}");
            assert!(robots.matcher(["mybot", text]).is_err(), "{text}");
        }
        let nobody: [&str; 0] = [];
        assert_eq!(robots.matcher(nobody).unwrap().decide("/x").line, Some(5));
    }

    #[test]
    fn what_is_no_robots_txt_allows_everything() {
        let robots = RobotsTxt::parse(b"\xff\0<html>");
        check(&robots, "examplebot", "/x", (true, None));
        assert_eq!(robots.sitemaps().count(), 0);
        let shown = "RobotsTxt { groups: 0, sitemaps: 0, dialect: Google, .. }";
        assert_eq!(format!("{robots:?}"), shown);
    }

    #[test]
    fn a_matcher_is_shown_by_its_size_and_dialect() {
        let robots = RobotsTxt::parse("User-agent: a\nDisallow: /1\nDisallow: /2\n");
        let shown = format!("{:?}", robots.matcher(["a"]).unwrap());
        assert_eq!(shown, "Matcher { rules: 2, dialect: Google, .. }");
    }
}
