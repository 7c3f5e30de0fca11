//! The hosts of recent Referers, so that most lines need no more than one comparison.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use memchr::memchr;

use crate::bytes::equal;
use crate::crawlers::products::ProductId;

/// The hosts that are remembered; each has one slot, which it may have to share.
const SLOTS: usize = 1024;

/// A longer host is looked up each time.
const PREFIX_BYTES_MAX: usize = 256;

/// The hosts of recent Referers.
#[derive(Debug)]
pub(super) struct KnownReferers {
    /// The prefix of the last host of no product: most pages load their images and scripts with one
    /// and the same.
    last_other: Vec<u8>,
    slots: Vec<RefererHost>,
    hasher: RandomState,
}

/// The start of Referers up to the end of their host, and its product.
#[derive(Clone, Debug, Default)]
struct RefererHost {
    prefix: Vec<u8>,
    product: Option<ProductId>,
}

impl Default for KnownReferers {
    fn default() -> KnownReferers {
        let slots = vec![RefererHost::default(); SLOTS];
        KnownReferers { last_other: Vec::new(), slots, hasher: RandomState::default() }
    }
}

impl KnownReferers {
    /// Whether `raw` has the last host of no product.
    #[inline]
    pub(super) fn is_last_other(&self, raw: &[u8]) -> bool {
        raw.get(..self.last_other.len()).is_some_and(|start| equal(start, &self.last_other))
            && !self.last_other.is_empty()
    }

    /// Whether `raw` is known to have a host of no product.
    #[inline]
    pub(super) fn is_other(&self, raw: &[u8]) -> bool {
        self.is_last_other(raw) || self.is_among_others(raw)
    }

    #[inline(never)]
    fn is_among_others(&self, raw: &[u8]) -> bool {
        let Some(prefix) = host_prefix(raw) else { return false };
        let host = &self.slots[self.slot_of(prefix)];
        host.product.is_none() && equal(&host.prefix, prefix)
    }

    fn slot_of(&self, prefix: &[u8]) -> usize {
        self.hasher.hash_one(prefix) as usize % SLOTS
    }

    /// The product of a Referer, which `read` unescapes.
    pub(super) fn product<'a>(
        &mut self,
        raw: &[u8],
        read: impl FnOnce() -> &'a [u8],
    ) -> Option<ProductId> {
        let Some(prefix) = host_prefix(raw) else { return ProductId::of_referer(read()) };
        let slot = self.slot_of(prefix);
        let host = &mut self.slots[slot];
        if !equal(&host.prefix, prefix) {
            let referer = read();
            let product = ProductId::of_referer(referer);
            // With escapes in it, it may be another host.
            if !referer.starts_with(prefix) {
                return product;
            }
            host.prefix.clear();
            host.prefix.extend_from_slice(prefix);
            host.product = product;
        }
        if host.product.is_none() {
            self.last_other.clear();
            self.last_other.extend_from_slice(prefix);
        }
        host.product
    }
}

/// The start of a Referer up to the end of its host, or further if a query follows the host.
#[inline]
fn host_prefix(raw: &[u8]) -> Option<&[u8]> {
    let rest = raw.strip_prefix(b"https://").or_else(|| raw.strip_prefix(b"http://"))?;
    let end = raw.len() - rest.len() + memchr(b'/', rest)? + 1;
    (end <= PREFIX_BYTES_MAX).then(|| &raw[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_prefix_is_of_one_host() {
        let long = format!("https://{}/", "a".repeat(1 << 20));
        for (referer, expected) in [
            ("https://a.example:81/x?y", Some("https://a.example:81/")),
            ("https://a.example?y/z/", Some("https://a.example?y/")),
            ("http://a.example/?x/", Some("http://a.example/")),
            ("android-app://a.example/", None),
            ("https://a.example@google.com/x/", Some("https://a.example@google.com/")),
            ("https://a.example", None),
            ("https:\\/\\/a.example\\/", None),
            ("a.example/", None),
            ("-", None),
            ("", None),
            (&long, None),
        ] {
            assert_eq!(host_prefix(referer.as_bytes()), expected.map(str::as_bytes));
        }
    }

    /// In any order, also with more hosts than are remembered.
    #[test]
    fn known_hosts_have_their_own_products() {
        let mut referers: Vec<String> =
            (0..3 * SLOTS).map(|at| format!("https://{at}.example/{at}")).collect();
        for host in ["a.example", "chatgpt.com", "www.bing.com", "t.co", "x.com", "claude.ai"] {
            let more =
                ["", ":443", ".", ".b.example", "@b.example", "/", "/chatgpt.com/", "?", "#"];
            referers.extend(more.iter().map(|more| format!("https://{host}{more}")));
            referers.push(format!("https://b.example@{host}/"));
            referers.push(format!("http:\\/\\/{host}\\/"));
            referers.push(format!("http://\\{host}/"));
        }
        let (mut known, mut random) = (KnownReferers::default(), Random::new());
        for _ in 0..20_000 {
            let window = [12, 80, referers.len()][random.below(3)];
            let raw = &referers[referers.len() - window..][random.below(window)];
            let referer = raw.replace('\\', "");
            let expected = ProductId::of_referer(referer.as_bytes());
            let is_other = known.is_other(raw.as_bytes());
            assert!(!is_other || expected.is_none(), "{raw}");
            assert!(is_other || !known.is_last_other(raw.as_bytes()), "{raw}");
            let found = known.product(raw.as_bytes(), || referer.as_bytes());
            assert_eq!(found, expected, "{raw}");
        }
    }

    #[test]
    fn of_hosts_of_no_product_the_last_is_known() {
        let mut known = KnownReferers::default();
        assert!(!known.is_last_other(b"https://a.example/x"));
        let raws = ["https://a.example/x", "https://b.example/y", "https://a.example/z"];
        for (raw, other) in
            raws.into_iter().zip(["https://b.example/", "https://a.example/", "https://b.example/"])
        {
            assert_eq!(known.product(raw.as_bytes(), || raw.as_bytes()), None);
            assert!(known.is_last_other(raw.as_bytes()) && !known.is_last_other(other.as_bytes()));
        }
        let of_product = b"https://chatgpt.com/";
        assert!(known.product(of_product, || of_product).is_some());
        assert!(!known.is_last_other(of_product));
    }
}
