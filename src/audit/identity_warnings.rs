//! Warnings about the lists and DNS names that identities are based on.

use std::collections::{BTreeMap, BTreeSet};

use crate::crawlers::identity::{CONTRADICTING_DAYS, ContradictingTimes, Identity, Proof};
use crate::crawlers::{crawler::CrawlerId, registry::Registry};
use crate::measures::sums::Span;
use crate::merge::Merge;
use crate::numbers::{counted, percent};
use crate::table::escape::visible;
use crate::time::UtcTime;

use super::model::ReportModel;
use super::tally::identity_sources::{
    BundledSources, IdentitySources, ListVersions, NameSources, RangeListSummary, RangeSources,
    day, days_of,
};

/// The most days between a request and the DNS lookup that verified it.
const AGE_DAYS_MAX: i64 = 90;

/// Lists, crawlers or files that are named in one warning.
const NAMED_MAX: usize = 3;

/// The least spoofed crawlers, with none verified, for the warning about a proxy.
const SPOOFED_CRAWLERS_MIN: usize = 3;

/// The warnings about `identities`, as far as they matter to the crawlers of `audit`.
pub(crate) fn identity_warnings(audit: &ReportModel, identities: &IdentitySources) -> Vec<String> {
    let mut warnings = Vec::new();
    let observed = ObservedCrawlers::new(audit);
    if let Some(ranges) = &identities.ranges {
        let lists = observed_lists(&observed, ranges, &audit.registry);
        warnings.extend(faults(&lists));
        warnings.extend(faulty_versions(&lists));
        warnings.extend(missing(&lists));
        warnings.extend(unused(ranges));
    }
    if let Some(names) = &identities.names {
        warnings.extend(about_names(names, observed.span));
    }
    warnings.extend(observed.behind_a_proxy());
    warnings.extend(forwarded(audit));
    warnings
}

/// Requests whose client is a list of addresses, without a trusted proxy.
fn forwarded(audit: &ReportModel) -> Option<String> {
    let requests = audit.requests_by_proof().get(&Proof::Forwarded).copied()?;
    Some(format!(
        "unverified: {} whose client is a list of addresses in the log; clients write the first addresses of \
         such a list themselves: name your proxies with --trusted-proxy",
        counted(requests, "request")
    ))
}

/// Notes for the summary: that identities were not verified, or what decided about them, and
/// that they could not be verified at the time of some requests.
pub(crate) fn identity_notes(audit: &ReportModel, identities: &IdentitySources) -> Vec<String> {
    let IdentitySources { ranges, bundled, names, keys, archived_names } = identities;
    let of_bundled = |identity| by_bundled(audit, bundled.as_ref()?, identity);
    let by_bundled: Vec<String> =
        [Identity::Verified, Identity::NotOnList].into_iter().filter_map(of_bundled).collect();
    if by_bundled.is_empty()
        && ranges.is_none()
        && names.is_none()
        && keys.is_none()
        && archived_names.is_none()
    {
        let note = "identities were not verified: any client can claim to be a crawler; use \
                    --ip-ranges or --verify-dns";
        let times = bundled.iter().flat_map(|bundled| bundled.lists.values().copied());
        return vec![match days_of(times) {
            None => note.to_owned(),
            Some(days) => format!(
                "{note}; the address lists that come with botaudit, of {days}, contain none of the \
                 addresses"
            ),
        }];
    }
    by_proof(audit).into_iter().chain(by_bundled).chain(of_other_time(audit, identities)).collect()
}

/// How old the lists are that come with the program, if requests have this identity by them.
fn by_bundled(audit: &ReportModel, bundled: &BundledSources, identity: Identity) -> Option<String> {
    let (mut requests, mut span) = (0_u64, None::<Span>);
    let (mut lists, mut operators) = (BTreeSet::<&str>::new(), BTreeSet::<&str>::new());
    for (_, (crawler, _), tally) in audit.actors().filter(|(_, actor, _)| actor.1 == identity) {
        let of_lists = tally.verification.iter().find(|(proof, _)| **proof == Proof::BundledList);
        let Some((_, &of_row)) = of_lists else { continue };
        requests = requests.saturating_add(of_row);
        span.absorb(tally.span);
        let crawler = audit.registry.crawler(crawler);
        operators.insert(crawler.known_operator().unwrap_or(&crawler.name));
        let urls = bundled.of_crawlers.get(&crawler.name);
        lists.extend(urls.into_iter().flatten().map(String::as_str));
    }
    let times = || lists.iter().filter_map(|url| bundled.lists.get(*url).copied());
    let of_days = days_of(times())?;
    let distance = match (times().min(), times().max(), span) {
        (_, Some(newest), Some(span)) if days(newest, span.last) > 0 => {
            format!(", {} before the last request", day_count(newest, span.last))
        }
        (Some(oldest), _, Some(span)) if days(span.first, oldest) > 0 => {
            format!(", {} after the first request", day_count(span.first, oldest))
        }
        _ => String::new(),
    };
    let operators: Vec<&str> = operators.into_iter().collect();
    let found = match identity {
        Identity::Verified => "verified by address lists".to_owned(),
        _ => format!("not on the address lists of {}", visible(named(&operators).as_bytes())),
    };
    (requests > 0).then(|| {
        format!(
            "{found} that come with botaudit: {}; the lists are of {of_days}{distance}; for newer \
             ones run: botaudit crawlers fetch-ranges DIR, then add --ip-ranges DIR",
            counted(requests, "request")
        )
    })
}

