//! The networks that violations came from: `violation-networks.csv`.
//!
//! Anybody can send the user agent of a crawler. Where its address cannot be verified, the network
//! says most about who sent a request.

use std::{collections::BTreeMap, fmt, net::IpAddr, sync::Arc};

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::judge::verdict::Verdict;
use crate::merge::Merge;
use crate::table::{columns::VIOLATIONS, schema::column};

use super::request::{AllRequests, JudgedRequest, Measure};
use super::table::measure_table;

/// The most networks of a crawler at an origin. With more, all of them become wider.
const NETWORKS_MAX: usize = 256;

/// The bits of IPv4 and IPv6 prefixes, from narrow to wide.
const PREFIX_BITS: [(u8, u8); 4] = [(24, 48), (16, 32), (8, 16), (0, 0)];

/// The place in [`PREFIX_BITS`] of prefixes as registries give them to operators. They name no
/// client, so reports without addresses have them, too.
const OF_OPERATORS: u8 = 1;

/// A network.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
enum Network {
    /// The addresses with a prefix.
    Prefix(IpNet),
    /// As a file of the user names it.
    Named(Arc<str>),
    /// The log has no address.
    Unknown,
}

impl Network {
    /// The network of `address`, as wide as that place in [`PREFIX_BITS`] says.
    fn of(address: IpAddr, width: u8) -> Network {
        let (v4, v6) = PREFIX_BITS[usize::from(width)];
        let bits = match address {
            IpAddr::V4(_) => v4,
            // 6to4 (RFC 3056): the next 32 bits are the IPv4 address of the client.
            IpAddr::V6(address) if address.segments()[0] == 0x2002 => v6.min(40),
            IpAddr::V6(_) => v6,
        };
        // The lengths are possible ones.
        let prefix = IpNet::new(address, bits).unwrap_or_else(|_| IpNet::from(address));
        Network::Prefix(prefix.trunc())
    }

    fn widened(self, width: u8) -> Network {
        match self {
            Network::Prefix(prefix) => Network::of(prefix.network(), width),
            other => other,
        }
    }
}

/// As tables have it; nothing for no address.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The same as the library writes, in a third of the time.
            Network::Prefix(IpNet::V4(prefix)) => {
                let mut number = itoa::Buffer::new();
                for (octet, end) in prefix.addr().octets().into_iter().zip([".", ".", ".", "/"]) {
                    f.write_str(number.format(octet))?;
                    f.write_str(end)?;
                }
                f.write_str(number.format(prefix.prefix_len()))
            }
            Network::Prefix(prefix) => prefix.fmt(f),
            Network::Named(name) => f.write_str(name),
            Network::Unknown => Ok(()),
        }
    }
}

/// As tallies have it: a name begins with `=`, so that it is no prefix.
impl From<Network> for String {
    fn from(network: Network) -> String {
        match network {
            Network::Named(name) => format!("={name}"),
            other => other.to_string(),
        }
    }
}

impl TryFrom<String> for Network {
    type Error = ipnet::AddrParseError;

    fn try_from(text: String) -> Result<Network, ipnet::AddrParseError> {
        match text.strip_prefix('=') {
            Some(name) => Ok(Network::Named(name.into())),
            None if text.is_empty() => Ok(Network::Unknown),
            None => text.parse().map(Network::Prefix),
        }
    }
}

/// Violations by network.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct ViolationNetworks {
    /// The place of all prefixes in [`PREFIX_BITS`]. It follows from the number of networks alone:
    /// neither the order of requests nor that of parts matters.
    width: u8,
    networks: BTreeMap<Network, u64>,
}

impl ViolationNetworks {
    /// Networks and their violations, most first.
    fn heaviest(&self) -> Vec<(&Network, u64)> {
        let mut all: Vec<_> =
            self.networks.iter().map(|(network, count)| (network, *count)).collect();
        all.sort_by_key(|&(_, violations)| std::cmp::Reverse(violations));
        all
    }

    /// The same as texts.
    pub(crate) fn named(&self) -> impl Iterator<Item = (String, u64)> {
        self.heaviest().into_iter().map(|(network, count)| (network.to_string(), count))
    }

    /// Makes all networks so wide that they name no client.
    pub(crate) fn hide_clients(&mut self) {
        self.widen(self.width.max(OF_OPERATORS));
    }

    /// Makes all prefixes as wide as `width` says, and wider while there are too many.
    fn widen(&mut self, mut width: u8) {
        loop {
            if self.width != width {
                self.width = width;
                let networks = std::mem::take(&mut self.networks).into_iter();
                networks.for_each(|(network, count)| self.add(network.widened(width), count));
            }
            let prefixes = self.networks.keys().filter(|of| matches!(of, Network::Prefix(_)));
            if prefixes.count() <= NETWORKS_MAX || usize::from(width) + 1 == PREFIX_BITS.len() {
                return;
            }
            width += 1;
        }
    }

    fn add(&mut self, network: Network, violations: u64) {
        self.networks.entry(network).or_default().absorb(violations);
    }
}

impl Merge for ViolationNetworks {
    fn absorb(&mut self, other: ViolationNetworks) {
        let ViolationNetworks { width, networks } = other;
        self.widen(self.width.max(width));
        for (network, count) in networks {
            self.add(network.widened(self.width), count);
        }
        self.widen(self.width);
    }
}

impl Measure for ViolationNetworks {
    fn count(&mut self, request: &JudgedRequest<'_>) {
        let Verdict::Violation(_) = request.dated.verdict else { return };
        let network = match request.client {
            (_, Some(name)) => Network::Named(Arc::clone(name)),
            (Some(address), None) => Network::of(address, self.width),
            (None, None) => Network::Unknown,
        };
        self.add(network, 1);
        if self.networks.len() > NETWORKS_MAX {
            self.widen(self.width);
        }
    }

