//! The names of a client that robots.txt may have: those in its user agent, and those of others who share it.

use crate::robots::product_token::USER_AGENT_BYTES_MAX;

use super::declared_name::{products, words};

/// Names in a user agent, shared by all who judge its requests.
pub type SharedNames = std::sync::Arc<[String]>;

/// The most names of one user agent, the first ones.
const NAMES_MAX: usize = 16;

/// Product tokens that crawl under the user agent of another crawler. A token that only says how pages may be used,
/// such as `Google-Extended` or `Applebot-Extended`, is none.
const SHARED_AGENTS: &str = include_str!("shared_agents.csv");

/// The names that `user_agent` has, for a crawler with these product `tokens`: in their order, but more specific ones
/// before others. Empty if they are just the first of `tokens`, or if there are none: the tokens alone then choose the
/// group.
///
/// A token of several words is one name, and the words in it are none.
pub(crate) fn own_names(tokens: &[String], user_agent: &[u8]) -> Vec<String> {
    let user_agent = &user_agent[..user_agent.len().min(USER_AGENT_BYTES_MAX)];
    let has_plus_for_blanks = !user_agent.contains(&b' ') && user_agent.contains(&b'+');
    let blank = |&byte: &u8| if byte == b'+' && has_plus_for_blanks { b' ' } else { byte };
    let user_agent: Vec<u8> = user_agent.iter().map(blank).collect();
    let places = tokens.iter().filter_map(|token| {
        let token = token.as_bytes();
        words(&user_agent).map(|(at, _)| at).find_map(|at| {
            let name = user_agent.get(at..at + token.len())?;
            let is_whole =
                name.eq_ignore_ascii_case(token) && ends(&user_agent[at + token.len()..]);
            is_whole.then_some((at, name))
        })
    });
    let mut found: Vec<(usize, &[u8])> = places.collect();
    let of_tokens = found.clone();
    let is_in_token = |at: usize| {
        let is_around =
            |(start, name): &(usize, &[u8])| (*start..*start + name.len()).contains(&at);
        of_tokens.iter().any(is_around)
    };
    found.extend(products(&user_agent).filter(|(at, _)| !is_in_token(*at)));
    found.sort_unstable_by_key(|(at, name)| (*at, name.len()));
    let mut names: Vec<String> = Vec::new();
    for (_, name) in found {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        if names.len() < NAMES_MAX && !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            let is_less = |known: &String| is_more_specific(name, known, tokens);
            let place = names.iter().position(is_less).unwrap_or(names.len());
            names.insert(place, name.to_owned());
        }
    }
    let is_name = |token: &String| names.iter().any(|name| name.eq_ignore_ascii_case(token));
    let first = tokens.iter().take(names.len());
    match first.len() == names.len() && first.into_iter().all(is_name) {
        true => Vec::new(),
        false => names,
    }
}

/// Whether a name ends before `rest`.
fn ends(rest: &[u8]) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match rest {
        [b'.', next, ..] => !is_part(*next),
        [next, ..] => !is_part(*next),
        [] => true,
    }
}

/// Whether `name` is more specific than `other`, for a crawler with these product `tokens`, the most specific first: by
/// their order, or because it is `other` with more after a `-` or `_`.
pub(crate) fn is_more_specific(name: &str, other: &str, tokens: &[String]) -> bool {
    let rank = |name: &str| tokens.iter().position(|token| token.eq_ignore_ascii_case(name));
    if let (Some(rank), Some(of_other)) = (rank(name), rank(other)) {
        return rank < of_other;
    }
    let begins = name.get(..other.len()).is_some_and(|part| part.eq_ignore_ascii_case(other));
    begins && matches!(name.as_bytes().get(other.len()), Some(b'-' | b'_'))
}

