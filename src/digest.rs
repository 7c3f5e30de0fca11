//! The digest of a robots.txt, which identifies a version, and its text.

use std::fmt;
use std::io::{self, Write};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

/// SHA-256 of the concatenation of `parts`.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|part| context.update(part));
    context.finish().as_ref().try_into().expect("SHA-256 makes 32 bytes")
}

/// SHA-256 of the first 512,001 bytes of a robots.txt: those that count, and one that shows that
/// there are more.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `body`.
    pub fn of(body: &[u8]) -> Digest {
        Digest(sha256(&[body]))
    }

    /// Parses `sha256:` and 64 hexadecimal digits; the prefix is optional.
    pub(crate) fn parse(text: &str) -> Option<Digest> {
        let text = text.strip_prefix("sha256:").unwrap_or(text);
        let digits =
            (0..64).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok());
        let bytes: Vec<u8> = digits.collect::<Option<_>>()?;
        (text.len() == 64).then_some(())?;
        Some(Digest(<[u8; 32]>::try_from(bytes).ok()?))
    }

    /// The 32 bytes.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Digest, &'static str> {
        Digest::parse(&text).ok_or("not a SHA-256 digest")
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }
}

/// `sha256:` and 64 hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: [u8; DIGEST_BYTES] = digest_text(self);
        f.write_str(std::str::from_utf8(&text).expect("a name and digits are ASCII"))
    }
}

/// Computes the SHA-256 of what it passes on.
pub(crate) struct DigestWriter<W> {
    inner: W,
    context: Context,
}

impl<W: Write> DigestWriter<W> {
    /// Passes everything on to `inner`.
    pub(crate) fn new(inner: W) -> DigestWriter<W> {
        DigestWriter { inner, context: Context::new(&SHA256) }
    }

    /// The inner writer, and the digest as `sha256:` and 64 hexadecimal digits.
    pub(crate) fn finish(self) -> (W, String) {
        let bytes = self.context.finish();
        let bytes: [u8; 32] = bytes.as_ref().try_into().expect("SHA-256 makes 32 bytes");
        (self.inner, Digest::from(bytes).to_string())
    }
}

impl<W: Write> Write for DigestWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.context.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The prefix of a digest.
const NAME: &[u8] = b"sha256:";

/// The length of a digest as text, in bytes.
pub(crate) const DIGEST_BYTES: usize = NAME.len() + 64;

/// The length of a snapshot name in bytes. It is the beginning of its digest.
pub(crate) const SNAPSHOT_BYTES: usize = NAME.len() + 16;

/// Two hexadecimal digits for each byte.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};

/// Two hexadecimal digits for each of `bytes`.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| HEX[usize::from(*byte)]).map(char::from).collect()
}

/// The first `N` bytes of the text of `digest`, without allocation: [`DIGEST_BYTES`] or
/// [`SNAPSHOT_BYTES`].
#[inline]
pub(crate) fn digest_text<const N: usize>(digest: &Digest) -> [u8; N] {
    let mut text = [0; N];
    let (name, digits) = text.split_at_mut(NAME.len());
    name.copy_from_slice(NAME);
    for (pair, byte) in digits.chunks_exact_mut(2).zip(digest.as_bytes()) {
        pair.copy_from_slice(&HEX[usize::from(*byte)]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_names_the_function_that_made_it_and_is_read_as_it_is_written() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
        assert_eq!(Digest::parse(empty), Some(Digest::of(b"")));
        let long = format!("{empty}0");
        for wrong in ["", "sha256:", "sha256:0g", &"0".repeat(63), &long, &"é".repeat(64)] {
            assert_eq!(Digest::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn digits_are_those_of_a_format() {
        let digest = Digest::of(b"x");
        let expected = digest.to_string();
        let short: [u8; SNAPSHOT_BYTES] = digest_text(&digest);
        let long: [u8; DIGEST_BYTES] = digest_text(&digest);
        assert_eq!(short, expected.as_bytes()[..SNAPSHOT_BYTES]);
        assert_eq!(long, expected.as_bytes());
    }
}
