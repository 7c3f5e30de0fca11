//! Signed requests: `signatures.csv`.
//!
//! Signatures stand in requests of crawlers, of unnamed clients and of browsers, so they are counted beside
//! the rows of crawlers. Agents and origins are foreign text, so their number is limited. Valid
//! signatures come first, because nobody can invent them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::bounded::{BoundedBytes, StableHash};
use crate::digest::sha256;
use crate::error::{Error, Result};
use crate::merge::{Merge, merge_fields};
use crate::signatures::check::{SignatureClass, SignatureState};

use super::sums::Span;

/// The most rows; the rest is `(others)`.
pub(crate) const ROWS_MAX: usize = 10_000;

/// The most valid signatures that are compared with each other.
pub(crate) const USES_MAX: usize = 1 << 16;

/// The crawler of clients that look automated and have no name.
pub(crate) const UNNAMED: &str = "(unnamed)";

/// The crawler of clients with the user agent of a browser.
pub(crate) const BROWSER: &str = "(browser)";

/// The crawler of clients without a user agent.
pub(crate) const NO_USER_AGENT: &str = "(no-user-agent)";

/// Whose signature it is, and what is known of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SignatureKey<'a> {
    /// The origin that was requested.
    pub origin: &'a str,
    /// A crawler of the registry, or one of the names above.
    pub crawler: &'a str,
    /// The URL of the agent's keys; empty if it names none.
    pub agent: &'a str,
    /// Whether it is the agent's.
    pub state: SignatureState,
}

impl SignatureKey<'_> {
    fn to_bytes(self) -> Vec<u8> {
        let SignatureKey { origin, crawler, agent, state } = self;
        [origin, crawler, agent, state.as_str()].join("\0").into_bytes()
    }

    /// The key that was written so; `None` in a damaged tally.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<SignatureKey<'_>> {
        let mut parts = std::str::from_utf8(bytes).ok()?.split('\0');
        let (origin, crawler, agent) = (parts.next()?, parts.next()?, parts.next()?);
        let word = parts.next().filter(|_| parts.next().is_none())?;
        let state = SignatureState::ALL.into_iter().find(|state| state.as_str() == word)?;
        Some(SignatureKey { origin, crawler, agent, state })
    }
}

/// The order in which rows are kept.
fn rank(key: &[u8]) -> u64 {
    let is_signed =
        SignatureKey::of_bytes(key).is_some_and(|key| key.state == SignatureState::Signed);
    key.stable_hash() >> 1 | u64::from(!is_signed) << 63
}

/// The requests of one row.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct SignatureTally {
    /// How many.
    pub requests: u64,
    /// Those that robots.txt disallowed to the crawler.
    pub violations: u64,
    /// When.
    pub span: Option<Span>,
}

merge_fields!(SignatureTally { requests, violations, span });

/// The requests with one valid signature, or with one nonce.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct SignatureUse {
    /// The hash of their row.
    row: u64,
    requests: u64,
    /// The least and the greatest of the hashes of their clients. They are so short that they name
    /// nobody.
    clients: (u16, u16),
}

impl Merge for SignatureUse {
    fn absorb(&mut self, other: SignatureUse) {
        let SignatureUse { row: _, requests, clients } = other;
        self.requests = self.requests.saturating_add(requests);
        self.clients.0 = self.clients.0.min(clients.0);
        self.clients.1 = self.clients.1.max(clients.1);
    }
}

/// The uses with the smallest hashes of signature and row. One that was left out has enough smaller ones before
/// it, so that two such maps merge exactly.
#[derive(Clone, Debug)]
struct Uses {
    uses_max: usize,
    kept: BTreeMap<(u64, u64), SignatureUse>,
}

impl Uses {
    fn add(&mut self, hash: u64, of: SignatureUse) {
        let key = (hash, of.row);
        if let Some(known) = self.kept.get_mut(&key) {
            known.absorb(of);
            return;
        }
        self.kept.insert(key, of);
        if self.kept.len() > self.uses_max {
            self.kept.pop_last();
        }
    }
}

/// Signed requests while lines are read.
#[derive(Clone, Debug)]
pub(crate) struct Signatures {
    rows: BoundedBytes<SignatureTally>,
    uses: Uses,
}

impl Default for Signatures {
    fn default() -> Signatures {
        Signatures::new(ROWS_MAX, USES_MAX)
    }
}

impl Signatures {
    fn new(rows_max: usize, uses_max: usize) -> Signatures {
        let uses = Uses { uses_max, kept: BTreeMap::new() };
        Signatures { rows: BoundedBytes::new(rows_max, rank), uses }
    }

