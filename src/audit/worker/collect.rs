//! Collects data from lines before requests are judged.

use std::sync::Arc;

use crate::crawlers::{cache::identify_cached, crawler::CrawlerId, identify::Identified};
use crate::judge::HostSource;
use crate::logs::record::{Fields, Record, Scratch};
use crate::url::path::{Target, prepare};

use super::super::prepass::Wanted;
use super::super::sites::Site;
use super::Worker;
use crate::audit::client::{client, client_address};
use crate::audit::dns_names::DnsCandidate;

impl Worker<'_> {
    /// Collects the `wanted` data of a line. A rejected line has none.
    pub(super) fn collect(
        &mut self,
        wanted: Wanted,
        line: &[u8],
        fields: &Fields<'_>,
        scratch: &mut Scratch,
    ) {
        // Cheaper than parsing the rest of the line, and most lines have no match.
        let may_be_fetch = wanted.outages.is_some() && self.robots_txt.find(line).is_some();
        let crawler = match wanted.addresses || wanted.origins {
            true => self.crawler(fields, scratch),
            false => None,
        };
        if !may_be_fetch && crawler.is_none() {
            return;
        }
        let Ok(record) = fields.record(scratch) else { return };
        if let Some(crawler) = crawler.filter(|_| wanted.addresses) {
            self.collect_candidate(crawler, &record);
        }
        if !may_be_fetch && !wanted.origins {
            return;
        }
        let (target, site) = self.address(&record);
        let site = self.sites.get(site).clone();
        if crawler.is_some() {
            self.collect_origin(&site);
        }
        if may_be_fetch {
            self.collect_answer(wanted, target, &site, &record);
        }
    }

    fn crawler(&mut self, fields: &Fields<'_>, scratch: &mut Scratch) -> Option<CrawlerId> {
        let user_agent = fields.user_agent(scratch);
        match identify_cached(self.context.registry, user_agent, &mut self.user_agents) {
            Identified::Crawler(crawler) => Some(crawler),
            Identified::Generic | Identified::Other | Identified::Empty => None,
        }
    }

    /// The address to look up.
    fn collect_candidate(&mut self, crawler: CrawlerId, record: &Record<'_>) {
        let Some(addresses) = &mut self.collected.addresses else { return };
        let has_rule = !self.context.registry.crawler(crawler).rdns_suffixes.is_empty();
        if let Some(address) =
            client_address(record, &self.context.options.trusted_proxies).filter(|_| has_rule)
            && self.context.identities.is_candidate(crawler, address, record.time)
        {
            addresses.add(&DnsCandidate { crawler, address }, 1);
        }
    }

    fn collect_origin(&mut self, site: &Site) {
        let Some(origins) = &mut self.collected.origins else { return };
        if !self.last_asked.as_ref().is_some_and(|last| Arc::ptr_eq(last, &site.origin_key)) {
            origins.add(&site.origin_key, site.origin_rank);
            self.last_asked = Some(Arc::clone(&site.origin_key));
        }
    }

    /// The answer to a request for robots.txt of an own host.
    fn collect_answer(
        &mut self,
        wanted: Wanted,
        target: Target<'_>,
        site: &Site,
        record: &Record<'_>,
    ) {
        let (Some(answers), Some(hosts)) = (&mut self.collected.answers, wanted.outages) else {
            return;
        };
        let (Target::Path(path) | Target::Absolute { path, .. }) = target else { return };
        let path = prepare(path, self.context.judge.dialect(), &mut self.path_scratch);
        if record.method == b"GET"
            && path.is_robots_txt()
            && site.host_source == HostSource::Own
            && let Some(key) = self.context.client_key
        {
            let client = key.hash(client(record, &self.context.options.trusted_proxies));
            let site = (site, self.context.judge);
            answers.count(site, hosts, record.time, record.status, client);
        }
    }
}
