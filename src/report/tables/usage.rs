//! What crawlers fetched of paths about whose use robots.txt states a preference.

use crate::audit::usage::UsageRow;
use crate::report::table::table;
use crate::table::columns::{BYTES, CRAWLER, ORIGIN, REQUESTS, SEEN};
use crate::table::schema::{column, count, line_number};

table! {
    /// What crawlers fetched of paths about whose use robots.txt states a preference.
    pub(crate) const USAGE = "usage.csv", "each origin, crawler, identity, and line of a robots.txt that states a preference about the purpose of the crawler: see [use](#statements-about-use)";
    rows of => of.audit.usage();
    (origin, (id, identity), usage) => {
        let UsageRow { digest, stated, tally } = usage;
    }
    cells row => {
        ORIGIN => row.text(origin),
        CRAWLER => row.crawler_and_identity(of.crawlers.registry.crawler(id), identity),
        column("signal", "content-usage, content-signal, product-token", "form of the statement") => row.word(stated.signal.as_str()),
        column("category", "train-ai, search, ai-train, ai-input, use, ai-training", "kind of use, in the words of that form; for a product token the purpose of its row in the registry") => row.word(stated.category.as_str()),
        column("preference", "reserved, permitted, immediate, reference, full, changed-recently", "preference in force; `changed-recently` if an earlier copy of robots.txt that the crawler may still have had does not state the same") => row.word(stated.preference.as_str()),
        line_number("line", "line that states it") => row.counts([u64::from(stated.line)]),
        column("robots_digest", "sha256:hex", "digest of the robots.txt version in force") => row.digest(digest),
        REQUESTS => row.counts([tally.requests]),
        count("status_2xx", "requests answered with a status of 200 to 299") => row.counts([tally.statuses.status_2xx]),
        BYTES => row.counts([tally.bytes]),
        SEEN => row.span(tally.span),
    }
}
