//! Address lists that operators published under other URLs before.
//!
//! Mirrors and older downloads have the former names.

/// A former URL of a list, and its URL now.
const RENAMED: [(&str, &str); 10] = [
    // Google moved its lists in March 2026, and gave the first of them another name.
    (
        "https://developers.google.com/static/search/apis/ipranges/googlebot.json",
        "https://developers.google.com/static/crawling/ipranges/common-crawlers.json",
    ),
    (
        "https://developers.google.com/search/apis/ipranges/googlebot.json",
        "https://developers.google.com/static/crawling/ipranges/common-crawlers.json",
    ),
    (
        "https://developers.google.com/static/search/apis/ipranges/special-crawlers.json",
        "https://developers.google.com/static/crawling/ipranges/special-crawlers.json",
    ),
    (
        "https://developers.google.com/search/apis/ipranges/special-crawlers.json",
        "https://developers.google.com/static/crawling/ipranges/special-crawlers.json",
    ),
    (
        "https://developers.google.com/static/search/apis/ipranges/user-triggered-fetchers.json",
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers.json",
    ),
    (
        "https://developers.google.com/search/apis/ipranges/user-triggered-fetchers.json",
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers.json",
    ),
    (
        "https://developers.google.com/static/search/apis/ipranges/user-triggered-fetchers-google.json",
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers-google.json",
    ),
    (
        "https://developers.google.com/search/apis/ipranges/user-triggered-fetchers-google.json",
        "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers-google.json",
    ),
    (
        "https://www.perplexity.ai/perplexitybot.json",
        "https://www.perplexity.com/perplexitybot.json",
    ),
    (
        "https://www.perplexity.ai/perplexity-user.json",
        "https://www.perplexity.com/perplexity-user.json",
    ),
];

/// `url`, and then the former URLs of its list.
pub(crate) fn all_urls(url: &str) -> impl Iterator<Item = &str> {
    let former = RENAMED.iter().filter(move |(_, now)| *now == url).map(|(former, _)| *former);
    std::iter::once(url).chain(former)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::registry::Registry;

    #[test]
    fn lists_of_the_registry_are_found_by_former_urls() {
        let registry = Registry::builtin();
        let has = |url: &str| {
            registry.iter().any(|(_, crawler)| crawler.ip_list_urls.iter().any(|of| of == url))
        };
        for (former, now) in RENAMED {
            assert!(has(now), "{now}");
            assert!(!has(former), "{former}");
            assert!(all_urls(now).any(|url| url == former));
        }
    }
}
