//! The client of a judged request.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use crate::bounded::StableHash;
use crate::crawlers::{crawler::CrawlerId, identity::Identity, network_names::NetworkNames};
use crate::judge::Judge;
use crate::judge::verdict::{DatedVerdict, Verdict};
use crate::logs::record::Record;
use crate::url::path::PathQuery;

use super::super::client_address::{client_address, client_identifier};
use super::super::identities::{Identities, IdentityAnswer};
use super::super::sessions::{ClientRequest, GapEnd};
use super::super::sites::Site;
use super::super::tally::urls::{UrlPart, url_hash};

/// Whether the client of `record`, which claims to be `crawler`, is it.
pub(super) fn identity_of(
    (identities, trusted_proxies): (&Identities, &[IpNet]),
    crawler: CrawlerId,
    record: &Record<'_>,
) -> IdentityAnswer {
    if identities.is_empty() {
        return IdentityAnswer { identity: Identity::Unverified, is_of_other_time: false };
    }
    identities.of(crawler, client_address(record, trusted_proxies), record.time)
}

/// The address of the client of a violation, and the name of its network, as far as they are known.
pub(super) fn violating_client<'a>(
    (trusted_proxies, networks): (&[IpNet], Option<&'a NetworkNames>),
    verdict: Verdict,
    record: &Record<'_>,
) -> (Option<IpAddr>, Option<&'a Arc<str>>) {
    if !matches!(verdict, Verdict::Violation(_)) {
        return (None, None);
    }
    let address = client_address(record, trusted_proxies);
    (address, networks.zip(address).and_then(|(names, address)| names.name_of(address)))
}

/// The request for sessions of its client.
pub(super) fn client_request(
    (judge, trusted_proxies, networks): (&Judge, &[IpNet], Option<&NetworkNames>),
    site: &Site,
    dated: &DatedVerdict<'_>,
    (crawler, identity, path): (CrawlerId, Identity, Option<(PathQuery<'_>, UrlPart)>),
    record: &Record<'_>,
) -> ClientRequest {
    let actor = (crawler, identity);
    let hash = |(path, part): (PathQuery<'_>, UrlPart)| {
        let origin = (&*site.origin_key, site.origin_rank);
        url_hash(origin, path.as_bytes(), part, &mut Vec::new())
    };
    let is_paced = path.is_some() && dated.verdict != Verdict::RobotsTxt;
    let at = is_paced.then(|| GapEnd {
        origin_key: Arc::clone(&site.origin_key),
        rank: site.origin_rank,
        delay: dated
            .robots
            .and_then(|robots| Some((robots.id, judge.crawl_delay(robots, crawler)?))),
    });
    let network = networks.and_then(|networks| {
        networks.name_of(client_address(record, trusted_proxies)?).map(Arc::clone)
    });
    let client = client_identifier(record, trusted_proxies);
    ClientRequest {
        actor,
        client: client.map(|client| client.as_bytes().stable_hash()),
        network,
        url: path.map(hash),
        time: record.time,
        at,
    }
}
