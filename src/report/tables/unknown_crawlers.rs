//! Automated user agents that are not in the registry.

use crate::audit::model::ReportModel;
use crate::audit::tally::user_agents::UserAgentTally;
use crate::audit::unknown::UnknownCrawler;
use crate::report::table::table;
use crate::table::columns::{BYTES, REQUESTS, ROBOTS_TXT_REQUESTS, SEEN, UNKNOWN, UNREACHABLE};
use crate::table::schema::{column, count};

table! {
    /// Automated user agents that are not in the registry.
    pub(crate) const UNKNOWN_CRAWLERS = "unknown-crawlers.csv", "each user agent that looks automated and belongs to no known crawler; at most 10,000, the rest is `(others)`";
    rows of => unknown_crawlers(of.audit);
    crawler => {
        let UserAgentTally { sums, span } = crawler.tally;
    }
    cells row => {
        column("user_agent", "text", "User-Agent header, cut to 1,024 bytes; addresses in it have the form that `--ip` selects") => row.bytes(&crawler.user_agent),
        REQUESTS => row.counts([sums.requests]),
        ROBOTS_TXT_REQUESTS => row.counts([sums.robots_txt_requests]),
        count("allowed", "requests that the groups of `token` allow, or, where robots.txt does not name it, the `*` groups") => row.counts([sums.allowed]),
        count("disallowed", "requests that these groups disallow") => row.counts([sums.violations]),
        UNKNOWN => row.counts([sums.unknown]),
        count("no_path", "requests without a path, and lines that could be read only as far as the user agent") => row.counts([sums.no_path]),
        BYTES => row.counts([sums.bytes]),
        SEEN => row.span(span),
        column("token", "product token", "name in the user agent that a robots.txt could use; empty if there is none") => row.bytes(&crawler.token),
        count("robots_txt_naming", "robots.txt files of this run that name this token; empty if there is no token") => row.maybe_counts((!crawler.token.is_empty()).then_some([crawler.robots_naming])),
        count("grace", "requests that these groups disallow, but an earlier version allowed within the grace period") => row.counts([sums.grace]),
        UNREACHABLE => row.counts([sums.unreachable]),
    }
}

/// The listed ones, and the sum of the others.
fn unknown_crawlers(audit: &ReportModel) -> impl Iterator<Item = UnknownCrawler> {
    let others = audit.other_unknown_crawlers.map(|tally| UnknownCrawler {
        user_agent: b"(others)".to_vec(),
        tally,
        token: Vec::new(),
        robots_naming: 0,
    });
    audit.unknown_crawlers.iter().cloned().chain(others)
}
