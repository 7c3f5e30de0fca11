//! Whether two files were made with the same program, registry of crawlers and options.

use crate::config::{audit_config::class_of, option::Class};
use crate::error::{Error, Result};
use crate::numbers::counted;

use super::header::{RegistrySummary, ReportedOptions};

/// The program, registry and options that a file was made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeBy<'a> {
    /// The file, as the user knows it.
    pub name: &'a str,
    /// The version of the program.
    pub version: &'a str,
    /// The registry of crawlers.
    pub registry: &'a RegistrySummary,
    /// The options of the user.
    pub options: &'a ReportedOptions,
}

impl MadeBy<'_> {
    /// Checks that `other` was made with the same settings, except for the sources of facts and the
    /// options that are `exempt`; `advice` is the next step for errors.
    ///
    /// # Errors
    /// If it was not. The error has both names and the difference.
    pub(crate) fn check_same(
        &self,
        other: &MadeBy<'_>,
        exempt: fn(&str, Option<Class>) -> bool,
        advice: &str,
    ) -> Result<()> {
        if self.version != other.version {
            let what = "the version of botaudit";
            return Err(self.differs(other, what, [self.version, other.version], advice));
        }
        if self.registry != other.registry {
            let short = |registry: &RegistrySummary| {
                let digest = registry.digest.get(..12).unwrap_or(&registry.digest);
                format!("{digest} ({})", counted(registry.crawlers as u64, "crawler"))
            };
            let (ours, theirs) = (short(self.registry), short(other.registry));
            return Err(self.differs(
                other,
                "the list of known crawlers",
                [&ours, &theirs],
                advice,
            ));
        }
        let names = self.options.0.keys().chain(other.options.0.keys()).map(String::as_str);
        let may_differ = |name: &&str| {
            let class = class_of(name);
            class == Some(Class::Source) || exempt(name, class)
        };
        for name in names.filter(|name| !may_differ(name)) {
            let (ours, theirs) = (self.options.get(name), other.options.get(name));
            if ours != theirs {
                let (ours, theirs) = (ours.to_string(), theirs.to_string());
                let what = format!("the option {name}");
                return Err(self.differs(other, &what, [&ours, &theirs], advice));
            }
        }
        Ok(())
    }

    /// The error for a difference: `what` is `ours` here and `theirs` in `other`.
    pub(crate) fn differs(
        &self,
        other: &MadeBy<'_>,
        what: &str,
        of: [&str; 2],
        advice: &str,
    ) -> Error {
        let [ours, theirs] = of;
        Error::unfit(format!(
            "{} and {} cannot be merged: {what} is {ours} in the first and {theirs} in the \
             second; {advice}",
            self.name, other.name
        ))
    }
}

/// Of paths, the first in order; of the windows, the one that covers both. A source that is switched off is so only
/// if it is off in both. All other options are equal.
pub(crate) fn merge_options(ours: &mut ReportedOptions, theirs: &ReportedOptions) {
    let is_source = |name: &str| class_of(name) == Some(Class::Source);
    ours.0.retain(|name, value| {
        !(value.is_boolean() && is_source(name)) || theirs.0.contains_key(name)
    });
    for (name, value) in &mut ours.0 {
        let Some(other) = theirs.0.get(name) else { continue };
        let (left, right) = (value.as_str(), other.as_str());
        let takes_other = match name.as_str() {
            "since" => left.is_some() && right.is_none_or(|right| Some(right) < left),
            "until" => left.is_some() && right.is_none_or(|right| Some(right) > left),
            name => is_source(name) && right < left,
        };
        if takes_other {
            *value = other.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::audit_config::OPTIONS;

    fn merged(ours: serde_json::Value, theirs: serde_json::Value) -> serde_json::Value {
        let mut options = ReportedOptions::of(&ours);
        merge_options(&mut options, &ReportedOptions::of(&theirs));
        options.0.into()
    }

    /// Each option of the table, by its class.
    #[test]
    fn runs_with_other_values_are_refused_unless_the_class_lets_them_differ() {
        let registry = RegistrySummary::default();
        for option in OPTIONS.iter().filter(|option| option.class != Class::Neutral) {
            let of = |value: &str| ReportedOptions::of(&json!({ option.reported_as: value }));
            let [ours, theirs] = ["x", "y"].map(of);
            let [ours, theirs] = [&ours, &theirs].map(|options| MadeBy {
                name: "a",
                version: "1",
                registry: &registry,
                options,
            });
            let check = |exempt| ours.check_same(&theirs, exempt, "stop");
            let expected = format!(
                "a and a cannot be merged: the option {} is \"x\" in the first and \"y\" in the \
                 second; stop",
                option.reported_as
            );
            match check(|_, _| false) {
                Ok(()) => assert_eq!(option.class, Class::Source, "{expected}"),
                Err(err) => assert_eq!(err.to_string(), expected),
            }
            check(|_, class| class.is_some()).unwrap();
        }
    }

    #[test]
    fn a_window_covers_both_and_a_place_is_the_first() {
        let (early, late) = ("2026-03-01T00:00:00Z", "2026-03-09T00:00:00Z");
        for (name, first, second, expected) in [
            ("since", json!(early), json!(late), json!(early)),
            ("since", json!(null), json!(late), json!(null)),
            ("until", json!(early), json!(late), json!(late)),
            ("until", json!(early), json!(null), json!(null)),
            ("robots", json!("/a"), json!("/b"), json!("/a")),
            ("networks", json!("/a"), json!("/b"), json!("/a")),
        ] {
            for [ours, theirs] in [[&first, &second], [&second, &first]] {
                let merged = merged(json!({ name: ours }), json!({ name: theirs }));
                assert_eq!(merged, json!({ name: expected }), "{ours} {theirs}");
            }
        }
        // The lists of the program were used for a part.
        let off = json!({ "no_bundled_ranges": true });
        for (ours, theirs) in [(off.clone(), json!({})), (json!({}), off.clone())] {
            assert_eq!(merged(ours, theirs), json!({}));
        }
        assert_eq!(merged(off.clone(), off.clone()), off);
        // Others stay as they are in the first file.
        for (ours, theirs) in [("a", "b"), ("b", "a")] {
            let merged = merged(json!({ "what_if": ours }), json!({ "what_if": theirs }));
            assert_eq!(merged, json!({ "what_if": ours }));
        }
        assert_eq!(merged(json!({ "since": late }), json!({})), json!({ "since": late }));
    }
}
