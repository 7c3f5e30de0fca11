//! The types of options: what their flags take, what they are in Python, and how `run.json` shows
//! them.

use std::path::{Path, PathBuf};
use std::{ffi::OsString, net::SocketAddr};

use serde::Serialize;
use serde_json::Value;

use crate::url::{origin::Origin, path::Dialect};

use super::amounts::{Money, whole};
use super::setting::{AddressForm, Percent, Seconds, Setting, Timeout, Timezone};

/// What a flag takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Nothing.
    Switch,
    /// A path.
    Path,
    /// A whole number.
    Whole,
    /// Any other text.
    Text,
    /// One of these names; each has its meaning.
    Choice(&'static [(&'static str, &'static str)]),
}

/// The dialects.
pub(crate) const DIALECTS: [(&str, &str); 2] = [
    ("google", "Like Google's parser: nothing is decoded"),
    ("rfc9309", "Like RFC 9309: unreserved characters are decoded first"),
];

/// The forms of client addresses.
const ADDRESS_FORMS: [(&str, &str); 4] = [
    ("none", "Not shown"),
    ("mask", "Network only: /24 of IPv4, /48 of IPv6"),
    ("hash", "First 16 hexadecimal digits of SHA-256 over --ip-salt and the address"),
    ("full", "As logged"),
];

/// A type of option.
pub(super) trait OptionValue: Setting {
    /// What its flag takes.
    const KIND: Kind;

    /// Whether it may be given several times.
    const IS_LIST: bool = false;

    /// The default of an option that declares no other.
    const USUAL: Option<Self> = None;

    /// The type of its argument of Python.
    const PYTHON: &'static str;

    /// The value of a flag with these words on the command line.
    ///
    /// # Errors
    /// Why it is not valid.
    fn from_words(words: Vec<OsString>) -> Result<Self, String>;

    /// The value in `run.json`.
    fn json(&self) -> Value;

    /// The value with relative paths resolved in `directory`.
    #[must_use]
    fn below(self, directory: &Path) -> Self {
        let _ = directory;
        self
    }
}

/// Declares types of options with their parsers of texts.
macro_rules! option_values {
    ($($kind:ty: $flag:expr, $python:literal, by $parse:expr $(, usual $usual:expr)?;)*) => {$(
        impl OptionValue for $kind {
            const KIND: Kind = $flag;
            $(const USUAL: Option<$kind> = Some($usual);)?
            const PYTHON: &'static str = concat!($python, " | None");

            fn from_words(words: Vec<OsString>) -> Result<$kind, String> {
                let text = words.last().map(|word| word.to_string_lossy()).unwrap_or_default();
                let parse: fn(&str) -> Result<$kind, String> = $parse;
                parse(&text)
            }

            fn json(&self) -> Value {
                json(self)
            }
        }
    )*};
}
option_values! {
    bool: Kind::Switch, "bool", by |_| Ok(true), usual false;
    usize: Kind::Whole, "int", by whole;
    String: Kind::Text, "str", by |text| Ok(text.to_owned());
    Origin: Kind::Text, "str", by |text| parsed(text);
    SocketAddr: Kind::Text, "str", by |text| parsed(text);
    Timezone: Kind::Text, "str", by |text| parsed(text);
    AddressForm: Kind::Choice(&ADDRESS_FORMS), "str", by |text| parsed(text);
    Dialect: Kind::Choice(&DIALECTS), "str", by |text| parsed(text);
    Percent: Kind::Text, "float", by |text| parsed(text);
    Timeout: Kind::Text, "float", by |text| parsed(text);
    Seconds: Kind::Text, "float", by |text| parsed(text);
    Money: Kind::Text, "float | str", by |text| parsed(text);
}

impl OptionValue for PathBuf {
    const KIND: Kind = Kind::Path;
    const PYTHON: &'static str = "Path | None";

    fn from_words(mut words: Vec<OsString>) -> Result<PathBuf, String> {
        Ok(words.pop().unwrap_or_default().into())
    }

    fn json(&self) -> Value {
        self.display().to_string().into()
    }

    fn below(self, directory: &Path) -> PathBuf {
        directory.join(self)
    }
}

impl<T: OptionValue> OptionValue for Vec<T> {
    const KIND: Kind = T::KIND;
    const IS_LIST: bool = true;
    const USUAL: Option<Vec<T>> = Some(Vec::new());
    const PYTHON: &'static str = "str | Sequence[str]";

    fn from_words(words: Vec<OsString>) -> Result<Vec<T>, String> {
        words.into_iter().map(|word| T::from_words(vec![word])).collect()
    }

    fn json(&self) -> Value {
        self.iter().map(T::json).collect()
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|why: T::Err| why.to_string())
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("options are texts and numbers")
}
