//! Digests as text, without allocation.

use crate::digest::Digest;

/// The prefix of a digest.
const SHA256: &[u8] = b"sha256:";

/// The length of a digest as text, in bytes.
pub(crate) const DIGEST_BYTES: usize = SHA256.len() + 64;

/// The length of a snapshot name in bytes. It is the beginning of its digest.
pub(crate) const SNAPSHOT_BYTES: usize = SHA256.len() + 16;

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

/// The first `N` bytes of the text of `digest`: [`DIGEST_BYTES`] or [`SNAPSHOT_BYTES`].
#[inline]
pub(crate) fn digest_text<const N: usize>(digest: &Digest) -> [u8; N] {
    let mut text = [0; N];
    let (name, digits) = text.split_at_mut(SHA256.len());
    name.copy_from_slice(SHA256);
    for (pair, byte) in digits.chunks_exact_mut(2).zip(digest.as_bytes()) {
        pair.copy_from_slice(&HEX[usize::from(*byte)]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
