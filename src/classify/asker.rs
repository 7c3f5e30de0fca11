//! Who asks for the URLs of a list.

use crate::crawlers::cache::{UserAgentCache, identify_cached};
use crate::crawlers::{crawler::CrawlerId, identify::Identified, registry::Registry};

/// Who asks. The judge's crawlers are those named here, in this order.
#[derive(Debug)]
pub enum Askers<'a> {
    /// The same for each URL.
    Fixed(Vec<String>),
    /// Whoever each row names: the judge's crawlers are those of the registry.
    OfRow(&'a Registry),
}

/// What a row says of who asks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Asking<'a> {
    /// The name of a crawler.
    Crawler(&'a [u8]),
    /// A User-Agent header.
    UserAgent(&'a [u8]),
}

impl Askers<'_> {
    /// The name of one; none of nobody.
    pub fn name(&self, asker: Option<u16>) -> &str {
        let Some(asker) = asker else { return "" };
        match self {
            Askers::Fixed(names) => &names[usize::from(asker)],
            Askers::OfRow(registry) if CrawlerId(asker) == registry.generic() => "*",
            Askers::OfRow(registry) => &registry.crawler(CrawlerId(asker)).name,
        }
    }

    /// Answers for each row.
    pub fn per_row(&self) -> usize {
        match self {
            Askers::Fixed(names) => names.len(),
            Askers::OfRow(_) => 1,
        }
    }
}

/// The crawler that a row names. Whoever sends a user agent that is no known crawler's obeys `*`;
/// a name that nobody has is nobody's.
pub fn asker_of_row(
    registry: &Registry,
    asking: Asking<'_>,
    cache: &mut UserAgentCache,
) -> Option<CrawlerId> {
    match asking {
        Asking::Crawler(name) => registry.find(std::str::from_utf8(name).ok()?),
        Asking::UserAgent(user_agent) => Some(match identify_cached(registry, user_agent, cache) {
            Identified::Crawler(crawler) => crawler,
            Identified::Generic | Identified::Other => registry.generic(),
        }),
    }
}
