//! The client of a request behind proxies.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use crate::logs::record::Record;
use crate::net::dotted::dotted;

/// The address or name of the client of `record`. If that is one of the `trusted` proxies, it is
/// the last address of X-Forwarded-For that is not, or the first if all are. A value that is not an
/// address ends the search, because everything before it is unverified.
pub(crate) fn client<'r>(record: &Record<'r>, trusted: &[IpNet]) -> &'r [u8] {
    let mut client = record.client;
    let Some(forwarded_for) = record.forwarded_for else { return client };
    for hop in forwarded_for.rsplit(|&byte| byte == b',') {
        let is_trusted = address(client)
            .is_some_and(|address| trusted.iter().any(|network| network.contains(&address)));
        if !is_trusted {
            break;
        }
        client = hop.trim_ascii();
    }
    client
}

/// The address of the client of `record`. `None` if the log has a name or nothing in its place, or
/// if it is a `trusted` proxy.
pub(crate) fn client_address(record: &Record<'_>, trusted: &[IpNet]) -> Option<IpAddr> {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    address(client(record, trusted)).filter(|address| !is_trusted(address))
}

/// The client of `record` in a form that all its requests have: its address, or its name as logged. `None` if
/// the log has none, or if it is a `trusted` proxy, because that has many clients.
pub(crate) fn client_identifier<'r>(
    record: &Record<'r>,
    trusted: &[IpNet],
) -> Option<Cow<'r, str>> {
    let name = client(record, trusted);
    match address(name) {
        Some(address) => {
            let is_proxy = trusted.iter().any(|network| network.contains(&address));
            (!is_proxy).then(|| Cow::Owned(address.to_string()))
        }
        None if matches!(name, b"" | b"-") => None,
        None => Some(String::from_utf8_lossy(name)),
    }
}

/// The address in `text`, which may have a port or brackets; an IPv4-mapped IPv6 address is an IPv4
/// address. `None` for a name.
pub(crate) fn address(text: &[u8]) -> Option<IpAddr> {
    // Most addresses, which the standard library reads more slowly.
    if let Some(address) = dotted(text) {
        return Some(IpAddr::V4(address));
    }
    let text = std::str::from_utf8(text).ok()?;
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip()));
    address.ok().map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::network_names::network;
    use crate::time::UtcTime;

    fn record() -> Record<'static> {
        Record::at(UtcTime::from_unix_seconds(0).unwrap())
    }

    #[track_caller]
    fn check(peer: &str, forwarded_for: Option<&str>, expected: &str) {
        let trusted =
            ["10.0.0.0/8", "2001:db8::/32", "192.0.2.1"].map(|text| network(text).unwrap());
        let record = Record {
            client: peer.as_bytes(),
            forwarded_for: forwarded_for.map(str::as_bytes),
            ..record()
        };
        let found = client(&record, &trusted).escape_ascii().to_string();
        assert_eq!(found, expected, "{peer} {forwarded_for:?}");
        assert_eq!(client(&record, &[]), peer.as_bytes());
    }

    #[track_caller]
    fn check_identifier(client: &str, forwarded_for: Option<&str>, expected: Option<&str>) {
        let record = Record {
            client: client.as_bytes(),
            forwarded_for: forwarded_for.map(str::as_bytes),
            ..record()
        };
        let trusted = [network("10.0.0.0/8").unwrap()];
        assert_eq!(client_identifier(&record, &trusted).as_deref(), expected, "{client}");
    }

    #[test]
    fn one_client_has_one_identifier_and_a_proxy_has_none() {
        for form in ["2001:db8::1", "[2001:DB8:0::1]:443", "[2001:db8::1]"] {
            check_identifier(form, None, Some("2001:db8::1"));
        }
        check_identifier("10.0.0.1", Some("192.0.2.7:4711"), Some("192.0.2.7"));
        check_identifier("::ffff:192.0.2.7", None, Some("192.0.2.7"));
        check_identifier("bot.example", None, Some("bot.example"));
        for (client, forwarded_for) in
            [("-", None), ("", None), ("10.0.0.1", None), ("10.0.0.1", Some("10.0.0.2, "))]
        {
            check_identifier(client, forwarded_for, None);
        }
    }

    #[test]
    fn the_last_address_that_is_no_proxy_of_ours() {
        check("198.51.100.7", None, "198.51.100.7");
        check("198.51.100.7", Some("203.0.113.9"), "198.51.100.7");
        check("10.1.2.3", None, "10.1.2.3");
        check("10.1.2.3", Some("203.0.113.9"), "203.0.113.9");
        check("10.1.2.3", Some("66.249.66.1, 203.0.113.9, 10.9.9.9"), "203.0.113.9");
        check("::ffff:10.1.2.3", Some("66.249.66.1,203.0.113.9,2001:db8::5"), "203.0.113.9");
        check("192.0.2.1", Some("203.0.113.9:4711"), "203.0.113.9:4711");
        check("10.1.2.3", Some("10.0.0.1, 10.0.0.2"), "10.0.0.1");
        check("10.1.2.3", Some("203.0.113.9, unknown, 10.0.0.2"), "unknown");
        check("10.1.2.3", Some("203.0.113.9, "), "");
        check("10.1.2.3", Some("203.0.113.9, [2001:db8::1]:80"), "203.0.113.9");
        check("proxy.example", Some("203.0.113.9"), "proxy.example");
    }
}
