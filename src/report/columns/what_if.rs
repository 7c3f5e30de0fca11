//! The columns of `what-if.csv`.

use super::shared::{
    CRAWLER, EXAMPLE_FILE, EXAMPLE_LINE, EXAMPLE_TARGET, FIRST_SEEN, IDENTITY, LAST_SEEN, OPERATOR,
    ORIGIN, PURPOSE, REQUESTS, STATED_POLICY,
};
use super::{Table, column};

/// What a draft of a robots.txt would change, where one is given.
pub const WHAT_IF: Table = Table {
    file: "what-if.csv",
    row: "each origin, crawler, identity, change, deciding rule of the draft and rule that decided",
    columns: &[
        ORIGIN,
        CRAWLER,
        OPERATOR,
        PURPOSE,
        STATED_POLICY,
        IDENTITY,
        column(
            "change",
            "newly-disallowed, newly-allowed",
            "what the draft would do to requests that the rules in force allowed or disallowed",
        ),
        column(
            "draft_line",
            "line number from 1",
            "line of the rule of the draft that would decide; empty where none would, which allows",
        ),
        column("draft_directive", "allow, disallow", "kind of that rule"),
        column("draft_pattern", "path pattern", "that rule as written in the draft"),
        column(
            "draft_group",
            "product token or `*`",
            "the token that would bind the crawler to that rule's group",
        ),
        column(
            "present_digest",
            "sha256:hex",
            "which version of a robots.txt decided; empty where no rule did, which allowed",
        ),
        column("present_line", "line number from 1", "line of the rule that decided, in it"),
        column("present_directive", "allow, disallow", "kind of the rule that decided"),
        column("present_pattern", "path pattern", "the rule that decided as written in the file"),
        column(
            "present_group",
            "product token or `*`",
            "the token that bound the crawler to the group of the rule that decided",
        ),
        REQUESTS,
        FIRST_SEEN,
        LAST_SEEN,
        EXAMPLE_TARGET,
        EXAMPLE_FILE,
        EXAMPLE_LINE,
    ],
};
