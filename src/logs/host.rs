//! Hosts and clients with an optional port.

use std::net::IpAddr;

use memchr::{memchr, memrchr};

use crate::logs::field::{RawField, find_near};

/// Splits a name and its port. An IPv6 address with a port needs brackets. `-` and an empty text
/// have neither.
#[inline(always)]
pub(crate) fn host_and_port(name: &[u8]) -> (Option<&[u8]>, Option<u16>) {
    if matches!(name, b"" | b"-") {
        return (None, None);
    }
    let split = last_colon(name).map(|colon| (&name[..colon], &name[colon + 1..]));
    match split {
        Some((host, port)) if find_near(b':', host).is_none() || host.ends_with(b"]") => {
            let number = number_of_port(port);
            if number.is_some() && !host.is_empty() {
                (Some(host), number)
            } else {
                (Some(name), None)
            }
        }
        _ => (Some(name), None),
    }
}

/// The place of the last colon, before which a port usually is.
#[inline]
fn last_colon(name: &[u8]) -> Option<usize> {
    let near = name.len().saturating_sub(PORT_BYTES_MAX + 1);
    match name[near..].iter().rposition(|byte| *byte == b':') {
        Some(at) => Some(near + at),
        None => memrchr(b':', &name[..near]),
    }
}

/// The digits of the largest port.
const PORT_BYTES_MAX: usize = 5;

/// `None` if it is not a number up to 65,535.
#[inline]
pub(crate) fn number_of_port(digits: &[u8]) -> Option<u16> {
    if digits.is_empty() {
        return None;
    }
    // Most ports, which the standard library reads more slowly.
    if digits.len() < PORT_BYTES_MAX && digits.iter().all(u8::is_ascii_digit) {
        return Some(digits.iter().fold(0, |port, digit| port * 10 + u16::from(digit - b'0')));
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Removes the port and the brackets of `192.0.2.7:4711` and `[2001:db8::1]:4711`; other clients
/// stay unchanged, and so do lists of addresses.
#[inline]
pub(crate) fn client_without_port(client: &[u8]) -> &[u8] {
    if let Some(inner) = client.strip_prefix(b"[") {
        return match memchr(b']', inner) {
            Some(end @ 1..) if memchr(b',', inner).is_none() => &inner[..end],
            _ => client,
        };
    }
    match find_near(b':', client) {
        Some(colon @ 1..) if number_of_port(&client[colon + 1..]).is_some() => &client[..colon],
        _ => client,
    }
}

/// The first quoted field of `bytes` that is a list of addresses, such as X-Forwarded-For.
pub(crate) fn quoted_addresses(mut bytes: &[u8]) -> Option<&[u8]> {
    while let Some(quote) = memchr(b'"', bytes) {
        let (field, rest) = RawField::take_quoted(&bytes[quote..])?;
        if is_address_list(field.raw) {
            return Some(field.raw);
        }
        bytes = rest;
    }
    None
}

/// Addresses, optionally with ports, separated by commas; some proxies write `unknown` for an
/// address.
pub(crate) fn is_address_list(text: &[u8]) -> bool {
    let is_address = |part: &[u8]| {
        let part = part.trim_ascii();
        part == b"unknown" || is_address(client_without_port(part))
    };
    text.first().is_some_and(|byte| byte.is_ascii_hexdigit() || b":[".contains(byte))
        && text.split(|&byte| byte == b',').all(is_address)
}

/// Whether it is an IPv4 or IPv6 address.
pub(crate) fn is_address(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<IpAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_host(name: &str, expected: (Option<&str>, Option<u16>)) {
        let (host, port) = host_and_port(name.as_bytes());
        assert_eq!((host.map(|host| std::str::from_utf8(host).unwrap()), port), expected);
    }

    #[test]
    fn hosts_and_ports() {
        check_host("example.com:443", (Some("example.com"), Some(443)));
        check_host("example.com", (Some("example.com"), None));
        check_host("[::1]:8080", (Some("[::1]"), Some(8080)));
        check_host("[::1]", (Some("[::1]"), None));
        check_host("::1", (Some("::1"), None));
        check_host("example.com:", (Some("example.com:"), None));
        check_host("example.com:65536", (Some("example.com:65536"), None));
        check_host(":80", (Some(":80"), None));
        check_host("-", (None, None));
        check_host("", (None, None));
    }

    #[test]
    fn ports_are_those_of_the_standard_library() {
        let odd = ["+80", "-1", "0", "00", "0080", "00080", "000080", "8a", "", " 8", "8:0"];
        let all = (0..70_000_u32).map(|port| port.to_string());
        for text in all.chain(odd.map(str::to_owned)) {
            assert_eq!(number_of_port(text.as_bytes()), text.parse().ok(), "{text}");
            let name = format!("example.com:{text}");
            let expected = memrchr(b':', name.as_bytes());
            assert_eq!(last_colon(name.as_bytes()), expected, "{name}");
        }
        assert_eq!(last_colon(b"example.com"), None);
        assert_eq!(last_colon(b":"), Some(0));
    }

    #[test]
    fn clients_lose_their_port() {
        let check = |client: &str, expected: &str| {
            assert_eq!(client_without_port(client.as_bytes()), expected.as_bytes(), "{client}");
        };
        check("192.0.2.7:4711", "192.0.2.7");
        check("[2001:db8::1]:4711", "2001:db8::1");
        check("[2001:db8::1]", "2001:db8::1");
        check("2001:db8::1", "2001:db8::1");
        check("::1", "::1");
        check("1:2:3", "1:2:3");
        check("name", "name");
        check("name:", "name:");
        check("[]", "[]");
        check("[2001:db8::1], 192.0.2.7", "[2001:db8::1], 192.0.2.7");
        check("[2001:db8::1]:80,192.0.2.7:80", "[2001:db8::1]:80,192.0.2.7:80");
        check("192.0.2.7:80, 192.0.2.8:80", "192.0.2.7:80, 192.0.2.8:80");
        check("-", "-");
    }

    #[test]
    fn lists_of_addresses_behind_the_rest() {
        let check = |tail: &str, expected: Option<&str>| {
            let found = quoted_addresses(tail.as_bytes());
            assert_eq!(found, expected.map(str::as_bytes), "{tail}");
        };
        check(r#" "203.0.113.9, 10.0.0.1""#, Some("203.0.113.9, 10.0.0.1"));
        check(r#" 0.1 "x" "2001:db8::1" "a""#, Some("2001:db8::1"));
        check(r#" "203.0.113.9:80, unknown""#, Some("203.0.113.9:80, unknown"));
        check(r#" "-" "unknown" "" "1.2.3" "1.2.3.4 x""#, None);
        check(r#" 203.0.113.9 "203.0.113.9"#, None);
        check("", None);
    }
}
