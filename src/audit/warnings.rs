//! Warnings for readers of a report, each once; and notes about signed requests.

use std::collections::{BTreeMap, BTreeSet};

use crate::judge::messages::{cut_message, ignored_message};
use crate::judge::timeline::BeforeFirst;
use crate::logs::reject::Limitation;
use crate::merge::{Merge, sum};
use crate::numbers::{counted, grouped};
use crate::signatures::check::{SignatureClass, SignatureState};
use crate::url::origin::Origin;

use super::identity_warnings::{and_more, named};
use super::nothing_judged::{
    first_of, no_robots_txt, no_user_agents, unknown_origins, without_robots_txt,
};
use super::same_requests::same_requests;
use super::tally::header::{Header, RobotsVersion};
use super::tally::rulings::Rulings;
use super::tally::{identity_sources::IdentitySources, rows::STRANGERS_MAX};
use super::{input_tally::Input, model::ReportModel, origin_key::OriginKey};

/// The warnings of a finished audit; `failures` are robots.txt files that could not be read.
pub(crate) fn warnings(audit: &ReportModel, header: &Header, failures: Vec<String>) -> Vec<String> {
    let rulings = &header.rulings;
    let mut warnings = failures;
    warnings.extend(rulings.not_fetched.iter().cloned());
    // A nightly job does not repeat warnings that are the same every night.
    if header.days.is_empty() {
        warnings.extend(setup_warnings(audit, rulings));
        warnings.extend(unused_json_fields(audit, header));
    }
    warnings.extend(ignored_message(rulings.ignored_names.iter()));
    let is_cut = |version: &RobotsVersion| version.size_bytes > version.parsed_bytes;
    let cut = audit.robots.iter().filter(|(_, used)| is_cut(&used.version));
    warnings.extend(cut_message(cut.map(|(name, _)| name.as_str())));
    warnings.extend(about_inputs(
        audit,
        |input| {
            // It is among those that could not be read.
            let is_unread = audit.unread.is_some() && input.tally.rejected_lines() > 0;
            input.summary.format.is_none() && input.summary.lines_tried > 0 && !is_unread
        },
        "format not recognised; set it with --log-format",
    ));
    warnings.extend(about_inputs(
        audit,
        |input| input.summary.may_be_cut,
        "may be cut off: the empty block that ends a file of blocked gzip (BGZF) is missing",
    ));
    warnings.extend(
        Limitation::ALL.into_iter().filter_map(|limitation| about_format(audit, limitation)),
    );
    warnings.extend(same_requests(audit.inputs.iter().map(|Input { summary, tally }| {
        let format = summary.format.as_ref().map_or("", |format| &format.name);
        (&*summary.name, format, &tally.requests)
    })));
    warnings.extend(before_first(audit, rulings));
    if audit.actors().any(|(origin, _, _)| origin == OriginKey::Others.to_string()) {
        let why = format!(
            "these logs name more than {STRANGERS_MAX} hosts; most are counted together as {}; \
             name your hosts with --origin, or with a directory of robots.txt files",
            OriginKey::Others
        );
        warnings.push(why);
    }
    warnings
}

/// If `--json-fields` is given, and no log has keys that it could name.
fn unused_json_fields(audit: &ReportModel, header: &Header) -> Option<String> {
    if header.options.get("json_fields").is_null() {
        return None;
    }
    let formats = audit.inputs.iter().filter_map(|input| input.summary.format.as_ref());
    let names: BTreeSet<&str> = formats.map(|format| format.name.as_str()).collect();
    // Such as `json in docker`.
    let is_json = |name: &&str| name.split(' ').any(|word| word == "json");
    if names.is_empty() || names.iter().any(is_json) {
        return None;
    }
    let names: Vec<&str> = names.into_iter().collect();
    Some(format!(
        "--json-fields has no effect: it is for the format json, and the format of the logs is {}",
        names.join(", ")
    ))
}

