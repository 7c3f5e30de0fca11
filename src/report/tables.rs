//! The tables of a report directory, the other tables, and the names of the files.

pub mod crawlers;
mod lines;
mod paths;
pub mod robots_fetches;
pub mod rules;
mod shares;

use crate::audit::{model::ReportModel, tally::file::TALLY};
use crate::table::columns::{ORIGIN, RULE, SITE, SITE_DAY, SUMS, WHO};
use crate::table::schema::{TableSchema, column, joined, line_number, tables, time};

use super::table::{Table, of_measure};

/// The tables of a report directory, in the order in which they are written.
pub(crate) const TABLES: &[&Table] = &[
    &crawlers::SUMMARY,
    of_measure!(answers),
    of_measure!(statuses),
    of_measure!(methods),
    of_measure!(verification),
    &crawlers::SIGNATURES,
    &lines::REFERRALS,
    &crawlers::COSTS,
    &paths::SECTION,
    &paths::PATHS,
    &paths::URLS,
    &rules::VIOLATION,
    of_measure!(violation_networks),
    &rules::ROBOTS_RULES,
    &robots_fetches::ROBOTS_FETCHES,
    &robots_fetches::REFETCHES,
    &robots_fetches::CRAWL_DELAY,
    &shares::COMPLIANCE,
    &shares::ORIGIN_COMPLIANCE,
    &robots_fetches::PROMISES,
    &lines::DAILY,
    &lines::HOURLY,
    &rules::REACTIONS,
    &rules::USAGE,
    of_measure!(policy_files),
    &lines::CLIENTS,
    &crawlers::UNKNOWN_CRAWLERS,
    &lines::REJECTS,
    &rules::WHAT_IF,
    &shares::COMPARISON,
    &shares::CHANGE_COMPARISON,
    &crawlers::SESSIONS,
    &crawlers::NETWORKS,
    &lines::SKIPS,
];

/// The [`TABLES`] that the report of `audit` has.
pub fn tables_of(audit: &ReportModel) -> impl Iterator<Item = &'static Table> {
    TABLES.iter().copied().filter(|table| table.is_in(audit))
}

tables! {
    /// The tables outside of a report directory.
    OTHER_TABLES;

    /// All violating requests.
    REQUESTS_EVIDENCE = "--evidence FILE", "each request that is a violation, in the order of files and lines": [
        column("file", "path", "log file that holds the request"),
        line_number("line", "line number of that request in the log file"),
        time("time_utc", "time of the request"),
        ORIGIN, WHO,
        column("method", "text", "HTTP method"),
        column("target", "request target", "target of the request, as logged"),
        column("status", "HTTP status", "status of the response"),
        column("bytes", "bytes", "size of the responses, as logged"),
        column("user_agent", "text", "User-Agent header; addresses in it have the form that `--ip` selects"),
        RULE,
        column("client", "text", "client, in the form that `--ip` selects: nothing, a network, a hash or the address"),
        time("snapshot_fetched_utc", "fetch time of the snapshot that decided; empty without an archive"),
        column("snapshot_age_seconds", "seconds", "age of the snapshot at the time of the request; negative if the snapshot is later and no earlier one is known"),
        column("signed_by", "URL", "where the agent that signed the request publishes its keys; empty without a valid signature"),
        column("signature_key", "text", "JWK thumbprint of the key"),
        column("signature_base", "`:base64:`", "what was signed (RFC 9421); empty if it contains what `--strip-query` or `--ip` leave out"),
        column("signature", "`:base64:`", "the signature; empty where `signature_base` is"),
        column("record_offset", "bytes", "offset of the record in a WARC file after decompression, or as a CDX file has it; empty for other logs"),
    ];

    /// The requests of crawlers by day.
    TREND = "trend.csv", "each site, day, crawler and identity, for all finished days in the state file": [
        SITE, SITE_DAY, WHO, SUMS,
    ];

    /// Events by day.
    EVENTS = "events.csv", "each event of a day, the last day first": [
        SITE, SITE_DAY,
        column("event", "first-violation, rate-doubled, stopped-fetching, robots-changed, robots-failing, log-silent, nothing-judged, late-lines, lists-old, new-crawler, requests-tripled, violations-tripled, stopped-breaking", "kind of event"),
        column("crawler", "text", "crawler of the event, if there is one"),
        column("identity", "verified, spoofed, unverified, not-on-list", "identity of that crawler"),
        column("source", "text", "origin or file of the robots.txt, if the event is about one; for `late-lines` the changed day, for `lists-old` the day of the newest list"),
        column("before", "text", "value before the event: a rate, a day, a digest or an outcome"),
        column("now", "text", "value of the event: a count, a rate, a digest or an outcome"),
        column("message", "text", "the event in a sentence"),
    ];
}

/// All tables, in the order in which they are documented.
pub fn all_schemas() -> impl Iterator<Item = &'static TableSchema> {
    TABLES.iter().map(|table| &table.schema).chain(OTHER_TABLES)
}

/// The HTML page.
pub(crate) const PAGE: &str = "report.html";

/// The file that identifies a directory as a report.
pub(crate) const RUN_JSON: &str = "run.json";

/// The files of a report besides `run.json`. `evidence` is the name of the evidence file, if it is
/// in the report.
pub(crate) fn files_of<'a>(
    audit: &ReportModel,
    evidence: Option<&'a str>,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let tables: Vec<&'static str> = tables_of(audit).map(|table| table.schema.file).collect();
    tables.into_iter().chain([PAGE, TALLY]).chain(evidence)
}
