//! Parses whole numbers and memory sizes.

use std::num::NonZeroUsize;

/// Units in lower case; no unit means MiB.
const UNITS: [(&str, usize); 7] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("", 1 << 20),
];

/// The bytes of `256`, `256MiB`, `2G`; larger values than the machine can count are capped.
///
/// # Errors
/// If it is not a whole number with one of these units.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start().to_ascii_lowercase();
    let unit = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, bytes)| *bytes);
    match (number.parse::<usize>(), unit) {
        (Ok(number), Some(unit)) => Ok(number.saturating_mul(unit)),
        (Err(_), Some(_)) if digits > 0 => Ok(usize::MAX),
        _ => Err("write a whole number of MiB, or one with KiB, MiB or GiB: 64MiB".to_owned()),
    }
}

/// A whole number.
///
/// # Errors
/// If it is not one.
pub(crate) fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "write a whole number, such as 4".to_owned())
}

/// A whole number, at least 1.
///
/// # Errors
/// If it is not one.
pub(crate) fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "write a whole number of 1 or more, such as 20".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_is_mib() {
        for (text, expected) in [
            ("0", 0),
            ("256", 256 << 20),
            ("1MiB", 1 << 20),
            ("64 kib", 64 << 10),
            ("2G", 2 << 30),
            ("99999999999999999999999", usize::MAX),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "MiB", "1.5GiB", "-1", "12MB", "x"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
