//! The client of a request: its address behind proxies, and as a keyed hash, for counts without addresses.
//!
//! Several machines can recognise the same clients only with the same key, which the user gives as
//! a text. Files contain hashes, and a fingerprint that shows whether two keys are equal, but not
//! the keys.

use std::net::{IpAddr, SocketAddr};
use std::{borrow::Cow, fmt};

use ipnet::IpNet;
use memchr::memchr;
use serde::{Deserialize, Serialize};

use crate::digest::sha256;
use crate::error::{Error, Result};
use crate::logs::record::Record;

/// The address or name of the client of `record`: the last address that is no `trusted` proxy, or the first one if
/// all are. A value that is not an address ends the search, because everything before it is unverified. The client
/// writes the first addresses of a list itself, so the first one alone says nothing.
pub(crate) fn client<'r>(record: &Record<'r>, trusted: &[IpNet]) -> &'r [u8] {
    let is_unset = matches!(record.client, b"" | b"-") && !trusted.is_empty();
    let peer = if is_unset { None } else { Some(record.client) };
    let hops = |list: &'r [u8]| list.rsplit(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let all = peer.into_iter().chain(record.forwarded_for).flat_map(hops);
    let mut client = record.client;
    for hop in all {
        client = hop;
        let is_trusted = !trusted.is_empty()
            && address(hop)
                .is_some_and(|address| trusted.iter().any(|network| network.contains(&address)));
        if !is_trusted {
            break;
        }
    }
    client
}

/// The address of the client of `record`. `None` if the log has a name or nothing in its place, if it is a
/// `trusted` proxy, or if it [is forwarded](is_forwarded).
pub(crate) fn client_address(record: &Record<'_>, trusted: &[IpNet]) -> Option<IpAddr> {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    if is_forwarded(record, trusted) {
        return None;
    }
    address(client(record, trusted)).filter(|address| !is_trusted(address))
}

/// Whether the log has a list of addresses in place of the client's, and nobody said which proxies wrote it.
pub(crate) fn is_forwarded(record: &Record<'_>, trusted: &[IpNet]) -> bool {
    trusted.is_empty() && memchr(b',', record.client).is_some()
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
    let text = std::str::from_utf8(text).ok()?;
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip()));
    address.ok().map(|address: IpAddr| address.to_canonical())
}

/// The least characters of a key; shorter ones can be guessed.
pub(crate) const KEY_CHARACTERS_MIN: usize = 16;

/// The size of a fingerprint in bytes.
const FINGERPRINT_BYTES: usize = 16;

/// A prefix for the hash of a text, so that no other hash of the text is the key.
const KEY_CONTEXT: &[u8] = b"botaudit client key 1\0";

/// The suffix of a key in a fingerprint, so that a fingerprint is never the hash of a client.
const CLIENT_CONTEXT: u8 = 1;
const FINGERPRINT_CONTEXT: u8 = 2;

/// A secret key for hashes of clients. Its debug form hides it.
#[derive(Clone, Eq, PartialEq)]
pub struct ClientKey([u8; 32]);

/// The fingerprint of a key. It cannot be used to make hashes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct KeyFingerprint(String);

