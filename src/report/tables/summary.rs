//! A row for each origin, crawler and identity.

use crate::report::table::table;
use crate::table::columns::{ALLOWED_IGNORING_STAR, NOT_BOUND_REASON, ORIGIN, SEEN, SUMS, WHO};
use crate::table::schema::{column, count};

table! {
    /// A row for each origin, crawler and identity.
    pub(crate) const SUMMARY = "summary.csv", "each origin, crawler and identity";
    rows of => of.audit.rows();
    of_actor => {
        let sums = of_actor.tally.total();
    }
    cells row => {
        ORIGIN => row.text(&of_actor.origin),
        WHO => row.known_crawler(of.crawlers, of_actor.actor),
        SUMS => row.sums(&sums),
        SEEN => row.span(of_actor.tally.span),
        NOT_BOUND_REASON => row.not_bound_reason(of.crawlers.registry.crawler(of_actor.actor.0)),
        ALLOWED_IGNORING_STAR => row.counts([sums.allowed_ignoring_star]),
        count("violations_after_fetch", "violations after a successful fetch of robots.txt by the crawler or another one of its operator") => row.counts([of_actor.prior_fetches.after_fetch()]),
        column("conduct", "ignores, breaks-some, rarely, not-read, obeys, not-judged", "what it does about robots.txt: see [conduct](#conduct)") => row.word(of.audit.conduct(of_actor).as_str()),
    }
}
