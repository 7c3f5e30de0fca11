//! Keyed hashes of clients, for counts without addresses.
//!
//! Several machines can recognise the same clients only with the same key, which the user gives as
//! a text. Files contain hashes, and a fingerprint that shows whether two keys are equal, but not
//! the keys.

use std::{fmt, net::IpAddr};

use crate::digest::sha256;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::client_address::address;

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
