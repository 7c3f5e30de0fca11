//! What a tally says besides counts: which program made it, by which options and rules, of which
//! inputs; and what the numbers in its counts stand for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use serde_json::{Map, Value};

use crate::crawlers::{crawler::Crawler, registry::Registry};
use crate::digest::Digest;
use crate::logs::limitation::Limitation;
use crate::merge::Merge;
use crate::robots::{body::RobotsBody, foreign::Foreign};
use crate::time::Day;

use super::super::origin_key::OriginKey;
use super::{identity_sources::IdentitySources, rulings::Rulings};

/// Grows by one when a tally changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// What a tally says besides counts.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Header {
    /// `botaudit`.
    pub program: String,
    /// The version of the program that counted.
    pub version: String,
    /// The version of the form.
    pub schema_version: u32,
    /// What the user asked for, as `run.json` has it.
    pub options: ReportedOptions,
    /// The registry of crawlers.
    pub registry: RegistrySummary,
    /// The days of which lines were counted, where each day has a tally of its own; else none.
    pub days: BTreeSet<Day>,
    /// By the number of an input in the counts; ascending by name.
    pub inputs: Vec<InputSummary>,
    /// By the number of a crawler in the counts; ascending by name.
    pub crawlers: Vec<Crawler>,
    /// By the number of a robots.txt in the counts; ascending by digest.
    pub robots: Vec<RobotsVersion>,
    /// Which robots.txt governed which origin.
    pub rulings: Rulings,
    /// How identities were verified.
    pub identities: IdentitySources,
    /// Outages that were inferred from logs, where that was asked for.
    pub outages: Option<OutageSummary>,
    /// The draft that requests were judged by besides.
    pub draft: Option<DraftSummary>,
}

/// Options by name, in the order in which `run.json` writes them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ReportedOptions(pub Map<String, Value>);

/// A registry of crawlers, in short.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RegistrySummary {
    /// Equal registries have equal digests.
    pub digest: String,
    /// Crawlers in it.
    pub crawlers: usize,
}

/// An input, as its reader saw it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct InputSummary {
    /// As the user would write it.
    pub name: String,
    /// Bytes read, as they lie on disk.
    pub size_bytes: u64,
    /// Bytes after decompression.
    pub decompressed_bytes: u64,
    /// The log format; `None` if there was no line to detect it by.
    pub format: Option<FormatUsed>,
    /// Lines by which the format was to be detected.
    pub lines_tried: usize,
    /// Why its rest could not be read.
    pub damage: Option<String>,
}

/// A log format, as reports name it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FormatUsed {
    /// Its name, or how it was given.
    pub name: String,
    /// What it cannot tell.
    pub limitations: Vec<Limitation>,
}

/// A version of a robots.txt: equal bytes are one version, wherever they came from.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RobotsVersion {
    /// Of all its bytes.
    pub digest: Digest,
    /// All its bytes.
    pub size_bytes: u64,
    /// Those of them that count.
    pub parsed_bytes: u64,
    /// What it is, if it is not a robots.txt.
    pub foreign: Option<Foreign>,
    /// The bytes that count, where rows name lines of it.
    pub body: Option<RobotsBody>,
    /// Where they are not kept: the values of its User-agent lines, ascending, each once.
    pub product_tokens: Vec<ByteBuf>,
}

/// Outages that were inferred from logs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct OutageSummary {
    /// Hours in which the robots.txt of some origin could not be fetched.
    pub hours: u64,
    /// Those origins.
    pub origins: u64,
    /// Hours that were left to the archive, which has a snapshot near them.
    pub hours_near_a_snapshot: u64,
}

/// A draft of a robots.txt that requests were also judged by.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct DraftSummary {
    /// Its name.
    pub source: String,
    /// One of the header's robots.txt versions.
    pub digest: Digest,
    /// Which origins it is for.
    pub scope: DraftScope,
}

/// Which requests a draft is for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DraftScope {
    /// Those that one file in force governs, whatever their origin.
    Everything,
    /// Those addressed to these origins.
    Origins(Vec<OriginKey>),
    /// Those of the only origin of the logs of which a robots.txt is known.
    OnlyOrigin,
}

impl RegistrySummary {
    /// Of `registry`.
    pub fn of(registry: &Registry) -> RegistrySummary {
        RegistrySummary {
            digest: registry.digest(),
            // The last row is not a crawler but the test of what looks automated.
            crawlers: registry.iter().count() - 1,
        }
    }
}

impl InputSummary {
    /// Whether not even its first byte could be read.
    pub fn is_unopened(&self) -> bool {
        self.damage.is_some() && self.size_bytes == 0
    }
}

impl Merge for RobotsVersion {
    /// What is known of it from either of two tallies.
    fn absorb(&mut self, other: RobotsVersion) {
        if self.body.is_none() && other.body.is_some() {
            *self = other;
        }
    }
}

impl ReportedOptions {
    /// The fields of `options`, in their order.
    pub fn of(options: &impl Serialize) -> ReportedOptions {
        let text = serde_json::to_string(options).expect("options are texts and numbers");
        serde_json::from_str(&text).expect("options have names")
    }

    /// The value of option `name`; `null` where there is none.
    pub fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }
}
