//! All lines of the logs, by the class of their client.

use crate::audit::client_rows::client_days;
use crate::measures::sums::Sums;
use crate::report::table::table;
use crate::statistics::wilson_interval;
use crate::table::schema::{column, count};

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
        column("class", "crawler-verified, crawler-signed, crawler-unverified, crawler-spoofed, tool, automated, disguised, no-user-agent, browser, rejected, skipped", "class of the client; each line has one") => row.word(class.as_str()),
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
