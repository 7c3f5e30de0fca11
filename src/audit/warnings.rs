//! What a user should know before acting on a report: each thing said once.

use crate::judge::timeline::BeforeFirst;
use crate::logs::limitation::Limitation;

use super::identity_warnings::{and_more, named};
use super::tally::{rows::STRANGERS_MAX, rulings::Rulings};
use super::{input_tally::Input, model::ReportModel, origin_key::OriginKey};

/// The warnings of a finished audit; `failures` are robots.txt files that could not be read.
pub fn warnings(audit: &ReportModel, rulings: &Rulings, failures: Vec<String>) -> Vec<String> {
    let mut warnings = failures;
    warnings.extend(ignored_names(rulings));
    warnings.extend(about_inputs(
        audit,
        |input| input.summary.format.is_none() && input.summary.lines_tried > 0,
        "format not recognised; set it with --log-format",
    ));
    warnings.extend(
        Limitation::ALL.into_iter().filter_map(|limitation| about_format(audit, limitation)),
    );
    warnings.extend(unnamed_origin(audit, rulings));
    warnings.extend(before_first(audit));
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

fn ignored_names(rulings: &Rulings) -> Option<String> {
    let ignored = &rulings.ignored_names;
    let first = ignored.first()?;
    Some(format!(
        "{first}: the file name is not a host, so it was not used{}; rename it to example.com, \
         example.com.txt, example.com/robots.txt or https_example.com_8443.txt",
        and_more(ignored.len() - 1)
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

/// What the formats of some inputs cannot tell, with their names.
fn about_format(audit: &ReportModel, limitation: Limitation) -> Option<String> {
    let has_limitation = |input: &&Input| {
        input.summary.format.as_ref().is_some_and(|format| format.limitations.contains(&limitation))
    };
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

/// Nobody knows what was in force then.
fn before_first(audit: &ReportModel) -> Option<String> {
    let requests = audit.requests_before_first();
    let why = match audit.before_first {
        BeforeFirst::AsFirst => {
            "they were judged by that snapshot; --unknown-before-first-snapshot counts them as \
             unknown"
        }
        BeforeFirst::Unknown => "they were counted as unknown",
    };
    (requests > 0).then(|| {
        format!("requests older than the first snapshot of their robots.txt: {requests}; {why}")
    })
}

/// With one robots.txt an origin, a log without hosts cannot be judged at all.
fn unnamed_origin(audit: &ReportModel, rulings: &Rulings) -> Option<String> {
    if rulings.is_single_file {
        return None;
    }
    let unnamed = audit.actors().filter(|(origin, _, _)| *origin == OriginKey::Unnamed.to_string());
    let requests: u64 = unnamed.map(|(_, _, tally)| tally.total().requests).sum();
    let why = "no robots.txt applies to requests without a host; add --origin https://example.com";
    (requests > 0).then(|| format!("requests without a host: {requests}; {why}"))
}
