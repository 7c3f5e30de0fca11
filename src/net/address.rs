//! From a host to addresses, and which of them are private.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::outcome::{FailureKind, Problem};

/// Addresses of one host that are tried; who needs more is not to be reached.
pub const ADDRESSES_MAX: usize = 8;

/// The addresses of `host`, a name or an address (IPv6 in brackets), at least one.
///
/// The system's resolver cannot be told to stop: past `timeout` its thread is left behind to
/// end on its own.
pub(super) fn lookup(host: &str, port: u16, timeout: Duration) -> Result<Vec<SocketAddr>, Problem> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let not_found = |why: String| Problem::new(FailureKind::Dns, format!("{host}: {why}"));
    if is_never_a_host(bare) {
        return Err(not_found("no such host can exist".to_owned()));
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    let name = bare.to_owned();
    let look = move || {
        let found = (name.as_str(), port).to_socket_addrs();
        // Who asked may be gone.
        let _ = sender.send(found.map(|found| found.take(ADDRESSES_MAX).collect::<Vec<_>>()));
    };
    let spawned = thread::Builder::new().name("lookup".to_owned()).spawn(look);
    spawned.map_err(|err| not_found(err.to_string()))?;
    match receiver.recv_timeout(timeout) {
        Ok(Ok(found)) if !found.is_empty() => Ok(found),
        Ok(Ok(_)) => Err(not_found("no address".to_owned())),
        Ok(Err(err)) => Err(not_found(err.to_string())),
        Err(_) => Err(Problem::timeout("looking up the host")),
    }
}

/// Names under `invalid` never exist (RFC 6761 section 6.4), so nobody need be asked.
fn is_never_a_host(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("invalid"))
}

/// Whether an address can be reached from anywhere, and be that of anybody: not loopback, link-local,
/// RFC 1918, RFC 6598, RFC 4193, multicast or reserved, nor IPv6 that carries such an IPv4 address.
/// Addresses kept for documentation count as anybody's.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match carried_v4(ip) {
            Some(v4) => is_public_v4(v4),
            None => is_public_v6(ip),
        },
    }
}

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
        || (a == 198 && (b == 18 || b == 19)))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    !(ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_multicast()
        || ip.is_unique_local()
        || ip.is_unicast_link_local()
        // Site-local, deprecated but not gone.
        || ip.segments()[0] & 0xffc0 == 0xfec0)
}

/// IPv4-mapped, IPv4-compatible, NAT64 (RFC 6052) and 6to4 addresses lead to an IPv4 address.
fn carried_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let joined = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match ip.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] if high != 0 => Some(joined(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(joined(high, low)),
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
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
    fn addresses_need_no_lookup_and_invalid_names_get_none() {
        let soon = Duration::from_millis(1);
        assert_eq!(lookup("[::1]", 80, soon).unwrap(), ["[::1]:80".parse().unwrap()]);
        assert_eq!(lookup("127.0.0.1", 8080, soon).unwrap(), ["127.0.0.1:8080".parse().unwrap()]);
        for host in ["a.invalid", "INVALID", "a.b.invalid."] {
            assert_eq!(lookup(host, 80, soon).unwrap_err().kind, FailureKind::Dns, "{host}");
        }
    }
}
