//! The columns of `unknown-crawlers.csv`.

use super::shared::{
    BYTES, FIRST_SEEN, LAST_SEEN, REQUESTS, ROBOTS_TXT_REQUESTS, UNKNOWN, UNREACHABLE,
};
use super::{Table, column};

/// User agents that look automated and are in no row of the registry.
pub const UNKNOWN_CRAWLERS: Table = Table {
    file: "unknown-crawlers.csv",
    row: "each user agent that looks automated and is no known crawler's; at most 10,000, the rest is `(others)`",
    columns: &[
        column("user_agent", "text", "the header, cut to 1,024 bytes"),
        REQUESTS,
        ROBOTS_TXT_REQUESTS,
        column("star_allowed", "count", "requests that the `*` groups would have allowed"),
        column("star_disallowed", "count", "requests that the `*` groups would have disallowed"),
        UNKNOWN,
        column(
            "no_path",
            "count",
            "requests without a path, or whose line could not be read past the user agent",
        ),
        BYTES,
        FIRST_SEEN,
        LAST_SEEN,
        column(
            "token",
            "product token",
            "the name that it gives itself, as robots.txt would name it; empty where none was found",
        ),
        column(
            "robots_txt_naming",
            "count",
            "robots.txt files looked at in this run that name that token; empty where there is none. What their groups for it say is not in `star_allowed`, `star_disallowed`",
        ),
        column(
            "star_grace",
            "count",
            "requests that the `*` groups would have disallowed, but an earlier version that could still be held allowed",
        ),
        UNREACHABLE,
    ],
};
