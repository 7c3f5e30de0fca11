//! Amounts in a configuration: whole numbers, memory sizes, and money with or without a currency.

use std::{num::NonZeroUsize, str::FromStr};

use serde::{Serialize, Serializer};

use super::setting::{Scalar, Setting};

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

/// The decimals of an amount.
const DECIMALS: usize = 6;

/// 10 to the power of `DECIMALS`.
pub(crate) const MILLION: u64 = 1_000_000;

/// An amount in millionths, and the name of its currency, which may be empty.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Money {
    millionths: u64,
    /// Such as `USD`.
    pub currency: String,
}

impl Money {
    /// `millionths` of a unit of `currency`, whose name may be empty; `None` if the name has digits,
    /// a point, a sign or more than 8 characters.
    pub fn new(millionths: u64, currency: &str) -> Option<Money> {
        is_currency(currency).then(|| Money { millionths, currency: currency.to_owned() })
    }

    /// The price of `bytes` in millionths, if this is the price of 10^9 bytes; rounded half up.
    pub(crate) fn of_bytes(&self, bytes: u64) -> u64 {
        let billionths = u128::from(self.millionths) * u128::from(bytes);
        u64::try_from((billionths + 500_000_000) / 1_000_000_000).unwrap_or(u64::MAX)
    }

    /// An amount of this currency for people: two decimals, or all of those below 1.
    pub(crate) fn shown(&self, millionths: u64) -> String {
        let text = match millionths {
            MILLION.. => {
                let cents = millionths.saturating_add(5_000) / 10_000;
                format!("{}.{:02}", cents / 100, cents % 100)
            }
            _ => format!("0.{millionths:06}"),
        };
        format!("{text} {}", self.currency).trim_end().to_owned()
    }
}

impl FromStr for Money {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Money, &'static str> {
        const ADVICE: &str = "write a number with up to 6 decimals, such as 0.09 or 0.09USD";
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, currency) = (&text[..end], text[end..].trim());
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_number = !whole.is_empty() && decimals.len() <= DECIMALS;
        let digits = format!("{whole}{decimals:0<DECIMALS$}");
        let millionths = digits.parse().ok().filter(|_| is_number && is_currency(currency));
        Ok(Money { millionths: millionths.ok_or(ADVICE)?, currency: currency.to_owned() })
    }
}

fn is_currency(name: &str) -> bool {
    name.chars().count() <= 8 && !name.chars().any(is_of_number)
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || c.is_control() || matches!(c, '.' | ',' | '-')
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (whole, decimals) = (self.millionths / MILLION, self.millionths % MILLION);
        let number = format!("{whole}.{decimals:06}");
        let number = number.trim_end_matches('0').trim_end_matches('.');
        to.collect_str(&format_args!("{number}{}", self.currency))
    }
}

impl Setting for Money {
    const EXPECTED: &'static str = "a number, or text in quotes such as \"0.09USD\"";

    fn from_scalar(scalar: Scalar) -> Option<Result<Money, String>> {
        let text = match scalar {
            Scalar::Text(text) => text,
            Scalar::Whole(number) => number.to_string(),
            Scalar::Number(number) => number.to_string(),
            _ => return None,
        };
        Some(text.parse().map_err(|why| format!("'{text}': {why}")))
    }
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

    #[test]
    fn amounts() {
        for (text, millionths, written) in [
            ("0.09", 90_000, "0.09"),
            ("0.09USD", 90_000, "0.09USD"),
            ("12 €", 12_000_000, "12€"),
            ("0.000001", 1, "0.000001"),
            ("5.", 5_000_000, "5"),
        ] {
            let money: Money = text.parse().unwrap();
            assert_eq!(money.millionths, millionths, "{text}");
            assert_eq!(serde_json::to_value(&money).unwrap(), written, "{text}");
        }
        for wrong in
            ["", "USD", ".5", "-1", "1e3", "0.0000001", "1.2.3", "1,5", "1 U-D", "99999999999999"]
        {
            assert!(wrong.parse::<Money>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn prices() {
        let money: Money = "0.09USD".parse().unwrap();
        assert_eq!(money.of_bytes(1_000_000_000), 90_000);
        assert_eq!((money.of_bytes(5_555), money.of_bytes(5_556)), (0, 1));
        assert_eq!(money.of_bytes(u64::MAX), 1_660_206_966_633_860);
        assert_eq!((&*money.shown(412), &*money.shown(1_995_000)), ("0.000412 USD", "2.00 USD"));
    }
}
