//! WordPress, which sends one user agent to its own site and to others. The user agent names the
//! site that sends it: `WordPress/6.5; https://example.com`.

use crate::crawlers::{crawler::CrawlerId, registry::Registry};
use crate::url::origin::Origin;

use super::{origin_key::OriginKey, origin_options::Aliases};

/// The rows of the registry for requests to the own site, and to another.
const ROWS: [&str; 2] = ["WordPress", "WordPress of another site"];

/// Tells the requests of WordPress to its own site from those to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnSite {
    /// The crawler that the user agent alone gives.
    pub own: CrawlerId,
    other: CrawlerId,
}

impl OwnSite {
    /// The rows of `registry`; `None` if it lacks one.
    pub(crate) fn new(registry: &Registry) -> Option<OwnSite> {
        let [own, other] = ROWS.map(|name| registry.find(name));
        Some(OwnSite { own: own?, other: other? })
    }

    /// The crawler of a request of WordPress with `user_agent` to `origin_key`. Without a known host,
    /// it is the own site.
    pub(crate) fn crawler(
        self,
        user_agent: &[u8],
        origin_key: &OriginKey,
        aliases: &Aliases,
    ) -> CrawlerId {
        match origin_key.host() {
            Some(host) if !names(user_agent, host, aliases) => self.other,
            _ => self.own,
        }
    }
}

/// Whether the URL in `user_agent` has this host, or an alias of it.
fn names(user_agent: &[u8], host: &str, aliases: &Aliases) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b';' | b'+');
    let words = user_agent.split(is_end).filter(|word| word.starts_with(b"http"));
    let mut origins = words.filter_map(Origin::parse);
    origins.any(|origin| aliases.resolve(&origin).unwrap_or(origin).host() == host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(user_agent: &str, origin: Option<&str>, expected: &str) {
        let registry = Registry::builtin();
        let own_site = OwnSite::new(&registry).unwrap();
        let origin = origin.map(|origin| Origin::parse(origin.as_bytes()).unwrap());
        let origin_key = origin.map_or(OriginKey::Unnamed, OriginKey::Origin);
        let mut aliases = Aliases::default();
        aliases.add("www.a.example=a.example").unwrap();
        let found = own_site.crawler(user_agent.as_bytes(), &origin_key, &aliases);
        assert_eq!(registry.crawler(found).name, expected, "{user_agent}");
    }

    #[test]
    fn the_host_in_the_user_agent_decides() {
        let a = Some("https://a.example:8443");
        check("WordPress/6.5; https://a.example", a, ROWS[0]);
        check("WordPress/6.5; http://A.example:8080/blog", a, ROWS[0]);
        check("WordPress/6.5;+https://a.example", a, ROWS[0]);
        check("WordPress/6.5; https://www.a.example", a, ROWS[0]);
        check("WordPress/6.5; https://b.example", a, ROWS[1]);
        check("WordPress/6.5; https://a.example.b.example", a, ROWS[1]);
        check("WordPress/6.5; https://b.example/?https://a.example", a, ROWS[1]);
        check("WordPress/6.5", a, ROWS[1]);
        check("WordPress/6.5; https://b.example", None, ROWS[0]);
    }
}
