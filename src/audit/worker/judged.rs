//! The verdict on a request, and what is known of its client and its answer.

use std::{net::IpAddr, sync::Arc};

use ipnet::IpNet;

use crate::audit::client::{client, client_address, client_identifier};
use crate::audit::sessions::{ClientRequest, GapEnd};
use crate::audit::tally::urls::{UrlPart, url_hash};
use crate::audit::{draft::Draft, evidence::ViolatingRequest, sites::Site};
use crate::bounded::StableHash;
use crate::crawlers::{identity::Actor, network_names::NetworkNames};
use crate::judge::origin_history::OriginHistory;
use crate::judge::profile::Asker;
use crate::judge::verdict::{DatedVerdict, JudgedAt, Verdict};
use crate::judge::{Judge, answer_size::SizeComparison, constant_rules::ConstantRules};
use crate::judge::{policy_files::PolicyFile, restriction::Restriction};
use crate::logs::record::Record;
use crate::measures::{draft_effect::Compared, fetch_answer::FetchAnswer};
use crate::signatures::check::CheckedSignature;
use crate::url::path::Target;
use crate::url::path::{PathQuery, prepare};

/// The verdict on a request, and what the rules in force say about its crawler.
pub(super) struct Judged<'r, 'p> {
    pub dated: DatedVerdict<'r>,
    /// As [`Judge::directives`]; nothing without rules in force.
    pub directives: (bool, Option<Restriction>),
    /// The prepared path.
    pub path: Option<PathQuery<'p>>,
}

/// Judges a request by `rules`, if they are the same at all times, or else by those of its time.
#[inline(always)]
pub(super) fn judged<'r, 'p>(
    (judge, rules): (&Judge, Option<&'r ConstantRules>),
    asker: Asker<'_>,
    target: Target<'p>,
    at: JudgedAt,
    site: &'r Site,
    scratch: &'p mut Vec<u8>,
) -> Judged<'r, 'p> {
    let path = target.path().map(|path| prepare(path, judge.dialect(), scratch));
    if let Some(rules) = rules {
        let dated = rules.verdict(path);
        let directives = dated.robots.map(|_| (rules.has_delay, rules.restriction));
        return Judged { dated, directives: directives.unwrap_or_default(), path };
    }
    let dated = judge.verdict(site.known(judge), asker, path, at);
    let directives = dated.robots.map(|robots| judge.directives(robots, asker));
    Judged { dated, directives: directives.unwrap_or_default(), path }
}

/// The effect of a draft, if there is one.
#[inline]
pub(super) fn compared(
    draft: Option<&Draft>,
    site: &Site,
    asker: Asker<'_>,
    path: Option<PathQuery<'_>>,
    verdict: Verdict,
) -> Option<Compared> {
    draft?.compare(&site.origin_key, asker, path?, verdict)
}

/// Which file beside robots.txt a request asks for.
#[inline]
pub(super) fn policy_file(
    judge: &Judge,
    site: &Site,
    dated: &DatedVerdict<'_>,
    path: Option<PathQuery<'_>>,
) -> Option<PolicyFile> {
    let path = path.filter(|_| dated.verdict != Verdict::RobotsTxt)?;
    let host = || site.origin_key.host_and_port();
    let named = || dated.robots?.named_file(judge.dialect(), path, host);
    PolicyFile::usual(path).or_else(named)
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
    trusted_proxies: &[IpNet],
    site: &Site,
    actor: Actor,
    dated: &DatedVerdict<'_>,
    (record, line, signature): (&Record<'_>, u64, Option<&CheckedSignature>),
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
    (judge, (trusted_proxies, networks), url_part): (
        &Judge,
        (&[IpNet], Option<&NetworkNames>),
        UrlPart,
    ),
    site: &Site,
    (actor, asker): (Actor, Asker<'_>),
    (dated, path): (&DatedVerdict<'_>, Option<PathQuery<'_>>),
    record: &Record<'_>,
) -> ClientRequest {
    let hash =
        |path: PathQuery<'_>| url_hash(site.ranked(), path.as_bytes(), url_part, &mut Vec::new());
    let is_paced = path.is_some() && dated.verdict != Verdict::RobotsTxt;
    let at = is_paced.then(|| GapEnd {
        origin_key: Arc::clone(&site.origin_key),
        rank: site.origin_rank,
        delay: dated.robots.and_then(|robots| Some((robots.id, judge.crawl_delay(robots, asker)?))),
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
