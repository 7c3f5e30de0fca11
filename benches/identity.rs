//! How long it takes to find whether an address is on a list of ranges.
//!
//! `cargo bench --bench identity` prints `stage,unit,value`: the fastest of 25 rounds, since what
//! disturbs a round only ever slows it. Lists are as long as Bing's (28 networks), Google's (some 300)
//! and AWS's (10,000). Half of the addresses asked for are on the list; every
//! answer is compared with that of trying each network first.

use botaudit::audit::identities::Identities;
use botaudit::crawlers::identity::Identity;
use botaudit::crawlers::networks::{Network, Networks};
use botaudit::crawlers::ranges::Ranges;
use botaudit::crawlers::registry::Registry;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Instant;

const ROUNDS: usize = 25;

const ADDRESSES: usize = 4096;

fn main() {
    println!("stage,unit,value");
    for (name, count) in [("28", 28), ("300", 300), ("10000", 10_000)] {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let v4: Vec<Network> = (0..count).map(|_| network_v4(&mut random)).collect();
        let v6: Vec<Network> = (0..count).map(|_| network_v6(&mut random)).collect();
        let all: Vec<Network> = v4.iter().chain(&v6).copied().collect();
        let set = Networks::new(all.iter().copied());
        print(&format!("build_{name}"), "us", 1, 1e6, || {
            black_box(Networks::new(all.iter().copied()));
        });
        for (family, networks) in [("v4", &v4), ("v6", &v6)] {
            let addresses = addresses(networks, &mut random);
            check_answers(&set, networks, &addresses);
            print(&format!("contains_{name}_{family}"), "ns", ADDRESSES, 1e9, || {
                addresses.iter().for_each(|&address| {
                    black_box(set.contains(black_box(address)));
                });
            });
        }
    }
    whole_question();
}

/// The question that an audit asks of each request of a crawler.
fn whole_question() {
    let registry = Registry::builtin();
    let crawler = registry.find("Googlebot").expect("Googlebot is built in");
    let directory = tempfile::tempdir().expect("a directory can be made");
    let list: String =
        (0..300).map(|third| format!("66.{}.{}.0/27\n", third / 256, third % 256)).collect();
    std::fs::write(directory.path().join("common-crawlers.json"), list)
        .expect("a file can be written");
    let ranges = Ranges::open(directory.path(), &registry).expect("the list is Googlebot's");
    let identities = Identities { ranges: Some(ranges), ..Identities::default() };
    let mut random = Random(7);
    let clients: Vec<String> = (0..ADDRESSES)
        .map(|_| format!("66.{}.{}.{}", random.below(2), random.below(256), 1 + random.below(60)))
        .collect();
    let now = jiff::Timestamp::now().into();
    let ask = |client: &String| identities.of(crawler, client.parse().ok(), now).identity;
    for client in &clients {
        let address: Ipv4Addr = client.parse().expect("we wrote it");
        let [_, b, c, d] = address.octets();
        let is_listed = usize::from(b) * 256 + usize::from(c) < 300 && d < 32;
        let expected = if is_listed { Identity::Verified } else { Identity::Spoofed };
        assert_eq!(ask(client), expected, "{client}");
    }
    print("parse_and_identify", "ns", ADDRESSES, 1e9, || {
        clients.iter().for_each(|client| {
            black_box(ask(black_box(client)));
        });
    });
}

fn network_v4(random: &mut Random) -> Network {
    let first = (random.next() as u32 | 0x0100_0000) & 0xdfff_ff00;
    Network::V4(first, first | 0x1f)
}

fn network_v6(random: &mut Random) -> Network {
    let first = (0x2001_u128 << 112) | (u128::from(random.next()) << 48 & !0xffff_ffff_ffff_ffff);
    Network::V6(first, first | 0xffff_ffff_ffff_ffff)
}

/// The second half within a network, the first anywhere near.
fn addresses(networks: &[Network], random: &mut Random) -> Vec<IpAddr> {
    let address = |at: usize| {
        let near = random.next();
        let network = networks[random.below(networks.len())];
        match network {
            Network::V4(first, _) => {
                let mask = if at.is_multiple_of(2) { 0x1f } else { 0xffff };
                IpAddr::V4(Ipv4Addr::from_bits(first | (near as u32 & mask)))
            }
            Network::V6(first, _) => {
                let shift = if at.is_multiple_of(2) { 0 } else { 24 };
                IpAddr::V6(Ipv6Addr::from_bits(first ^ (u128::from(near) << shift)))
            }
        }
    };
    (0..ADDRESSES).map(address).collect()
}

fn check_answers(set: &Networks, networks: &[Network], addresses: &[IpAddr]) {
    let mut found = 0;
    for &address in addresses {
        let expected = networks.iter().any(|network| match (network, address) {
            (Network::V4(first, last), IpAddr::V4(asked)) => {
                (*first..=*last).contains(&asked.to_bits())
            }
            (Network::V6(first, last), IpAddr::V6(asked)) => {
                (*first..=*last).contains(&asked.to_bits())
            }
            _ => false,
        });
        assert_eq!(set.contains(address), expected, "{address}");
        found += usize::from(expected);
    }
    assert!((ADDRESSES / 3..ADDRESSES * 9 / 10).contains(&found), "{found}");
}

/// The same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }
}

/// Prints the least time of one of the `count` things that `run` does.
fn print(stage: &str, unit: &str, count: usize, units_per_second: f64, mut run: impl FnMut()) {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    let seconds = rounds.fold(f64::INFINITY, f64::min);
    println!("{stage},{unit},{:.1}", seconds * units_per_second / count as f64);
}
