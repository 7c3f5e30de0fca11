//! Sets of address ranges, and whether an address lies in one.
//!
//! Overlapping and adjacent ranges are joined, so one binary search is enough. Among 300 IPv4
//! networks it takes 16 ns; the tries of prefix-trie and ip_network_table take 40 and 75 (November
//! 2026). Addresses that carry an IPv4 address in IPv6 (`::ffff:192.0.2.1`) count as that IPv4
//! address, in ranges and in lookups.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The shortest prefix of an IPv4 network that is accepted. A network with more than a 256th of all
/// addresses identifies no operator.
const PREFIX_BITS_MIN_V4: u8 = 8;

/// The same for IPv6; registries hand out pieces of /19 at most.
const PREFIX_BITS_MIN_V6: u8 = 16;

/// How many of the widest networks that are accepted one operator may have: a 64th of the addresses
/// of IPv4. The largest cloud has about as many.
const WIDEST_MAX: f64 = 4.0;

/// All addresses from the first to the last, of one family.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Network {
    /// First and last address.
    V4(u32, u32),
    /// First and last address; never an IPv4 address in disguise.
    V6(u128, u128),
}

impl Network {
    /// Reads `192.0.2.0/24`, `2001:db8::/32`, `192.0.2.1 - 192.0.2.9`, or one address alone. Bits
    /// past the prefix are dropped, as routers do.
    ///
    /// # Errors
    /// If it is not an address, its prefix is too long or too short, or the range is too wide.
    pub(crate) fn parse(text: &[u8]) -> Result<Network, &'static str> {
        const NO_ADDRESS: &str = "not an address or network";
        let text = str::from_utf8(text).map_err(|_| NO_ADDRESS)?;
        if let Some((first, last)) = text.split_once('-') {
            let address = |text: &str| text.trim().parse::<IpAddr>().map_err(|_| NO_ADDRESS);
            return Network::between(address(first)?, address(last)?);
        }
        let (address, bits) = match text.split_once('/') {
            None => (text, None),
            Some((address, bits)) => (address, Some(prefix_bits(bits).ok_or(NO_ADDRESS)?)),
        };
        let address: IpAddr = address.parse().map_err(|_| NO_ADDRESS)?;
        let bits_max = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(bits_max);
        if bits > bits_max {
            return Err("the prefix is longer than an address");
        }
        match address {
            IpAddr::V4(address) => Network::v4(address, bits),
            IpAddr::V6(address) => match address.to_ipv4_mapped() {
                Some(within) if bits >= 96 => Network::v4(within, bits - 96),
                _ => Network::v6(address, bits),
            },
        }
    }

    /// The addresses from `first` to `last`.
    ///
    /// # Errors
    /// If they are not of one family, in the wrong order, or too many.
    pub fn between(first: IpAddr, last: IpAddr) -> Result<Network, &'static str> {
        let network = match (first.to_canonical(), last.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(last)) => Network::V4(first.to_bits(), last.to_bits()),
            (IpAddr::V6(first), IpAddr::V6(last)) => Network::V6(first.to_bits(), last.to_bits()),
            _ => return Err("the range begins and ends in different families of addresses"),
        };
        let is_narrow = match network {
            Network::V4(first, last) => {
                last.checked_sub(first).map(|more| more <= u32::MAX >> PREFIX_BITS_MIN_V4)
            }
            Network::V6(first, last) => {
                last.checked_sub(first).map(|more| more <= u128::MAX >> PREFIX_BITS_MIN_V6)
            }
        };
        match is_narrow {
            None => Err("the range ends before it begins"),
            Some(false) => Err("the range is too wide to identify an operator"),
            Some(true) => Ok(network),
        }
    }

    fn v4(address: Ipv4Addr, bits: u8) -> Result<Network, &'static str> {
        if bits < PREFIX_BITS_MIN_V4 {
            return Err("the network is too wide to identify an operator");
        }
        let host = u32::MAX.checked_shr(bits.into()).unwrap_or(0);
        Ok(Network::V4(address.to_bits() & !host, address.to_bits() | host))
    }

    fn v6(address: Ipv6Addr, bits: u8) -> Result<Network, &'static str> {
        if bits < PREFIX_BITS_MIN_V6 {
            return Err("the network is too wide to identify an operator");
        }
        let host = u128::MAX.checked_shr(bits.into()).unwrap_or(0);
        Ok(Network::V6(address.to_bits() & !host, address.to_bits() | host))
    }

    /// The addresses that `address` may stand for if a log zeroes the last bytes for privacy:
    /// `192.0.2.0` may stand for 256 addresses. Other addresses stand for themselves.
    pub(crate) fn possibly_masked(address: IpAddr) -> Network {
        match address.to_canonical() {
            IpAddr::V4(address) => {
                let first = address.to_bits();
                let host = match address.octets() {
                    [_, 0, 0, 0] => 0xff_ffff,
                    [_, _, 0, 0] => 0xffff,
                    [_, _, _, 0] => 0xff,
                    _ => 0,
                };
                Network::V4(first, first | host)
            }
            IpAddr::V6(address) => {
                let first = address.to_bits();
                let host = match address.segments() {
                    [_, _, 0, 0, 0, 0, 0, 0] => u128::MAX >> 32,
                    [_, _, _, 0, 0, 0, 0, 0] => u128::MAX >> 48,
                    [_, _, _, _, 0, 0, 0, 0] => u128::MAX >> 64,
                    _ => 0,
                };
                Network::V6(first, first | host)
            }
        }
    }

    /// Whether it holds one address only.
    pub(crate) fn is_single(self) -> bool {
        match self {
            Network::V4(first, last) => first == last,
            Network::V6(first, last) => first == last,
        }
    }
}

