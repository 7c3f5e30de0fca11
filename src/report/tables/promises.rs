//! What operators promise, beside what their crawlers did.

use crate::audit::promises::{Observed, PromiseRow, PromisedValue, promises};
use crate::report::table::table;
use crate::statistics::wilson_interval;
use crate::table::columns::{CRAWLER, ORIGIN};
use crate::table::schema::{column, count};

table! {
    /// What operators promise, beside what their crawlers did.
    pub(crate) const PROMISES = "promises.csv", "each origin, crawler, identity that is not spoofed, and promise of its operator: see [promises](#promises)";
    rows of => promises(of.audit);
    PromiseRow { origin, actor: (id, identity), promise, value, words, url, observed, state, reason } => {
        let Observed { tested, kept, broken } = observed;
        let interval = wilson_interval(kept, tested);
        let number = match value {
            PromisedValue::Hours(number) | PromisedValue::RequestsPerHour(number) => Some(u64::from(number)),
            PromisedValue::Yes | PromisedValue::Partly | PromisedValue::Words => None,
        };
        let unit = match value {
            PromisedValue::Yes => "always",
            PromisedValue::Partly => "partly",
            PromisedValue::Hours(_) => "hours",
            PromisedValue::RequestsPerHour(_) => "requests-per-hour",
            PromisedValue::Words => "words",
        };
    }
    cells row => {
        ORIGIN => row.text(origin),
        CRAWLER => row.crawler_and_identity(of.crawlers.registry.crawler(id), identity),
        column("promise", "follows-robots-txt, crawl-delay, change-within, copy-at-most, rate", "what is promised") => row.word(promise.as_str()),
        column("promised", "always, partly, hours, requests-per-hour, words", "how much of it; `partly`: with conditions; `words`: no number") => row.word(unit),
        count("promised_number", "number of these hours or requests; empty if there is none") => row.maybe_counts(number.map(|number| [number])),
        column("promise_words", "text", "words of the operator, as in the registry") => row.text(words),
        column("promise_url", "URL", "page with the promise") => row.text(url),
        count("tested", "requests, times between requests, changes or days that test the promise") => row.counts([tested]),
        count("kept", "those that kept it") => row.counts([kept]),
        count("broken", "those that certainly broke it") => row.counts([broken]),
        column("share", "fraction, 6 decimals", "kept / tested") => row.fraction(kept, tested),
        column("share_low", "fraction, 6 decimals", "lower end of the Wilson score interval of 95 %") => row.maybe(interval, 1, |row, (low, _)| row.decimal(low)),
        column("share_high", "fraction, 6 decimals", "upper end of that interval") => row.maybe(interval, 1, |row, (_, high)| row.decimal(high)),
        column("state", "kept, broken, not-tested", "what these logs show: see [promises](#promises)") => row.word(state.as_str()),
        column("reason", "word", "why it was not tested: see [promises](#promises)") => row.word(reason.map_or("", |reason| reason.as_str())),
    }
}