    /// Counts `one` request of `client`, whose signature has the hash `use_hash`.
    pub(crate) fn count(
        &mut self,
        key: SignatureKey<'_>,
        one: SignatureTally,
        use_hash: u64,
        client: &[u8],
    ) {
        let bytes = key.to_bytes();
        if key.state == SignatureState::Signed {
            // Without the crawler: who repeats a signature can send any user agent.
            let (origin, agent) = (key.origin.as_bytes(), key.agent.as_bytes());
            let hash = first_bytes(&[origin, b"\0", agent, b"\0", &use_hash.to_be_bytes()]);
            let client = first_bytes(&[&hash.to_be_bytes(), client]);
            #[allow(clippy::cast_possible_truncation, reason = "it is to be short")]
            let client = client as u16;
            let row = bytes.stable_hash();
            self.uses.add(hash, SignatureUse { row, requests: 1, clients: (client, client) });
        }
        self.rows.entry(&bytes).absorb(one);
    }

    /// Adds the counts of another tally.
    pub(crate) fn add(&mut self, counts: SignatureCounts) {
        let SignatureCounts { rows, others, uses } = counts;
        rows.into_iter().for_each(|(key, tally)| self.rows.entry(&key).absorb(tally));
        others.into_iter().for_each(|others| self.rows.add_to_others(others));
        uses.into_iter().for_each(|(hash, of)| self.uses.add(hash, of));
    }

    /// The counts in order.
    pub(crate) fn into_counts(self) -> SignatureCounts {
        let (rows, others) = self.rows.into_parts();
        let rows = rows.into_iter().map(|(key, tally)| (ByteBuf::from(key), tally)).collect();
        let uses = self.uses.kept.into_iter().map(|((hash, _), of)| (hash, of)).collect();
        SignatureCounts { rows, others, uses }
    }
}

impl Merge for Signatures {
    fn absorb(&mut self, other: Signatures) {
        let Signatures { rows, uses } = other;
        self.rows.absorb(rows);
        uses.kept.into_iter().for_each(|((hash, _), of)| self.uses.add(hash, of));
    }
}

fn first_bytes(parts: &[&[u8]]) -> u64 {
    let digest = sha256(parts);
    digest[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Signed requests, in order.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct SignatureCounts {
    rows: Vec<(ByteBuf, SignatureTally)>,
    others: Option<SignatureTally>,
    uses: Vec<(u64, SignatureUse)>,
}

/// A row of `signatures.csv`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SignatureRow {
    pub origin: String,
    pub crawler: String,
    pub agent: String,
    /// `None` for the sum of all rows past the limit.
    pub state: Option<SignatureState>,
    pub tally: SignatureTally,
    /// Its signatures, if they are valid.
    pub uses: Option<RowUses>,
}

/// How valid signatures of a row were used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RowUses {
    /// Requests with a signature or nonce that had been used before, or with another user agent.
    pub repeated: u64,
    /// Requests with one that came from several addresses.
    pub elsewhere: u64,
    /// Requests whose signatures were not compared.
    pub not_compared: u64,
}

