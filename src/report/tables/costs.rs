//! What crawlers cost.

use crate::config::money::MILLION;
use crate::report::table::table;
use crate::table::columns::{BYTES, CRAWLER, REQUESTS};
use crate::table::schema::column;

table! {
    /// What crawlers cost, if a price is given.
    pub(crate) const COSTS = "costs.csv", "each crawler and identity that is neither spoofed nor a tool, for all origins together, most bytes first; only with `--cost-per-gb`";
    only "audit --cost-per-gb PRICE", |audit| audit.price.is_some();
    rows of => of.audit.by_bytes();
    ((id, identity), sums) => {
        let price = of.audit.price.as_ref();
    }
    cells row => {
        CRAWLER => row.crawler_and_identity(of.crawlers.registry.crawler(id), identity),
        REQUESTS => row.counts([sums.requests]),
        BYTES => row.counts([sums.bytes]),
        column("bytes_share", "fraction, 6 decimals", "bytes / bytes of all rows, which are those of known crawlers in the headline") => row.fraction(sums.bytes, of.audit.total_of_crawlers().bytes),
        column("cost", "number, 6 decimals", "price of these bytes, at the price of `--cost-per-gb` for 10^9 bytes; the total in the summary is rounded once") => row.maybe(price, 1, |row, price| row.fraction(price.of_bytes(sums.bytes), MILLION)),
        column("currency", "text", "currency of that price; empty if it is given without one") => row.maybe(price, 1, |row, price| row.text(&price.currency)),
    }
}
