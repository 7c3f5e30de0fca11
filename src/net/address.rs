//! Looks up the addresses of hosts, and tells public addresses from private ones.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::{sync::mpsc, thread, time::Duration};

use super::outcome::{FailureKind, Problem};

/// The most addresses of one host that are tried.
const ADDRESSES_MAX: usize = 8;

/// The addresses of `host`, which is a name or an address (IPv6 in brackets); at least one.
///
/// The system's resolver cannot be cancelled. After `timeout`, its thread is left to end on its
/// own.
pub(super) fn lookup(host: &str, port: u16, timeout: Duration) -> Result<Vec<SocketAddr>, Problem> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let not_found = |why: String| Problem::new(FailureKind::Dns, format!("{host}: {why}"));
    if is_never_a_host(bare) {
        return Err(not_found("this host name can never exist".to_owned()));
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    let look = move |name: &str| {
        let found = (name, port).to_socket_addrs();
        found.map(|found| found.take(ADDRESSES_MAX).collect::<Vec<_>>())
    };
    let name = bare.to_owned();
    let (start, found) = (thread::Builder::new().name("lookup".to_owned()), sender.clone());
    // The caller may have given up.
    let started = start.spawn(move || drop(found.send(look(&name))));
    if started.is_err() {
        // The system has no thread to spare, which says nothing about the host.
        let _ = sender.send(look(bare));
    }
    match receiver.recv_timeout(timeout) {
        Ok(Ok(found)) if !found.is_empty() => Ok(found),
        Ok(Ok(_)) => Err(not_found("the host has no address".to_owned())),
        Ok(Err(err)) => Err(not_found(err.to_string())),
        Err(_) => Err(Problem::timeout("looking up the host")),
    }
}

/// Names under `invalid` never exist (RFC 6761 section 6.4), so no lookup is needed.
fn is_never_a_host(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("invalid"))
}

/// Whether an address is globally reachable: not loopback, link-local, RFC 1918, RFC 6598, RFC
/// 4193, multicast or reserved, nor IPv6 with such an IPv4 address in any of its embedded forms.
/// Addresses for documentation count as public.
pub(crate) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip) && carries_public_only(ip),
    }
}

/// The platform of Azure, which each of its virtual machines reaches at this public address, and
/// nobody else. Such servers of other clouds have addresses that are not public anyway:
/// 169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254, fd20:ce::254.
const AZURE_WIRE_SERVER: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19))
        || ip == AZURE_WIRE_SERVER)
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    !(ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_multicast()
        || ip.is_unique_local()
        || ip.is_unicast_link_local()
        // Site-local, which is deprecated but still in use.
        || ip.segments()[0] & 0xffc0 == 0xfec0
        // To be discarded (RFC 6666), for benchmarks (RFC 5180), and segment routing (RFC 9602).
        || matches!(ip.segments(), [0x100, 0, 0, 0 | 1, ..] | [0x2001, 2, 0, ..] | [0x5f00, ..]))
}

/// Whether each IPv4 address to which `ip` may lead is public.
fn carries_public_only(ip: Ipv6Addr) -> bool {
    let bits = ip.to_bits();
    let v4_at = |start: u32| Ipv4Addr::from_bits((bits >> (96 - start)) as u32);
    let carried = match ip.segments() {
        // IPv4-compatible and IPv4-mapped (RFC 4291), IPv4-translated (RFC 2765), and the
        // well-known prefix of NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(v4_at(96)),
        [0x64, 0xff9b, 1, ..] => is_public_nat64(bits),
        // 6to4 (RFC 3056).
        [0x2002, ..] => is_public_v4(v4_at(16)),
        // Teredo (RFC 4380): the address of the server, and that of the client with each bit
        // inverted.
        [0x2001, 0, ..] => {
            let client = Ipv4Addr::from_bits(!v4_at(96).to_bits());
            is_public_v4(v4_at(32)) && is_public_v4(client)
        }
        _ => true,
    };
    // ISATAP (RFC 5214): the last half of an address in any network. Two bits of the mark say
    // whether the IPv4 address is globally unique, and whether it is a group address.
    let [.., mark, 0x5efe, _, _] = ip.segments() else { return carried };
    carried && (mark & !0x0300 != 0 || is_public_v4(v4_at(96)))
}

