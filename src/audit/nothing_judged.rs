//! Decides whether the requests of crawlers were judged; if not, why, and what to do next.
//!
//! A log without requests that robots.txt can bind is not a failure; the other cases here are.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::judge::{origin_history::SnapshotHistory, timeline::BeforeFirst};
use crate::logs::reject::{Limitation, Skip};
use crate::merge::{Merge, sum};
use crate::numbers::{counted, grouped};
use crate::robots::foreign::Foreign;
use crate::url::origin::Origin;

use super::tally::{header::Header, rulings::Rulings};
use super::{coverage::Coverage, input_tally::Input, model::ReportModel, origin_key::OriginKey};

/// Hosts and files that are named.
const NAMED_MAX: usize = 3;

/// The coverage of `audit`.
pub(crate) fn coverage(audit: &ReportModel, header: &Header) -> Coverage {
    let own = audit.total_of_crawlers();
    let nothing = |why| Coverage::Nothing(format!("no request could be judged: {why}"));
    if let Some(why) = unusable_inputs(audit, header) {
        return nothing(why);
    }
    match (own.requests, own.bindable(), own.judged()) {
        (0, _, _) => match &audit.unread {
            Some(unread) => nothing(format!(
                "no line of a known crawler was read, and others could not be parsed in {}",
                unread.names
            )),
            None => Coverage::NoRequest,
        },
        (_, 0, _) => Coverage::NoneBound,
        (_, _, 0) => nothing(why_unjudged(audit, header)),
        (_, bindable, judged) => too_little(audit, header, judged, bindable)
            .map_or(Coverage::Enough { judged }, |why| Coverage::TooLittle { judged, why }),
    }
}

/// Why no request can be judged whatever the logs contain. A day of a nightly job may have no lines.
fn unusable_inputs(audit: &ReportModel, header: &Header) -> Option<String> {
    no_robots_txt(audit, &header.rulings)
        .or_else(|| no_lines(audit).filter(|_| !is_of_day(header)))
        .or_else(|| no_user_agents(audit))
}

/// Why the `judged` requests of `bindable` are too few.
fn too_little(audit: &ReportModel, header: &Header, judged: u64, bindable: u64) -> Option<String> {
    let min_percent = header.options.get("min_judged_rate").as_f64()?;
    // The options of a damaged tally may ask for more than all.
    if judged >= bindable || judged as f64 >= bindable as f64 * min_percent / 100.0 {
        return None;
    }
    Some(format!(
        "only {} of {} could be judged (less than --min-judged-rate {min_percent}): {}",
        grouped(judged),
        counted(bindable, "request"),
        why_unjudged(audit, header)
    ))
}

/// Whether the tally is of a nightly job.
fn is_of_day(header: &Header) -> bool {
    !header.days.is_empty()
}

/// All robots.txt files are something else. This is not checked for an archive: a page that a
/// server sends as robots.txt allows everything.
pub(super) fn no_robots_txt(audit: &ReportModel, rulings: &Rulings) -> Option<String> {
    let mut kinds = audit.robots.iter().map(|(_, robots)| robots.version.foreign);
    let first = kinds.clone().next().flatten().filter(|_| !rulings.is_archive)?;
    if kinds.any(|kind| kind.is_none()) {
        return None;
    }
    let names: Vec<&str> = audit.robots.iter().map(|(name, _)| name.as_str()).collect();
    let what = match (first, names.len()) {
        (Foreign::Empty, _) => "is empty".to_owned(),
        (what, 1) => format!("is not a robots.txt but {}", what.as_str()),
        _ => "are not robots.txt files but pages or other text".to_owned(),
    };
    Some(format!(
        "{} {what}; use --robots with the file that the site serves as /robots.txt, or add \
         --fetch",
        first_of(&names)
    ))
}

