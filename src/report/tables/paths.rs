//! Requests by section and by path, and distinct URLs.

use crate::audit::{model::ReportModel, tally::urls::Urls};
use crate::crawlers::identity::Actor;
use crate::measures::answer_tally::AnswerTally;
use crate::report::table::table;
use crate::table::columns::{BYTES, CRAWLER, ORIGIN, REQUESTS, SEEN, STATUSES};
use crate::table::schema::{column, count};

table! {
    /// Requests by section, if they are counted.
    pub(crate) const SECTION = "sections.csv", "each origin, section, crawler and identity; only with `--paths`: see [sections](#sections)";
    only "audit --paths", |audit| audit.paths.is_some();
    rows of => &of.audit.sections;
    ((origin, section, (id, identity)), tally) => {
    }
    cells row => {
        ORIGIN => row.text(origin),
        column("section", "path", "directory of the first or second level; `/` for the requests of the origin in no other section") => row.bytes(section),
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(*id), *identity),
        REQUESTS => row.counts([tally.statuses.total()]),
        STATUSES => row.statuses(&tally.statuses),
        BYTES => row.counts([tally.bytes]),
    }
}

table! {
    /// Requests by path, if they are counted.
    pub(crate) const PATHS = "paths.csv", "each crawler and identity, and each of the 100 paths that it requested most (of equal ones, the first by origin and path); only with `--paths`";
    only "audit --paths", |audit| audit.paths.is_some();
    rows of => paths(of.audit);
    ((id, identity), origin, path, answers) => {
    }
    cells row => {
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(id), identity),
        column("origin", "scheme://host[:port]", "origin that was requested; `*` for the other paths") => row.text(origin),
        column("path", "path", "path without query, as it is compared with rules, cut to 1,024 bytes; `(others)` for the requests of this crawler for all other paths") => row.bytes(path),
        REQUESTS => row.counts([answers.requests]),
        STATUSES => row.statuses(&answers.statuses),
        BYTES => row.counts([answers.bytes]),
        SEEN => row.span(answers.span),
    }
}

table! {
    /// Distinct URLs, if they are counted.
    pub(crate) const URLS = "urls.csv", "each crawler and identity, for all origins together; only with `--paths`";
    only "audit --paths", |audit| audit.paths.is_some();
    rows of => of.audit.paths.iter().flatten();
    ((id, identity), rows) => {
    }
    cells row => {
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(*id), *identity),
        count("requests", "requests with a path") => row.counts([rows.requests]),
        count("urls", "distinct URLs among them: origin, path and query; without queries if `--strip-query` is given") => row.counts([rows.urls.count()]),
        column("urls_form", "exact, estimate", "whether `urls` is exact, which it is up to 4,096, or an estimate from 4,097 hashes with a standard error of 1.6 %") => row.word(urls_form(&rows.urls)),
        count("many_queries_requests", "requests for paths of one origin that this crawler requested with 10 or more different queries, of which having no query is one; 0 if `--strip-query` is given; only among the paths that are kept (see [limits](limits.md))") => row.counts([rows.many_urls_requests]),
        column("many_queries_share", "fraction, 6 decimals", "many_queries_requests / requests") => row.fraction(rows.many_urls_requests, rows.requests),
    }
}

/// The paths of each crawler, and the rest of them.
fn paths(audit: &ReportModel) -> impl Iterator<Item = (Actor, &str, &[u8], &AnswerTally)> {
    audit.paths.iter().flatten().flat_map(|(actor, rows)| {
        let paths = rows.paths.iter().map(|(origin, path, answers)| (&**origin, &**path, answers));
        let others = rows.others.iter().map(|answers| ("*", &b"(others)"[..], answers));
        paths.chain(others).map(|(origin, path, answers)| (*actor, origin, path, answers))
    })
}

/// Whether a number of URLs is exact.
pub(super) fn urls_form(urls: &Urls) -> &'static str {
    if urls.is_full() { "estimate" } else { "exact" }
}
