//! Numbers and digests as text, without a place on the heap.

use crate::digest::Digest;

/// What stands before the digits of a digest, and how many of them name a snapshot.
const SHA256: &[u8] = b"sha256:";
const SNAPSHOT_DIGITS: usize = 16;

/// All digits of a digest.
const DIGEST_DIGITS: usize = 64;

/// NumberText of a number.
const DECIMAL_DIGITS_MAX: usize = 24;

/// Room for the digits of a number or of a digest.
pub struct NumberText {
    text: [u8; SHA256.len() + DIGEST_DIGITS],
}

impl Default for NumberText {
    fn default() -> NumberText {
        NumberText { text: [0; SHA256.len() + DIGEST_DIGITS] }
    }
}

impl NumberText {
    /// Of a number, without leading zeros.
    pub fn decimal(&mut self, mut number: u32) -> &[u8] {
        let mut start = DECIMAL_DIGITS_MAX;
        loop {
            start -= 1;
            self.text[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return &self.text[start..DECIMAL_DIGITS_MAX];
            }
        }
    }

    /// `sha256:` and the first digits.
    pub fn short(&mut self, digest: &Digest) -> &[u8] {
        self.first(digest, SNAPSHOT_DIGITS)
    }

    /// `sha256:` and all digits.
    pub fn long(&mut self, digest: &Digest) -> &[u8] {
        self.first(digest, DIGEST_DIGITS)
    }

    /// `sha256:` and so many digits, an even number.
    #[inline]
    fn first(&mut self, digest: &Digest, count: usize) -> &[u8] {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let (name, digits) = self.text.split_at_mut(SHA256.len());
        name.copy_from_slice(SHA256);
        for (pair, byte) in digits[..count].chunks_exact_mut(2).zip(digest.as_bytes()) {
            pair.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        &self.text[..SHA256.len() + count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_a_format() {
        for number in [0, 7, 10, 65_535, u32::MAX] {
            assert_eq!(NumberText::default().decimal(number), number.to_string().as_bytes());
        }
        let digest = Digest::of(b"x");
        let expected = &digest.to_string()[..SHA256.len() + SNAPSHOT_DIGITS];
        assert_eq!(NumberText::default().short(&digest), expected.as_bytes());
        assert_eq!(NumberText::default().long(&digest), digest.to_string().as_bytes());
    }
}