    fn holds(&self, all: &AllRequests) -> bool {
        let sum = self.networks.values().try_fold(0u64, |sum, count| sum.checked_add(*count));
        let is_as_wide = |network: &Network| *network == network.clone().widened(self.width);
        usize::from(self.width) < PREFIX_BITS.len()
            && sum.is_some_and(|sum| sum <= all.total.violations)
            && self.networks.keys().all(is_as_wide)
    }
}

measure_table! {
    /// Violations by network.
    pub(crate) const TABLE: ViolationNetworks = "violation-networks.csv", "each origin, crawler, identity and network with violations";
    rows of => of.heaviest();
    (network, violations) => {
        let all = of.networks.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
    }
    cells row => {
        column("network", "prefix or text", "network of the client: its name in the file of `--networks`, otherwise its prefix; empty if the log has no address") => row.text(&network.to_string()),
        VIOLATIONS => row.counts([violations]),
        column("share", "fraction, 6 decimals", "violations / all violations of this crawler and identity at this origin") => row.fraction(violations, all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::sums::Sums;
    use std::net::Ipv6Addr;

    const V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0);

    fn counted(addresses: impl IntoIterator<Item = IpAddr>) -> ViolationNetworks {
        let mut networks = ViolationNetworks::default();
        for address in addresses {
            networks.add(Network::of(address, networks.width), 1);
            networks.widen(networks.width);
        }
        networks
    }

    fn v4(high: u8, low: u8) -> IpAddr {
        IpAddr::from([198, 18 + high, low, 7])
    }

    fn shown(networks: &ViolationNetworks) -> Vec<String> {
        networks.named().map(|(network, count)| format!("{network} {count}")).collect()
    }

    #[test]
    fn networks_are_prefixes() {
        let networks = counted([v4(0, 1), v4(0, 1), v4(1, 1), IpAddr::V6(V6)]);
        assert_eq!(shown(&networks), ["198.18.1.0/24 2", "198.19.1.0/24 1", "2001:db8::/48 1"]);
        let mut hidden = networks.clone();
        hidden.hide_clients();
        assert_eq!(shown(&hidden), ["198.18.0.0/16 2", "198.19.0.0/16 1", "2001:db8::/32 1"]);
        let again = hidden.clone();
        hidden.hide_clients();
        assert_eq!(hidden, again);
    }

    #[test]
    fn prefixes_are_written_as_the_library_does() {
        for prefix in ["0.0.0.0/0", "10.0.0.0/8", "198.18.0.0/16", "203.0.113.255/32", "::/0"] {
            assert_eq!(Network::Prefix(prefix.parse().unwrap()).to_string(), prefix);
        }
    }

    /// The width depends on how many networks there are in all.
    #[test]
    fn any_order_and_split_give_the_same() {
        let all: Vec<IpAddr> = (0..=255).map(|low| v4(0, low)).collect();
        assert_eq!(counted(all.clone()).width, 0);
        let more: Vec<IpAddr> = all.iter().copied().chain([v4(1, 0), IpAddr::V6(V6)]).collect();
        let whole = counted(more.clone());
        assert_eq!(shown(&whole), ["198.18.0.0/16 256", "198.19.0.0/16 1", "2001:db8::/32 1"]);
        assert_eq!(counted(more.iter().rev().copied()), whole);
        for at in [0, 1, 128, 257] {
            let (left, right) = more.split_at(at);
            let [left, right] = [left, right].map(|part| counted(part.iter().copied()));
            let (mut one, mut other) = (left.clone(), right.clone());
            one.absorb(right);
            other.absorb(left);
            assert_eq!((&one, &other), (&whole, &whole), "{at}");
        }
    }

    #[test]
    fn even_all_networks_are_few_enough() {
        let wide = (0..=255u8).flat_map(|high| [0, 1].map(|low| IpAddr::from([high, low, 0, 1])));
        let wide = counted(wide.chain([IpAddr::V6(V6)]));
        assert_eq!(shown(&wide), ["0.0.0.0/0 512", "::/0 1"]);
    }

    #[test]
    fn tallies_have_names_and_prefixes() {
        let mut networks = counted([v4(0, 1)]);
        networks.add(Network::Named("10.0.0.0/8".into()), 2);
        networks.add(Network::Unknown, 1);
        let bytes = rmp_serde::to_vec_named(&networks).unwrap();
        assert_eq!(rmp_serde::from_slice::<ViolationNetworks>(&bytes).unwrap(), networks);
        let damaged = rmp_serde::to_vec_named(&BTreeMap::from([(
            "networks",
            BTreeMap::from([("no network", 1u64)]),
        )]));
        assert!(rmp_serde::from_slice::<ViolationNetworks>(&damaged.unwrap()).is_err());
    }

    /// The file may come from a stranger.
    #[test]
    fn counts_that_cannot_be_are_noticed() {
        let total = Sums { requests: 9, violations: 2, ..Sums::default() };
        let all = AllRequests { total, span: None, has_times: true };
        assert!(counted([v4(0, 1), v4(0, 2)]).holds(&all));
        assert!(!counted([v4(0, 1), v4(0, 2), v4(0, 3)]).holds(&all), "too many");
        let of = |width, prefix: &str| ViolationNetworks {
            width,
            networks: BTreeMap::from([(Network::Prefix(prefix.parse().unwrap()), 1)]),
        };
        assert!(of(1, "198.18.0.0/16").holds(&all));
        assert!(!of(0, "198.18.0.0/16").holds(&all) && !of(1, "198.18.1.0/24").holds(&all));
        assert!(!of(4, "0.0.0.0/0").holds(&all), "no such width");
    }
}
