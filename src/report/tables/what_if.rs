//! What a draft of a robots.txt would change.

use crate::audit::what_if_rows::{ChangedVerdict, WhatIf};
use crate::report::table::table;
use crate::table::columns::{EXAMPLE, ORIGIN, REQUESTS, SEEN, WHO};
use crate::table::schema::{column, line_number};

table! {
    /// What a draft of a robots.txt would change, if a draft is given.
    pub(crate) const WHAT_IF = "what-if.csv", "each origin, crawler, identity, change, rule of the draft and rule in force";
    only "audit --what-if FILE", |audit| audit.simulation.is_some();
    rows of => of.audit.simulation.iter().flat_map(WhatIf::changes);
    (origin, actor, changed) => {
        let ChangedVerdict { change, draft, present, tally } = changed;
        let (draft, present) = (draft.as_ref(), present.as_ref());
    }
    cells row => {
        ORIGIN => row.text(origin),
        WHO => row.known_crawler(of.crawlers, actor),
        column("change", "newly-disallowed, newly-allowed", "effect of the draft on these requests") => row.word(change.as_str()),
        line_number("draft_line", "line of the deciding rule of the draft; empty if no rule matches, which allows") => row.maybe(draft, 1, |row, rule| row.counts([u64::from(rule.line)])),
        column("draft_directive", "allow, disallow", "kind of that rule") => row.maybe(draft, 1, |row, rule| row.word(rule.directive)),
        column("draft_pattern", "path pattern", "pattern of that rule, as written in the draft") => row.maybe(draft, 1, |row, rule| row.bytes(&rule.pattern)),
        column("draft_group", "product token or `*`", "User-agent token through which that rule applies to the crawler") => row.maybe(draft, 1, |row, rule| row.bytes(&rule.group)),
        column("present_digest", "sha256:hex", "digest of the robots.txt version in force; empty if no rule of it matched, which allowed") => row.maybe(present, 1, |row, rule| row.digest(&rule.digest)),
        line_number("present_line", "line of the rule in force in that version") => row.maybe(present, 1, |row, rule| row.counts([u64::from(rule.line)])),
        column("present_directive", "allow, disallow", "kind of the rule in force") => row.maybe(present, 1, |row, rule| row.word(rule.directive)),
        column("present_pattern", "path pattern", "pattern of the rule in force, as written in the file") => row.maybe(present, 1, |row, rule| row.bytes(&rule.pattern)),
        column("present_group", "product token or `*`", "User-agent token through which the rule in force applies to the crawler") => row.maybe(present, 1, |row, rule| row.bytes(&rule.group)),
        REQUESTS => row.counts([tally.requests]),
        SEEN => row.span(Some(tally.span)),
        EXAMPLE => row.example(&tally.example, of.audit),
    }
}