/// No line was parsed.
fn no_lines(audit: &ReportModel) -> Option<String> {
    let sum = |of: fn(&Input) -> u64| sum(audit.inputs.iter().map(of));
    if sum(|input| input.tally.parsed_lines()) > 0 {
        return None;
    }
    let names: Vec<&str> = audit.inputs.iter().map(|input| input.summary.name.as_str()).collect();
    let names = first_of(&names);
    Some(match sum(|input| input.tally.skipped[Skip::OutsideTime as usize]) {
        0 if sum(|input| input.tally.rejected_lines()) > 0 => {
            format!("no line of {names} could be parsed; to see why, run: botaudit formats detect")
        }
        0 => format!(
            "no requests in {names}; use other logs, or check that the server writes to these"
        ),
        _ => {
            let of = |name: &str| Some(format!("--{name} {}", audit.options.get(name).as_str()?));
            let window: Vec<String> = ["since", "until"].into_iter().filter_map(of).collect();
            format!(
                "all requests of {names} are outside {}; use other times, or other logs",
                window.join(" and ")
            )
        }
    })
}

/// The logs have no user agents.
pub(super) fn no_user_agents(audit: &ReportModel) -> Option<String> {
    let has_lines = |input: &&Input| input.tally.parsed_lines() > 0;
    let lacks_user_agent = |input: &Input| {
        let without = [Limitation::NoUserAgent, Limitation::NoCrawlUserAgent];
        without.into_iter().any(|limitation| input.has_limitation(limitation))
    };
    let mut read = audit.inputs.iter().filter(has_lines).peekable();
    (read.peek().is_some() && read.all(lacks_user_agent)).then(|| {
        "the log records no user agents, so crawlers cannot be recognised; log them (Apache: \
         %{User-Agent}i; nginx: $http_user_agent) and run again, or use --log-format to name \
         their field"
            .to_owned()
    })
}

/// Why a request was not judged.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Cause {
    /// The log names no host.
    NoHost,
    /// Nothing is known about its origin.
    NoRobotsTxt,
    /// It is older than the first snapshot, and the user wants such requests to be unknown.
    BeforeFirst,
    /// Only failed fetches are known, and they were later.
    NotFetched,
    /// The crawler could not fetch robots.txt, either.
    Unreachable,
    /// Several groups of robots.txt may bind the crawler.
    AmbiguousGroup,
}

impl Cause {
    /// The cause for `unknown` requests to `origin`.
    fn of_unknown(origin: &str, rulings: &Rulings) -> Cause {
        if origin == OriginKey::Unnamed.as_str() {
            return Cause::NoHost;
        }
        // A single file is there at all times, if it is for that origin.
        match rulings.histories.get(origin).filter(|_| !rulings.is_single_file) {
            None => Cause::NoRobotsTxt,
            Some(history) => match rulings.before_first() {
                BeforeFirst::Unknown if !history.periods().is_empty() => Cause::BeforeFirst,
                BeforeFirst::Unknown | BeforeFirst::AsFirst => Cause::NotFetched,
            },
        }
    }
}

/// The cause for most of the requests of crawlers that were not judged.
fn why_unjudged(audit: &ReportModel, header: &Header) -> String {
    let rulings = &header.rulings;
    let mut causes: BTreeMap<Cause, BTreeMap<&str, u64>> = BTreeMap::new();
    for (origin, actor, tally) in audit.actors() {
        let sums = tally.total();
        let mut add = |cause: &dyn Fn() -> Cause, requests: u64| {
            if requests > 0 && audit.is_own_crawler(actor) {
                causes.entry(cause()).or_default().entry(origin).or_default().absorb(requests);
            }
        };
        add(&|| Cause::of_unknown(origin, rulings), sums.unknown_robots_txt());
        add(&|| Cause::AmbiguousGroup, sums.ambiguous_group);
        add(&|| Cause::Unreachable, sums.unreachable);
    }
    let requests = |origins: &BTreeMap<&str, u64>| sum(origins.values().copied());
    let most = causes.into_iter().max_by_key(|(cause, of)| (requests(of), Reverse(*cause)));
    let (cause, origins) = most.expect("requests were not judged");
    match cause {
        Cause::NoHost if is_of_day(header) => {
            "the log names no host; add origin = \"https://example.com\" to the site".to_owned()
        }
        Cause::NoHost => "the log names no host; add --origin https://example.com".to_owned(),
        Cause::NoRobotsTxt => without_robots_txt(origins, rulings),
        Cause::BeforeFirst => {
            "all requests are older than the first snapshot of their robots.txt; \
                               import an older snapshot, or omit --unknown-before-first-snapshot"
                .to_owned()
        }
        Cause::NotFetched => format!(
            "robots.txt could not be fetched: {}; a failed fetch says nothing about earlier \
             requests; fetch it when the hosts answer, or import it with botaudit robots import",
            most_of(origins, |origin, requests| not_fetched(origin, requests, rulings))
        ),
        Cause::AmbiguousGroup => format!(
            "several groups of robots.txt may bind the crawlers, and they decide differently \
             (ambiguous-group): {}; to see which, run botaudit check URL --user-agent HEADER",
            most_of(origins, |origin, requests| {
                format!("{origin} ({})", counted(requests, "request"))
            }),
        ),
        Cause::Unreachable => format!(
            "robots.txt was unreachable at the time of the requests: {}; if the host served it, \
             import it with botaudit robots import{}",
            most_of(origins, |origin, requests| {
                format!("{origin} ({})", counted(requests, "request"))
            }),
            match audit.log_evidence {
                Some(evidence) if evidence.requests > 0 => ", or omit --infer-outages",
                _ => "",
            }
        ),
    }
}

