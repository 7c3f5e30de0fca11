//! Signed requests, by who signed them.

use crate::crawlers::signature_agents::SignatureAgent;
use crate::measures::signatures::{RowUses, SignatureRow, SignatureTally};
use crate::report::table::table;
use crate::table::columns::{ORIGIN, REQUESTS, SEEN};
use crate::table::schema::{column, count};

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
        count("repeated", "requests whose signature or nonce had been used before; empty unless `signed`") => row.maybe_counts(of_uses.map(|[repeated, ..]| [repeated])),
        count("from_other_addresses", "requests whose signature or nonce also came from another address") => row.maybe_counts(of_uses.map(|[_, elsewhere, _]| [elsewhere])),
        count("not_compared", "requests whose signatures were not compared, because 65,536 others are kept") => row.maybe_counts(of_uses.map(|[.., not_compared]| [not_compared])),
        SEEN => row.span(span),
    }
}
