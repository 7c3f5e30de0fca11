//! What of the clients' addresses and queries leaves in a report.
//!
//! Nothing, unless the user asks: reports are handed on, logs are not. The raw
//! beginnings of lines that are no records are searched for addresses, as
//! nobody knows where in them these stand.

use std::net::IpAddr;

use crate::audit::{client_address::address, input_tally::SAMPLE_BYTES_MAX, tally::Tally};
use crate::digest::sha256;

/// How clients' addresses are written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Addresses {
    /// Not at all.
    None,
    /// As their network: /24 of IPv4, /48 of IPv6.
    Mask,
    /// As the start of a SHA-256 over the salt, a zero byte and the address. Equal addresses are
    /// equal under equal salts; whoever knows the salt can try all addresses of IPv4.
    Hash(String),
    /// As logged.
    Full,
}

/// What becomes of query strings in examples and evidence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Queries {
    /// They stay.
    Keep,
    /// Nothing stays behind the `?`, and rejected lines have no example.
    Strip,
}

/// What may leave.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Privacy {
    /// Of clients.
    pub addresses: Addresses,
    /// Of targets.
    pub queries: Queries,
}

/// Bytes of a hash that are written, in hexadecimal: equal by accident once in 2^32 addresses.
const HASH_BYTES: usize = 8;

/// What stands for an address that is not written, inside a line.
const LEFT_OUT: &str = "(address)";

impl Privacy {
    /// Takes what may not leave out of the examples of `tally`.
    pub fn apply(&self, tally: &mut Tally) {
        for input in &mut tally.counts.inputs {
            for (_, sample) in input.rejected.iter_mut().filter_map(|tally| tally.sample.as_mut()) {
                *sample = self.line(sample).into();
            }
        }
        let rows = tally.counts.origins.iter_mut().flat_map(|origin| &mut origin.rows);
        for example in rows.flat_map(|(_, row)| row.examples_mut()) {
            example.target = self.target(&example.target).into();
        }
    }

    /// A client in a column of its own.
    pub fn client(&self, client: &[u8]) -> Vec<u8> {
        match (&self.addresses, address(client)) {
            (Addresses::Full, _) => client.to_vec(),
            (Addresses::None, _) => Vec::new(),
            (Addresses::Hash(salt), None) if client != b"-" => hash(salt, client).into_bytes(),
            (_, None) => Vec::new(),
            (_, Some(address)) => self.address(address).into_bytes(),
        }
    }

    /// A target as an example.
    pub fn target<'t>(&self, target: &'t [u8]) -> &'t [u8] {
        match (self.queries, memchr::memchr(b'?', target)) {
            (Queries::Strip, Some(mark)) => &target[..=mark],
            _ => target,
        }
    }

    /// The beginning of a line of which nothing is known.
    pub fn line(&self, line: &[u8]) -> Vec<u8> {
        if self.queries == Queries::Strip {
            return Vec::new();
        }
        if self.addresses == Addresses::Full {
            return line.to_vec();
        }
        // Where the line was cut there may be half an address.
        let is_cut = line.len() >= SAMPLE_BYTES_MAX;
        let last = line.iter().rposition(|&byte| !is_cut || !is_of_address(byte));
        let line = &line[..last.map_or(0, |last| last + 1)];
        let mut out = Vec::with_capacity(line.len());
        for run in line.chunk_by(|&left, &right| is_of_address(left) == is_of_address(right)) {
            match is_of_address(run[0]) {
                true => self.run(run, &mut out),
                false => out.extend_from_slice(run),
            }
        }
        out
    }

    /// Digits, dots and colons, with any addresses among them.
    fn run(&self, mut run: &[u8], out: &mut Vec<u8>) {
        while !run.is_empty() {
            match longest_address(run) {
                Some((address, length)) => {
                    out.extend_from_slice(self.address(address).as_bytes());
                    run = &run[length..];
                }
                None => {
                    out.push(run[0]);
                    run = &run[1..];
                }
            }
        }
    }

    fn address(&self, address: IpAddr) -> String {
        match (&self.addresses, address) {
            (Addresses::Full, _) => address.to_string(),
            (Addresses::None, _) => LEFT_OUT.to_owned(),
            (Addresses::Hash(salt), _) => hash(salt, address.to_string().as_bytes()),
            (Addresses::Mask, IpAddr::V4(address)) => {
                let [a, b, c, _] = address.octets();
                format!("{}/24", IpAddr::from([a, b, c, 0]))
            }
            (Addresses::Mask, IpAddr::V6(address)) => {
                let [a, b, c, ..] = address.segments();
                format!("{}/48", IpAddr::from([a, b, c, 0, 0, 0, 0, 0]))
            }
        }
    }
}

