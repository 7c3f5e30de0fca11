//! Product tokens and User-Agent headers of the crawlers of a registry, and the rules for them.

use crate::error::{Error, Result};
use crate::matcher::robots_txt::{Matcher, RobotsTxt};
use crate::robots::model::StarGroups;
use crate::robots::product_token::{
    InvalidToken, checked_token, first_product_token, product_token,
};

use super::{crawler::Crawler, identify::Identified, own_names::own_names, registry::Registry};

impl From<InvalidToken> for Error {
    fn from(error: InvalidToken) -> Error {
        Error::usage(error.to_string())
    }
}

impl Crawler {
    /// The rules of `robots` for this crawler, by its product tokens; without those for `*` if it is
    /// documented to ignore them.
    ///
    /// Not every crawler is [bound](Crawler::obligation) by rules.
    pub fn matcher(&self, robots: &RobotsTxt) -> Matcher {
        robots.matcher_of(&self.product_tokens, self.star)
    }
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
        Ok(checked_token(text, |text| self.has_token(text), for_header)?)
    }

    /// Whether a crawler has the product token `text`, in any ASCII case.
    #[doc(hidden)]
    pub fn has_token(&self, text: &str) -> bool {
        let mut tokens = self.crawlers().flat_map(|crawler| &crawler.product_tokens);
        tokens.any(|token| token.eq_ignore_ascii_case(text))
    }

    /// The crawler that sends `user_agent`, the value of a User-Agent header, if it is one of this
    /// registry; and the [names](own_names) in the header, where they are not just its first product tokens.
    #[doc(hidden)]
    pub(crate) fn sender(&self, user_agent: &[u8]) -> (Option<&Crawler>, Vec<String>) {
        match self.identify(user_agent) {
            Identified::Crawler(id) => {
                let crawler = self.crawler(id);
                (Some(crawler), own_names(&crawler.product_tokens, user_agent))
            }
            Identified::Generic | Identified::Other | Identified::Empty => {
                let names = own_names(&[], user_agent);
                let first = first_product_token(user_agent).filter(|_| names.is_empty());
                (None, first.map_or(names, |first| vec![first.to_owned()]))
            }
        }
    }

    /// The rules of `robots` for the sender of `user_agent`, the whole value of a User-Agent header.
    ///
    /// The first name in the header that a group has decides, such as `FooBot` in
    /// `Mozilla/5.0 (compatible; FooBot/1.0)`; a more specific name comes before another. After these names come
    /// the product tokens of the crawler in this registry, and then `*`, as in [`Crawler::matcher`].
    ///
    /// ```
    /// use botaudit::{Registry, RobotsTxt};
    ///
    /// let robots = RobotsTxt::parse("User-agent: FooBot\nDisallow: /\n");
    /// let header = "Mozilla/5.0 (compatible; FooBot/1.0; +http://foo.example)";
    /// assert!(!Registry::builtin().matcher(&robots, header).is_allowed("/x"));
    /// ```
    pub fn matcher(&self, robots: &RobotsTxt, user_agent: impl AsRef<[u8]>) -> Matcher {
        let (crawler, mut names) = self.sender(user_agent.as_ref());
        names.extend(crawler.into_iter().flat_map(|crawler| crawler.product_tokens.clone()));
        robots.matcher_of(&names, crawler.map_or(StarGroups::Honoured, |crawler| crawler.star))
    }
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
    fn the_registry_comes_before_the_first_product() {
        let registry = Registry::builtin();
        let sender = |header: &'static str| match registry.sender(header.as_bytes()) {
            (Some(crawler), _) => format!("known {}", crawler.name),
            (None, names) => format!("unknown {}", names.first().map_or("*", String::as_str)),
        };
        let gptbot = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
        assert_eq!(sender(gptbot), "known GPTBot");
        assert_eq!(sender("Mozilla/5.0 (compatible; UnheardOf/1.0; crawler)"), "unknown UnheardOf");
        assert_eq!(sender("unheard-of-crawler/1.0"), "unknown unheard-of-crawler");
        assert_eq!(sender(""), "unknown *");
    }

    #[test]
    fn a_known_crawler_may_ignore_star() {
        let robots = RobotsTxt::parse("User-agent: *\nDisallow: /\n");
        let registry = Registry::builtin();
        for (name, allowed) in [("Googlebot-Image", false), ("AdsBot-Google", true)] {
            let crawler = registry.by_name(name).unwrap();
            assert_eq!(crawler.matcher(&robots).is_allowed("/x"), allowed, "{name}");
        }
        assert!(registry.by_user_agent("Mozilla/5.0 (X11) Firefox/140.0").is_none());
        let generic = registry.by_user_agent("Unheard-of-crawler/1.0").unwrap();
        assert!(!generic.matcher(&robots).is_allowed("/x"));
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
            let matcher = Registry::kept().matcher(&robots, header);
            let decided = [1, 2, 4].map(|path| matcher.decide(format!("/{path}")).line);
            let found = decided.into_iter().flatten().max();
            assert_eq!(found, line, "{header}");
        }
    }
}
