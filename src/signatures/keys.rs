//! Public keys of signers, in the JSON of a key directory (RFC 7517); and keys and signatures in the forms that OpenSSL
//! reads, so that others can verify them without this program.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PSS_2048_8192_SHA512, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::digest::sha256;

/// The most keys of one directory.
const KEYS_MAX: usize = 256;

/// Numbers above it are milliseconds: some directories give times in these.
const SECONDS_MAX: i64 = 100_000_000_000;

/// A key, with the time in which its directory says that it may be used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublicKey {
    /// Its JWK thumbprint (RFC 7638), which names it in signatures.
    pub thumbprint: String,
    pub(super) material: Material,
    /// In seconds since the epoch.
    pub not_before: Option<i64>,
    /// The same.
    pub expires: Option<i64>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Material {
    Ed25519([u8; 32]),
    /// An uncompressed point.
    P256([u8; 65]),
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
}

#[derive(Deserialize)]
struct WireDirectory {
    keys: Vec<Value>,
}

/// The keys in the text of a directory, and how many others it has: of unsupported kinds, or damaged.
///
/// # Errors
/// If it is no directory of keys.
pub fn read_keys(text: &[u8]) -> Result<(Vec<PublicKey>, usize), String> {
    let WireDirectory { keys: all } =
        serde_json::from_slice(text).map_err(|err| err.to_string())?;
    if all.len() > KEYS_MAX {
        return Err(format!("more than {KEYS_MAX} keys"));
    }
    let keys: Vec<PublicKey> = all.iter().filter_map(PublicKey::read).collect();
    let others = all.len() - keys.len();
    Ok((keys, others))
}

impl PublicKey {
    /// The key in a JWK; `None` if it is damaged or of another kind.
    fn read(jwk: &Value) -> Option<PublicKey> {
        let jwk = jwk.as_object()?;
        let bytes = |name: &str| {
            let text = jwk.get(name)?.as_str()?.trim_end_matches('=');
            BASE64_URL_SAFE_NO_PAD.decode(text).ok()
        };
        let is = |name: &str, value: &str| jwk.get(name).and_then(Value::as_str) == Some(value);
        let material = if is("kty", "OKP") && is("crv", "Ed25519") {
            Material::Ed25519(bytes("x")?.try_into().ok()?)
        } else if is("kty", "EC") && is("crv", "P-256") {
            let (x, y) = (bytes("x")?, bytes("y")?);
            let is_point = x.len() == 32 && y.len() == 32;
            Material::P256([&[4], x.as_slice(), &y].concat().try_into().ok().filter(|_| is_point)?)
        } else if is("kty", "RSA") {
            Material::Rsa { modulus: bytes("n")?, exponent: bytes("e")? }
        } else {
            return None;
        };
        let thumbprint = material.thumbprint();
        let (not_before, expires) = (seconds(jwk, "nbf"), seconds(jwk, "exp"));
        Some(PublicKey { thumbprint, material, not_before, expires })
    }

    /// The algorithm of RFC 9421 that its signatures use.
    pub fn algorithm(&self) -> &'static str {
        match self.material {
            Material::Ed25519(_) => "ed25519",
            Material::P256(_) => "ecdsa-p256-sha256",
            Material::Rsa { .. } => "rsa-pss-sha512",
        }
    }

    /// Whether `signature` is one of `base` by this key.
    pub fn verifies(&self, base: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.material {
            Material::Ed25519(key) => UnparsedPublicKey::new(&ED25519, key).verify(base, signature),
            Material::P256(key) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(base, signature)
            }
            Material::Rsa { modulus, exponent } => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(&RSA_PSS_2048_8192_SHA512, base, signature)
            }
        };
        verified.is_ok()
    }

    /// Whether the directory allows its use at `time`, in seconds since the epoch.
    pub fn may_be_used(&self, time: i64) -> bool {
        self.not_before.is_none_or(|first| first <= time)
            && self.expires.is_none_or(|end| time <= end)
    }
}

impl Material {
    /// SHA-256 of the members that define the key (RFC 7638).
    fn thumbprint(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(sha256(&[self.jwk().as_bytes()]))
    }
}

