//! The broken rules with the lines around them.

use crate::audit::model::ReportModel;
use crate::digest::Digest;
use crate::report::robots_rules::{NearLine, robots_rules};
use crate::report::table::table;
use crate::table::schema::{column, count, line_number};

table! {
    /// The broken rules with the lines around them.
    pub(crate) const ROBOTS_RULES = "robots-rules.csv", "each broken rule of a robots.txt, the first 20 User-agent lines of its group, and the three rules of the group before it and after it";
    rows of => quoted_lines(of.audit);
    (digest, line, near) => {
    }
    cells row => {
        column("robots_digest", "sha256:hex", "digest of the robots.txt version that holds the line") => row.digest(&digest),
        line_number("line", "line number in that version") => row.counts([u64::from(line)]),
        column("field", "user-agent, allow, disallow", "kind of line") => row.word(near.field),
        column("value", "product token, `*` or path pattern", "value of the line, as written in the file") => row.bytes(near.value),
        count("requests", "requests that broke this rule, without spoofed crawlers and tools; empty if there are none") => row.maybe_counts(near.requests.map(|requests| [requests])),
    }
}

fn quoted_lines(audit: &ReportModel) -> impl Iterator<Item = (Digest, u32, NearLine<'_>)> {
    robots_rules(audit, |_| true)
        .into_iter()
        .flat_map(|(digest, lines)| lines.into_iter().map(move |(line, near)| (digest, line, near)))
}