/// One to three digits, as Rust's own parser reads them, and no sign.
fn prefix_bits(text: &str) -> Option<u8> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Any number of networks, ready for lookups.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Networks {
    v4: Ranges<u32>,
    v6: Ranges<u128>,
    /// The first halves of the starts in `v6`; comparing them is usually enough.
    v6_highs: Box<[u64]>,
}

impl Networks {
    /// The set of all of `networks`.
    pub fn new(networks: impl IntoIterator<Item = Network>) -> Networks {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for network in networks {
            match network {
                Network::V4(first, last) => v4.push((first, last)),
                Network::V6(first, last) => v6.push((first, last)),
            }
        }
        let v4 = Ranges::new(v4, |last| last.checked_add(1));
        let v6 = Ranges::new(v6, |last| last.checked_add(1));
        let v6_highs = v6.starts.iter().map(|&start| high(start)).collect();
        Networks { v4, v6, v6_highs }
    }

    /// Joined and in order, IPv4 first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Network> {
        let v4 = self.v4.starts.iter().zip(&self.v4.ends);
        let v6 = self.v6.starts.iter().zip(&self.v6.ends);
        v4.map(|(&first, &last)| Network::V4(first, last))
            .chain(v6.map(|(&first, &last)| Network::V6(first, last)))
    }

    /// Why they are too many for one operator: how large a share of all addresses they have, and how
    /// large a share an operator may have.
    pub(crate) fn too_many(&self) -> Option<String> {
        let v4 = self.v4.starts.iter().zip(&self.v4.ends);
        let v4: f64 = v4.map(|(first, last)| f64::from(last - first) + 1.0).sum();
        let v6 = self.v6.starts.iter().zip(&self.v6.ends);
        let v6: f64 = v6.map(|(first, last)| (last - first) as f64 + 1.0).sum();
        let families = [
            ("IPv4", v4 / 32f64.exp2(), WIDEST_MAX / f64::from(PREFIX_BITS_MIN_V4).exp2()),
            ("IPv6", v6 / 128f64.exp2(), WIDEST_MAX / f64::from(PREFIX_BITS_MIN_V6).exp2()),
        ];
        let (family, share, most) = families.into_iter().find(|(_, share, most)| share > most)?;
        let [share, most] = [share, most].map(|share| share * 100.0);
        Some(format!("{share:.3} % of all {family} addresses; an operator has at most {most:.3} %"))
    }

    /// Whether `address` lies in one of them.
    #[inline]
    pub fn contains(&self, address: IpAddr) -> bool {
        match address.to_canonical() {
            IpAddr::V4(address) => self.overlaps(Network::V4(address.to_bits(), address.to_bits())),
            IpAddr::V6(address) => self.overlaps(Network::V6(address.to_bits(), address.to_bits())),
        }
    }

    /// Whether any address of `network` lies in one of them.
    #[inline]
    pub(crate) fn overlaps(&self, network: Network) -> bool {
        match network {
            Network::V4(first, last) => {
                let after = self.v4.starts.partition_point(|&start| start <= last);
                self.v4.ends_from(after, first)
            }
            Network::V6(first, last) => {
                let mut after = self.v6_highs.partition_point(|&start| start <= high(last));
                if after > 0 && self.v6.starts[after - 1] > last {
                    // Any number of ranges may share the first half.
                    after = self.v6.starts[..after].partition_point(|&start| start <= last);
                }
                self.v6.ends_from(after, first)
            }
        }
    }
}