fn about_inputs(
    audit: &ReportModel,
    is_meant: impl Fn(&Input) -> bool,
    what: &str,
) -> Option<String> {
    let names: Vec<&str> = audit
        .inputs
        .iter()
        .filter(|input| is_meant(input))
        .map(|input| input.summary.name.as_str())
        .collect();
    (!names.is_empty()).then(|| format!("{}: {what}", named(&names)))
}

/// The limitations of the formats of some inputs.
fn about_format(audit: &ReportModel, limitation: Limitation) -> Option<String> {
    let has_limitation = |input: &&Input| input.has_limitation(limitation);
    let inputs = audit.inputs.iter().filter(has_limitation);
    let mut names: Vec<&str> = inputs
        .filter_map(|input| input.summary.format.as_ref())
        .map(|format| format.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let what = format!("the log format {} {}", names.join(", "), limitation.as_str());
    about_inputs(audit, |input| has_limitation(&input), &what)
}

/// It is not known what was in force then.
fn before_first(audit: &ReportModel, rulings: &Rulings) -> Vec<String> {
    let (mut judged, mut unknown) = (0u64, 0u64);
    for (origin, _, tally) in audit.actors().filter(|(_, _, tally)| tally.before_first > 0) {
        let is_only_failures =
            || rulings.histories.get(origin).is_some_and(|history| history.periods().is_empty());
        match audit.before_first {
            BeforeFirst::Unknown => unknown.absorb(tally.before_first),
            BeforeFirst::AsFirst => {
                // Also what was read before the first fetch that did not fail.
                let of_unknown = tally.total().unknown_robots_txt().min(tally.before_first);
                unknown.absorb(of_unknown);
                if !is_only_failures() {
                    judged.absorb(tally.before_first - of_unknown);
                }
            }
        }
    }
    let why_unknown = match audit.before_first {
        BeforeFirst::AsFirst => {
            "they were counted as unknown, because only failed fetches of it were known"
        }
        BeforeFirst::Unknown => "they were counted as unknown",
    };
    let why_judged = "they were judged by that snapshot; --unknown-before-first-snapshot counts \
                      them as unknown";
    let all = [(judged, why_judged), (unknown, why_unknown)];
    let some = all.into_iter().filter(|(requests, _)| *requests > 0);
    let text = |(requests, why)| {
        format!("requests older than the first snapshot of their robots.txt: {requests}; {why}")
    };
    some.map(text).collect()
}

/// Without hosts, one robots.txt can be used, but reports name no origin; several cannot be used.
fn unnamed_origin(audit: &ReportModel, rulings: &Rulings) -> Option<String> {
    let unnamed = audit.actors().filter(|(origin, _, _)| *origin == OriginKey::Unnamed.to_string());
    let requests: u64 = sum(unnamed.map(|(_, _, tally)| tally.total().requests));
    let why = match rulings.is_single_file {
        true => "their origin is '-' in the report; add --origin https://example.com",
        false => "no robots.txt applies to them; add --origin https://example.com",
    };
    (requests > 0).then(|| format!("requests without a host: {requests}; {why}"))
}

/// What looks like a mistake in the choice of logs, origins and robots.txt files.
fn setup_warnings(audit: &ReportModel, rulings: &Rulings) -> Vec<String> {
    let all = [
        unnamed_origin(audit, rulings),
        other_origin(audit),
        several_hosts(audit, rulings),
        unknown_hosts(audit, rulings),
        foreign_files(audit, rulings),
        no_crawlers(audit),
    ];
    let outside = outside_of_the_file(audit, rulings);
    all.into_iter().flatten().chain(outside).collect()
}

/// `--origin` with http while the log has https, or the reverse.
fn other_origin(audit: &ReportModel) -> Option<String> {
    let named = Origin::parse(audit.options.get("origin").as_str()?.as_bytes())?;
    let requests_of = |origin: &Origin| {
        let rows = audit.actors().filter(|(name, _, _)| *name == origin.as_str());
        sum(rows.map(|(_, _, tally)| tally.total().requests))
    };
    let other = named.other_scheme()?;
    let requests = requests_of(&other);
    (requests > 0 && requests_of(&named) == 0).then(|| {
        let requests = counted(requests, "request");
        format!(
            "--origin {named}: the logs have no requests for it, but {requests} for {other}; use \
             --origin {other}"
        )
    })
}

/// The origins with requests that were compared with rules.
fn judged_origins(audit: &ReportModel) -> BTreeSet<Origin> {
    let judged = audit.actors().filter(|(_, _, tally)| {
        let total = tally.total();
        total.requests > total.unknown + total.no_path + total.robots_txt_requests
    });
    judged.filter_map(|(origin, _, _)| Origin::parse(origin.as_bytes())).collect()
}

/// Requests that the one robots.txt is not for: to other ports, and to hosts that only targets name.
fn outside_of_the_file(audit: &ReportModel, rulings: &Rulings) -> Vec<String> {
    let judged = judged_origins(audit);
    // Without any, the failure of the audit says why.
    if !rulings.is_single_file || judged.is_empty() {
        return Vec::new();
    }
    let hosts: BTreeSet<&str> = judged.iter().map(Origin::host).collect();
    let is_other_port = |name: &str| {
        Origin::parse(name.as_bytes())
            .is_some_and(|origin| origin.port().is_some() || hosts.contains(origin.host()))
    };
    let mut origins = unknown_origins(audit);
    origins.retain(|name, _| {
        Origin::parse(name.as_bytes()).is_some_and(|origin| !judged.contains(&origin))
    });
    let (ports, targets): (BTreeMap<&str, u64>, BTreeMap<&str, u64>) =
        origins.into_iter().partition(|(name, _)| is_other_port(name));
    let reasons = [
        (
            ports,
            "one robots.txt is for one port; use --robots with a directory of files, or --alias if \
             the port is that of a proxy",
        ),
        (
            targets,
            "only the targets of these requests name the host, and clients can write any; if it is \
             yours, name it with --origin or --alias",
        ),
    ];
    let warning = |(origins, why): (BTreeMap<&str, u64>, &str)| {
        let requests = sum(origins.values().copied());
        let names: Vec<&str> = origins.into_keys().collect();
        let requests = counted(requests, "request");
        format!("{requests} for {}: counted as unknown, because {why}", first_of(&names))
    };
    reasons.into_iter().filter(|(origins, _)| !origins.is_empty()).map(warning).collect()
}

/// One robots.txt for the hosts of several sites.
fn several_hosts(audit: &ReportModel, rulings: &Rulings) -> Option<String> {
    if !rulings.is_single_file {
        return None;
    }
    let origins = judged_origins(audit);
    let site = |origin: Origin| {
        let host = origin.host();
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    let is_name = |host: &String| host.contains(|c: char| c.is_ascii_alphabetic());
    let hosts: BTreeSet<String> = origins
        .into_iter()
        .map(site)
        .filter(|host| !host.starts_with('[') && is_name(host))
        .collect();
    let first = hosts.first().filter(|_| hosts.len() > 1)?;
    let names: Vec<&str> = hosts.iter().map(String::as_str).collect();
    Some(format!(
        "one robots.txt was used for {} hosts ({}), but each host has its own; use --robots with \
         a directory of files such as {first}.txt, or use --fetch --robots robots.db",
        hosts.len(),
        first_of(&names)
    ))
}

/// Some hosts of the logs have no robots.txt, though others have one.
fn unknown_hosts(audit: &ReportModel, rulings: &Rulings) -> Option<String> {
    let total = audit.total();
    let is_some_judged = total.allowed + total.violations > 0;
    // Strangers can write any host into a log.
    let is_rare = total.unknown.saturating_mul(100) < total.requests;
    if rulings.is_single_file || !rulings.failures.is_empty() || !is_some_judged || is_rare {
        return None;
    }
    let mut origins = unknown_origins(audit);
    origins.retain(|origin, _| {
        Origin::parse(origin.as_bytes()).is_some() && !rulings.histories.contains_key(*origin)
    });
    (!origins.is_empty()).then(|| without_robots_txt(origins, rulings))
}

/// Some robots.txt files are something else.
fn foreign_files(audit: &ReportModel, rulings: &Rulings) -> Option<String> {
    let foreign = audit.robots.iter().filter_map(|(name, robots)| {
        robots.version.foreign.map(|what| format!("{name} ({})", what.as_str()))
    });
    let foreign: Vec<String> = foreign.collect();
    let names: Vec<&str> = foreign.iter().map(String::as_str).collect();
    (!names.is_empty() && no_robots_txt(audit, rulings).is_none()).then(|| {
        format!(
            "not robots.txt files, so they allow everything: {}; use the files that the sites \
             serve as /robots.txt",
            first_of(&names)
        )
    })
}

/// The logs have requests, but none of a known crawler.
fn no_crawlers(audit: &ReportModel) -> Option<String> {
    let lines: u64 = sum(audit.inputs.iter().map(|input| input.tally.parsed_lines()));
    let is_known = audit.unread.is_some() || no_user_agents(audit).is_some();
    (lines > 0 && audit.total().requests == 0 && !is_known).then(|| {
        let has_unknown =
            !audit.unknown_crawlers.is_empty() || audit.other_unknown_crawlers.is_some();
        let unknown = match has_unknown {
            true => "user agents that look automated are in unknown-crawlers.csv; ",
            false => "",
        };
        format!(
            "no request of a known crawler in {}; {unknown}to add crawlers, use --crawlers",
            counted(lines, "line")
        )
    })
}

/// How many requests were signed, and whose keys are missing.
pub(crate) fn signature_notes(audit: &ReportModel) -> Vec<String> {
    let of_class = |class: Option<SignatureClass>| {
        let rows = audit.signatures.iter();
        let rows = rows.filter(|row| row.state.map(SignatureState::class) == class);
        rows.fold(0, |sum: u64, row| sum.saturating_add(row.tally.requests))
    };
    let classes = SignatureClass::ALL.map(|class| (class.as_str(), of_class(Some(class))));
    let others = ("others", of_class(None));
    let counts: Vec<String> = classes
        .into_iter()
        .chain([others])
        .filter(|(_, requests)| *requests > 0)
        .map(|(word, requests)| format!("{word} {}", grouped(requests)))
        .collect();
    if counts.is_empty() {
        return Vec::new();
    }
    let all = classes.iter().fold(others.1, |sum, (_, of)| sum.saturating_add(*of));
    let mut notes = vec![format!(
        "{} with a signature: {}; see signatures.csv",
        counted(all, "request"),
        counts.join(", ")
    )];
    let rows = audit.signatures.iter();
    let unknown = rows.filter(|row| row.state == Some(SignatureState::NoDirectory));
    let unknown: BTreeSet<&str> = unknown.map(|row| row.agent.as_str()).collect();
    let unknown: Vec<&str> = unknown.into_iter().collect();
    if !unknown.is_empty() {
        notes.push(format!(
            "keys of agents that signed requests are not known: {}; download them with: botaudit \
             crawlers fetch-keys DIR AGENT, and use --signature-keys DIR",
            named(&unknown)
        ));
    }
    notes
}

/// That keys could not be read.
pub(crate) fn signature_warnings(identities: &IdentitySources) -> Option<String> {
    let keys = identities.keys.as_ref()?;
    let fault = keys.first_fault.as_ref()?;
    Some(format!(
        "--signature-keys: {fault}{}; signatures by these keys are unchecked",
        and_more(keys.faulty.saturating_sub(1))
    ))
}
