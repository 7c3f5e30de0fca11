//! Notes and warnings about signed requests.

use std::collections::BTreeSet;

use crate::numbers::{counted, grouped};
use crate::signatures::check::{SignatureClass, SignatureState};

use super::identity_warnings::{and_more, named};
use super::{model::ReportModel, tally::identity_sources::IdentitySources};

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
