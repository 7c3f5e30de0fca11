//! The columns of `robots-rules.csv`.

use super::{Table, column};

/// The rules that were broken, among their neighbours in robots.txt.
pub const ROBOTS_RULES: Table = Table {
    file: "robots-rules.csv",
    row: "each line of a robots.txt that is a broken rule, a User-agent line of its group, or a rule near it",
    columns: &[
        column("robots_digest", "sha256:hex", "which version of a robots.txt holds it"),
        column("line", "line number from 1", "where it stands there"),
        column("field", "user-agent, allow, disallow", "what kind of line it is"),
        column("value", "product token, `*` or path pattern", "its value as written in the file"),
        column(
            "requests",
            "count",
            "requests that broke it, of crawlers that are not spoofed; empty where none did",
        ),
    ],
};
