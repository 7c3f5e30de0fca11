//! Removes client addresses and queries from reports.
//!
//! By default, reports contain no addresses, because users share reports. Samples of unparsed lines
//! are searched for addresses, because their position in such a line is unknown; so are user
//! agents, because some name the client of their request.

use std::{borrow::Cow, collections::BTreeMap, net::IpAddr};

use crate::audit::tally::{Tally, counts::UserAgentTally};
use crate::audit::worker::UNKNOWN_USER_AGENT_BYTES_MAX;
use crate::audit::{client::address, reject_tally::SAMPLE_BYTES_MAX};
use crate::digest::{hexadecimal, sha256};
use crate::merge::Merge;
use crate::url::without_query::without_query;

use super::embedded_address::embedded_addresses;

/// The form of addresses of clients.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Addresses {
    /// No addresses.
    None,
    /// As their network: /24 of IPv4, /48 of IPv6, and as much less as hides an IPv4 address in it.
    Mask,
    /// The start of a SHA-256 over the salt, a zero byte and the address. Equal addresses and salts
    /// give equal hashes. With the salt, anyone can test all IPv4 addresses.
    Hash(String),
    /// As logged.
    Full,
}

/// The form of query strings in examples and evidence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Queries {
    /// Unchanged.
    Keep,
    /// Removed after the `?`, with what else [`without_query`] removes; rejected lines have no
    /// example.
    Strip,
}

/// The privacy settings of a report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Privacy {
    /// The form of client addresses.
    pub addresses: Addresses,
    /// The form of query strings.
    pub queries: Queries,
}

/// The bytes of a hash that are written in hexadecimal. A collision is likely only among 2^32
/// addresses.
const HASH_BYTES: usize = 8;

/// The replacement of an address inside a line.
const LEFT_OUT: &str = "(address)";

impl Privacy {
    /// Applies the settings to the examples and unknown user agents of `tally`.
    pub(crate) fn apply(&self, tally: &mut Tally) {
        for input in &mut tally.counts.inputs {
            for (_, sample) in input.rejects_mut().filter_map(|tally| tally.sample.as_mut()) {
                *sample = self.line(sample).into();
            }
        }
        let rows = tally.counts.origins.iter_mut().flat_map(|origin| &mut origin.rows);
        for (_, row) in rows {
            for example in row.examples_mut() {
                if let Cow::Owned(target) = self.target(&example.target) {
                    example.target = target.into();
                }
            }
            if !matches!(self.addresses, Addresses::Full | Addresses::Mask) {
                row.violation_networks.hide_clients();
            }
        }
        if self.addresses == Addresses::Full {
            return;
        }
        // User agents that differ only in their addresses are the same from here on.
        let mut unknown: BTreeMap<Vec<u8>, UserAgentTally> = BTreeMap::new();
        for (user_agent, tally) in std::mem::take(&mut tally.counts.unknown_crawlers) {
            let user_agent = self.user_agent(&user_agent, UNKNOWN_USER_AGENT_BYTES_MAX);
            unknown.entry(user_agent.into_owned()).or_default().absorb(tally);
        }
        let unknown = unknown.into_iter().map(|(user_agent, tally)| (user_agent.into(), tally));
        tally.counts.unknown_crawlers = unknown.collect();
    }

    /// A client in its own column.
    pub(crate) fn client(&self, client: &[u8]) -> Vec<u8> {
        match (&self.addresses, address(client)) {
            (Addresses::Full, _) => client.to_vec(),
            (Addresses::None, _) => Vec::new(),
            (Addresses::Hash(salt), None) if client != b"-" => hash(salt, client).into_bytes(),
            (_, None) => Vec::new(),
            (_, Some(address)) => self.address(address).into_bytes(),
        }
    }

