//! Requests by what says whether they are the crawler's: `verification.csv`.

use crate::crawlers::identity::Proof;
use crate::merge::Merge;
use crate::table::{columns::REQUESTS, schema::column};

use super::request::{AllRequests, Measure};
use super::{request_kind::RequestsOfKind, short_map::ShortMap, table::measure_table};

/// Requests by what decided about their identity; none if identities were not verified.
pub(crate) type ByProof = ShortMap<Proof, u64>;

impl Measure for ByProof {
    fn add(&mut self, of_kind: &RequestsOfKind) {
        if let Some(proof) = of_kind.kind.answer.proof {
            self.entry(proof).absorb(of_kind.requests);
        }
    }

    fn holds(&self, all: &AllRequests) -> bool {
        let requests = self.values().try_fold(0u64, |sum, of| sum.checked_add(*of));
        requests.is_some_and(|requests| requests <= all.total.requests)
    }
}

measure_table! {
    /// Requests by what decided.
    pub(crate) const TABLE: ByProof = "verification.csv", "each origin, crawler, identity and kind of proof; no rows if identities were not verified";
    rows of => of.iter();
    (proof, requests) => {
        let all = of.values().fold(0, |sum: u64, of| sum.saturating_add(*of));
    }
    cells row => {
        column("proof", "address-list, archived-list, bundled-list, dns, archived-dns, signature, nothing, forwarded", "what decided: `address-list`: the newest version of an address list contains the address, or all lists contradict it; `archived-list`: only an earlier version contains it; `bundled-list`: a list that comes with the program contains it; `dns`: the lookups of this run; `archived-dns`: a lookup of an earlier run, near the time of the request; `signature`: the request has a valid signature by a key of the crawler's operator; `nothing`: nothing decided, so the identity is `unverified`; `forwarded`: the same, because the log has a list of addresses in place of the client's, and there is no `--trusted-proxy`") => row.word(proof.as_str()),
        REQUESTS => row.counts([*requests]),
        column("share", "fraction, 6 decimals", "requests / all requests of this crawler and identity at this origin") => row.fraction(*requests, all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::sums::Sums;

    /// The file may come from a stranger.
    #[test]
    fn proofs_are_of_the_requests() {
        let all = AllRequests {
            total: Sums { requests: 5, ..Sums::default() },
            span: None,
            has_times: true,
        };
        for (counts, holds) in [
            (&[(Proof::Dns, 2), (Proof::Nothing, 3)][..], true),
            (&[(Proof::Dns, 2), (Proof::Nothing, 4)], false),
            (&[(Proof::Dns, u64::MAX), (Proof::Nothing, 1)], false),
            (&[], true),
        ] {
            let of: ByProof = counts.iter().copied().collect();
            assert_eq!(of.holds(&all), holds, "{counts:?}");
        }
        let proof = |text: &str| serde_json::from_str::<Proof>(text);
        assert_eq!(proof("\"archived-list\"").unwrap(), Proof::ArchivedList);
        assert!(proof("\"luck\"").is_err());
    }
}
