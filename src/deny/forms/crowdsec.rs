//! Decisions for CrowdSec, as CSV.

use crate::table::escape::{csv_cell, push_quoted};

use crate::deny::rules::{DenyRules, MARK, comment};

/// The text of `rules`. CSV has no comments, so each row has its reason, and expires.
pub(crate) fn text(rules: &DenyRules) -> String {
    let mut text = b"duration,scope,type,reason,value\n".to_vec();
    let hours = rules.review_days * 24;
    for denied in &rules.networks {
        for network in &denied.networks {
            let (scope, value) = match network.prefix_len() == network.max_prefix_len() {
                true => ("ip", network.addr().to_string()),
                false => ("range", network.to_string()),
            };
            text.extend(format!("{hours}h,{scope},ban,").bytes());
            let reason = comment(&format!("{MARK}: {}", denied.why));
            push_quoted(&csv_cell(reason.as_bytes()), ',', &mut text);
            text.extend(format!(",{value}\n").bytes());
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}
