//! Why an audit judged nothing, and what to do next.
//!
//! "0 violations" is a statement about judged requests. A log without requests of known crawlers is
//! not a failure; the other cases here are.

use std::collections::BTreeMap;

use crate::logs::{limitation::Limitation, reject::Skip};
use crate::numbers::{counted, grouped};
use crate::robots::foreign::Foreign;
use crate::url::origin::Origin;

use super::tally::{header::Header, rulings::Rulings};
use super::{input_tally::Input, model::ReportModel, origin_key::OriginKey};

/// Hosts and files that are named.
const NAMED_MAX: usize = 3;

/// Why nothing of `audit` could be judged; `None` if something was, or there was nothing to judge.
/// A day of a nightly job may have no lines.
pub fn nothing_judged(audit: &ReportModel, header: &Header) -> Option<String> {
    let (rulings, is_of_day) = (&header.rulings, !header.days.is_empty());
    let why = no_robots_txt(audit, rulings)
        .or_else(|| no_lines(audit).filter(|_| !is_of_day))
        .or_else(|| no_user_agents(audit))
        .or_else(|| nothing_known(audit, rulings))?;
    Some(format!("no request could be judged: {why}"))
}

/// Why too little of `audit` was judged, though something was.
pub fn too_little_judged(audit: &ReportModel, header: &Header) -> Option<String> {
    let min_percent = header.options.get("min_judged_rate").as_f64()?;
    let total = audit.total();
    let to_judge = total.requests - total.robots_txt_requests - total.no_path;
    let judged = to_judge - total.unknown;
    if judged == 0 || judged as f64 >= to_judge as f64 * min_percent / 100.0 {
        return None;
    }
    Some(format!(
        "only {} of {} could be judged (less than --min-judged-rate {min_percent}): {}",
        grouped(judged),
        counted(to_judge, "request"),
        without_robots_txt(unknown_origins(audit), &header.rulings)
    ))
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
    let sum = |of: fn(&Input) -> u64| audit.inputs.iter().map(of).sum::<u64>();
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
        let format = input.summary.format.as_ref();
        format.is_some_and(|format| format.limitations.contains(&Limitation::NoUserAgent))
    };
    let mut read = audit.inputs.iter().filter(has_lines).peekable();
    (read.peek().is_some() && read.all(lacks_user_agent)).then(|| {
        "the log records no user agents, so crawlers cannot be recognised; log them (Apache: \
         %{User-Agent}i; nginx: $http_user_agent) and run again, or use --log-format to name \
         their field"
            .to_owned()
    })
}

/// There are crawlers, but no robots.txt of their origins.
fn nothing_known(audit: &ReportModel, rulings: &Rulings) -> Option<String> {
    let total = audit.total();
    let not_ruled = total.robots_txt_requests + total.unknown + total.no_path;
    if total.requests > not_ruled || total.unknown == 0 {
        return None;
    }
    if total.unknown == audit.requests_before_first() {
        return Some(
            "all requests are older than the first snapshot of their robots.txt; import an older \
             snapshot, or omit --unknown-before-first-snapshot"
                .to_owned(),
        );
    }
    let origins = unknown_origins(audit);
    if origins.keys().all(|origin| *origin == OriginKey::Unnamed.to_string()) {
        return Some("the log names no host; add --origin https://example.com".to_owned());
    }
    Some(without_robots_txt(origins, rulings))
}

/// Requests to origins without a known robots.txt.
pub(super) fn unknown_origins(audit: &ReportModel) -> BTreeMap<&str, u64> {
    let mut origins: BTreeMap<&str, u64> = BTreeMap::new();
    for (origin, _, tally) in audit.actors() {
        *origins.entry(origin).or_default() += tally.total().unknown;
    }
    origins.retain(|_, requests| *requests > 0);
    origins
}

/// The `origins` by requests, and where to put their robots.txt.
pub(super) fn without_robots_txt(origins: BTreeMap<&str, u64>, rulings: &Rulings) -> String {
    let mut origins: Vec<(&str, u64)> = origins.into_iter().collect();
    origins.sort_by_key(|&(origin, requests)| (std::cmp::Reverse(requests), origin));
    let described: Vec<String> =
        origins.iter().map(|&(origin, requests)| described(origin, requests, rulings)).collect();
    let next = if rulings.is_archive {
        "add them to the archive with botaudit robots fetch or import"
    } else if rulings.is_single_file {
        "use --robots with a directory of such files, or add --fetch"
    } else {
        "for your own hosts, add files with these names to the directory, or add --fetch"
    };
    let described: Vec<&str> = described.iter().map(String::as_str).collect();
    format!("no robots.txt of the hosts in the logs: {}; {next}", first_of(&described))
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
