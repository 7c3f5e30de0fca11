//! Sessions of clients, and by network.

use super::paths::urls_form;
use crate::audit::model::ReportModel;
use crate::audit::sessions::SessionSums;
use crate::crawlers::identity::Actor;
use crate::report::table::table;
use crate::table::columns::{CRAWLER, REQUESTS_LATE, SESSION_SUMS};
use crate::table::csv::Row;
use crate::table::schema::{column, count};

table! {
    /// Sessions of clients.
    pub(crate) const SESSIONS = "sessions.csv", "each crawler and identity, for all origins together; only with `--session-minutes`: see [sessions](#sessions)";
    only "audit --session-minutes MINUTES", |audit| has_option(audit, "session_minutes");
    rows of => &of.audit.sessions;
    ((id, identity), tally) => {
        let sums = tally.total();
    }
    cells row => {
        CRAWLER => row.crawler_and_identity(of.crawlers.registry.crawler(*id), *identity),
        SESSION_SUMS => session_cells(&sums, row),
        count("distinct_paths", "distinct URLs, as `urls` in `urls.csv`") => row.counts([tally.urls.count()]),
        column("paths_kind", "exact, estimate", "whether `distinct_paths` is exact, as `urls_form` in `urls.csv`") => row.word(urls_form(&tally.urls)),
        REQUESTS_LATE => row.counts([sums.late]),
    }
}

table! {
    /// Sessions by network.
    pub(crate) const NETWORKS = "networks.csv", "each crawler, identity and network of `--networks`, for all origins together: see [sessions](#sessions)";
    only "audit --session-minutes MINUTES --networks FILE", |audit| has_option(audit, "networks");
    rows of => networks(of.audit);
    ((id, identity), network, sums) => {
    }
    cells row => {
        CRAWLER => row.crawler_and_identity(of.crawlers.registry.crawler(id), identity),
        column("network", "text", "name of the smallest of these networks that has the address of the client; empty if none has it, or if the log has no address") => row.text(network),
        SESSION_SUMS => session_cells(sums, row),
        REQUESTS_LATE => row.counts([sums.late]),
    }
}

fn networks(audit: &ReportModel) -> impl Iterator<Item = (Actor, &str, &SessionSums)> {
    audit.sessions.iter().flat_map(|(actor, tally)| {
        tally.networks.iter().map(move |(network, sums)| (*actor, &**network, sums))
    })
}

fn session_cells<'r>(sums: &SessionSums, row: &'r mut Row) -> &'r mut Row {
    let size = |percent| sums.sizes.percentile(percent).map(i64::unsigned_abs);
    let sessions = sums.sizes.total();
    let requests = sums.in_sessions().unwrap_or_default();
    row.counts([sessions, requests])
        .fraction(requests, sessions)
        .maybe_counts(size(50).zip(size(95)).map(|(median, p95)| [median, p95]))
        .counts([sums.without_session])
}

fn has_option(audit: &ReportModel, name: &str) -> bool {
    !audit.options.get(name).is_null()
}