impl ClientKey {
    /// A key that no other run has.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub(crate) fn random() -> Result<ClientKey> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|err| {
            Error::system(format!(
                "the operating system returned no random \
                 numbers: {err}"
            ))
        })?;
        Ok(ClientKey(key))
    }

    /// The key of `text`.
    ///
    /// # Errors
    /// If it has fewer than [`KEY_CHARACTERS_MIN`] characters.
    pub fn of_text(text: &str) -> std::result::Result<ClientKey, String> {
        let characters = text.chars().count();
        if characters < KEY_CHARACTERS_MIN {
            return Err(format!(
                "has {characters} characters; use at least {KEY_CHARACTERS_MIN}, otherwise the \
                 clients can be found by trying keys"
            ));
        }
        Ok(ClientKey(sha256(&[KEY_CONTEXT, text.as_bytes()])))
    }

    /// The hash of the client `name`. All forms of one address have the same hash.
    pub(crate) fn hash(&self, name: &[u8]) -> u64 {
        let digest_of =
            |form: u8, client: &[u8]| sha256(&[&self.0, &[CLIENT_CONTEXT, form], client]);
        let digest = match address(name) {
            Some(IpAddr::V4(address)) => digest_of(4, &address.octets()),
            Some(IpAddr::V6(address)) => digest_of(6, &address.octets()),
            None => digest_of(0, name),
        };
        u64::from_be_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
    }

    /// The fingerprint.
    pub fn fingerprint(&self) -> KeyFingerprint {
        let digest = sha256(&[&self.0, &[FINGERPRINT_CONTEXT]]);
        KeyFingerprint(
            digest[..FINGERPRINT_BYTES].iter().map(|byte| format!("{byte:02x}")).collect(),
        )
    }
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKey")
    }
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
        let last = peer.rsplit(',').next().unwrap().trim();
        assert_eq!(client(&record, &[]), last.as_bytes());
        assert_eq!(is_forwarded(&record, &[]), peer.contains(','), "{peer}");
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
        check("-", Some("66.249.66.1, 203.0.113.9"), "203.0.113.9");
    }

    /// The first address is what the client wrote.
    #[test]
    fn a_list_in_place_of_the_client_is_read_from_its_end() {
        check("66.249.66.1, 203.0.113.9", None, "203.0.113.9");
        check("66.249.66.1,203.0.113.9, 10.0.0.1", None, "203.0.113.9");
        check("66.249.66.1, 10.0.0.1, 10.0.0.2", None, "66.249.66.1");
        check("66.249.66.1, unknown, 10.0.0.2", None, "unknown");
        check("10.0.0.1, 10.0.0.2", Some("66.249.66.1, 203.0.113.9"), "203.0.113.9");
        for (client, trusted, expected) in [
            ("66.249.66.1, 203.0.113.9", &[][..], None),
            ("66.249.66.1,", &[][..], None),
            ("66.249.66.1, 203.0.113.9", &["10.0.0.0/8"], Some("203.0.113.9")),
            ("66.249.66.1, 203.0.113.9", &["203.0.113.9"], Some("66.249.66.1")),
            ("203.0.113.9", &[][..], Some("203.0.113.9")),
        ] {
            let trusted: Vec<_> = trusted.iter().map(|text| network(text).unwrap()).collect();
            let record = Record { client: client.as_bytes(), ..record() };
            let found = client_address(&record, &trusted).map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{client} {trusted:?}");
        }
    }

    const TEXT: &str = "sixteen letters!";

    #[test]
    fn equal_texts_make_equal_hashes_and_no_others_do() {
        let key = ClientKey::of_text(TEXT).unwrap();
        let same = ClientKey::of_text(TEXT).unwrap();
        let other = ClientKey::of_text("sixteen letters?").unwrap();
        assert_eq!(key.hash(b"192.0.2.1"), same.hash(b"192.0.2.1"));
        assert_eq!(key.fingerprint(), same.fingerprint());
        assert_ne!(key.hash(b"192.0.2.1"), other.hash(b"192.0.2.1"));
        assert_ne!(key.fingerprint(), other.fingerprint());
        let random = ClientKey::random().unwrap();
        assert_ne!(random.hash(b"192.0.2.1"), ClientKey::random().unwrap().hash(b"192.0.2.1"));
    }

    #[test]
    fn a_client_is_one_however_its_address_is_written() {
        let key = ClientKey::of_text(TEXT).unwrap();
        assert_eq!(key.hash(b"192.0.2.1"), key.hash(b"::ffff:192.0.2.1"));
        assert_eq!(key.hash(b"2001:db8::1"), key.hash(b"[2001:DB8:0::1]:443"));
        assert_ne!(key.hash(b"192.0.2.1"), key.hash(b"192.0.2.2"));
        assert_ne!(key.hash(b"a.example"), key.hash(b"b.example"));
    }

    #[test]
    fn short_texts_are_refused_and_keys_are_not_shown() {
        assert!(ClientKey::of_text(&TEXT[1..]).is_err());
        assert!(ClientKey::of_text("ää ää ää ää ää ").is_err());
        assert_eq!(format!("{:?}", ClientKey::of_text(TEXT).unwrap()), "ClientKey");
    }
}
