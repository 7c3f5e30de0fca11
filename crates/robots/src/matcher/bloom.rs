//! A set of adjacent byte pairs of a text, in 64 bits.
//!
//! A path that lacks a byte pair of a literal cannot contain the literal. This test costs a
//! nanosecond, a search ten to a hundred.
//!
//! Each pair sets one bit of a square of eight by eight: the first byte selects the row, the second
//! one the column. So the bit is the intersection of two table entries, and a byte of the text
//! costs two look-ups.

/// The bits of the row, by the first byte of a pair.
static ROWS: [u64; 256] = masks(0xff, 8);

/// The bits of the column, by the second byte of a pair.
static COLUMNS: [u64; 256] = masks(0x0101_0101_0101_0101, 1);

/// `mask` for each byte, shifted by one of eight steps of `step` bits. Neighbours in the alphabet
/// have different shifts.
const fn masks(mask: u64, step: usize) -> [u64; 256] {
    let mut masks = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        masks[byte] = mask << ((byte ^ (byte >> 3)) % 8 * step);
        byte += 1;
    }
    masks
}

/// A set of byte pairs with false positives and without false negatives.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Bloom(u64);

impl Bloom {
    pub(crate) const ALL: Bloom = Bloom(u64::MAX);

    #[inline]
    pub(crate) fn of(text: &[u8]) -> Bloom {
        let Some((first, others)) = text.split_first() else { return Bloom::default() };
        let (mut bits, mut row) = (0, ROWS[usize::from(*first)]);
        for &byte in others {
            bits |= row & COLUMNS[usize::from(byte)];
            row = ROWS[usize::from(byte)];
        }
        Bloom(bits)
    }

    /// The pairs inside the literals of `suffix`, which are separated by `*`.
    pub(crate) fn of_literals(suffix: &[u8]) -> Bloom {
        let blooms = suffix.split(|byte| *byte == b'*').map(Bloom::of);
        Bloom(blooms.fold(0, |bits, bloom| bits | bloom.0))
    }

    /// Whether all pairs of `needed` may be in the set.
    #[inline]
    pub(crate) fn may_hold(&self, needed: &Bloom) -> bool {
        needed.0 & !self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_claims_too_few() {
        let path = Bloom::of(b"/index.php?a=\xff\0");
        for suffix in [&b"*.php*?a="[..], b"*/*x*\xff\0", b"", b"*i*i"] {
            assert!(path.may_hold(&Bloom::of_literals(suffix)), "{suffix:?}");
        }
        assert!(!path.may_hold(&Bloom::of_literals(b"*/*feed")));
    }
}