/// `https://example.com (12 requests; connect at 2026-03-01T00:00:00Z)`.
fn not_fetched(origin: &str, requests: u64, rulings: &Rulings) -> String {
    let first = |history: &SnapshotHistory| {
        let (at, snapshot) = history.snapshots.first_key_value()?;
        Some(format!("; {} at {at}", snapshot.outcome))
    };
    let first = rulings.histories.get(origin).and_then(first).unwrap_or_default();
    format!("{origin} ({}{first})", counted(requests, "request"))
}

/// Requests to origins without a known robots.txt.
pub(super) fn unknown_origins(audit: &ReportModel) -> BTreeMap<&str, u64> {
    let mut origins: BTreeMap<&str, u64> = BTreeMap::new();
    for (origin, _, tally) in audit.actors() {
        origins.entry(origin).or_default().absorb(tally.total().unknown_robots_txt());
    }
    origins.retain(|_, requests| *requests > 0);
    origins
}

/// The `origins` by requests, and where to put their robots.txt.
pub(super) fn without_robots_txt(origins: BTreeMap<&str, u64>, rulings: &Rulings) -> String {
    let described = most_of(origins, |origin, requests| described(origin, requests, rulings));
    let next = if rulings.is_archive {
        "add them to the archive with botaudit robots fetch or import"
    } else if rulings.is_single_file {
        "one file is for the port of --origin, or else for the default ports; name the port with \
         --origin, use --robots with a directory of such files, or use --fetch --robots robots.db"
    } else {
        "for your own hosts, add files with these names to the directory, or use --fetch --robots robots.db"
    };
    format!("no robots.txt of the hosts in the logs: {described}; {next}")
}

/// The origins with most requests, each described.
fn most_of(origins: BTreeMap<&str, u64>, describe: impl Fn(&str, u64) -> String) -> String {
    let mut origins: Vec<(&str, u64)> = origins.into_iter().collect();
    origins.sort_by_key(|&(origin, requests)| (Reverse(requests), origin));
    let described: Vec<String> =
        origins.iter().map(|&(origin, requests)| describe(origin, requests)).collect();
    first_of(&described.iter().map(String::as_str).collect::<Vec<_>>())
}

/// `https://example.com (12 requests, file example.com.txt)`.
fn described(origin: &str, requests: u64, rulings: &Rulings) -> String {
    let file = Origin::parse(origin.as_bytes()).filter(|_| !rulings.is_archive).map(|origin| {
        let (scheme, host) = (origin.scheme(), origin.host());
        match origin.port() {
            Some(port) => format!(", file {scheme}_{host}_{port}.txt"),
            None => format!(", file {host}.txt"),
        }
    });
    let other = rulings.other_schemes.get(origin);
    let other = other.map(|source| format!("; {source} is for the other scheme only"));
    let (file, other) = (file.unwrap_or_default(), other.unwrap_or_default());
    format!("{origin} ({}{file}{other})", counted(requests, "request"))
}

pub(super) fn first_of(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
