//! Tables by crawler: the summary, costs, signatures, unknown crawlers, sessions.

use crate::audit::unknown::UnknownCrawler;
use crate::audit::{model::ReportModel, sessions::SessionSums, tally::counts::UserAgentTally};
use crate::config::amounts::MILLION;
use crate::crawlers::{identity::Actor, key_archive::SignatureAgent};
use crate::measures::signatures::{RowUses, SignatureRow, SignatureTally};
use crate::report::table::table;
use crate::table::columns::{
    ALLOWED_IGNORING_STAR, BYTES, CRAWLER, NOT_BOUND_REASON, ORIGIN, REQUESTS, REQUESTS_LATE,
    ROBOTS_TXT_REQUESTS, SEEN, SESSION_SUMS, SUMS, UNKNOWN, UNREACHABLE, WHO,
};
use crate::table::csv::Row;
use crate::table::schema::{column, count};

use super::paths::urls_form;

table! {
    /// A row for each origin, crawler and identity.
    pub(crate) const SUMMARY = "summary.csv", "each origin, crawler and identity";
    rows of => of.audit.rows();
    of_actor => {
        let sums = of_actor.tally.total();
    }
    cells row => {
        ORIGIN => row.text(&of_actor.origin),
        WHO => row.known_crawler(&of.audit.registry, of_actor.actor),
        SUMS => row.sums(&sums),
        SEEN => row.span(of_actor.tally.span),
        NOT_BOUND_REASON => row.not_bound_reason(of.audit.registry.crawler(of_actor.actor.0)),
        ALLOWED_IGNORING_STAR => row.counts([sums.allowed_ignoring_star]),
        count("violations_after_fetch", "violations after a successful fetch of robots.txt by the crawler or another one of its operator") => row.counts([of_actor.prior_fetches.after_fetch()]),
        column("conduct", "ignores, breaks-some, rarely, not-read, obeys, not-judged", "what it does about robots.txt: see [conduct](#conduct)") => row.word(of.audit.conduct(of_actor).as_str()),
        count("ambiguous_group", "requests in `unknown` for which several groups of robots.txt may bind the crawler, and decide differently: see [identity](identity.md#which-group-binds)") => row.counts([sums.ambiguous_group]),
    }
}

table! {
    /// What crawlers cost, if a price is given.
    pub(crate) const COSTS = "costs.csv", "each crawler and identity that is neither spoofed nor a tool, for all origins together, most bytes first; only with `--cost-per-gb`";
    only "audit --cost-per-gb PRICE", |audit| audit.price.is_some();
    rows of => of.audit.by_bytes();
    ((id, identity), sums) => {
        let price = of.audit.price.as_ref();
    }
    cells row => {
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(id), identity),
        REQUESTS => row.counts([sums.requests]),
        BYTES => row.counts([sums.bytes]),
        column("bytes_share", "fraction, 6 decimals", "bytes / bytes of all rows, which are those of known crawlers in the headline") => row.fraction(sums.bytes, of.audit.total_of_crawlers().bytes),
        column("cost", "number, 6 decimals", "price of these bytes, at the price of `--cost-per-gb` for 10^9 bytes; the total in the summary is rounded once") => row.maybe(price, 1, |row, price| row.fraction(price.of_bytes(sums.bytes), MILLION)),
        column("currency", "text", "currency of that price; empty if it is given without one") => row.maybe(price, 1, |row, price| row.text(&price.currency)),
    }
}

table! {
    /// Signed requests, by who signed them.
    pub(crate) const SIGNATURES = "signatures.csv", "each origin, crawler, agent, and what is known of its signatures; at most 10,000, the rest is `(others)`. Requests without a signature have no row";
    rows of => of.audit.signatures.iter();
    row_of => {
        let SignatureRow { origin, crawler, agent, state, tally, uses } = row_of;
        let SignatureTally { requests, violations, span } = *tally;
        let name = SignatureAgent::of_directory(agent).map_or("", |agent| agent.name);
        let of_uses = uses.map(|RowUses { repeated, elsewhere, not_compared }| [repeated, elsewhere, not_compared]);
    }
    cells row => {
        ORIGIN => row.text(origin),
        column("crawler", "text", "name of the crawler in the registry; `(unnamed)` for automated clients without a name there, `(browser)` for the user agent of a browser, `(no-user-agent)` for none") => row.text(crawler),
        column("agent", "URL", "where the agent publishes its keys; empty if the signature names no agent") => row.text(agent),
        column("agent_name", "text", "name of that agent, if it is known") => row.text(name),
        column("signature", "signed, edge-verified, invalid, unchecked", "`signed`: by a key that the agent published, for this host and time; `edge-verified`: a server in front reports this, and this log and these keys do not show it; `invalid`: not by such a key, or not for this host and time; `unchecked`: this log and these keys do not show it") => row.word(state.map_or("", |state| state.class().as_str())),
        column("reason", "word", "why it is not `signed`: see [identity](identity.md#signed-requests)") => row.word(state.map_or("", |state| state.reason())),
        REQUESTS => row.counts([requests]),
        count("violations", "requests that robots.txt disallowed to the crawler; 0 for the three others, whose requests are not judged one by one") => row.counts([violations]),
        count("repeated", "requests whose signature or nonce had been used before, or was also sent with another user agent; empty unless `signed`") => row.maybe_counts(of_uses.map(|[repeated, ..]| [repeated])),
        count("from_other_addresses", "requests whose signature or nonce also came from another address") => row.maybe_counts(of_uses.map(|[_, elsewhere, _]| [elsewhere])),
        count("not_compared", "requests whose signatures were not compared, because 65,536 others are kept") => row.maybe_counts(of_uses.map(|[.., not_compared]| [not_compared])),
        SEEN => row.span(span),
    }
}

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

table! {
    /// Sessions of clients.
    pub(crate) const SESSIONS = "sessions.csv", "each crawler and identity, for all origins together; only with `--session-minutes`: see [sessions](#sessions)";
    only "audit --session-minutes MINUTES", |audit| has_option(audit, "session_minutes");
    rows of => &of.audit.sessions;
    ((id, identity), tally) => {
        let sums = tally.total();
    }
    cells row => {
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(*id), *identity),
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
        CRAWLER => row.crawler_and_identity(of.audit.registry.crawler(id), identity),
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