/// Ranges that neither overlap nor touch, in ascending order. Starts and ends are separate, because
/// the search reads only starts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Ranges<T> {
    starts: Box<[T]>,
    ends: Box<[T]>,
}

impl<T: Copy + Ord> Ranges<T> {
    /// `next` is the address after one, `None` after the very last.
    fn new(mut ranges: Vec<(T, T)>, next: impl Fn(T) -> Option<T>) -> Ranges<T> {
        ranges.sort_unstable();
        let mut joined: Vec<(T, T)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match joined.last_mut() {
                Some((_, end)) if next(*end).is_none_or(|next| first <= next) => {
                    *end = last.max(*end);
                }
                _ => joined.push((first, last)),
            }
        }
        let (starts, ends): (Vec<T>, Vec<T>) = joined.into_iter().unzip();
        Ranges { starts: starts.into(), ends: ends.into() }
    }

    /// Whether the range before the one at `after` ends at `first` or later.
    #[inline]
    fn ends_from(&self, after: usize, first: T) -> bool {
        after > 0 && self.ends[after - 1] >= first
    }
}

fn high(bits: u128) -> u64 {
    (bits >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn networks(list: &str) -> Networks {
        Networks::new(list.split_whitespace().map(|text| Network::parse(text.as_bytes()).unwrap()))
    }

    #[test]
    fn an_operator_has_a_small_part_of_all_addresses() {
        for few in
            ["", "17.0.0.0/8", "3.0.0.0/8 3.0.0.0/9 13.0.0.0/8 18.0.0.0/8 52.0.0.0/8", "2600::/16"]
        {
            assert_eq!(networks(few).too_many(), None, "{few}");
        }
        let half: Vec<String> = (1..=128).map(|first| format!("{first}.0.0.0/8")).collect();
        let said = networks(&half.join(" ")).too_many();
        let expected = "50.000 % of all IPv4 addresses; an operator has at most 1.562 %";
        assert_eq!(said.as_deref(), Some(expected));
        let v6 = networks("2000::/16 2001::/16 2002::/16 2003::/16 2a00::/16").too_many();
        assert!(v6.unwrap().starts_with("0.008 % of all IPv6 addresses"));
    }

    #[track_caller]
    fn check(list: &str, inside: &str, outside: &str) {
        let set = networks(list);
        for (addresses, expected) in [(inside, true), (outside, false)] {
            for address in addresses.split_whitespace() {
                assert_eq!(set.contains(address.parse().unwrap()), expected, "{address} in {list}");
            }
        }
    }

    #[test]
    fn an_address_lies_in_a_network_or_not() {
        check(
            "66.249.64.0/27 66.249.64.64/27",
            "66.249.64.0 66.249.64.31 66.249.64.64 66.249.64.95",
            "66.249.63.255 66.249.64.32 66.249.64.63 66.249.64.96 ::66.249.64.0",
        );
        check("192.0.2.7", "192.0.2.7 ::ffff:192.0.2.7", "192.0.2.6 192.0.2.8 ::ffff:192.0.2.8");
        check("192.0.2.99/24", "192.0.2.0 192.0.2.255", "192.0.1.255 192.0.3.0");
        check("::ffff:192.0.2.0/120", "192.0.2.1 ::ffff:192.0.2.1", "192.0.3.1 ::192.0.2.1");
        check(
            "2001:4860:4801:10::/64",
            "2001:4860:4801:10:: 2001:4860:4801:10:ffff:ffff:ffff:ffff",
            "2001:4860:4801:f:: 2001:4860:4801:11:: 192.0.2.1",
        );
        check("255.0.0.0/8 255.255.255.255", "255.255.255.255", "254.255.255.255");
        check("ff00::/16 ff00::1", "ff00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ff01::");
        // Many within one half of an address.
        check(
            "2001:db8::1 2001:db8::5 2001:db8::9/128 2001:db8:0:1::7",
            "2001:db8::1 2001:db8::5 2001:db8::9 2001:db8:0:1::7",
            "2001:db8:: 2001:db8::2 2001:db8::4 2001:db8::6 2001:db8::a 2001:db8:0:1:: 2001:db8:0:1::8 2001:db7::5",
        );
        check("", "", "0.0.0.0 ::");
        // One within the other, in any order.
        check(
            "10.0.0.0/8 10.1.0.0/16 9.0.0.0/8",
            "9.0.0.0 10.255.255.255",
            "8.255.255.255 11.0.0.0",
        );
    }

    #[test]
    fn neighbours_are_joined() {
        let set = networks(
            "192.0.2.128/25 192.0.2.0/25 192.0.3.0/24 192.0.2.5 2001:db8::/33 2001:db8:8000::/33",
        );
        assert_eq!((set.v4.starts.len(), set.v6.starts.len()), (1, 1));
    }

    #[test]
    fn every_answer_is_that_of_trying_each_network() {
        let mut random = Random::new();
        for _ in 0..50 {
            let list: Vec<Network> = (0..40)
                .map(|_| {
                    let bits = 20 + random.below(13) as u8;
                    Network::v4(
                        Ipv4Addr::from_bits(0xc000_0000 | random.below(1 << 16) as u32),
                        bits,
                    )
                    .unwrap()
                })
                .collect();
            let set = Networks::new(list.iter().copied());
            for _ in 0..2000 {
                let asked = 0xc000_0000 | random.below(1 << 16) as u32;
                let is_within = |network: &Network| matches!(network, Network::V4(first, last) if (first..=last).contains(&&asked));
                let expected = list.iter().any(is_within);
                assert_eq!(set.contains(Ipv4Addr::from_bits(asked).into()), expected, "{asked:x}");
                let mapped = Ipv4Addr::from_bits(asked).to_ipv6_mapped();
                assert_eq!(set.contains(mapped.into()), expected, "{mapped}");
            }
        }
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in [
            "",
            "/",
            "/24",
            "x",
            "192.0.2.0/",
            "192.0.2.0/33",
            "192.0.2.0/-1",
            "192.0.2.0/+8",
            "192.0.2.0/8/8",
            "192.0.2",
            "192.0.2.256",
            "010.0.0.1",
            " 192.0.2.1",
            "192.0.2.1 ",
            "0.0.0.0/0",
            "64.0.0.0/7",
            "::/0",
            "2000::/3",
            "::ffff:0.0.0.0/96",
            "::/129",
            "fe80::1%eth0",
            "192.0.2.0/999999999999",
        ] {
            assert!(Network::parse(text.as_bytes()).is_err(), "{text:?}");
        }
        assert!(Network::parse(b"192.0.2.1\xff").is_err());
    }

    #[test]
    fn zeroed_addresses_stand_for_many() {
        let check = |address: &str, expected: &str| {
            let found = Network::possibly_masked(address.parse().unwrap());
            assert_eq!(found, Network::parse(expected.as_bytes()).unwrap(), "{address}");
            assert_eq!(found.is_single(), address == expected);
        };
        check("192.0.2.7", "192.0.2.7");
        check("192.0.2.0", "192.0.2.0/24");
        check("192.7.0.0", "192.7.0.0/16");
        check("66.0.0.0", "66.0.0.0/8");
        check("192.0.0.7", "192.0.0.7");
        check("2001:db8:1:2::", "2001:db8:1:2::/64");
        check("2001:db8:1::", "2001:db8:1::/48");
        check("2001:db8::", "2001:db8::/32");
        check("2001:db8::1", "2001:db8::1");
    }
}
