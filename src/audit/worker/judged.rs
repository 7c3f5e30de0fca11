//! What a worker counts of a judged request.

use crate::judge::restriction::Restriction;
use std::sync::Arc;

use ipnet::IpNet;

use crate::bounded::StableHash;
use crate::crawlers::{crawler::CrawlerId, identity::Identity, network_names::NetworkNames};
use crate::judge::Judge;
use crate::judge::rule_changes::RuleChange;
use crate::judge::usage::StatedPreference;
use crate::judge::verdict::{DatedVerdict, RuleRef, Verdict};
use crate::logs::record::Record;
use crate::merge::Merge;
use crate::time::UtcTime;
use crate::url::path::PathQuery;

use super::super::client_address::{client_address, client_identifier};
use super::super::identities::{Identities, IdentityAnswer};
use super::super::sessions::{ClientRequest, GapEnd};
use super::super::sites::Site;
use super::super::tally::urls::{UrlPart, url_hash};
use crate::measures::crawler_tally::{CrawlerTally, Times, ViolationTally};
use crate::measures::example::{EXAMPLE_BYTES_MAX, Example, Position};
use crate::measures::reactions::{ReactionLimits, TimedRequest};
use crate::measures::robots_fetches::is_successful_fetch;
use crate::measures::sums::{Compliance, Span, Statuses};
use crate::measures::time_buckets::TimeBuckets;

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

/// Adds a request that `rule` disallowed.
pub(super) fn add_violation(
    rule: RuleRef,
    record: &Record<'_>,
    position: Position,
    snapshot: Option<UtcTime>,
    tally: &mut CrawlerTally,
) {
    let mut statuses = Statuses::default();
    statuses.count(record.status);
    let Position { file, line } = position;
    let is_earliest =
        |example: &Example| (record.time, file, line) < (example.time, example.file, example.line);
    let example = || example(record, position, snapshot);
    match tally.violations.get_mut(&rule) {
        Some(sum) => {
            sum.requests += 1;
            sum.statuses.absorb(statuses);
            sum.bytes = sum.bytes.saturating_add(record.bytes);
            sum.span.absorb(Span::at(record.time));
            sum.minutes.add(record.time.unix_minute(), 1);
            if is_earliest(&sum.example) {
                sum.example = example();
            }
        }
        None => {
            let (bytes, span) = (record.bytes, Span::at(record.time));
            let mut minutes = TimeBuckets::default();
            minutes.add(record.time.unix_minute(), 1);
            let example = example();
            let first = ViolationTally { requests: 1, statuses, bytes, span, minutes, example };
            tally.violations.entry_or_insert_with(rule, || first);
        }
    }
}

/// Counts a request with this verdict for the `changes` of robots.txt near it.
pub(super) fn count_reaction(
    changes: &[RuleChange],
    record: &Record<'_>,
    (path, verdict): (Option<PathQuery<'_>>, Verdict),
    limits: ReactionLimits,
    tally: &mut CrawlerTally,
) {
    if tally.times == Times::GivenUp {
        return;
    }
    let reactions = tally.reactions.get_or_insert_default();
    if changes.is_empty() {
        return;
    }
    let is_robots_txt = verdict == Verdict::RobotsTxt;
    let request = TimedRequest {
        time: record.time,
        path: path.filter(|_| !is_robots_txt).map(|path| path.as_bytes()),
        is_fetch: is_robots_txt && is_successful_fetch(record.method, record.status),
    };
    reactions.count(changes, request, limits);
}

/// Counts a request with this verdict for the `restriction` of its crawler, if it is certain
/// whether the request kept it.
pub(super) fn count_compliance(
    restriction: Restriction,
    verdict: Verdict,
    tally: &mut CrawlerTally,
) {
    let kept = match verdict {
        Verdict::Allowed(_) => 1,
        Verdict::Violation(_) => 0,
        _ => return,
    };
    tally.restrictions.entry(restriction).absorb(Compliance { requests: 1, kept });
}

/// Counts a request to which these preferences about use applied.
pub(super) fn count_usage(
    stated: Vec<StatedPreference>,
    record: &Record<'_>,
    tally: &mut CrawlerTally,
) {
    for stated in stated {
        tally.usage.entry(stated).count(record.time, record.status, record.bytes);
    }
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

/// The request as a report shows it.
pub(super) fn example(
    record: &Record<'_>,
    position: Position,
    snapshot: Option<UtcTime>,
) -> Example {
    let Position { file, line } = position;
    let target = record.target.unwrap_or_default();
    let target = target[..target.len().min(EXAMPLE_BYTES_MAX)].into();
    Example { time: record.time, file, line, target, snapshot }
}
