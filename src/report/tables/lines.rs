//! Tables of lines and times: clients, visits from products, lines that were not parsed, days and
//! hours.

use crate::audit::{client_rows::client_days, hours::HourSums, reject_tally::RejectTally};
use crate::audit::{model::ReportModel, referral_rows::Referrals};
use crate::crawlers::identity::Actor;
use crate::logs::reject::{Reject, Skip};
use crate::measures::sums::Sums;
use crate::report::table::{Audited, table};
use crate::statistics::wilson_interval;
use crate::table::columns::{
    ALLOWED, BYTES, DAY, ORIGIN, REQUESTS, SUMS, VIOLATION_RATE, VIOLATIONS, WHO,
};
use crate::table::schema::{column, count, line_number, time};
use crate::time::Hour;

table! {
    /// All lines of the logs, by the class of their client.
    pub(crate) const CLIENTS = "clients.csv", "each day and class of clients, and for `disguised` each operator and proof; together all lines of the logs: see [clients](#clients)";
    rows of => client_days(of.audit);
    (((class, operator, proof), day), sampled) => {
        let Sums { requests: examined, robots_txt_requests, bytes, .. } = sampled.judged;
        let (paths, disallowed) = sampled.judged.paths();
        let is_line = class.is_request();
        let interval = class.is_sampled().then(|| wilson_interval(disallowed, paths)).flatten();
    }
    cells row => {
        column("day", "YYYY-MM-DD", "day in the time zone of `--timezone`; empty for lines without a time that was read, and for days before the last 3,660") => row.maybe(day, 1, |row, day| row.day(day)),
        column("class", "crawler-verified, crawler-signed, crawler-unverified, crawler-not-on-list, crawler-spoofed, tool, automated, disguised, no-user-agent, browser, rejected, skipped", "class of the client; each line has one") => row.word(class.as_str()),
        column("operator", "text", "operator of the crawlers whose list contains the address, or of the agent that signed the request; only for `disguised`") => row.text(operator),
        count("requests", "lines") => row.counts([sampled.requests]),
        count("examined", "requests that were judged: all, or of `browser` and `no-user-agent` a sample of about one in 64") => row.maybe_counts(is_line.then_some([examined])),
        count("robots_txt_requests", "examined requests for robots.txt") => row.maybe_counts(is_line.then_some([robots_txt_requests])),
        count("paths", "examined requests whose path robots.txt allows or disallows") => row.maybe_counts(is_line.then_some([paths])),
        count("disallowed", "those that it disallows, by the groups of the client's name, or else the `*` groups") => row.maybe_counts(is_line.then_some([disallowed])),
        column("disallowed_share", "fraction, 6 decimals", "disallowed / paths") => row.maybe(is_line.then_some(()), 1, |row, ()| row.fraction(disallowed, paths)),
        column("disallowed_share_low", "fraction, 6 decimals", "lower end of the Wilson score interval of 95 % of that share; only where a sample is examined") => row.maybe(interval, 1, |row, (low, _)| row.decimal(low)),
        column("disallowed_share_high", "fraction, 6 decimals", "upper end of that interval") => row.maybe(interval, 1, |row, (_, high)| row.decimal(high)),
        column("bytes", "bytes", "size of the responses to examined requests, as logged") => row.maybe_counts(is_line.then_some([bytes])),
        column("proof", "address-list, signature", "what shows the operator; only for `disguised`") => row.word(proof),
    }
}

table! {
    /// Visits that products sent.
    pub(crate) const REFERRALS = "referrals.csv", "each origin and operator, and each of its products with visits; no rows if no log has a Referer field: see [referrals](#referrals)";
    rows of => &of.audit.referrals;
    ((origin, operator, product), referrals) => {
        let Referrals { visits, crawlers } = referrals;
        let crawlers = product.is_none().then_some(crawlers);
    }
    cells row => {
        ORIGIN => row.text(origin),
        column("operator", "text", "company that runs the products and the crawlers") => row.text(operator),
        column("product", "text", "product that sent the visits; `*` for all products of the operator together") => row.text(product.map_or("*", |product| product.name)),
        column("product_kind", "search, ai-assistant, social, chat, news, mail, video", "kind of the product; empty for `*`") => row.word(product.map_or("", |product| product.kind)),
        count("visits", "requests of clients that are not crawlers, by GET and answered with a status of at most 399, with a Referer of this product") => row.counts([visits.requests]),
        column("visit_bytes", "bytes", "size of their responses, as logged") => row.counts([visits.bytes]),
        time("first_visit_utc", "time of the first of them; empty if there is none") => row.maybe(visits.span, 1, |row, span| row.time(span.first)),
        time("last_visit_utc", "time of the last of them") => row.maybe(visits.span, 1, |row, span| row.time(span.last)),
        count("crawler_requests", "requests of the operator's crawlers at this origin, without spoofed ones and tools; only for `*`") => row.maybe_counts(crawlers.map(|crawlers| [crawlers.requests])),
        column("crawler_bytes", "bytes", "size of their responses, as logged; only for `*`") => row.maybe_counts(crawlers.map(|crawlers| [crawlers.bytes])),
        column("requests_per_visit", "number, 6 decimals", "crawler_requests / visits; empty if there are no visits") => row.maybe(crawlers, 1, |row, crawlers| row.fraction(crawlers.requests, visits.requests)),
    }
}