fn day_count(from: UtcTime, to: UtcTime) -> String {
    counted(days(from, to).unsigned_abs(), "day")
}

/// Which share of the requests each kind of proof decided.
fn by_proof(audit: &ReportModel) -> Option<String> {
    let by_proof = audit.requests_by_proof();
    let all = by_proof.values().fold(0, |sum: u64, of| sum.saturating_add(*of));
    let share = |(proof, requests): (&Proof, &u64)| {
        let words = match proof {
            Proof::AddressList => "address lists",
            Proof::ArchivedList => "archived lists",
            Proof::BundledList => "lists of botaudit",
            Proof::Dns => "DNS",
            Proof::ArchivedDns => "archived DNS",
            Proof::Signature => "signatures",
            Proof::Nothing => "nothing",
            Proof::Forwarded => "nothing, because of lists of addresses",
        };
        format!("{words} {}", percent(*requests, all))
    };
    let shares: Vec<String> = by_proof.iter().map(share).collect();
    (all > 0).then(|| {
        format!(
            "identity of {} decided by: {}; see verification.csv",
            counted(all, "request"),
            shares.join(", ")
        )
    })
}

/// The crawlers of a log.
struct ObservedCrawlers {
    /// Requests by identity, in their order.
    requests: BTreeMap<CrawlerId, [u64; 4]>,
    /// All their requests.
    span: Option<Span>,
}

impl ObservedCrawlers {
    fn new(audit: &ReportModel) -> ObservedCrawlers {
        let mut observed = ObservedCrawlers { requests: BTreeMap::new(), span: None };
        for (_, (crawler, identity), tally) in audit.actors() {
            observed.span.absorb(tally.span);
            observed.requests.entry(crawler).or_default()[identity as usize] +=
                tally.total().requests;
        }
        observed
    }

    /// A log with the address of a proxy in place of clients makes all crawlers look spoofed.
    fn behind_a_proxy(&self) -> Option<String> {
        let of = |identity: Identity| {
            self.requests.values().filter(move |requests| requests[identity as usize] > 0).count()
        };
        let (verified, spoofed) = (of(Identity::Verified), of(Identity::Spoofed));
        (verified == 0 && spoofed >= SPOOFED_CRAWLERS_MIN).then(|| {
            format!(
                "{spoofed} crawlers look spoofed and none is verified; if the server is behind a \
                 proxy, its log may have the address of the proxy instead of the client: use \
                 --trusted-proxy"
            )
        })
    }
}

/// A list, and its crawlers in this log.
struct ObservedList<'a> {
    url: &'a str,
    list: &'a RangeListSummary,
    crawlers: Vec<&'a str>,
    /// Whether it left a crawler unverified.
    is_missed: bool,
}

fn observed_lists<'a>(
    observed: &ObservedCrawlers,
    ranges: &'a RangeSources,
    registry: &'a Registry,
) -> Vec<ObservedList<'a>> {
    let mut lists: BTreeMap<&str, ObservedList<'a>> = BTreeMap::new();
    let mut crawlers: Vec<(&CrawlerId, &[u64; 4])> = observed.requests.iter().collect();
    crawlers.sort_by_key(|(crawler, _)| &registry.crawler(**crawler).name);
    for (&crawler, requests) in crawlers {
        let name = &registry.crawler(crawler).name;
        for url in ranges.of_crawlers.get(name).into_iter().flatten() {
            let Some((url, list)) = ranges.lists.get_key_value(url) else { continue };
            let entry = lists.entry(url);
            let entry =
                entry.or_insert(ObservedList { url, list, crawlers: Vec::new(), is_missed: false });
            entry.crawlers.push(name);
            entry.is_missed |= requests[Identity::Unverified as usize] > 0;
        }
    }
    lists.into_values().collect()
}

