//! IPv4 addresses as logs write them.

use std::net::Ipv4Addr;

use wide::u8x16;

/// The longest address, and the shortest one.
const LENGTH_MAX: usize = 15;
const LENGTH_MIN: usize = 7;

/// The digits of a number of 0 to 3 digits: the bytes that it has in a word whose last byte is its last digit,
/// and the least and the greatest number, one digit a byte. No number has no digits or a needless zero.
const DIGITS: [(u32, u32, u32); 4] = [
    (0, 1, 0),
    (0xff00_0000, 0, 0x09),
    (0xffff_0000, 0x0100, 0x0909),
    (0xffff_ff00, 0x01_0000, 0x02_0505),
];

/// Four numbers up to 255 without needless zeros, separated by dots: what the standard library reads, too, but
/// more slowly. All dots are found at once, and all digits of a number are added at once.
#[inline]
pub(crate) fn dotted(text: &[u8]) -> Option<Ipv4Addr> {
    if !(LENGTH_MIN..=LENGTH_MAX).contains(&text.len()) {
        return None;
    }
    // Four bytes before the text, so that a word can end at any byte of it, and a dot after it.
    let mut padded = [b'.'; 20];
    match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            padded[4..12].copy_from_slice(first);
            padded[text.len() - 4..][..8].copy_from_slice(last);
        }
        _ => padded[4..11].copy_from_slice(text.first_chunk::<7>()?),
    }
    let bytes = u8x16::from(*padded.last_chunk::<16>()?);
    let dots = bytes.simd_eq(u8x16::splat(b'.')).to_bitmask();
    // A byte is a digit if it is none below `0` and none above `9`.
    let digits = bytes - u8x16::splat(b'0');
    let digits = digits.simd_eq(digits.min(u8x16::splat(9))).to_bitmask();
    if (dots | digits) & 0xffff != 0xffff {
        return None;
    }
    let (mut rest, mut start, mut address) = (dots, 0, 0);
    for _ in 0..4 {
        let end = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        let (present, least, greatest) = *DIGITS.get(end.wrapping_sub(start))?;
        let word = u32::from_le_bytes(*padded.get(end..)?.first_chunk()?);
        let digits = (word & present) & 0x0f0f_0f0f;
        if !(least..=greatest).contains(&digits.swap_bytes()) {
            return None;
        }
        // Hundreds, tens and ones meet in the last byte.
        let number = digits.wrapping_mul(1 | 10 << 8 | 100 << 16) >> 24;
        (address, start) = (address << 8 | number, end + 1);
    }
    (start == text.len() + 1).then(|| Ipv4Addr::from_bits(address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn of_library(text: &[u8]) -> Option<Ipv4Addr> {
        str::from_utf8(text).ok().and_then(|text| text.parse().ok())
    }

    /// Of texts that are nearly addresses, too.
    #[test]
    fn dotted_numbers_are_read_as_the_standard_library_does() {
        let mut random = Random::new();
        let parts: [&[u8]; 12] =
            [b"0", b"1", b"7", b"9", b"10", b"25", b"199", b"255", b"256", b"00", b"1000", b""];
        let mut addresses = 0;
        for _ in 0..50_000 {
            let numbers = [4, 4, 4, 4, 3, 5][random.below(6)];
            let numbers: Vec<&[u8]> = (0..numbers).map(|_| parts[random.below(12)]).collect();
            let mut text = numbers.join(&b'.');
            if random.below(8) == 0 {
                let at = random.below(text.len().max(1)).min(text.len());
                text.insert(at, b". 5:a-/\xb5\0"[random.below(9)]);
            }
            assert_eq!(dotted(&text), of_library(&text), "{}", text.escape_ascii());
            addresses += u32::from(dotted(&text).is_some());
        }
        assert!(addresses > 1000, "{addresses}");
    }

    /// Every number in every place, and every byte in every place.
    #[test]
    fn every_number_and_every_byte_is_read_as_the_standard_library_does() {
        for number in 0..=1100 {
            for text in [
                format!("{number}.2.34.5"),
                format!("1.{number}.34.5"),
                format!("192.0.{number}.255"),
                format!("192.200.{number}.{number}"),
                format!("192.0.2.{number}"),
                format!("192.0.2.{number:02}"),
                format!("{number:03}.0.2.1"),
            ] {
                assert_eq!(dotted(text.as_bytes()), of_library(text.as_bytes()), "{text}");
            }
        }
        for address in ["1.2.3.4", "10.20.30.40", "100.200.30.1", "255.255.255.255"] {
            for (at, byte) in
                (0..address.len()).flat_map(|at| (0..=255).map(move |byte| (at, byte)))
            {
                let mut text = address.as_bytes().to_vec();
                text[at] = byte;
                assert_eq!(dotted(&text), of_library(&text), "{}", text.escape_ascii());
            }
        }
    }
}