table! {
    /// Reasons for unparsed lines.
    pub(crate) const REJECTS = "rejects.csv", "each log file and reason why lines could not be parsed";
    rows of => rejects(of.audit);
    (input, reason, reject) => {
        let sample = reject.sample.as_ref();
    }
    cells row => {
        column("file", "path", "log file") => row.text(input),
        column("reason", "text", "why the lines could not be parsed") => row.word(reason.as_str()),
        count("lines", "number of these lines") => row.counts([reject.lines]),
        line_number("example_line", "line number of the first one") => row.counts([sample.map_or(0, |(line, _)| *line)]),
        column("example", "text", "beginning of that line, cut to 512 bytes") => row.bytes(sample.map_or(b"", |(_, bytes)| bytes)),
    }
}

fn rejects(audit: &ReportModel) -> impl Iterator<Item = (&str, Reject, &RejectTally)> {
    audit.inputs.iter().flat_map(|input| {
        input.rejects().map(move |(reason, reject)| (&*input.summary.name, reason, reject))
    })
}

table! {
    /// Reasons for skipped lines.
    pub(crate) const SKIPS = "skips.csv", "each log file and reason why lines were skipped, which are not meant to be requests or not of the chosen time";
    rows of => skips(of.audit);
    (input, reason, lines) => {
    }
    cells row => {
        column("file", "path", "log file") => row.text(input),
        column("reason", "blank, comment, directive, partial, wrapper-partial, subrequest, not-access, outside-time", "why the lines were skipped") => row.word(reason.as_str()),
        count("lines", "number of these lines") => row.counts([lines]),
    }
}

fn skips(audit: &ReportModel) -> impl Iterator<Item = (&str, Skip, u64)> {
    audit.inputs.iter().flat_map(|input| {
        input.skips().map(move |(reason, lines)| (&*input.summary.name, reason, lines))
    })
}

table! {
    /// Requests by day.
    pub(crate) const DAILY = "daily.csv", "each day, origin, crawler and identity";
    rows of => of.audit.days();
    (day, origin, actor, sums) => {
    }
    cells row => {
        DAY => row.day(day),
        ORIGIN => row.text(origin),
        WHO => row.known_crawler(&of.audit.registry, actor),
        SUMS => row.sums(sums),
    }
}

table! {
    /// Requests by hour.
    pub(crate) const HOURLY = "hourly.csv", "each hour, crawler and identity, for all origins together; the last 1,488 hours with requests";
    rows of => hours(of);
    (Hour { day, hour }, actor, sums) => {
    }
    cells row => {
        DAY => row.day(day),
        column("hour", "0 to 23", "hour of the day in that zone; an hour that occurs twice when clocks change is one row") => row.counts([u64::from(hour)]),
        WHO => row.known_crawler(&of.audit.registry, actor),
        REQUESTS => row.counts([sums.requests]),
        ALLOWED => row.counts([sums.allowed]),
        VIOLATIONS => row.counts([sums.violations]),
        VIOLATION_RATE => row.fraction(sums.violations, sums.allowed + sums.violations),
        BYTES => row.counts([sums.bytes]),
    }
}

/// By hour, and by name.
fn hours<'a>(of: &Audited<'a>) -> impl Iterator<Item = (Hour, Actor, &'a HourSums)> {
    let registry = &of.audit.registry;
    of.audit.hours.kept().flat_map(move |(hour, actors)| {
        let mut rows: Vec<_> = actors.iter().map(|(actor, sums)| (*actor, sums)).collect();
        rows.sort_by_key(|((crawler, identity), _)| (&registry.crawler(*crawler).name, *identity));
        rows.into_iter().map(move |(actor, sums)| (hour, actor, sums))
    })
}
