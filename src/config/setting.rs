//! The values of a configuration: their form in a file, and their validation. Mistakes are named by key, worded for the
//! flag or the file.

use std::{fmt, net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use serde::de::{IgnoredAny, IntoDeserializer, value};
use serde::{Deserialize, Serialize, Serializer};

use crate::time::Zone;
use crate::url::{origin::Origin, path::Dialect};

/// A table of a configuration file with optional keys.
pub(crate) trait KeyTable: Default {
    /// Its keys.
    fn keys() -> &'static [&'static str];

    /// Sets `key` to `scalar`.
    ///
    /// # Errors
    /// Why that is not valid.
    fn set(&mut self, key: &str, scalar: Scalar) -> Result<(), String>;
}

/// Declares a table of settings: each key is an `Option` that [`Setting`] parses.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $( $(#[$field_meta:meta])* pub $field:ident: $kind:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default)]
        $visibility struct $name {
            $( $(#[$field_meta])* pub $field: Option<$kind>, )*
        }

        impl crate::config::setting::KeyTable for $name {
            fn keys() -> &'static [&'static str] {
                &[$(stringify!($field)),*]
            }

            fn set(
                &mut self,
                key: &str,
                scalar: crate::config::setting::Scalar,
            ) -> std::result::Result<(), String> {
                match key {
                    $( stringify!($field) => {
                        self.$field = Some(crate::config::setting::given(scalar)?);
                    } )*
                    _ => {}
                }
                Ok(())
            }
        }
    };
}

pub(super) use settings;

/// A value in a file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Switch(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<String>),
    Other(IgnoredAny),
}

/// A type of value.
pub(crate) trait Setting: Sized {
    /// A description of valid values in a file.
    const EXPECTED: &'static str;

    /// `None` if the type is wrong; otherwise the value, or the reason why it is invalid.
    fn from_scalar(scalar: Scalar) -> Option<Result<Self, String>>;
}

/// The value of a key that is given.
///
/// # Errors
/// Why it is not valid.
pub(crate) fn given<T: Setting>(scalar: Scalar) -> Result<T, String> {
    T::from_scalar(scalar).unwrap_or_else(|| Err(format!("expected {}", T::EXPECTED)))
}

/// Declares the valid values of each type in a file, and their parsers.
macro_rules! setting_types {
    ($($kind:ty: $expected:literal, by $read:path;)*) => {$(
        impl Setting for $kind {
            const EXPECTED: &'static str = $expected;

            fn from_scalar(scalar: Scalar) -> Option<Result<$kind, String>> {
                $read(scalar)
            }
        }
    )*};
}
setting_types! {
    bool: "true or false", by switch;
    usize: "a whole number, 0 or more", by whole;
    String: "text in quotes", by text;
    PathBuf: "a path in quotes", by text;
    Origin: "an origin in quotes, such as \"https://example.com\"", by text;
    SocketAddr: "an address and a port in quotes, such as \"192.0.2.1:53\"", by text;
    Timezone: "a time zone in quotes, such as \"Europe/Berlin\"", by text;
    AddressForm: "\"none\", \"mask\", \"hash\" or \"full\"", by text;
    Dialect: "\"google\" or \"rfc9309\"", by text;
    Percent: "a number from 0 to 100", by number;
    Timeout: "seconds, as a number", by number;
    Seconds: "seconds, as a number", by number;
    Days: "a number of days, 1 or more", by days;
}

impl<T: Setting> Setting for Vec<T> {
    const EXPECTED: &'static str = "text in quotes, or a list of such texts";

    fn from_scalar(scalar: Scalar) -> Option<Result<Vec<T>, String>> {
        match scalar {
            Scalar::List(texts) => {
                texts.into_iter().map(|text| T::from_scalar(Scalar::Text(text))).collect()
            }
            scalar => T::from_scalar(scalar).map(|item| item.map(|item| vec![item])),
        }
    }
}

fn switch(scalar: Scalar) -> Option<Result<bool, String>> {
    if let Scalar::Switch(is_on) = scalar { Some(Ok(is_on)) } else { None }
}

fn whole(scalar: Scalar) -> Option<Result<usize, String>> {
    let Scalar::Whole(number) = scalar else { return None };
    usize::try_from(number).ok().map(Ok)
}

fn days(scalar: Scalar) -> Option<Result<Days, String>> {
    let Scalar::Whole(days @ 1..) = scalar else { return None };
    Some(Ok(Days(i32::try_from(days).unwrap_or(i32::MAX))))
}

/// Parses a text; the error explains why it is invalid.
fn text<T: FromStr<Err: fmt::Display>>(scalar: Scalar) -> Option<Result<T, String>> {
    let Scalar::Text(text) = scalar else { return None };
    (!text.is_empty()).then(|| text.parse().map_err(|why| format!("'{text}': {why}")))
}

/// Parses a number, whole or not.
fn number<T: TryFrom<f64, Error = &'static str>>(scalar: Scalar) -> Option<Result<T, String>> {
    let number = match scalar {
        Scalar::Whole(number) => number as f64,
        Scalar::Number(number) => number,
        _ => return None,
    };
    Some(T::try_from(number).map_err(str::to_owned))
}

