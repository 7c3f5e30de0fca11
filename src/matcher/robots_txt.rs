//! A parsed robots.txt for applications: the types at the root of the crate.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use crate::crawlers::crawler::Crawler;
use crate::crawlers::product_token::{Sender, checked_token};
use crate::crawlers::registry::Registry;
use crate::error::Result;
use crate::matcher::compiled::CompiledPolicy;
use crate::matcher::decision::Decision;
use crate::matcher::limits::Limits;
use crate::matcher::select::{Star, select};
use crate::robots::model::ParsedRobotsTxt;
use crate::robots::parse::parse_body;
use crate::url::dialect::Dialect;
use crate::url::path::prepare;
use crate::url::target::path_of;

/// The largest buffer for prepared paths that a thread keeps, in bytes.
const SCRATCH_BYTES_MAX: usize = 64 << 10;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A parsed robots.txt.
///
/// ```
/// use botaudit::RobotsTxt;
///
/// let robots = RobotsTxt::parse("User-agent: Googlebot\nDisallow: /private/\n");
/// assert!(!robots.is_allowed("Googlebot", "/private/diary")?);
/// assert!(robots.is_allowed("Googlebot", "https://example.com/public")?);
/// assert!(robots.is_allowed("Bingbot", "/private/diary")?);
/// # Ok::<(), botaudit::Error>(())
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
    /// use botaudit::{Dialect, RobotsTxt};
    ///
    /// let google = RobotsTxt::parse("User-agent: *\nDisallow: /%62%61r");
    /// assert!(google.is_allowed("examplebot", "/bar")?);
    /// let rfc9309 = google.with_dialect(Dialect::Rfc9309);
    /// assert!(!rfc9309.is_allowed("examplebot", "/bar")?);
    /// # Ok::<(), botaudit::Error>(())
    /// ```
    #[must_use]
    pub fn with_dialect(self, dialect: Dialect) -> RobotsTxt {
        RobotsTxt { dialect, ..self }
    }

    /// Whether the crawler named `product_token` may request `target`, a path or a URL.
    ///
    /// A product token is the crawler's name in User-agent lines, such as `Googlebot`. A version
    /// after it is ignored: `Googlebot/2.1`. For a whole User-Agent header, there is
    /// [`RobotsTxt::matcher_for_user_agent`]. For more than a few paths, [`RobotsTxt::matcher`] is
    /// much faster.
    ///
    /// # Errors
    /// If `product_token` is not one, because no group could name it. It has letters, digits, `-`
    /// and `_`, unless it is a token of the [`Registry`], such as `archive.org_bot`.
    pub fn is_allowed(
        &self,
        product_token: impl AsRef<str>,
        target: impl AsRef<[u8]>,
    ) -> Result<bool> {
        Ok(self.matcher([product_token])?.is_allowed(target))
    }

    /// The rules for a crawler that answers to `product_tokens`, the most specific first.
    ///
    /// The first token that a group names decides; where no group names any of them, the groups
    /// for `*` apply.
    ///
    /// ```
    /// use botaudit::{Decision, RobotsTxt};
    ///
    /// let robots = RobotsTxt::parse("User-agent: Googlebot\nDisallow: /private/\n");
    /// let matcher = robots.matcher(["Googlebot-Image", "Googlebot"])?;
    /// let Decision { allowed, line } = matcher.decide("/private/photo.jpg");
    /// assert_eq!((allowed, line), (false, Some(2)));
    /// # Ok::<(), botaudit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`RobotsTxt::is_allowed`].
    pub fn matcher<T: AsRef<str>>(
        &self,
        product_tokens: impl IntoIterator<Item = T>,
    ) -> Result<Matcher> {
        let given: Vec<T> = product_tokens.into_iter().collect();
        let tokens = given.iter().map(|token| {
            let is_known = |token: &str| Registry::kept().has_token(token);
            checked_token(token.as_ref(), is_known, "matcher_for_user_agent")
        });
        Ok(self.matcher_of(&tokens.collect::<Result<Vec<_>>>()?, Star::Honoured))
    }

    /// The rules for the sender of `user_agent`, the whole value of a User-Agent header.
    ///
    /// A crawler of the built-in [`Registry`] gets the rules of
    /// [`RobotsTxt::matcher_for`]. Any other sender is known by its first product: `FooBot` in
    /// `FooBot/1.0 (+http://foo.example)`. After `Mozilla` it is the product after `compatible;`:
    /// `FooBot` in `Mozilla/5.0 (compatible; FooBot/1.0)`. If the header begins with neither, only
    /// the groups for `*` apply.
    ///
    /// ```
    /// use botaudit::RobotsTxt;
    ///
    /// let robots = RobotsTxt::parse("User-agent: FooBot\nDisallow: /\n");
    /// let header = "Mozilla/5.0 (compatible; FooBot/1.0; +http://foo.example)";
    /// assert!(!robots.matcher_for_user_agent(header).is_allowed("/x"));
    /// ```
    pub fn matcher_for_user_agent(&self, user_agent: impl AsRef<[u8]>) -> Matcher {
        match Registry::kept().sender(user_agent.as_ref()) {
            Sender::Known(crawler) => self.matcher_for(crawler),
            Sender::Unknown(token) => self.matcher_of(token.as_slice(), Star::Honoured),
        }
    }

    /// The rules for `crawler`, by its product tokens; without those for `*` if the crawler is
    /// documented to ignore them.
    ///
    /// Not every crawler is [bound](Crawler::obligation) by rules.
    pub fn matcher_for(&self, crawler: &Crawler) -> Matcher {
        self.matcher_of(&crawler.product_tokens, crawler.star.into())
    }

    fn matcher_of(&self, product_tokens: &[impl AsRef<[u8]>], star: Star) -> Matcher {
        let selection = select(&self.text, product_tokens, star);
        let policy = CompiledPolicy::new(&selection.rules(), self.dialect, &Limits::default());
        let lines = selection.lines().into();
        Matcher { policy: Arc::new(policy), lines, dialect: self.dialect }
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
    /// `/robots.txt` is always allowed.
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
    use crate::crawlers::registry::Registry;

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
        for target in ["/robots.txt", "https://a.example/robots.txt?x"] {
            check(&robots, "examplebot", target, (true, None));
        }
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

    #[test]
    fn a_known_crawler_may_ignore_star() {
        let robots = RobotsTxt::parse("User-agent: *\nDisallow: /\n");
        let registry = Registry::builtin();
        for (name, allowed) in [("Googlebot-Image", false), ("AdsBot-Google", true)] {
            let crawler = registry.by_name(name).unwrap();
            assert_eq!(robots.matcher_for(crawler).is_allowed("/x"), allowed, "{name}");
        }
        assert!(registry.by_user_agent("Mozilla/5.0 (X11) Firefox/140.0").is_none());
        let generic = registry.by_user_agent("Unheard-of-crawler/1.0").unwrap();
        assert!(!robots.matcher_for(generic).is_allowed("/x"));
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
    fn a_header_is_resolved_by_the_registry_and_else_by_its_first_product() {
        let robots = RobotsTxt::parse(
            "User-agent: GPTBot\nDisallow: /1\nUser-agent: FooBot\nDisallow: /2\n\
             User-agent: AdsBot-Google-Mobile\nDisallow: /3\nUser-agent: *\nDisallow: /",
        );
        for (header, line) in [
            (
                "Mozilla/5.0 AppleWebKit/537.36 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
                Some(2),
            ),
            ("FooBot/1.0 (+http://foo.example)", Some(4)),
            ("Mozilla/5.0 (compatible; foobot/1.0; +http://foo.example)", Some(4)),
            // It ignores groups for all crawlers.
            ("AdsBot-Google (+http://www.google.com/adsbot.html)", None),
            ("Mozilla/5.0 (Windows NT 10.0) Firefox/1.0", Some(8)),
            ("", Some(8)),
        ] {
            let matcher = robots.matcher_for_user_agent(header);
            let decided = [1, 2, 4].map(|path| matcher.decide(format!("/{path}")).line);
            let found = decided.into_iter().flatten().max();
            assert_eq!(found, line, "{header}");
        }
    }

    #[test]
    fn what_is_no_robots_txt_allows_everything() {
        let robots = RobotsTxt::parse(b"\xff\0<html>");
        check(&robots, "examplebot", "/x", (true, None));
        assert_eq!(robots.sitemaps().count(), 0);
        let shown = "RobotsTxt { groups: 0, sitemaps: 0, dialect: Google, .. }";
        assert_eq!(format!("{robots:?}"), shown);
    }
}
