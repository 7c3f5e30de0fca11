//! The values of a configuration: how each is written in a file, and which are valid.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::Zone;
use crate::url::dialect::Dialect;
use crate::url::origin::Origin;

/// A table of a configuration file, each of whose keys may be absent.
pub trait KeyTable: Default + DeserializeOwned {
    /// Its keys.
    const KEYS: &'static [&'static str];
}

/// Declares a table of settings: each key an `Option`, read by [`Setting`], and nothing else.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $( $(#[$field_meta:meta])* pub $field:ident: $kind:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $visibility struct $name {
            $(
                $(#[$field_meta])*
                #[serde(deserialize_with = "crate::config::setting::given")]
                pub $field: Option<$kind>,
            )*
        }

        impl crate::config::setting::KeyTable for $name {
            const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];
        }

        impl $name {
            /// These settings, and those of `other` where these say nothing.
            pub fn or(self, other: $name) -> $name {
                $name { $($field: self.$field.or(other.$field)),* }
            }

            /// Whether `key` is given.
            pub fn has(&self, key: &str) -> bool {
                match key {
                    $(stringify!($field) => self.$field.is_some(),)*
                    _ => false,
                }
            }
        }
    };
}
pub(super) use settings;

/// A value as a file can hold it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "each is what TOML has")]
pub enum Scalar {
    Switch(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<String>),
    Other(IgnoredAny),
}

/// A type of value.
pub trait Setting: Sized {
    /// What a file may hold for it.
    const EXPECTED: &'static str;

    /// `None` where it is of another type; else the value, or why it is not valid.
    fn from_scalar(scalar: Scalar) -> Option<Result<Self, String>>;
}

/// Reads a key that is there.
pub fn given<'de, D: Deserializer<'de>, T: Setting>(from: D) -> Result<Option<T>, D::Error> {
    let wrong_type = || D::Error::custom(format!("expected {}", T::EXPECTED));
    let scalar = Scalar::deserialize(from).map_err(|_| wrong_type())?;
    T::from_scalar(scalar).ok_or_else(wrong_type)?.map(Some).map_err(D::Error::custom)
}

impl Setting for bool {
    const EXPECTED: &'static str = "true or false";

    fn from_scalar(scalar: Scalar) -> Option<Result<bool, String>> {
        match scalar {
            Scalar::Switch(is_on) => Some(Ok(is_on)),
            _ => None,
        }
    }
}

impl Setting for usize {
    const EXPECTED: &'static str = "a whole number, 0 or more";

    fn from_scalar(scalar: Scalar) -> Option<Result<usize, String>> {
        match scalar {
            Scalar::Whole(number) => usize::try_from(number).ok().map(Ok),
            _ => None,
        }
    }
}

impl Setting for String {
    const EXPECTED: &'static str = "text in quotes";

    fn from_scalar(scalar: Scalar) -> Option<Result<String, String>> {
        match scalar {
            Scalar::Text(text) if !text.is_empty() => Some(Ok(text)),
            _ => None,
        }
    }
}

impl Setting for PathBuf {
    const EXPECTED: &'static str = "a path in quotes";

    fn from_scalar(scalar: Scalar) -> Option<Result<PathBuf, String>> {
        String::from_scalar(scalar).map(|text| text.map(PathBuf::from))
    }
}

impl<T: Setting> Setting for Vec<T> {
    const EXPECTED: &'static str = "text in quotes, or a list of it";

    fn from_scalar(scalar: Scalar) -> Option<Result<Vec<T>, String>> {
        match scalar {
            Scalar::List(texts) => {
                texts.into_iter().map(|text| T::from_scalar(Scalar::Text(text))).collect()
            }
            scalar => T::from_scalar(scalar).map(|item| item.map(|item| vec![item])),
        }
    }
}

/// Reads text by its `FromStr`, and says what it was where it is not valid.
fn parsed<T: FromStr<Err: fmt::Display>>(scalar: Scalar) -> Option<Result<T, String>> {
    let parse = |text: String| text.parse().map_err(|why| format!("'{text}': {why}"));
    String::from_scalar(scalar).map(|text| text.and_then(parse))
}

