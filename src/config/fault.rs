//! Mistakes in a configuration, by key, in the words of the user who made them.

use std::fmt;

/// A value that cannot be meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The key that holds it.
    pub key: &'static str,
    why: Why,
    /// A value to write instead.
    example: Option<&'static str>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Why {
    /// In words.
    Words(String),
    /// The key says nothing without the other one, which is not given.
    Needs(&'static str),
    /// In words, and the key to add.
    Lacks(&'static str, &'static str),
}

impl Fault {
    /// The value of `key` cannot be meant, for the reason `why`.
    pub fn new(key: &'static str, why: impl fmt::Display) -> Fault {
        Fault { key, why: Why::Words(why.to_string()), example: None }
    }

    /// `key` is given, and `other` is not, without which it says nothing.
    pub fn needs(key: &'static str, other: &'static str) -> Fault {
        Fault { key, why: Why::Needs(other), example: None }
    }

    /// The value of `key` cannot be meant without `other`, for the reason `why`.
    pub fn lacks(key: &'static str, why: &'static str, other: &'static str) -> Fault {
        Fault { key, why: Why::Lacks(why, other), example: None }
    }

    /// Says what to write, for instance.
    pub fn or_write(self, example: &'static str) -> Fault {
        Fault { example: Some(example), ..self }
    }

    /// In the words of a command line.
    pub fn of_flags(&self) -> String {
        let key = flag(self.key);
        let example = self.example.map(|example| format!("; write {key} {example}"));
        format!("{key}: {}{}", self.why(flag), example.unwrap_or_default())
    }

    /// In the words of a configuration file, which names the key itself.
    pub fn of_file(&self) -> String {
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
