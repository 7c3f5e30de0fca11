//! Visits that products sent.

use crate::audit::referral_rows::Referrals;
use crate::report::table::table;
use crate::table::columns::ORIGIN;
use crate::table::schema::{column, count, time};

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