    /// A target in an example.
    pub(crate) fn target<'t>(&self, target: &'t [u8]) -> Cow<'t, [u8]> {
        match self.queries {
            Queries::Strip => without_query(target),
            Queries::Keep => Cow::Borrowed(target),
        }
    }

    /// A user agent, which may be cut to `bytes_max`.
    pub(crate) fn user_agent<'t>(&self, user_agent: &'t [u8], bytes_max: usize) -> Cow<'t, [u8]> {
        if self.addresses == Addresses::Full {
            return Cow::Borrowed(user_agent);
        }
        // It may be cut inside an address.
        let is_cut = user_agent.len() >= bytes_max;
        let last = user_agent.iter().rposition(|&byte| !is_cut || !is_of_address(byte));
        let user_agent = &user_agent[..last.map_or(0, |last| last + 1)];
        let found = embedded_addresses(user_agent);
        if found.is_empty() {
            return Cow::Borrowed(user_agent);
        }
        let mut out = Vec::with_capacity(user_agent.len());
        let mut end = 0;
        for (range, address) in found {
            out.extend_from_slice(&user_agent[end..range.start]);
            out.extend_from_slice(self.address(address).as_bytes());
            end = range.end;
        }
        out.extend_from_slice(&user_agent[end..]);
        Cow::Owned(out)
    }

    /// Whether `base`, the text that the signature of a request signed, contains nothing of its `target`
    /// and `user_agent` that is left out.
    pub(crate) fn shows_signed(&self, base: &[u8], (target, user_agent): (&[u8], &[u8])) -> bool {
        const OF_TARGET: [&[u8]; 4] =
            [b"\"@path\"", b"\"@query\"", b"\"@request-target\"", b"\"@target-uri\""];
        let shows_target = *self.target(target) == *target;
        let shows_user_agent = *self.user_agent(user_agent, usize::MAX) == *user_agent;
        base.split(|&byte| byte == b'\n').all(|line| {
            let is_of_target = OF_TARGET.iter().any(|name| line.starts_with(name));
            let is_user_agent = line.starts_with(b"\"user-agent\"");
            (shows_target || !is_of_target) && (shows_user_agent || !is_user_agent)
        })
    }

    /// The beginning of an unparsed line.
    pub(crate) fn line(&self, line: &[u8]) -> Vec<u8> {
        if self.queries == Queries::Strip {
            return Vec::new();
        }
        if self.addresses == Addresses::Full {
            return line.to_vec();
        }
        // A line may be cut inside an address.
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

    /// A run of digits, dots and colons, which may contain addresses.
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
                let (segments, bits) = match address.segments() {
                    // 6to4: an IPv4 address follows, of which /24 stays.
                    [0x2002, b, c, ..] => ([0x2002, b, c & 0xff00], 40),
                    // Teredo: the address of a server follows, and that of the client is at the end.
                    [0x2001, 0, ..] => ([0x2001, 0, 0], 32),
                    // Those with an IPv4 address at the end (NAT64 and others) are cut before it.
                    [a, b, c, ..] => ([a, b, c], 48),
                };
                let [a, b, c] = segments;
                format!("{}/{bits}", IpAddr::from([a, b, c, 0, 0, 0, 0, 0]))
            }
        }
    }
}

fn hash(salt: &str, text: &[u8]) -> String {
    let digest = sha256(&[salt.as_bytes(), &[0], text]);
    hexadecimal(&digest[..HASH_BYTES])
}

fn is_of_address(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || byte == b'.' || byte == b':'
}

