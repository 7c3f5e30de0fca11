//! Settings of an audit that a nightly job cannot honour, and why.

use crate::config::{fault::Fault, file::SiteConfig};

/// Each key with its reason: a job reads each line once, and keeps sums but no lines.
const REFUSED: [(&[&str], &str); 5] = [
    (
        &["evidence"],
        "a nightly job keeps no single requests; for those of a day run: botaudit audit --evidence \
         evidence.csv.gz --since 2026-11-20 --until 2026-11-21",
    ),
    (
        &["what_if", "what_if_for"],
        "a nightly job reads each line once and cannot judge it again; run: botaudit audit --what-if",
    ),
    (
        &["infer_outages"],
        "the lines of an hour may come in several nights, and a nightly job cannot judge them again; \
         run: botaudit audit --infer-outages",
    ),
    (
        &["since"],
        "a nightly job reads all that is new and reports each day; run: botaudit audit --since",
    ),
    (
        &["until"],
        "a nightly job reads all that is new and reports each day; run: botaudit audit --until",
    ),
];

/// The settings of `site` that a nightly job cannot honour.
pub fn refused(site: &SiteConfig) -> Vec<Fault> {
    let reasons = REFUSED.iter().flat_map(|(keys, why)| keys.iter().map(move |key| (*key, why)));
    let given = reasons.filter(|(key, _)| site.audit.has(key));
    given.map(|(key, why)| Fault::new(key, why)).collect()
}