/// The form of client addresses.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AddressForm {
    /// No addresses.
    #[default]
    None,
    /// Network prefixes.
    Mask,
    /// A hash of a secret and the address.
    Hash,
    /// As logged.
    Full,
}

impl FromStr for AddressForm {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<AddressForm, &'static str> {
        let form: Result<AddressForm, value::Error> =
            AddressForm::deserialize(text.into_deserializer());
        form.map_err(|_| "write none, mask, hash or full")
    }
}

/// A time zone, with the name that the user wrote.
#[derive(Clone, Debug)]
pub struct Timezone {
    name: String,
    zone: Zone,
}

impl Timezone {
    /// The zone of its days.
    pub(crate) fn zone(&self) -> Zone {
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
        let zone =
            Zone::named(name).ok_or("unknown time zone; write a name such as Europe/Berlin")?;
        Ok(Timezone { name: name.to_owned(), zone })
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl Serialize for Timezone {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.name)
    }
}

/// Declares a number with bounds.
macro_rules! bounded_number {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident in $bounds:expr, $advice:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
        $visibility struct $name(f64);

        impl TryFrom<f64> for $name {
            type Error = &'static str;

            fn try_from(number: f64) -> Result<$name, &'static str> {
                ($bounds).contains(&number).then_some($name(number)).ok_or($advice)
            }
        }

        impl FromStr for $name {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<$name, &'static str> {
                $name::try_from(text.parse().unwrap_or(f64::NAN))
            }
        }
    };
}
bounded_number! {
    /// A share in percent, from 0 to 100.
    pub struct Percent in 0.0..=100.0, "write a number from 0 to 100"
}
bounded_number! {
    /// The timeout for an answer, from 0.01 to 600 seconds.
    pub struct Timeout in 0.01..=600.0, "write seconds from 0.01 to 600"
}

bounded_number! {
    /// The time for many fetches, from 1 second to a day.
    pub struct Seconds in 1.0..=86_400.0, "write seconds from 1 to 86400"
}

impl Seconds {
    /// The default time for the fetches of an audit: 10 minutes.
    pub const OF_FETCHES: Seconds = Seconds(600.0);

    /// The time.
    pub fn get(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

impl Percent {
    /// The default parse rate that a file must reach.
    pub const OF_RECORDS_MIN: Percent = Percent(90.0);

    /// The default of `ignores_min`.
    pub(crate) const IGNORES_MIN: Percent = Percent(50.0);

    /// The default of `rarely_max`.
    pub(crate) const RARELY_MAX: Percent = Percent(5.0);

    /// Requests of crawlers that must be judged, where no other share is given.
    pub const OF_JUDGED_MIN: Percent = Percent(1.0);

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// The most threads. Each takes memory before it does anything.
pub(crate) const THREADS_MAX: usize = 1024;

impl Timeout {
    /// The time.
    pub fn get(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

impl Default for Timeout {
    fn default() -> Timeout {
        Timeout(5.0)
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

/// An invalid value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The key with the value.
    pub key: &'static str,
    why: Why,
    /// A valid value as an example.
    example: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Why {
    /// A sentence.
    Words(String),
    /// The key has no effect without the other one, which is missing.
    Needs(&'static str),
    /// A sentence, and the missing key.
    Lacks(&'static str, &'static str),
}

impl Fault {
    /// The value of `key` is invalid for the reason `why`.
    pub(crate) fn new(key: &'static str, why: impl fmt::Display) -> Fault {
        Fault { key, why: Why::Words(why.to_string()), example: None }
    }

    /// `key` has no effect without `other`, which is missing.
    pub(crate) fn needs(key: &'static str, other: &'static str) -> Fault {
        Fault { key, why: Why::Needs(other), example: None }
    }

    /// The value of `key` is invalid without `other`, for the reason `why`.
    pub(crate) fn lacks(key: &'static str, why: &'static str, other: &'static str) -> Fault {
        Fault { key, why: Why::Lacks(why, other), example: None }
    }

    /// Adds a valid value as an example.
    pub(crate) fn or_write(self, example: impl Into<String>) -> Fault {
        Fault { example: Some(example.into()), ..self }
    }

    /// The message for a command line.
    pub(crate) fn of_flags(&self) -> String {
        let key = flag(self.key);
        let example = self.example.as_ref().map(|example| format!("; write {key} {example}"));
        format!("{key}: {}{}", self.why(flag), example.unwrap_or_default())
    }

    /// The message for a configuration file, which names the key itself.
    pub(crate) fn of_file(&self) -> String {
        let example =
            self.example.as_ref().map(|example| format!("; write {} = \"{example}\"", self.key));
        self.why(str::to_owned) + &example.unwrap_or_default()
    }

    fn why(&self, name: fn(&str) -> String) -> String {
        match &self.why {
            Why::Words(why) => why.clone(),
            Why::Needs(other) => format!("it has no effect without {}", name(other)),
            Why::Lacks(why, other) => format!("{why}; add {}", name(other)),
        }
    }
}

/// The flag of `key`.
fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}