/// Whether an address in the prefix for local NAT64 (RFC 8215) leads to a public IPv4 address. The
/// position of the IPv4 address depends on the length of the network's prefix (RFC 6052, section
/// 2.2), which only the network knows. So every position counts, except those with `0.0.0.0/8`, to
/// which no translator leads.
fn is_public_nat64(bits: u128) -> bool {
    // Bits 64 to 71 are not part of an IPv4 address.
    let joined = (bits >> 64 << 64) | (bits << 72 >> 64);
    let candidates =
        [(joined >> 48) as u32, (joined >> 40) as u32, (joined >> 32) as u32, bits as u32];
    let leads = |bits: &u32| bits >> 24 != 0;
    let mut carried = candidates.into_iter().filter(leads).map(Ipv4Addr::from_bits).peekable();
    carried.peek().is_some() && carried.all(is_public_v4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_private_addresses() {
        let check = |ip: &str, expected: bool| {
            assert_eq!(is_public(ip.parse().unwrap()), expected, "{ip}");
        };
        for ip in [
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.32.0.1",
            "192.0.2.7",
            "168.63.129.15",
            "168.63.129.17",
            "2606:4700::1",
            "2001:db8::1",
            "::ffff:8.8.8.8",
        ] {
            check(ip, true);
        }
        for ip in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "0.0.0.0",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "fec0::1",
            "ff02::1",
            "168.63.129.16",
            "::ffff:168.63.129.16",
            "64:ff9b::168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fe80::a9fe:a9fe",
            "100::1",
            "2001:2::1",
            "5f00::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "2002:7f00:1::",
        ] {
            check(ip, false);
        }
    }

    #[test]
    fn ipv6_is_judged_by_the_ipv4_address_it_carries() {
        let check = |form: &str, ip: Ipv6Addr, expected: bool| {
            assert_eq!(is_public(ip.into()), expected, "{form}: {ip}");
        };
        // The last four bytes of public and private addresses, as IPv6 writes them.
        let cases = [
            ("8.8.8.8", true),
            ("93.184.215.14", true),
            ("0.0.0.0", false),
            ("0.0.0.1", false),
            ("0.1.2.3", false),
            ("10.0.0.1", false),
            ("100.64.0.1", false),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("192.168.0.1", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
        ];
        for (text, expected) in cases {
            let v4: Ipv4Addr = text.parse().unwrap();
            let bits = u128::from(v4.to_bits());
            let at = |prefix: &str, start: u32| {
                let prefix: Ipv6Addr = prefix.parse().unwrap();
                Ipv6Addr::from_bits(prefix.to_bits() | bits << (96 - start))
            };
            check("mapped", at("::ffff:0:0", 96), expected);
            check("compatible", at("::", 96), expected);
            check("translated", at("::ffff:0:0:0", 96), expected);
            check("NAT64", at("64:ff9b::", 96), expected);
            check("local NAT64, /96", at("64:ff9b:1::", 96), expected);
            check("6to4", at("2002::", 16), expected);
            check("6to4 with an interface", at("2002::1", 16), expected);
            check("Teredo, server", at("2001:0:0:0:8000:63bf:f7f7:f7f7", 32), expected);
            let client = Ipv6Addr::from_bits(at("2001:0:808:808:8000:63bf::", 96).to_bits());
            let client = Ipv6Addr::from_bits(client.to_bits() ^ 0xffff_ffff);
            check("Teredo, client", client, expected);
            for mark in ["::0:5efe:0:0", "::200:5efe:0:0", "::100:5efe:0:0", "::300:5efe:0:0"] {
                let mark = Ipv6Addr::from_bits(
                    mark.parse::<Ipv6Addr>().unwrap().to_bits()
                        | "2606:4700::".parse::<Ipv6Addr>().unwrap().to_bits(),
                );
                check("ISATAP", at(&mark.to_string(), 96), expected);
            }
            // A public IPv4 address does not make a link-local address public.
            check("ISATAP, link-local", at("fe80::5efe:0:0", 96), false);
        }
        // A similar address without an embedded one.
        for ip in ["2606:4700::5eff:7f00:1", "2606:4700::1:5efe:7f00:1", "2001:1::7f00:1"] {
            check("none", ip.parse().unwrap(), true);
        }
    }

    /// With prefixes of 48, 56 and 64 bits, the IPv4 address is on both sides of bits 64 to 71.
    #[test]
    fn a_nat64_of_ones_own_has_the_ipv4_address_in_one_of_four_places() {
        let check = |ip: &str, expected: bool| {
            assert_eq!(is_public(ip.parse().unwrap()), expected, "{ip}");
        };
        check("64:ff9b:1:808:8:800::", true);
        check("64:ff9b:1:7f00:0:100::", false);
        check("64:ff9b:1:a00:0:100::", false);
        check("64:ff9b:1:8:8:808::", true);
        check("64:ff9b:1:c0:a8:1::", false);
        check("64:ff9b:1:0:8:808:800:0", true);
        check("64:ff9b:1:0:a9:fea9:fe00:0", false);
        check("64:ff9b:1:7f00:0:100:808:808", false);
        check("64:ff9b:1::", false);
    }

    /// Hosts that browsers and resolvers read as an IPv4 address.
    #[test]
    fn numbers_for_a_host_are_judged_as_the_address_they_are() {
        for host in [
            "0x7f.1",
            "0x7f000001",
            "017700000001",
            "2130706433",
            "127.1",
            "0177.0.0.1",
            "0",
            "[::ffff:0.0.0.0]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:ffff:127.0.0.1]",
            "%31%32%37.0.0.1",
            "\u{ff11}27.0.0.1",
            "127\u{3002}0.0.1",
        ] {
            for scheme in ["http", "https", "ftp"] {
                let url = url::Url::parse(&format!("{scheme}://{host}/robots.txt")).unwrap();
                let found = lookup(url.host_str().unwrap(), 80, Duration::from_secs(5)).unwrap();
                assert!(found.iter().all(|found| !is_public(found.ip())), "{url}: {found:?}");
            }
        }
    }

    #[test]
    fn addresses_need_no_lookup_and_invalid_names_get_none() {
        let soon = Duration::from_millis(1);
        assert_eq!(lookup("[::1]", 80, soon).unwrap(), ["[::1]:80".parse().unwrap()]);
        assert_eq!(lookup("127.0.0.1", 8080, soon).unwrap(), ["127.0.0.1:8080".parse().unwrap()]);
        for host in ["a.invalid", "INVALID", "a.b.invalid."] {
            assert_eq!(lookup(host, 80, soon).unwrap_err().kind, FailureKind::Dns, "{host}");
        }
    }
}
