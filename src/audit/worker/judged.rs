//! The verdict on a request, and what is known of its client and its answer.

use std::cell::RefCell;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use crate::bounded::StableHash;
use crate::crawlers::identity::{Actor, Identity};
use crate::crawlers::{crawler::CrawlerId, network_names::NetworkNames};
use crate::judge::Judge;
use crate::judge::answer_size::SizeComparison;
use crate::judge::decision_cache::DecisionCache;
use crate::judge::origin_history::OriginHistory;
use crate::judge::verdict::{DatedVerdict, JudgedAt, Verdict};
use crate::logs::record::Record;
use crate::measures::draft_effect::Compared;
use crate::measures::fetch_answer::FetchAnswer;
use crate::signatures::check::CheckedSignature;
use crate::url::path::{PathQuery, prepare};
use crate::url::target::Target;

use super::super::client_address::{client, client_address, client_identifier};
use super::super::draft::Draft;
use super::super::evidence::ViolatingRequest;
use super::super::sessions::{ClientRequest, GapEnd};
use super::super::sites::Site;
use super::super::tally::urls::{UrlPart, url_hash};

/// The verdict on a request, the effect of a `draft`, and the prepared path.
pub(super) fn judged<'s, 'p>(
    (judge, decisions): (&Judge, &RefCell<DecisionCache>),
    crawler: CrawlerId,
    target: Target<'p>,
    at: JudgedAt,
    site: &'s Site,
    draft: Option<&Draft>,
    scratch: &'p mut Vec<u8>,
) -> (DatedVerdict<'s>, Option<Compared>, Option<PathQuery<'p>>) {
    let path = target.path().map(|path| prepare(path, judge.dialect(), scratch));
    let dated = judge.verdict_cached(decisions, site.known(judge), crawler, path, at);
    let compared = draft
        .zip(path)
        .and_then(|(draft, path)| draft.compare(&site.origin_key, crawler, path, dated.verdict));
    (dated, compared, path)
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

/// The answer to a request for robots.txt of an origin with this history.
#[cold]
pub(super) fn fetch_answer(known: Option<&OriginHistory>, record: &Record<'_>) -> FetchAnswer {
    let size = || match known {
        Some(known) => known.compare_size(record.time, record.bytes),
        None => SizeComparison::Fits,
    };
    FetchAnswer::of(record.method, record.status, size)
}

/// The request as evidence, if a rule in force disallowed it.
pub(super) fn violating_request(
    dated: &DatedVerdict<'_>,
    site: &Site,
    actor: Actor,
    (record, line): (&Record<'_>, u64),
    (trusted_proxies, signature): (&[IpNet], Option<&CheckedSignature>),
) -> Option<ViolatingRequest> {
    let Verdict::Violation(rule) = dated.verdict else { return None };
    let rule = (Arc::clone(dated.robots?), rule.line, dated.snapshot);
    let (key, client) = (Arc::clone(&site.origin_key), client(record, trusted_proxies));
    let signature = signature.filter(|signature| signature.is_valid());
    let signature = signature.map(|signature| Box::new(signature.clone()));
    let request = ViolatingRequest::new(key, actor, rule, record, client, line);
    Some(ViolatingRequest { signature, ..request })
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
