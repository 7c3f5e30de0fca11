//! Mistakes in a configuration, by key, worded for the flag or the file.

use std::fmt;

/// An invalid value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The key with the value.
    pub key: &'static str,
    why: Why,
    /// A valid value as an example.
    example: Option<&'static str>,
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
    pub(crate) fn or_write(self, example: &'static str) -> Fault {
        Fault { example: Some(example), ..self }
    }

    /// The message for a command line.
    pub(crate) fn of_flags(&self) -> String {
        let key = flag(self.key);
        let example = self.example.map(|example| format!("; write {key} {example}"));
        format!("{key}: {}{}", self.why(flag), example.unwrap_or_default())
    }

    /// The message for a configuration file, which names the key itself.
    pub(crate) fn of_file(&self) -> String {
        let example = self.example.map(|example| format!("; write {} = \"{example}\"", self.key));
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