impl SignatureCounts {
    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.others.is_none()
    }

    /// The rows of the table, in the order of their cells; that of the others comes last.
    ///
    /// # Errors
    /// If the tally is damaged.
    pub(crate) fn into_rows(self) -> Result<Vec<SignatureRow>> {
        let mut uses: BTreeMap<u64, (RowUses, u64)> = BTreeMap::new();
        let mut of_signatures: BTreeMap<u64, SignatureUse> = BTreeMap::new();
        for (hash, of) in &self.uses {
            of_signatures.entry(*hash).and_modify(|all| all.absorb(*of)).or_insert(*of);
        }
        for (hash, of) in &self.uses {
            let all = of_signatures[hash];
            let (sum, compared) = uses.entry(of.row).or_default();
            // The first request with it is no repetition, if all are of this row.
            let first = u64::from(all.requests == of.requests);
            sum.repeated = sum.repeated.saturating_add(of.requests.saturating_sub(first));
            let is_elsewhere = all.clients.0 != all.clients.1;
            sum.elsewhere =
                sum.elsewhere.saturating_add(if is_elsewhere { of.requests } else { 0 });
            *compared = compared.saturating_add(of.requests);
        }
        let damaged = || Error::inconsistent("signatures of a tally are damaged".to_owned());
        let mut rows = Vec::with_capacity(self.rows.len() + 1);
        for (key, tally) in &self.rows {
            let SignatureKey { origin, crawler, agent, state } =
                SignatureKey::of_bytes(key).ok_or_else(damaged)?;
            let (mut of, compared) = uses.get(&key.stable_hash()).copied().unwrap_or_default();
            of.not_compared = tally.requests.checked_sub(compared).ok_or_else(damaged)?;
            rows.push(SignatureRow {
                origin: origin.to_owned(),
                crawler: crawler.to_owned(),
                agent: agent.to_owned(),
                state: Some(state),
                tally: *tally,
                uses: (state.class() == SignatureClass::Signed).then_some(of),
            });
        }
        rows.extend(self.others.map(|others| SignatureRow {
            origin: "(others)".to_owned(),
            crawler: String::new(),
            agent: String::new(),
            state: None,
            tally: others,
            uses: None,
        }));
        match rows.iter().all(|row| row.tally.violations <= row.tally.requests) {
            true => Ok(rows),
            false => Err(damaged()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::UtcTime;

    fn key(origin: &str, state: SignatureState) -> SignatureKey<'_> {
        SignatureKey { origin, crawler: "GPTBot", agent: "https://a.example/keys", state }
    }

    fn one(second: i64) -> SignatureTally {
        let span = UtcTime::from_unix_seconds(second).map(Span::at);
        SignatureTally { requests: 1, violations: 0, span }
    }

    #[test]
    fn repeats_and_other_addresses_are_counted() {
        let mut signatures = Signatures::default();
        let signed = key("https://a.example", SignatureState::Signed);
        for (use_hash, client) in
            [(1, "a"), (1, "a"), (1, "b"), (2, "a"), (3, "a"), (3, "a"), (4, "c")]
        {
            signatures.count(signed, one(5), use_hash, client.as_bytes());
        }
        let invalid = key("https://a.example", SignatureState::Mismatch);
        signatures.count(invalid, one(7), 1, b"a");
        signatures.count(invalid, one(9), 1, b"b");
        let rows = signatures.into_counts().into_rows().unwrap();
        let found = rows.iter().map(|row| (row.state.unwrap(), row.tally.requests, row.uses));
        let found: Vec<_> = found.collect();
        let uses = RowUses { repeated: 3, elsewhere: 3, not_compared: 0 };
        let expected =
            [(SignatureState::Mismatch, 2, None), (SignatureState::Signed, 7, Some(uses))];
        assert_eq!(found, expected);
        assert_eq!(rows[0].tally.span.map(|span| span.last.unix_seconds()), Some(9));
    }

    /// Who repeats a signature can send any user agent.
    #[test]
    fn a_repeated_signature_is_seen_under_any_user_agent() {
        let mut signatures = Signatures::default();
        let signed = key("https://a.example", SignatureState::Signed);
        signatures.count(signed, one(5), 1, b"a");
        signatures.count(SignatureKey { crawler: BROWSER, ..signed }, one(6), 1, b"b");
        signatures.count(SignatureKey { crawler: UNNAMED, ..signed }, one(6), 2, b"b");
        signatures.count(key("https://b.example", SignatureState::Signed), one(6), 1, b"b");
        let rows = signatures.into_counts().into_rows().unwrap();
        let found = rows.iter().map(|row| (&*row.origin, &*row.crawler, row.uses.unwrap()));
        let repeated = RowUses { repeated: 1, elsewhere: 1, not_compared: 0 };
        let expected = [
            ("https://a.example", BROWSER, repeated),
            ("https://a.example", UNNAMED, RowUses::default()),
            ("https://a.example", "GPTBot", repeated),
            ("https://b.example", "GPTBot", RowUses::default()),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    /// The same from whole lists, from parts in any order, and from tallies in files.
    #[test]
    fn parts_merge_to_the_whole() {
        let states = [SignatureState::Signed, SignatureState::Expired, SignatureState::Unreadable];
        let origins: Vec<String> = (0..40).map(|at| format!("https://{at}.example")).collect();
        let requests: Vec<_> =
            (0..2_000_u64).map(|at| (at % 40, at / 40 % 3, at * 7 % 300, at * 11 % 5)).collect();
        let count = |requests: &[(u64, u64, u64, u64)]| {
            let mut signatures = Signatures::new(60, 50);
            for &(origin, state, of, client) in requests {
                let key = key(&origins[origin as usize], states[state as usize]);
                signatures.count(key, one(of as i64), of, &[client as u8]);
            }
            signatures
        };
        let whole = count(&requests).into_counts();
        assert_eq!((whole.rows.len(), whole.uses.len(), whole.others.is_some()), (60, 50, true));
        for cut in [0, 1, 700, 1_999] {
            let (left, right) = requests.split_at(cut);
            let mut sum = count(right);
            sum.absorb(count(left));
            assert_eq!(sum.into_counts(), whole, "{cut}");
            let mut sum = count(&[]);
            [left, right].into_iter().for_each(|part| sum.add(count(part).into_counts()));
            assert_eq!(sum.into_counts(), whole, "{cut}");
        }
        let signed = whole.rows.iter().map(|(key, _)| SignatureKey::of_bytes(key).unwrap().state);
        let signed = signed.filter(|state| *state == SignatureState::Signed).count();
        assert_eq!(signed, 40, "valid signatures stay");
    }

    #[test]
    fn damaged_counts_are_refused() {
        let good = {
            let mut signatures = Signatures::default();
            signatures.count(key("o", SignatureState::Signed), one(5), 1, b"a");
            signatures.into_counts()
        };
        assert!(good.clone().into_rows().is_ok());
        let mut many_uses = good.clone();
        many_uses.uses[0].1.requests = 2;
        let mut violations = good.clone();
        violations.rows[0].1.violations = 2;
        let mut key = good.clone();
        key.rows[0].0.push(b'x');
        for damaged in [many_uses, violations, key] {
            assert!(damaged.into_rows().is_err());
        }
    }
}