fn hash(salt: &str, text: &[u8]) -> String {
    let digest = sha256(&[salt.as_bytes(), &[0], text]);
    digest[..HASH_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_of_address(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || byte == b'.' || byte == b':'
}

/// The longest address that `run` starts with, and its length.
fn longest_address(run: &[u8]) -> Option<(IpAddr, usize)> {
    /// `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`
    const ADDRESS_BYTES_MAX: usize = 45;
    /// `::`
    const ADDRESS_BYTES_MIN: usize = 2;
    let longest = run.len().min(ADDRESS_BYTES_MAX);
    (ADDRESS_BYTES_MIN..=longest).rev().find_map(|length| {
        let text = std::str::from_utf8(&run[..length]).ok()?;
        let address: IpAddr = text.parse().ok()?;
        Some((address.to_canonical(), length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn privacy(addresses: Addresses) -> Privacy {
        Privacy { addresses, queries: Queries::Keep }
    }

    #[track_caller]
    fn check(line: &str, none: &str, mask: &str) {
        let text = |addresses| String::from_utf8(privacy(addresses).line(line.as_bytes())).unwrap();
        assert_eq!(text(Addresses::None), none);
        assert_eq!(text(Addresses::Mask), mask);
        assert_eq!(text(Addresses::Full), line);
    }

    #[test]
    fn addresses_are_found_wherever_they_stand() {
        check("192.0.2.77 - - [x", "(address) - - [x", "192.0.2.0/24 - - [x");
        check(
            "h:443 192.0.2.77:80,[2001:db8:1:2::3]:4",
            "h:443 (address):80,[(address)]:4",
            "h:443 192.0.2.0/24:80,[2001:db8:1::/48]:4",
        );
        check(
            "{\"ip\":\"2001:db8:1:2:3:4:5:6\"}",
            "{\"ip\":\"(address)\"}",
            "{\"ip\":\"2001:db8:1::/48\"}",
        );
        check("x192.0.2.77x", "x(address)x", "x192.0.2.0/24x");
        check("client:192.0.2.77.", "client:(address).", "client:192.0.2.0/24.");
        check("::ffff:192.0.2.77", "(address)", "192.0.2.0/24");
        check("999192.0.2.77", "999(address)", "999192.0.2.0/24");
    }

    #[test]
    fn times_and_numbers_are_no_addresses() {
        let line = "[17/Apr/2025:05:10:56 +0100] \"GET /a.b:c HTTP/1.1\" 200 10353 0.005 face";
        check(line, line, line);
    }

    #[test]
    fn where_a_line_was_cut_no_half_of_an_address_stays() {
        for end in ["192.0.2", "192.0.2.", "192.0.2.1", "2001:db8:1:2", "::"] {
            let start = "x".repeat(SAMPLE_BYTES_MAX - end.len());
            let line = privacy(Addresses::None).line((start.clone() + end).as_bytes());
            assert_eq!(line, start.as_bytes(), "{end}");
        }
    }

    #[test]
    fn clients_in_their_own_column() {
        let check = |addresses: Addresses, client: &str, expected: &str| {
            let found = privacy(addresses).client(client.as_bytes());
            assert_eq!(String::from_utf8(found).unwrap(), expected, "{client}");
        };
        let salted = |salt: &str| Addresses::Hash(salt.to_owned());
        check(Addresses::None, "192.0.2.77", "");
        check(Addresses::Mask, "192.0.2.77", "192.0.2.0/24");
        check(Addresses::Mask, "2001:db8:1:2::3", "2001:db8:1::/48");
        check(Addresses::Mask, "host.example", "");
        check(Addresses::Full, "192.0.2.77", "192.0.2.77");
        check(Addresses::Full, "host.example", "host.example");
        check(salted("s"), "-", "");
        let hashed = |salt: &str, client: &str| privacy(salted(salt)).client(client.as_bytes());
        assert_eq!(hashed("s", "192.0.2.77"), hashed("s", "::ffff:192.0.2.77"));
        assert_eq!(hashed("s", "192.0.2.77").len(), 2 * HASH_BYTES);
        assert_ne!(hashed("s", "192.0.2.77"), hashed("t", "192.0.2.77"));
        assert_ne!(hashed("s", "192.0.2.77"), hashed("s", "192.0.2.78"));
        assert_eq!(hashed("s", "192.0.2.77"), privacy(salted("s")).line(b"192.0.2.77"));
    }

    #[test]
    fn queries_end_at_their_mark() {
        let strip = Privacy { addresses: Addresses::Full, queries: Queries::Strip };
        assert_eq!(strip.target(b"/a?b=c?d"), b"/a?");
        assert_eq!(strip.target(b"/a"), b"/a");
        assert_eq!(strip.line(b"GET /a?b=c"), b"");
        assert_eq!(privacy(Addresses::None).target(b"/a?b"), b"/a?b");
    }
}