fn seconds(jwk: &Map<String, Value>, name: &str) -> Option<i64> {
    let number = jwk.get(name)?;
    #[allow(clippy::cast_possible_truncation, reason = "such a time is far away in any case")]
    let number = number.as_i64().or_else(|| number.as_f64().map(|number| number as i64))?;
    Some(if number > SECONDS_MAX { number / 1000 } else { number })
}

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
    pub fn jwk(&self) -> String {
        self.material.jwk()
    }

    /// The key as OpenSSL reads it.
    pub fn pem(&self) -> String {
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
    pub fn other_form(&self, signature: &[u8]) -> Option<Vec<u8>> {
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
pub(crate) mod tests {
    use super::*;
    use crate::signatures::fields::{BareItem, read_item};

    /// The keys of RFC 9421, appendices B.1.2, B.1.3 and B.1.4.
    pub(crate) const KEYS_OF_RFC: &str = r#"{"keys": [
        {"kty": "RSA", "e": "AQAB", "n": "r4tmm3r20Wd_PbqvP1s2-QEtvpuRaV8Yq40gjUR8y2Rjxa6dpG2GXHbPfvMs8ct-Lh1GH45x28Rw3Ry53mm-oAXjyQ86OnDkZ5N8lYbggD4O3w6M6pAvLkhk95AndTrifbIFPNU8PPMO7OyrFAHqgDsznjPFmTOtCEcN2Z1FpWgchwuYLPL-Wokqltd11nqqzi-bJ9cvSKADYdUAAN5WUtzdpiy6LbTgSxP7ociU4Tn0g5I6aDZJ7A8Lzo0KSyZYoA485mqcO0GVAdVw9lq4aOT9v6d-nb4bnNkQVklLQ3fVAvJm-xdDOp9LCNCN48V2pnDOkFV6-U9nV5oyc6XI2w"},
        {"kty": "EC", "crv": "P-256", "x": "qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA", "y": "Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0"},
        {"kty": "OKP", "crv": "Ed25519", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}
    ]}"#;

    fn bytes(text: &str) -> Vec<u8> {
        match read_item(format!(":{text}:").as_bytes()).map(|item| item.value) {
            Some(BareItem::Bytes(bytes)) => bytes,
            other => panic!("{other:?}"),
        }
    }

    /// Thumbprints: the two that the draft's test vectors name, and one of RFC 7638.
    #[test]
    fn keys_have_their_thumbprints() {
        let (keys, others) = read_keys(KEYS_OF_RFC.as_bytes()).unwrap();
        let thumbprints: Vec<&str> = keys.iter().map(|key| key.thumbprint.as_str()).collect();
        assert_eq!(
            (thumbprints.as_slice(), others),
            (
                &[
                    "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",
                    "ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI",
                    "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
                ][..],
                0
            )
        );
    }

    /// Signatures of RFC 9421, appendices B.2.4 and B.2.6.
    #[test]
    fn signatures_of_the_rfc_verify() {
        let (keys, _) = read_keys(KEYS_OF_RFC.as_bytes()).unwrap();
        let by_p256 = "\"@status\": 200\n\"content-type\": application/json\n\"content-digest\": sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:\n\"content-length\": 23\n\"@signature-params\": (\"@status\" \"content-type\" \"content-digest\" \"content-length\");created=1618884473;keyid=\"test-key-ecc-p256\"";
        let by_ed25519 = "\"date\": Tue, 20 Apr 2021 02:07:55 GMT\n\"@method\": POST\n\"@path\": /foo\n\"@authority\": example.com\n\"content-type\": application/json\n\"content-length\": 18\n\"@signature-params\": (\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \"content-length\");created=1618884473;keyid=\"test-key-ed25519\"";
        for (key, base, signature) in [
            (
                1,
                by_p256,
                "wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==",
            ),
            (
                2,
                by_ed25519,
                "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
            ),
        ] {
            let signature = bytes(signature);
            assert!(keys[key].verifies(base.as_bytes(), &signature));
            assert!(!keys[key].verifies(&base.as_bytes()[1..], &signature));
            assert!(!keys[key].verifies(base.as_bytes(), &signature[1..]));
            assert!(
                keys.iter().filter(|key| key.verifies(base.as_bytes(), &signature)).count() == 1
            );
        }
    }

    #[test]
    fn other_keys_are_counted_and_times_are_read() {
        let of = |text: &str| read_keys(text.as_bytes());
        let (keys, others) = of(r#"{"keys": [7, {"kty": "OKP", "crv": "X25519", "x": "AQ"},
            {"kty": "EC", "crv": "P-256", "x": "AQ", "y": "AQ"}, {"kty": "oct", "k": "AQ"},
            {"kty": "OKP", "crv": "Ed25519", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0b"},
            {"kty": "OKP", "crv": "Ed25519", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs",
             "nbf": 1712793600, "exp": 1715385600000}]}"#)
        .unwrap();
        assert_eq!((keys.len(), others), (1, 5));
        for (time, expected) in [
            (1_712_793_599, false),
            (1_712_793_600, true),
            (1_715_385_600, true),
            (1_715_385_601, false),
        ] {
            assert_eq!(keys[0].may_be_used(time), expected, "{time}");
        }
        assert_eq!(of(r#"{"keys": []}"#), Ok((Vec::new(), 0)));
        assert!(of("<html>").is_err() && of("{}").is_err() && of("[]").is_err());
        let many = vec!["{}"; KEYS_MAX + 1].join(",");
        assert!(of(&format!(r#"{{"keys": [{many}]}}"#)).is_err());
    }

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