/// The product tokens that crawl under the user agent of the crawler named `crawler`.
pub(crate) fn shared_tokens(crawler: &str) -> impl Iterator<Item = &'static str> {
    let rows = SHARED_AGENTS.lines().skip(1).filter_map(|row| row.split_once(','));
    rows.filter(move |(name, _)| name.eq_ignore_ascii_case(crawler))
        .filter_map(|(_, rest)| rest.split(',').next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::registry::Registry;

    #[track_caller]
    fn check(tokens: &[&str], user_agent: &str, expected: &[&str]) {
        let tokens: Vec<String> = tokens.iter().map(|token| (*token).to_owned()).collect();
        let names = own_names(&tokens, user_agent.as_bytes());
        assert_eq!(names, expected, "{user_agent}");
    }

    #[test]
    fn all_products_are_names_in_their_order() {
        check(
            &["heritrix"],
            "Harvest-crawler (compatible; heritrix/3.4.0-2020 +https://a.example)",
            &["Harvest-crawler", "heritrix"],
        );
        check(&["Nutch"], "AcmeBot/Nutch-1.16", &["AcmeBot"]);
        check(&["Nutch"], "Acme/Nutch https://a.example/nutch", &["Acme"]);
        check(
            &["SeoBot"],
            "Mozilla/5.0 (compatible; SeoBot-FT; +http://a.example/SeoBot)",
            &["SeoBot-FT"],
        );
        check(
            &["preview"],
            "Mozilla/5.0 (Macintosh) Version/9.0.1 Safari/601 preview/1.1 Facebot Twitterbot/1.0",
            &["preview", "Facebot", "Twitterbot"],
        );
        check(&["other"], "Mozilla/5.0+(compatible;+AcmeBot/2.0;++http://a.example)", &["AcmeBot"]);
        check(&[], "Acme Photo Agent", &[]);
    }

    #[test]
    fn the_first_tokens_of_the_row_are_no_other_names() {
        let chrome = "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/130.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
        check(&["Googlebot"], chrome, &[]);
        check(&["Googlebot-Image", "Googlebot"], "Googlebot-Image/1.0", &[]);
        check(&["A", "B"], "B/1.0", &["B"]);
        check(&["Acme"], "Acme/1.0 Acme-Image/1.0", &["Acme-Image", "Acme"]);
        check(&["A", "B"], "B/1.0 (compatible; A/1.0)", &[]);
        check(
            &["Sogou web spider", "sogou spider"],
            "Sogou web spider/4.0(+http://www.sogou.com)",
            &[],
        );
        check(
            &["archive.org_bot"],
            "Mozilla/5.0 (compatible; archive.org_bot +http://a.example)",
            &[],
        );
        check(&["a"], "", &[]);
    }

    #[test]
    fn a_longer_name_is_more_specific() {
        let tokens = ["Acme-Image", "Other"].map(str::to_owned);
        let is = |name: &str, other: &str| is_more_specific(name, other, &tokens);
        assert!(is("acme-image", "Acme") && is("acme-image", "OTHER") && is("a_b", "A"));
        assert!(!is("Acme", "acme-image") && !is("AcmeBot", "Acme") && !is("a", "a"));
    }

    #[test]
    fn each_shared_token_is_of_a_crawler_and_has_a_source() {
        let registry = Registry::builtin();
        for row in SHARED_AGENTS.lines().skip(1) {
            let [crawler, token, source] = *row.split(',').collect::<Vec<_>>() else {
                panic!("{row}")
            };
            assert!(registry.find(crawler).is_some() && registry.has_token(token), "{row}");
            assert!(source.starts_with("https://"), "{row}");
        }
        assert_eq!(shared_tokens("googlebot").collect::<Vec<_>>(), ["Googlebot-News"]);
        assert_eq!(shared_tokens("bingbot").count(), 0);
    }

    /// Most user agents name their crawler by its first product token, and cost nothing more.
    #[test]
    fn most_samples_have_no_other_names() {
        let registry = Registry::builtin();
        let samples = registry.crawlers().filter(|crawler| {
            !crawler.sample_user_agent.is_empty() && !crawler.product_tokens.is_empty()
        });
        let (mut usual, mut others) = (0, Vec::new());
        for crawler in samples {
            let names = own_names(&crawler.product_tokens, crawler.sample_user_agent.as_bytes());
            match names.is_empty() {
                true => usual += 1,
                false => others.push((&crawler.name, crawler.sample_user_agent.clone(), names)),
            }
        }
        assert!(usual > 5 * others.len(), "{usual} {others:#?}");
    }
}
