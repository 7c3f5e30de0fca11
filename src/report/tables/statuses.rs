//! Requests by HTTP status.

use crate::audit::model::ReportModel;
use crate::measures::crawler_tally::Actor;
use crate::measures::statuses::StatusCode;
use crate::measures::sums::Answered;
use crate::report::table::table;
use crate::table::columns::{BYTES, CRAWLER, ORIGIN, REQUESTS};
use crate::table::schema::column;

table! {
    /// Requests by status.
    pub const STATUS = "statuses.csv", "each origin, crawler, identity and HTTP status";
    rows of => statuses(of.audit);
    (origin, (id, identity), code, answered, all) => {
    }
    cells row => {
        ORIGIN => row.text(origin),
        CRAWLER => row.crawler_and_identity(of.crawlers.registry.crawler(id), identity),
        column("status", "HTTP status", "status of the answers, 100 to 599; empty for any other, such as 000, and for requests without an answer") => row.maybe_counts(code.number().map(|number| [number])),
        column("status_group", "ok, not-modified, redirected, refused, not-found, other-client-error, server-error, other", "`ok`: 200 to 299; `not-modified`: 304; `redirected`: other 3xx; `refused`: 401, 402, 403, 429, 451; `not-found`: 404, 410; `other-client-error`: other 4xx; `server-error`: 5xx; `other`: the rest") => row.word(code.group().as_str()),
        REQUESTS => row.counts([answered.requests]),
        column("share", "fraction, 6 decimals", "requests / all requests of this crawler and identity at this origin") => row.fraction(answered.requests, all),
        BYTES => row.counts([answered.bytes]),
    }
}

/// Each status with its requests, and those of all statuses of the same crawler.
fn statuses(audit: &ReportModel) -> impl Iterator<Item = (&str, Actor, StatusCode, Answered, u64)> {
    audit.actors().flat_map(|(origin, actor, tally)| {
        let all = tally.answers().unwrap_or_default();
        tally.statuses.iter().map(move |(code, answered)| (origin, actor, *code, *answered, all))
    })
}
