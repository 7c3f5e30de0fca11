//! Keys and signatures in the forms that OpenSSL reads, so that others can verify them without this
//! program.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};

use super::keys::{Material, PublicKey};

/// The characters of a line of PEM.
const PEM_COLUMNS: usize = 64;

/// SubjectPublicKeyInfo (RFC 8410) up to the bytes of an Ed25519 key.
const ED25519_HEAD: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The same (RFC 5480) up to the point of a P-256 key.
const P256_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The algorithm of an RSA key (RFC 3279).
const RSA_ALGORITHM: [u8; 15] =
    [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;

impl PublicKey {
    /// The key as a JWK with only the members that define it.
    pub(crate) fn jwk(&self) -> String {
        self.material.jwk()
    }

    /// The key as OpenSSL reads it.
    pub(crate) fn pem(&self) -> String {
        let text = BASE64_STANDARD.encode(self.der());
        let mut pem = "-----BEGIN PUBLIC KEY-----\n".to_owned();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_at(rest.len().min(PEM_COLUMNS));
            pem += line;
            pem += "\n";
            rest = after;
        }
        pem + "-----END PUBLIC KEY-----\n"
    }

    fn der(&self) -> Vec<u8> {
        match &self.material {
            Material::Ed25519(key) => [&ED25519_HEAD[..], key].concat(),
            Material::P256(point) => [&P256_HEAD[..], point].concat(),
            Material::Rsa { modulus, exponent } => {
                let numbers = [integer(modulus), integer(exponent)].concat();
                let key = [vec![0], value(SEQUENCE, &numbers)].concat();
                value(SEQUENCE, &[RSA_ALGORITHM.to_vec(), value(BIT_STRING, &key)].concat())
            }
        }
    }

    /// A signature by this key as OpenSSL reads it, if that is not the form of RFC 9421.
    pub(crate) fn other_form(&self, signature: &[u8]) -> Option<Vec<u8>> {
        let Material::P256(_) = self.material else { return None };
        let (r, s) = signature.split_at_checked(32)?;
        Some(value(SEQUENCE, &[integer(r), integer(s)].concat()))
    }

    /// The command that verifies `signature` of the file `base` by the key in the file `pem`.
    pub(crate) fn openssl_command(&self, base: &str, signature: &str, pem: &str) -> String {
        match self.material {
            Material::Ed25519(_) => format!(
                "openssl pkeyutl -verify -pubin -inkey {pem} -rawin -in {base} -sigfile {signature}"
            ),
            Material::P256(_) => {
                format!("openssl dgst -sha256 -verify {pem} -signature {signature} {base}")
            }
            Material::Rsa { .. } => format!(
                "openssl dgst -sha512 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:64 \
                 -verify {pem} -signature {signature} {base}"
            ),
        }
    }
}

impl Material {
    /// The members that define the key, by name (RFC 7638, RFC 8037).
    pub(super) fn jwk(&self) -> String {
        let text = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Material::Ed25519(x) => {
                format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, text(x))
            }
            Material::P256(point) => {
                let (x, y) = (text(&point[1..33]), text(&point[33..]));
                format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#)
            }
            Material::Rsa { modulus, exponent } => {
                format!(r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#, text(exponent), text(modulus))
            }
        }
    }
}

/// A value in DER.
fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let first = length.iter().position(|&byte| byte != 0).unwrap_or(length.len() - 1);
    let length = &length[first..];
    let mut out = vec![tag];
    match length {
        [short @ 0..=0x7f] => out.push(*short),
        #[allow(clippy::cast_possible_truncation, reason = "a length has at most 8 bytes")]
        _ => {
            out.push(0x80 | length.len() as u8);
            out.extend_from_slice(length);
        }
    }
    out.extend_from_slice(content);
    out
}

/// A number without a sign, in DER.
fn integer(bytes: &[u8]) -> Vec<u8> {
    let first = bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len());
    let bytes = &bytes[first..];
    match bytes.first() {
        Some(0..=0x7f) => value(INTEGER, bytes),
        _ => value(INTEGER, &[&[0], bytes].concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signatures::keys::read_keys;
    use crate::signatures::keys::tests::KEYS_OF_RFC;

    /// The keys of RFC 9421, appendix B.1, as it prints them.
    #[test]
    fn keys_are_those_that_the_rfc_prints() {
        let (keys, _) = read_keys(KEYS_OF_RFC.as_bytes()).unwrap();
        let by_p256 = "-----BEGIN PUBLIC KEY-----\n\
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqIVYZVLCrPZHGHjP17CTW0/+D9Lf\n\
            w0EkjqF7xB4FivAxzic30tMM4GF+hR6Dxh71Z50VGGdldkkDXZCnTNnoXQ==\n\
            -----END PUBLIC KEY-----\n";
        let by_ed25519 = "-----BEGIN PUBLIC KEY-----\n\
            MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\n\
            -----END PUBLIC KEY-----\n";
        assert_eq!(keys[1].pem(), by_p256);
        assert_eq!(keys[2].pem(), by_ed25519);
        let rsa = keys[0].pem();
        assert!(
            rsa.starts_with("-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A"),
            "{rsa}"
        );
        assert_eq!(keys[0].der().len(), 294);
    }

    #[test]
    fn numbers_have_the_shortest_form() {
        for (bytes, expected) in [
            (&[][..], &[2, 1, 0][..]),
            (&[0, 0], &[2, 1, 0]),
            (&[0, 0x7f], &[2, 1, 0x7f]),
            (&[0x80], &[2, 2, 0, 0x80]),
            (&[0, 0, 1, 0], &[2, 2, 1, 0]),
        ] {
            assert_eq!(integer(bytes), expected);
        }
        assert_eq!(value(4, &[7; 127])[..2], [4, 127]);
        assert_eq!(value(4, &[7; 128])[..3], [4, 0x81, 128]);
        assert_eq!(value(4, &[7; 256])[..4], [4, 0x82, 1, 0]);
    }
}