/// The longest address at the start of `run`, and its length.
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
    fn no_network_shows_an_ipv4_address_in_it() {
        let check = |client: &str, expected: &str| {
            let masked = privacy(Addresses::Mask);
            let found = String::from_utf8(masked.client(client.as_bytes())).unwrap();
            assert_eq!(found, expected, "{client}");
            assert_eq!(masked.line(client.as_bytes()), expected.as_bytes(), "{client}");
        };
        // 192.0.2.77 as 6to4, in Teredo (inverted), in NAT64, mapped, and compatible.
        check("2002:c000:024d:1::1", "2002:c000:200::/40");
        check("2002:c000:024d::", "2002:c000:200::/40");
        check("2001:0:4136:e378:8000:63bf:3fff:fdb2", "2001::/32");
        check("64:ff9b::192.0.2.77", "64:ff9b::/48");
        check("64:ff9b::c000:24d", "64:ff9b::/48");
        check("64:ff9b:1::192.0.2.77", "64:ff9b:1::/48");
        check("64:ff9b:1:c000:2:4d00::", "64:ff9b:1::/48");
        check("::ffff:192.0.2.77", "192.0.2.0/24");
        check("::ffff:c000:24d", "192.0.2.0/24");
        check("::192.0.2.77", "::/48");
        check("::ffff:0:192.0.2.77", "::/48");
        check("2001:1:2:3::4", "2001:1:2::/48");
    }

    #[test]
    fn addresses_in_user_agents() {
        let agent = |addresses, text: &str| {
            let privacy = privacy(addresses);
            String::from_utf8(privacy.user_agent(text.as_bytes(), 60).into_owned()).unwrap()
        };
        let text = "Bot/1.2.3.4 (for 192.0.2.77; 2002:c000:24d::1)";
        assert_eq!(agent(Addresses::None, text), "Bot/1.2.3.4 (for (address); (address))");
        let masked = "Bot/1.2.3.4 (for 192.0.2.0/24; 2002:c000:200::/40)";
        assert_eq!(agent(Addresses::Mask, text), masked);
        assert_eq!(agent(Addresses::Full, text), text);
        let hashed = agent(Addresses::Hash("s".to_owned()), text);
        assert!(hashed.starts_with("Bot/1.2.3.4 (for ") && !hashed.contains("192.0.2"), "{hashed}");
        let cut = format!("{:50}192.0.2.77", "Bot for");
        assert_eq!(agent(Addresses::None, &cut), format!("{:50}", "Bot for"));
        assert_eq!(agent(Addresses::Full, &cut), cut);
    }

    #[test]
    fn what_was_signed_is_shown_only_whole() {
        let strip = Privacy { addresses: Addresses::Full, queries: Queries::Strip };
        let (keep, agent) = (privacy(Addresses::None), "Bot for 192.0.2.77");
        for (base, is_stripped, is_kept) in [
            ("\"@authority\": a.example\n\"signature-agent\": x", true, true),
            ("\"@authority\": a.example\n\"@path\": /a", false, true),
            ("\"@target-uri\": https://a.example/a?b", false, true),
            ("\"@query\": ?b", false, true),
            ("\"@request-target\": /a?b", false, true),
            ("\"@method\": GET\n\"user-agent\": Bot for 192.0.2.77", true, false),
        ] {
            let request = (&b"/a?b"[..], agent.as_bytes());
            assert_eq!(strip.shows_signed(base.as_bytes(), request), is_stripped, "{base}");
            assert_eq!(keep.shows_signed(base.as_bytes(), request), is_kept, "{base}");
            assert!(privacy(Addresses::Full).shows_signed(base.as_bytes(), request));
        }
        assert!(strip.shows_signed(b"\"@path\": /a", (b"/a", b"Bot")));
    }

    #[test]
    fn queries_end_at_their_mark() {
        let strip = Privacy { addresses: Addresses::Full, queries: Queries::Strip };
        assert_eq!(*strip.target(b"/a?b=c?d"), *b"/a?");
        assert_eq!(*strip.target(b"/a"), *b"/a");
        assert_eq!(*strip.target(b"http://u:p@a.example/b#c"), *b"http://@a.example/b#");
        assert_eq!(strip.line(b"GET /a?b=c"), b"");
        assert_eq!(*privacy(Addresses::None).target(b"/a?b"), *b"/a?b");
    }
}
