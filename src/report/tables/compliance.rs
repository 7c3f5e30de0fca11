//! The share of requests that kept a directive.

use crate::audit::compliance::{
    OriginCompliance, Scope, compliance, compliance_at_origins, conducts,
};
use crate::measures::sums::Compliance;
use crate::report::table::table;
use crate::statistics::wilson_interval;
use crate::table::columns::{NAMES, ORIGIN};
use crate::table::schema::{column, count};

table! {
    /// The share of requests that kept a directive.
    pub(crate) const COMPLIANCE = "compliance.csv", "each crawler, operator, purpose and origin, directive, and kind of group: see [compliance](#compliance)";
    rows of => {
        let conducts = conducts(of.audit);
        compliance(of.audit).into_iter().map(move |row| {
            let (scope, name, ..) = row.0;
            (row, (scope == Scope::Crawler).then(|| conducts.get(name).copied()).flatten())
        })
    };
    (((scope, name, directive, is_specific), sums), conduct) => {
        let Compliance { requests, kept } = sums;
        let interval = wilson_interval(kept, requests);
    }
    cells row => {
        column("scope", "crawler, operator, purpose, origin", "what the row sums up; spoofed requests and tools are left out; rows of operators do not contain crawlers of unknown operators, or programs that anyone can run") => row.word(scope.as_str()),
        column("name", "text", "name of that crawler, operator, purpose or origin") => row.text(name),
        column("directive", "disallow, allow-list, disallow-all, crawl-delay-pace, crawl-delay-gaps", "what binds the requests") => row.word(directive),
        column("group", "specific, *", "whether a group of robots.txt names the crawler") => row.word(if is_specific { "specific" } else { "*" }),
        count("requests", "requests that the directive bound; for `crawl-delay-gaps` times between requests") => row.counts([requests]),
        count("kept", "those that kept it; for `crawl-delay-pace` an upper bound") => row.counts([kept]),
        column("share", "fraction, 6 decimals", "kept / requests") => row.fraction(kept, requests),
        column("share_low", "fraction, 6 decimals", "lower end of the Wilson score interval of 95 %") => row.maybe(interval, 1, |row, (low, _)| row.decimal(low)),
        column("share_high", "fraction, 6 decimals", "upper end of that interval") => row.maybe(interval, 1, |row, (_, high)| row.decimal(high)),
        column("conduct", "ignores, breaks-some, rarely, not-read, obeys, not-judged", "what a crawler does about the robots.txt of all origins: see [conduct](#conduct); empty for other scopes") => row.maybe(conduct, 1, |row, conduct| row.word(conduct.as_str())),
    }
}

table! {
    /// The same for each crawler at each origin, such as for intervals over origins.
    pub(crate) const ORIGIN_COMPLIANCE = "origin-compliance.csv", "each origin, crawler, directive, and kind of group, as in [compliance.csv](#compliancecsv)";
    rows of => compliance_at_origins(of.audit);
    OriginCompliance { origin, crawler, directive, is_specific, sums } => {
        let Compliance { requests, kept } = sums;
        let interval = wilson_interval(kept, requests);
    }
    cells row => {
        ORIGIN => row.text(origin),
        NAMES => row.crawler_names(of.crawlers.registry.crawler(crawler)),
        column("directive", "disallow, allow-list, disallow-all, crawl-delay-pace, crawl-delay-gaps", "what binds the requests, as in `compliance.csv`") => row.word(directive),
        column("group", "specific, *", "whether a group of the robots.txt of the origin names the crawler") => row.word(if is_specific { "specific" } else { "*" }),
        count("requests", "requests that the directive bound, as in `compliance.csv`") => row.counts([requests]),
        count("kept", "those that kept it, as in `compliance.csv`") => row.counts([kept]),
        column("share", "fraction, 6 decimals", "kept / requests of this row") => row.fraction(kept, requests),
        column("share_low", "fraction, 6 decimals", "lower end of the Wilson score interval of 95 %") => row.maybe(interval, 1, |row, (low, _)| row.decimal(low)),
        column("share_high", "fraction, 6 decimals", "upper end of that interval") => row.maybe(interval, 1, |row, (_, high)| row.decimal(high)),
    }
}
