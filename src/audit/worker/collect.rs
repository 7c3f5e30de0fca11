//! What is collected of lines before anything is judged.

use std::hash::BuildHasher;

use crate::crawlers::crawler::CrawlerId;
use crate::judge::HostSource;
use crate::logs::record::{Fields, Record, Scratch};
use crate::url::path::prepare;
use crate::url::target::Target;

use super::super::client::{address, client, client_address};
use super::super::suspects::{Requests, Suspect};
use super::Worker;

impl Worker<'_> {
    /// Whose name is to be looked up.
    pub(super) fn collect_suspect(&mut self, crawler: CrawlerId, record: &Record<'_>) {
        let has_rule = !self.context.registry.crawler(crawler).rdns_suffixes.is_empty();
        if let Some(address) =
            client_address(record, self.context.trusted_proxies).filter(|_| has_rule)
            && self.context.identities.is_suspect(crawler, address)
        {
            self.collected.suspects.add(&Suspect { crawler, address }, Requests(1));
        }
    }

    /// Of the line's request for robots.txt, if it is one of our own.
    pub(super) fn collect_witness(
        &mut self,
        line: &[u8],
        fields: &Fields<'_>,
        scratch: &mut Scratch,
    ) {
        // Cheaper than to read the rest of a line, and most lines are about something else.
        if self.robots_txt.find(line).is_none() {
            return;
        }
        let Ok(record) = fields.record(scratch) else { return };
        let (target, site) = self.address(&record);
        let site = self.sites.get(site);
        let (Target::Path(path) | Target::Absolute { path, .. }) = target else { return };
        let path = prepare(path, self.context.judge.dialect(), &mut self.path_scratch);
        if record.method == b"GET" && path.is_robots_txt() && site.host_source == HostSource::Own {
            let name = client(&record, self.context.trusted_proxies);
            let client = self.context.client_key.hash_one(address(name).ok_or(name));
            self.collected.witness.count(site, record.time, record.status, client);
        }
    }
}
