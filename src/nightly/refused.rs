//! Settings of an audit that a nightly job cannot honour, and why.

use crate::config::{audit_config::OPTIONS, fault::Fault, file::SiteConfig};

/// The settings of `site` that a nightly job cannot honour: it reads each line once, and keeps sums but
/// no lines.
pub fn refused(site: &SiteConfig) -> Vec<Fault> {
    let given = OPTIONS.iter().filter(|option| site.audit.has(option.key));
    let given = given.filter(|option| !option.not_nightly.is_empty());
    let why = |text| format!("not possible in a nightly job, {text}");
    given.map(|option| Fault::new(option.key, why(option.not_nightly))).collect()
}
