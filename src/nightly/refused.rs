//! Settings of an audit that a nightly job cannot honour, and why.

use crate::config::{fault::Fault, file::SiteConfig, setting::KeyTable};

/// Each key with its reason: a job reads each line once, and keeps sums but no lines.
const REFUSED: [(&[&str], &str); 6] = [
    (
        &["evidence"],
        "not possible in a nightly job, which does not keep single requests; for a day, run: botaudit \
         audit --evidence evidence.csv.gz --since 2026-11-20 --until 2026-11-21",
    ),
    (
        &["what_if", "what_if_for"],
        "not possible in a nightly job, which reads each line once; run: botaudit audit --what-if",
    ),
    (
        &["infer_outages"],
        "not possible in a nightly job, because the lines of an hour may come in several nights; \
         run: botaudit audit --infer-outages",
    ),
    (
        &["session_minutes", "networks"],
        "not possible in a nightly job, which does not keep clients; run: botaudit audit \
         --session-minutes 5",
    ),
    (
        &["since"],
        "not possible in a nightly job, which reads all new lines; run: botaudit audit --since",
    ),
    (
        &["until"],
        "not possible in a nightly job, which reads all new lines; run: botaudit audit --until",
    ),
];

/// The settings of `site` that a nightly job cannot honour.
pub fn refused(site: &SiteConfig) -> Vec<Fault> {
    let reasons = REFUSED.iter().flat_map(|(keys, why)| keys.iter().map(move |key| (*key, why)));
    let given = reasons.filter(|(key, _)| site.audit.has(key));
    given.map(|(key, why)| Fault::new(key, why)).collect()
}