fn faults(lists: &[ObservedList<'_>]) -> Vec<String> {
    let broken = lists.iter().filter_map(|observed| {
        let (file, fault) = (observed.list.file.as_ref()?, observed.list.fault.as_ref()?);
        let crawlers = named(&observed.crawlers);
        Some(format!(
            "--ip-ranges: {file} is not used to find spoofed requests of {crawlers}: \
                      {fault}"
        ))
    });
    broken.collect()
}

/// Earlier versions that could not be read.
fn faulty_versions(lists: &[ObservedList<'_>]) -> Vec<String> {
    let faulty = lists.iter().filter_map(|observed| {
        let versions = observed.list.versions.as_ref()?;
        let fault = versions.first_fault.as_ref()?;
        let more = and_more(versions.faulty.saturating_sub(1));
        let crawlers = named(&observed.crawlers);
        Some(format!(
            "--ip-ranges: a version is not used to find spoofed requests of {crawlers} at its \
             time: {fault}{more}"
        ))
    });
    faulty.collect()
}

fn missing(lists: &[ObservedList<'_>]) -> Option<String> {
    let missing =
        || lists.iter().filter(|observed| observed.list.file.is_none() && observed.is_missed);
    let first = missing().next()?;
    let mut crawlers: Vec<&str> =
        missing().flat_map(|observed| observed.crawlers.iter().copied()).collect();
    crawlers.sort_unstable();
    crawlers.dedup();
    Some(format!(
        "--ip-ranges has no list for {}; missing: {}{}",
        named(&crawlers),
        first.url,
        and_more(missing().count() - 1)
    ))
}

/// Requests that stay unverified, because what contradicts their addresses is of another time.
fn of_other_time(audit: &ReportModel, identities: &IdentitySources) -> Option<String> {
    let mut crawlers: BTreeMap<&str, Option<Span>> = BTreeMap::new();
    for (_, (crawler, _), tally) in audit.actors().filter(|(_, _, tally)| tally.of_other_time > 0) {
        crawlers.entry(&audit.registry.crawler(crawler).name).or_default().absorb(tally.span);
    }
    let requests = audit.requests_of_other_time();
    let mut sources: BTreeSet<String> = BTreeSet::new();
    for ranges in identities.ranges.iter() {
        for (name, span) in &crawlers {
            let urls = ranges.of_crawlers.get(*name).into_iter().flatten();
            let lists = urls.filter_map(|url| ranges.lists.get(url));
            sources.extend(lists.filter_map(|list| {
                if let Some(versions) = &list.versions {
                    return of_versions(list.file.as_ref()?, versions);
                }
                let time = list.created.or(list.fetched_at)?;
                let times = ContradictingTimes::near(time);
                let is_near = |span: &Span| times.contain(span.first) && times.contain(span.last);
                let file = list.file.as_deref().filter(|_| !span.as_ref().is_some_and(is_near))?;
                Some(format!("{file} is of {}", day(time)))
            }));
        }
    }
    sources.extend(
        identities
            .names
            .iter()
            .map(|names| format!("addresses were looked up on {}", day(names.asked_at))),
    );
    let crawlers: Vec<&str> = crawlers.into_keys().collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    (requests > 0).then(|| {
        format!(
            "unverified, not spoofed: {} of {}, because address lists and DNS contradict only \
             requests within {CONTRADICTING_DAYS} days of their own time{}; use lists of the time \
             of the logs",
            counted(requests, "request"),
            named(&crawlers),
            if sources.is_empty() { String::new() } else { format!(" ({})", named(&sources)) },
        )
    })
}

/// Of which times a list is that has earlier versions.
fn of_versions(file: &str, versions: &ListVersions) -> Option<String> {
    let (first, last) = (day(versions.first?), day(versions.last?));
    let count = counted(versions.count as u64, "version");
    Some(format!("{file} has {count} from {first} to {last}"))
}

fn unused(ranges: &RangeSources) -> Option<String> {
    let unused: Vec<&str> = ranges.unused.iter().map(String::as_str).collect();
    (!unused.is_empty()).then(|| {
        format!(
            "--ip-ranges: {} is not a list of a known crawler; name each file like the URL of \
             its list",
            named(&unused)
        )
    })
}

fn about_names(names: &NameSources, span: Option<Span>) -> Vec<String> {
    let mut warnings = Vec::new();
    if let (true, Some(failure)) = (names.unanswered > 0, &names.failure) {
        warnings.push(format!(
            "--verify-dns: lookups without an answer: {} of {}; these addresses stay unverified: \
             {failure}",
            names.unanswered, names.looked_up
        ));
    }
    if names.passed_over > 0 {
        warnings.push(format!(
            "--verify-dns: looked up the busiest addresses only ({}); not looked up: at least {}; \
             increase --dns-max",
            names.looked_up, names.passed_over
        ));
    }
    if let Some(span) = span.filter(|span| days(span.first, names.asked_at) > AGE_DAYS_MAX) {
        warnings.push(format!(
            "--verify-dns: addresses were looked up more than {AGE_DAYS_MAX} days after the first \
             request ({}); their owners may have changed",
            span.first
        ));
    }
    warnings
}

/// Whole days from the one to the other, negative if the other came first.
fn days(from: UtcTime, to: UtcTime) -> i64 {
    (to.unix_seconds() - from.unix_seconds()).div_euclid(86_400)
}

pub(super) fn named(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    shown + &and_more(names.len().saturating_sub(NAMED_MAX))
}

pub(super) fn and_more(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" (and {count} more)") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_whole_days() {
        let at = |seconds| UtcTime::from_unix_seconds(seconds).unwrap();
        for (from, to, expected) in
            [(0, 86_399, 0), (0, 86_400, 1), (86_400, 0, -1), (1, 0, -1), (100_000, 4_000_000, 45)]
        {
            assert_eq!(days(at(from), at(to)), expected, "{from} {to}");
        }
    }
    fn lookups(unanswered: usize, passed_over: usize, asked_at: i64) -> NameSources {
        let asked_at = UtcTime::from_unix_seconds(asked_at).unwrap();
        let failure = Some("timed out".to_owned());
        NameSources { asked_at, looked_up: 7, passed_over, unanswered, failure }
    }

    #[test]
    fn lookups_that_lack_something_say_what() {
        let first = UtcTime::from_unix_seconds(0).unwrap();
        let said = |names: NameSources| about_names(&names, Some(Span { first, last: first }));
        assert_eq!(said(lookups(0, 0, 0)), [""; 0]);
        assert_eq!(
            said(lookups(2, 0, 0)),
            [
                "--verify-dns: lookups without an answer: 2 of 7; these addresses stay unverified: timed out"
            ]
        );
        assert_eq!(
            said(lookups(0, 1, 0)),
            ["--verify-dns: looked up the busiest addresses only (7); not looked up: at least 1; \
              increase --dns-max"]
        );
        let day = 86_400;
        assert_eq!(said(lookups(0, 0, 91 * day - 1)), [""; 0], "90 days and a bit");
        assert_eq!(
            said(lookups(0, 0, 91 * day)),
            ["--verify-dns: addresses were looked up more than 90 days after the first request \
              (1970-01-01T00:00:00Z); their owners may have changed"]
        );
        assert_eq!(about_names(&lookups(0, 0, 91 * day), None), [""; 0]);
    }

    #[test]
    fn only_so_many_names_are_shown() {
        assert_eq!(named(&["a", "b", "c"]), "a, b, c");
        assert_eq!(named(&["a", "b", "c", "d", "e"]), "a, b, c (and 2 more)");
        assert_eq!(and_more(0), "");
    }

    /// Lists matter only where a crawler of the log stayed unverified for want of them.
    #[test]
    fn lists_are_missed_by_the_crawlers_of_the_log() {
        let registry = Registry::builtin();
        let id = |name| registry.find(name).unwrap();
        let list = |file: Option<&str>| RangeListSummary {
            file: file.map(str::to_owned),
            fault: file.map(|_| "no prefixes".to_owned()),
            ..RangeListSummary::default()
        };
        let urls = |urls: &[&str]| urls.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
        let ranges = RangeSources {
            lists: BTreeMap::from([
                ("https://a.example".to_owned(), list(None)),
                ("https://b.example".to_owned(), list(None)),
                ("https://c.example".to_owned(), list(Some("c.json"))),
            ]),
            of_crawlers: BTreeMap::from([
                ("GPTBot".to_owned(), urls(&["https://a.example", "https://b.example"])),
                ("Applebot".to_owned(), urls(&["https://b.example"])),
                ("CCBot".to_owned(), urls(&["https://a.example", "https://c.example"])),
                ("bingbot".to_owned(), urls(&["https://c.example", "https://none.example"])),
            ]),
            unused: Vec::new(),
        };
        let mut observed = ObservedCrawlers { requests: BTreeMap::new(), span: None };
        let [verified, unverified] = [Identity::Verified, Identity::Unverified].map(|identity| {
            let mut requests = [0; 4];
            requests[identity as usize] = 1;
            requests
        });
        observed.requests = BTreeMap::from([
            (id("GPTBot"), verified),
            (id("CCBot"), verified),
            (id("bingbot"), verified),
        ]);
        assert_eq!(missing(&observed_lists(&observed, &ranges, &registry)), None);
        for name in ["CCBot", "GPTBot", "Applebot"] {
            observed.requests.insert(id(name), unverified);
        }
        let lists = observed_lists(&observed, &ranges, &registry);
        assert_eq!(
            missing(&lists).unwrap(),
            "--ip-ranges has no list for Applebot, CCBot, GPTBot; missing: https://a.example (and 1 more)"
        );
        assert_eq!(
            faults(&lists),
            [
                "--ip-ranges: c.json is not used to find spoofed requests of CCBot, bingbot: no prefixes"
            ]
        );
    }
}
