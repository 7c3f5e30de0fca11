//! The header of a tally: the program, options, rules and inputs that it was made with, and the
//! meaning of the numbers in its counts; and whether two files were made with the same program, registry and options.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use serde_json::{Map, Value};

use crate::audit::origin_key::OriginKey;
use crate::config::{audit_config::class_of, option::Class};
use crate::crawlers::{crawler::Crawler, registry::Registry};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::input::{content_hash::ContentSketch, copies::Repeats};
use crate::logs::reject::Limitation;
use crate::measures::sums::is_default;
use crate::merge::Merge;
use crate::numbers::counted;
use crate::robots::{RobotsBody, foreign::Foreign};
use crate::time::Day;

use super::{identity_sources::IdentitySources, rulings::Rulings};

/// Grows by one when a tally changes its meaning.
pub(crate) const SCHEMA_VERSION: u32 = 2;

/// The header of a tally.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Header {
    /// `botaudit`.
    pub program: String,
    /// The version of the program.
    pub version: String,
    /// The version of the form.
    pub schema_version: u32,
    /// The options of the user, as in `run.json`.
    pub options: ReportedOptions,
    /// The registry of crawlers.
    pub registry: RegistrySummary,
    /// The days of the counted lines, if each day has its own tally; else none.
    pub days: BTreeSet<Day>,
    /// The inputs by number, ascending by name.
    pub inputs: Vec<InputSummary>,
    /// The crawlers by number, ascending by name.
    pub crawlers: Vec<Crawler>,
    /// The robots.txt versions by number, ascending by digest.
    pub robots: Vec<RobotsVersion>,
    /// Which robots.txt governed which origin.
    pub rulings: Rulings,
    /// How identities were verified.
    pub identities: IdentitySources,
    /// Outages that were inferred from logs, if requested.
    pub outages: Option<OutageSummary>,
    /// The draft that requests were also judged by.
    pub draft: Option<DraftSummary>,
    /// Logs that repeat other logs.
    #[serde(default, skip_serializing_if = "Repeats::is_empty")]
    pub repeats: Repeats,
}

/// Options by name, in the order of `run.json`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ReportedOptions(pub Map<String, Value>);

/// A summary of a registry of crawlers.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RegistrySummary {
    /// Equal registries have equal digests.
    pub digest: String,
    /// Crawlers in it.
    pub crawlers: usize,
}

/// The summary of an input by its reader.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct InputSummary {
    /// Its name, as the user would write it.
    pub name: String,
    /// The bytes read from disk.
    pub size_bytes: u64,
    /// Bytes after decompression.
    pub decompressed_bytes: u64,
    /// The log format; `None` if it was not detected.
    pub format: Option<FormatUsed>,
    /// The lines that the format detection tried.
    pub lines_tried: usize,
    /// Why its rest could not be read.
    pub damage: Option<String>,
    /// Whether it may be cut off, though nothing in it is damaged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_cut: bool,
    /// A sketch of its content, by which copies are recognised; `None` if it is empty, or was read in
    /// parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketch: Option<ContentSketch>,
    /// Bytes of lines over the limit that were not kept, and so are in no count of its lines.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cut_bytes: u64,
    /// What may read it, if no line of it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
}

#[cfg(test)]
impl InputSummary {
    /// The summary of the file `name` of `size_bytes`, which was read to its end.
    pub(crate) fn of_whole(name: &str, size_bytes: u64) -> Self {
        Self {
            name: name.to_owned(),
            size_bytes,
            decompressed_bytes: size_bytes,
            format: None,
            lines_tried: 0,
            damage: None,
            may_be_cut: false,
            sketch: None,
            cut_bytes: 0,
            proposal: None,
        }
    }
}

#[cfg(test)]
impl Header {
    /// The header of a tally of `inputs` in which nothing was found.
    pub(crate) fn of_inputs(inputs: Vec<InputSummary>) -> Self {
        Self {
            program: "botaudit".to_owned(),
            version: "1".to_owned(),
            schema_version: SCHEMA_VERSION,
            options: ReportedOptions::default(),
            registry: RegistrySummary::default(),
            days: BTreeSet::new(),
            inputs,
            crawlers: Vec::new(),
            robots: Vec::new(),
            rulings: Rulings::default(),
            identities: IdentitySources::default(),
            outages: None,
            draft: None,
            repeats: Repeats::default(),
        }
    }
}

/// A log format, as reports name it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FormatUsed {
    /// Its name, or how it was given.
    pub name: String,
    /// Its limitations.
    pub limitations: Vec<Limitation>,
}

/// A version of a robots.txt: equal bytes are one version.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RobotsVersion {
    /// The digest of all its bytes.
    pub digest: Digest,
    /// The size in bytes.
    pub size_bytes: u64,
    /// The bytes that count.
    pub parsed_bytes: u64,
    /// What it is, if it is not a robots.txt.
    pub foreign: Option<Foreign>,
    /// The bytes that count, if rows quote lines of it.
    pub body: Option<RobotsBody>,
    /// If the bytes are not kept: the values of its User-agent lines, ascending, each once.
    pub product_tokens: Vec<ByteBuf>,
}

/// Outages that were inferred from logs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct OutageSummary {
    /// Hours in which the robots.txt of some origin could not be fetched.
    pub hours: u64,
    /// Those origins.
    pub origins: u64,
    /// Hours that were left out because the archive has a snapshot near them.
    pub hours_near_a_snapshot: u64,
}

/// A draft of a robots.txt that requests were also judged by.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct DraftSummary {
    /// Its name.
    pub source: String,
    /// The digest of a robots.txt version of the header.
    pub digest: Digest,
    /// The origins that it is for.
    pub scope: DraftScope,
}

/// The requests that a draft is for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DraftScope {
    /// All requests, because one robots.txt is in force for all origins.
    Everything,
    /// Those addressed to these origins.
    Origins(Vec<OriginKey>),
    /// Those of the only origin in the logs with a known robots.txt.
    OnlyOrigin,
}

impl RegistrySummary {
    /// Of `registry`.
    pub(crate) fn of(registry: &Registry) -> RegistrySummary {
        RegistrySummary {
            digest: registry.digest(),
            // The last row is not a crawler but the test for automated clients.
            crawlers: registry.len() - 1,
        }
    }
}

impl InputSummary {
    /// Whether not even its first byte could be read.
    pub(crate) fn is_unopened(&self) -> bool {
        self.damage.is_some() && self.size_bytes == 0
    }
}

impl Merge for RobotsVersion {
    /// The data from either of two tallies.
    fn absorb(&mut self, other: RobotsVersion) {
        if self.body.is_none() {
            *self = other;
        }
    }
}

impl ReportedOptions {
    /// The fields of `options`, in their order.
    pub(crate) fn of(options: &impl Serialize) -> ReportedOptions {
        let text = serde_json::to_string(options).expect("options are texts and numbers");
        serde_json::from_str(&text).expect("options have names")
    }

    /// The value of option `name`; `null` if there is none.
    pub(crate) fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }
}

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
