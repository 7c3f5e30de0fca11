//! Addresses of clients inside user agents, where versions look like addresses.
//!
//! `verifying pingback from 192.0.2.7` has an address, and `Chrome/131.0.0.0` has none. In doubt, it
//! is an address: reports are shared.

use std::net::{IpAddr, SocketAddrV4};
use std::ops::Range;

/// Words before the numbers of a version, in lower case.
const VERSION_WORDS: [&[u8]; 6] = [b"rv", b"v", b"ver", b"version", b"build", b"release"];

/// The longest part that is compared with an address and a port, in bytes; the longest address has
/// 45.
const PART_BYTES_MAX: usize = 64;

/// The most bytes before an address that say whether it is a version.
const BEFORE_BYTES_MAX: usize = 256;

/// Bytes that part the words of a user agent.
const BETWEEN: &[u8] = b" \t()[]{}<>;,\"'|";

/// The addresses in `text` and where they are, in order.
pub(crate) fn embedded_addresses(text: &[u8]) -> Vec<(Range<usize>, IpAddr)> {
    let mut found = Vec::new();
    let mut at = 0;
    for run in text.chunk_by(|&left, &right| is_of_run(left) == is_of_run(right)) {
        if is_of_run(run[0]) {
            found.extend(address_in(text, at..at + run.len()));
        }
        at += run.len();
    }
    found
}

fn is_of_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'.' || byte == b':'
}

/// The address in the run of letters, digits, dots and colons at `run`: all of it, or its end after
/// a word and a colon, or its beginning before a port.
fn address_in(text: &[u8], run: Range<usize>) -> Option<(Range<usize>, IpAddr)> {
    let is_mark = |byte: &u8| b".:".contains(byte);
    let last = text[run.clone()].iter().rposition(|byte| !is_mark(byte))?;
    let ends = [run.end, run.start + last + 1];
    let mut start = run.start;
    loop {
        let is_short = |end: &usize| *end > start && *end - start <= PART_BYTES_MAX;
        let mut parts = ends.iter().filter(|end| is_short(end)).map(|&end| &text[start..end]);
        if let Some((address, length)) = parts.find_map(parse) {
            let is_version = address.is_ipv4() && is_version(text, start);
            let place = start..start + length;
            return (!is_version && is_of_client(address)).then_some((place, address));
        }
        start += text[start..run.end].iter().position(|&byte| byte == b':')? + 1;
    }
}

/// The address that is all of `part`, but for a port, and its length.
fn parse(part: &[u8]) -> Option<(IpAddr, usize)> {
    let text = std::str::from_utf8(part).ok()?;
    if let Ok(address) = text.parse::<IpAddr>() {
        // `Feed::Bad` is a name in Perl.
        let has_digit = part.iter().any(u8::is_ascii_digit);
        return has_digit.then_some((address.to_canonical(), part.len()));
    }
    let socket: SocketAddrV4 = text.parse().ok()?;
    Some((IpAddr::V4(*socket.ip()), text.find(':')?))
}

/// Whether the numbers at `start` are a version by what is before them: `Name/`, but not in a URL,
/// or a word such as `rv`.
fn is_version(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(BEFORE_BYTES_MAX)..start];
    let word = before.iter().rposition(|byte| BETWEEN.contains(byte)).map_or(0, |at| at + 1);
    let word = &before[word..];
    if let Some(name) = word.strip_suffix(b"/") {
        let is_url = memchr::memmem::find(word, b"://").is_some();
        return !is_url && name.last().is_some_and(|last| *last != b'/');
    }
    let end = before.iter().rposition(|byte| !b" \t:".contains(byte)).map_or(0, |last| last + 1);
    let start = before[..end].iter().rposition(|byte| !byte.is_ascii_alphanumeric());
    let word = &before[start.map_or(0, |at| at + 1)..end];
    VERSION_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Whether a client may have this address: a version such as `131.0.0.0` or `0.9.8.1` is none.
fn is_of_client(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [a, _, c, d] = address.octets();
            a != 0 && (c, d) != (0, 0) && !address.is_loopback()
        }
        IpAddr::V6(address) => !address.is_unspecified() && !address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` is `text` with each address in braces.
    #[track_caller]
    fn check(expected: &str) {
        let text = expected.replace(['{', '}'], "");
        let mut found = String::new();
        let mut last = 0;
        for (range, _) in embedded_addresses(text.as_bytes()) {
            found += &format!("{}{{{}}}", &text[last..range.start], &text[range.clone()]);
            last = range.end;
        }
        assert_eq!(found + &text[last..], expected);
    }

    #[test]
    fn addresses_are_found() {
        check("WordPress/3.9.2; http://example.com/; verifying pingback from {192.0.2.150}");
        check("{192.0.2.7}");
        check("bot ({192.0.2.7}), {192.0.2.8}; {192.0.2.9}.");
        check("bot (+http://{192.0.2.7}/bot; {192.0.2.8}:8080)");
        check("bot (+http://{192.0.2.7}:80/bot)");
        check("bot (+http://example.com/abuse/{192.0.2.7})");
        check("bot (client:{192.0.2.7}; ip={192.0.2.8}) me@{192.0.2.9}");
        check("bot ({2001:db8::7}; [{2001:db8:1:2:3:4:5:6}]:443 client:{2001:db8::9})");
        check("bot {::ffff:192.0.2.7} {2002:c000:204::1} {2001:db8:1:2::}");
        check("IP: {192.0.2.7} Proxy-{192.0.2.8}");
    }

    #[test]
    fn versions_and_names_are_no_addresses() {
        for text in [
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36",
            "Mozilla/5.0 (Windows; U; rv:1.9.2.3) Gecko/20100401 Firefox/3.6.3.1",
            "Foo 131.0.0.0 0.9.8.1 Foo/1.2.3.4 v1.2.3.4 (version 1.2.3.4; Build: 1.2.3.4)",
            "LWP::Simple/6.00 Feed::Bad Feed::Find ::1 :: 127.0.0.1",
            "Foo 1.2.3 1.2.3.4.5 1.2.3.256 12:34:56 aa:bb:cc:dd:ee:ff x1.2.3.4",
            "",
            ":.:.",
        ] {
            check(text);
        }
    }

    #[test]
    fn long_texts_take_no_longer_than_their_length() {
        for part in [":", ".", "a:", "1:", "1.2.3.4/", "1.2.3.4:", "::1/"] {
            let text = part.repeat((1 << 20) / part.len());
            assert!(embedded_addresses(text.as_bytes()).len() <= text.len() / 7, "{part}");
        }
    }
}