macro_rules! text_settings {
    ($($kind:ty: $expected:literal,)*) => {$(
        impl Setting for $kind {
            const EXPECTED: &'static str = $expected;

            fn from_scalar(scalar: Scalar) -> Option<Result<$kind, String>> {
                parsed(scalar)
            }
        }
    )*};
}
text_settings! {
    Origin: "an origin in quotes, as \"https://example.com\"",
    SocketAddr: "an address and a port in quotes, as \"192.0.2.1:53\"",
    Timezone: "a time zone in quotes, as \"Europe/Berlin\"",
    AddressForm: "\"none\", \"mask\", \"hash\" or \"full\"",
    Dialect: "\"google\" or \"rfc9309\"",
}

/// Reads a number, whole or not.
fn number<T>(scalar: Scalar, new: fn(f64) -> Result<T, String>) -> Option<Result<T, String>> {
    match scalar {
        Scalar::Whole(number) => Some(new(number as f64)),
        Scalar::Number(number) => Some(new(number)),
        _ => None,
    }
}

/// How clients' addresses are written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AddressForm {
    /// Not at all.
    #[default]
    None,
    /// As their network.
    Mask,
    /// As a hash over a secret and the address.
    Hash,
    /// As logged.
    Full,
}

impl FromStr for AddressForm {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<AddressForm, &'static str> {
        match text {
            "none" => Ok(AddressForm::None),
            "mask" => Ok(AddressForm::Mask),
            "hash" => Ok(AddressForm::Hash),
            "full" => Ok(AddressForm::Full),
            _ => Err("write none, mask, hash or full"),
        }
    }
}

/// A time zone, by the name that the user wrote.
#[derive(Clone, Debug)]
pub struct Timezone {
    name: String,
    zone: Zone,
}

impl Timezone {
    /// Where its days begin.
    pub fn zone(&self) -> Zone {
        self.zone.clone()
    }
}

impl Default for Timezone {
    fn default() -> Timezone {
        Timezone { name: "UTC".to_owned(), zone: Zone::UTC }
    }
}

impl FromStr for Timezone {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Timezone, &'static str> {
        let zone = Zone::named(name).ok_or("unknown time zone; write one as Europe/Berlin")?;
        Ok(Timezone { name: name.to_owned(), zone })
    }
}

impl Serialize for Timezone {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.name)
    }
}

/// A share in percent, from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percent(f64);

impl Percent {
    /// A whole number of percent; 100 for more.
    pub const fn whole(percent: u8) -> Percent {
        Percent(if percent > 100 { 100.0 } else { percent as f64 })
    }

    fn new(number: f64) -> Result<Percent, String> {
        let is_valid = (0.0..=100.0).contains(&number);
        is_valid.then_some(Percent(number)).ok_or_else(|| "write a number from 0 to 100".to_owned())
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Percent, String> {
        Percent::new(text.parse().unwrap_or(f64::NAN))
    }
}

impl Setting for Percent {
    const EXPECTED: &'static str = "a number from 0 to 100";

    fn from_scalar(scalar: Scalar) -> Option<Result<Percent, String>> {
        number(scalar, Percent::new)
    }
}

/// How long to wait for an answer, from 0.01 to 600 seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeout(Duration);

impl Timeout {
    fn new(seconds: f64) -> Result<Timeout, String> {
        let is_valid = (0.01..=600.0).contains(&seconds);
        let timeout = is_valid.then(|| Timeout(Duration::from_secs_f64(seconds)));
        timeout.ok_or_else(|| "write seconds from 0.01 to 600".to_owned())
    }

    /// The time.
    pub fn get(self) -> Duration {
        self.0
    }
}

impl Default for Timeout {
    fn default() -> Timeout {
        Timeout(Duration::from_secs(5))
    }
}

impl FromStr for Timeout {
    type Err = String;

    fn from_str(text: &str) -> Result<Timeout, String> {
        Timeout::new(text.parse().unwrap_or(f64::NAN))
    }
}

impl Setting for Timeout {
    const EXPECTED: &'static str = "seconds, as a number";

    fn from_scalar(scalar: Scalar) -> Option<Result<Timeout, String>> {
        number(scalar, Timeout::new)
    }
}

/// A whole number of days, at least one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Days(i32);

impl Days {
    /// The number.
    pub fn get(self) -> i32 {
        self.0
    }
}

impl Setting for Days {
    const EXPECTED: &'static str = "a number of days, 1 or more";

    fn from_scalar(scalar: Scalar) -> Option<Result<Days, String>> {
        match scalar {
            Scalar::Whole(days @ 1..) => Some(Ok(Days(i32::try_from(days).unwrap_or(i32::MAX)))),
            _ => None,
        }
    }
}
