//! The Crawl-delay of a robots.txt for a crawler.

use std::sync::OnceLock;

use crate::digest::Digest;
use crate::matcher::select::{GroupChoice, Selection};
use crate::robots::model::{CrawlDelay, ParsedRobotsTxt, ProductToken};

use super::restriction::{Restriction, RestrictionKind};
use super::{by_crawler::ByCrawler, profile::CrawlerProfile};

/// By crawler; created on first use, because most files never need it.
pub(super) type CrawlDelays = OnceLock<ByCrawler<DelayAndBound>>;

/// The cached delay of one crawler.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayAndBound {
    /// An index into the file's delays.
    pub crawl_delay: Option<usize>,
    pub bound: Bound,
    /// What the rules leave to it.
    pub restriction: Option<Restriction>,
}

/// Whether a file binds a crawler.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bound {
    Yes,
    /// It names the crawler nowhere, and the crawler ignores `*`.
    No,
}

/// A Crawl-delay, as reports show it.
#[derive(Clone, Debug)]
pub struct AskedDelay {
    /// The digest of the version of robots.txt.
    pub digest: Digest,
    /// 1-based.
    pub line: u32,
    /// As written in the file.
    pub written: Box<[u8]>,
    /// The delay in milliseconds; `None` if the value is not a number.
    pub milliseconds: Option<u64>,
    /// The product token of the crawler's group, or `*`.
    pub group: Box<[u8]>,
}

impl DelayAndBound {
    /// `kind` gives the kind of the rules that bind the crawler.
    pub(crate) fn new(
        text: &ParsedRobotsTxt,
        profile: &CrawlerProfile,
        kind: impl FnOnce(&Selection<'_>) -> Option<RestrictionKind>,
    ) -> DelayAndBound {
        let selection = profile.select(text);
        let bound_by = selection.bound_by;
        let kind = kind(&selection);
        let restriction = kind.map(|kind| Restriction::new(kind, bound_by));
        let crawl_delay = shortest(text, profile, bound_by);
        let bound = if bound_by == GroupChoice::Nothing { Bound::No } else { Bound::Yes };
        DelayAndBound { crawl_delay, bound, restriction }
    }
}

impl AskedDelay {
    /// The Crawl-delay for a crawler in `text`, whose digest is `digest`: that of the product
    /// token, or `*`, whose rules bind the crawler. Of several, the shortest.
    pub fn new(
        text: &ParsedRobotsTxt,
        digest: Digest,
        profile: &CrawlerProfile,
    ) -> Option<AskedDelay> {
        let bound_by = profile.bound_by(text);
        let delay = &text.crawl_delays[shortest(text, profile, bound_by)?];
        Some(AskedDelay {
            digest,
            line: delay.line,
            written: delay.written.clone(),
            milliseconds: delay.milliseconds,
            group: profile.group(bound_by).into(),
        })
    }
}

/// The index of the shortest delay for the crawlers that `bound_by` binds.
fn shortest(
    text: &ParsedRobotsTxt,
    profile: &CrawlerProfile,
    bound_by: GroupChoice,
) -> Option<usize> {
    let is_meant = |token: &ProductToken| match bound_by {
        GroupChoice::Token(_) => token.names(profile.group(bound_by)),
        GroupChoice::Star => token.is_star(),
        GroupChoice::Nothing => false,
    };
    let delays = text.crawl_delays.iter().enumerate();
    let meant = delays.filter(|(_, delay)| delay.product_tokens(text).iter().any(is_meant));
    let shortest = meant.reduce(
        |best: (usize, &CrawlDelay), next| {
            if next.1.is_milder_than(best.1) { next } else { best }
        },
    );
    shortest.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use crate::archive::Store;
    use crate::crawlers::{crawler::CrawlerId, registry::Registry};
    use crate::url::path::Dialect;
    use crate::url::path::prepare;

    use super::super::Judge;
    use super::*;

    fn judge(text: &str) -> Judge {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("robots.txt");
        std::fs::write(&path, text).unwrap();
        Judge::new(Store::open(&path).unwrap(), &Registry::builtin(), Dialect::Google).unwrap()
    }

    #[track_caller]
    fn check(text: &str, crawler: &str, expected: Option<(u32, Option<u64>, &str)>) {
        let judge = judge(text);
        let crawler = Registry::builtin().find(crawler).unwrap();
        let robots = judge.unnamed().unwrap();
        assert_eq!(judge.directives(&robots, crawler).0, expected.is_some());
        let profile = judge.profiles.get(crawler);
        let asked = AskedDelay::new(&robots.text, robots.digest, profile);
        let found = asked.map(|asked| {
            (asked.line, asked.milliseconds, String::from_utf8(asked.group.into()).unwrap())
        });
        let expected = expected.map(|(line, delay, group)| (line, delay, group.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_delay_is_that_of_the_token_that_binds() {
        let text = "User-agent: *\nCrawl-delay: 10\nDisallow: /a\n\
                    User-agent: googlebot\nCrawl-delay: 2\nDisallow: /b\n\
                    User-agent: ccbot\nDisallow: /c\n\
                    User-agent: gptbot\nCrawl-delay: x\nDisallow: /d\n";
        check(text, "bingbot", Some((2, Some(10_000), "*")));
        check(text, "Googlebot-Image", Some((5, Some(2_000), "Googlebot")));
        check(text, "CCBot", None);
        check(text, "GPTBot", Some((10, None, "GPTBot")));
        check(text, "AdsBot-Google", None);
    }

    #[test]
    fn of_merged_groups_the_shortest_counts() {
        let text = "User-agent: ccbot\nCrawl-delay: 5\nDisallow: /a\n\
                    User-agent: ccbot\nCrawl-delay: 3\nUser-agent: gptbot\nDisallow: /b\n";
        check(text, "CCBot", Some((5, Some(3_000), "CCBot")));
        check(text, "GPTBot", None);
    }

    #[test]
    fn a_crawler_that_ignores_the_star_is_free_unless_named() {
        let registry = Registry::builtin();
        let adsbot = registry.find("AdsBot-Google").unwrap();
        let check = |text: &str, crawler: CrawlerId, expected| {
            let judge = judge(text);
            assert_eq!(
                judge.is_spared_by_star(&judge.unnamed().unwrap(), crawler.into()),
                expected,
                "{text}"
            );
        };
        check("User-agent: *\nDisallow: /\n", adsbot, true);
        check("User-agent: *\nUser-agent: AdsBot-Google\nDisallow: /\n", adsbot, false);
        check("User-agent: *\nDisallow: /\n", registry.find("GPTBot").unwrap(), false);
    }

    #[test]
    fn a_judge_that_includes_unbound_crawlers_exempts_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("robots.txt");
        std::fs::write(&path, "User-agent: *\nDisallow: /\n").unwrap();
        let registry = Registry::builtin();
        let store = Store::open(&path).unwrap();
        let judge = Judge::of_everyone(store, &registry, Dialect::Google).unwrap();
        let (robots, adsbot) = (judge.unnamed().unwrap(), registry.find("AdsBot-Google").unwrap());
        assert!(!judge.is_spared_by_star(&robots, adsbot.into()));
        let mut scratch = Vec::new();
        let path = prepare(b"/a", Dialect::Google, &mut scratch);
        assert_eq!(judge.decide(&robots, adsbot, path).unwrap().line, Some(2));
    }
}
