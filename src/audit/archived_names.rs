//! Names in DNS that earlier runs confirmed, for requests of their time.

use std::net::IpAddr;

use crate::crawlers::{crawler::CrawlerId, registry::Registry};
use crate::net::dns_archive::DnsArchive;
use crate::time::UtcTime;

use super::tally::identity_sources::ArchivedNameSources;

/// The archive, and the domains of each crawler.
#[derive(Debug)]
pub struct ArchivedNames {
    archive: DnsArchive,
    domains: Vec<Vec<String>>,
    /// The summary for reports.
    pub(crate) sources: ArchivedNameSources,
}

impl ArchivedNames {
    pub(crate) fn new(archive: DnsArchive, registry: &Registry) -> ArchivedNames {
        let domains = registry.iter().map(|(_, crawler)| crawler.rdns_suffixes.clone()).collect();
        let mut sources = ArchivedNameSources { names: 0, first: None, last: None };
        for span in archive.iter().flat_map(|(_, _, spans)| spans) {
            sources.names += 1;
            sources.first = Some(sources.first.map_or(span.first, |first| first.min(span.first)));
            sources.last = sources.last.max(Some(span.last));
        }
        ArchivedNames { archive, domains, sources }
    }

    /// Whether a lookup near `time` found a name of `crawler` that led back to `address`.
    pub(crate) fn prove(&self, crawler: CrawlerId, address: IpAddr, time: UtcTime) -> bool {
        let domains = self.domains.get(crawler.index()).filter(|domains| !domains.is_empty());
        domains.is_some_and(|domains| self.archive.proves(address, domains, time))
    }
}
