//! An option of an audit: all about it in one entry, from which its flag, its key, its argument of
//! Python and its line in the documents are made.

use super::option_value::{Kind, OptionValue};

/// All about one option, but its value.
#[derive(Clone, Copy, Debug)]
pub struct OptionEntry {
    /// The key in a file. With dashes it is the flag.
    pub key: &'static str,
    /// Its place among the keys of `run.json` and in messages, from 1. A new option takes the next
    /// number, so that it comes last there.
    pub number: usize,
    /// What it is, line by line: the documentation of its field and of its argument of Python.
    pub meaning: &'static [&'static str],
    /// What values it takes.
    pub kind: Kind,
    /// Whether it may be given several times.
    pub is_list: bool,
    /// The commands with its flag.
    pub group: FlagGroup,
    /// The heading of the help over it.
    pub heading: &'static str,
    /// The name of its value in the help.
    pub value_name: &'static str,
    /// What the help says, without a full stop, the default, and that it is repeatable.
    pub help: &'static str,
    /// What only the long help says.
    pub details: &'static str,
    /// Whether the short help has it.
    pub is_in_short_help: bool,
    /// What depends on it.
    pub class: Class,
    /// Its name in `run.json`.
    pub reported_as: &'static str,
    /// Whether `run.json` has it only if it is given. No default takes its place then.
    pub only_if_given: bool,
    /// The option without which it has no effect.
    pub needs: Option<Needs>,
    /// Why a nightly job cannot honour it; empty if it can.
    pub not_nightly: &'static str,
    /// Its argument of Python.
    pub python: InPython,
}

/// What depends on an option.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    /// What is read, and how paths are compared; a first pass for an audit must have the same.
    Read,
    /// What a first pass collects; it may collect more than an audit needs.
    Collected,
    /// Where facts come from. Merged runs may have different ones.
    Source,
    /// The times that are read. Merged tallies may have different ones.
    Window,
    /// Verdicts.
    Verdicts,
    /// What is counted.
    Counted,
    /// What a report shows of the counts.
    Shown,
    /// Nothing in a report: how, and with what secrets, the program runs.
    Neutral,
}

/// The other option that an option needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Needs {
    /// The other one must be given.
    Given(&'static str),
    /// The other one must be switched on.
    On(&'static str),
}

/// The argument of Python for an option.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InPython {
    /// There is none: only the command has outputs, exit codes and fetches.
    Refused,
    /// Its type.
    Argument(&'static str),
    /// Its type; several values are one text with commas.
    Joined(&'static str),
}

/// Flags that commands have together, in one place of the help.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FlagGroup {
    /// What decides verdicts.
    Rules,
    /// The format of logs. Commands that only read logs have it, too.
    Format,
    /// Which lines count, and how many must be understood.
    Window,
    /// The file of violating requests.
    Evidence,
    /// When a run exits with 1.
    Thresholds,
    /// What a report may disclose, and what else it has.
    Details,
    /// How many threads run.
    Threads,
}

/// An entry for the option `key` with values of the type `T`, and without all that is optional.
pub(super) const fn entry<T: OptionValue>(
    key: &'static str,
    meaning: &'static [&'static str],
    group: FlagGroup,
    heading: &'static str,
) -> OptionEntry {
    OptionEntry {
        key,
        number: 0,
        meaning,
        kind: T::KIND,
        is_list: T::IS_LIST,
        group,
        heading,
        value_name: "",
        help: "",
        details: "",
        is_in_short_help: false,
        class: Class::Neutral,
        reported_as: key,
        only_if_given: false,
        needs: None,
        not_nightly: "",
        python: InPython::Argument(T::PYTHON),
    }
}

impl Class {
    /// Whether a first pass has the same result with any value.
    pub(crate) fn is_after_first_pass(self) -> bool {
        !matches!(self, Class::Read | Class::Collected | Class::Window)
    }
}

/// Declares the options of an audit, under the headings of the help: for each its documentation,
/// key, type, default, and the fields of its [`OptionEntry`].
macro_rules! options {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($group:ident $heading:literal {
                $(
                    $(#[doc = $meaning:literal])*
                    $key:ident: $kind:ty $(= $default:expr)? => { $($attribute:tt)* }
                )*
            })*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default)]
        #[non_exhaustive]
        pub struct $name {
            $($( $(#[doc = $meaning])* pub $key: Option<$kind>, )*)*
        }

        /// The options, in the order of the help.
        pub const OPTIONS: &[OptionEntry] = &[$($(
            OptionEntry {
                $($attribute)*
                ..entry::<$kind>(
                    stringify!($key), &[$($meaning),*], FlagGroup::$group, $heading,
                )
            },
        )*)*];

        impl $name {
            /// Combines these settings with `other`, which has lower precedence.
            #[must_use]
            pub(crate) fn or(self, other: $name) -> $name {
                $name { $($( $key: self.$key.or(other.$key), )*)* }
            }

            /// All defaults, also of options that a report names only if they are given.
            pub(super) fn all_defaults() -> $name {
                $name { $($( $key: None$(.or(Some($default)))?.or(<$kind>::USUAL), )*)* }
            }

            /// These settings with relative paths resolved in `directory`.
            pub(super) fn with_paths_below(self, directory: &Path) -> $name {
                $name { $($( $key: self.$key.map(|value| value.below(directory)), )*)* }
            }

            /// The value of `key` as `run.json` has it, if it is given.
            pub(crate) fn value(&self, key: &str) -> Option<Value> {
                match key {
                    $($( stringify!($key) => self.$key.as_ref().map(OptionValue::json), )*)*
                    _ => None,
                }
            }

            /// Sets `key` to what its flag has on the command line.
            pub(crate) fn set_words(
                &mut self, key: &str, words: Vec<OsString>,
            ) -> Result<(), String> {
                match key {
                    $($( stringify!($key) => self.$key = Some(OptionValue::from_words(words)?), )*)*
                    _ => {}
                }
                Ok(())
            }

            /// No value for `key`.
            pub(super) fn unset(&mut self, key: &str) {
                match key {
                    $($( stringify!($key) => self.$key = None, )*)*
                    _ => {}
                }
            }
        }

        impl KeyTable for $name {
            fn keys() -> &'static [&'static str] {
                static KEYS: LazyLock<Vec<&str>> =
                    LazyLock::new(|| by_number().map(|option| option.key).collect());
                &KEYS
            }

            fn set(&mut self, key: &str, scalar: Scalar) -> Result<(), String> {
                match key {
                    $($( stringify!($key) => self.$key = Some(given(scalar)?), )*)*
                    _ => {}
                }
                Ok(())
            }
        }
    };
}
pub(super) use options;
