//! The result of a first pass as a file: collected on one machine, merged with those of others, and
//! used by all their audits.
//!
//! It contains addresses to look up as they are, and keyed hashes of clients that fetched
//! robots.txt.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bounded::{Bounded, StableHash};
use crate::config::option::Class;
use crate::crawlers::{crawler::CrawlerId, registry::Registry};
use crate::error::{Error, Result};
use crate::input::content_hash::ContentSketch;
use crate::merge::Merge;

use super::dns_names::{CANDIDATES_MAX, DnsCandidate};
use super::log_outages::{AnswersOfDay, LogOutages};
use super::origin_key::{OriginKey, OriginRank};
use super::packed::{self, Unreadable};
use super::prepass::{AskedOrigins, Collected};
use super::repeated_content::{NamedContent, repeated_contents};
use super::tally::header::{MadeBy, RegistrySummary, ReportedOptions, merge_options};
use super::tally::rows::STRANGERS_MAX;
use super::{client::KeyFingerprint, memory_limit::MemoryLimit};

/// Grows by one when such a file changes its meaning.
const SCHEMA_VERSION: u32 = 1;

/// The first bytes of such a file, with the version of its form.
const MAGIC: &[u8] = b"botaudit collected 1 ";

/// The first bytes of every version.
const MAGIC_OF_ANY_VERSION: &[u8] = b"botaudit collected ";

/// What such a file is in errors.
const READ: &str = "what was collected";

const DAMAGED: &str = "is damaged; create it again with audit --collect";

/// The header of such a file.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct CollectedHeader {
    /// `botaudit`.
    pub program: String,
    /// The version of the program.
    pub version: String,
    /// The version of the form.
    pub schema_version: u32,
    /// The options of the user.
    pub options: ReportedOptions,
    /// The registry of crawlers.
    pub registry: RegistrySummary,
    /// The names of crawlers, by number.
    pub crawlers: Vec<String>,
    /// Names of the logs, with those of copies that were not read.
    pub inputs: BTreeSet<String>,
    /// Sketches of their contents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sketches: BTreeMap<String, ContentSketch>,
    /// The fingerprint of the client key; `None` if no clients were hashed.
    pub client_key: Option<KeyFingerprint>,
}

/// A file with the result of a first pass.
#[derive(Clone, Debug)]
pub struct CollectedFile {
    /// The header.
    pub header: CollectedHeader,
    /// The result.
    pub collected: Collected,
}

/// The result, as written.
#[derive(Debug, Deserialize, Serialize)]
struct Body {
    addresses: Option<Addresses>,
    answers: Option<Answered>,
    origins: Option<Asked>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Addresses {
    kept: Vec<AddressEntry>,
    /// Requests from addresses that were not kept.
    requests_of_others: Option<u64>,
}

#[derive(Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
struct AddressEntry {
    crawler: CrawlerId,
    address: IpAddr,
    requests: u64,
}

#[derive(Debug, Deserialize, Serialize)]
struct Answered {
    days: Vec<AnswersOfDay>,
    is_cut: bool,
}

#[derive(Debug, Deserialize, Serialize)]
struct Asked {
    named: BTreeSet<OriginKey>,
    strangers: BTreeSet<OriginKey>,
    has_others: bool,
}

impl CollectedHeader {
    /// A header for `inputs`, `options` and `registry`.
    pub fn new(
        options: ReportedOptions,
        registry: &Registry,
        inputs: BTreeSet<String>,
        client_key: Option<KeyFingerprint>,
    ) -> CollectedHeader {
        CollectedHeader {
            program: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            schema_version: SCHEMA_VERSION,
            options,
            registry: RegistrySummary::of(registry),
            crawlers: registry.iter().map(|(_, crawler)| crawler.name.clone()).collect(),
            inputs,
            sketches: BTreeMap::new(),
            client_key,
        }
    }

    fn made_by<'a>(&'a self, name: &'a str) -> MadeBy<'a> {
        let CollectedHeader { version, registry, options, .. } = self;
        MadeBy { name, version, registry, options }
    }

    /// Checks that an audit with the header `audit` may use the file `name` with this header.
    ///
    /// # Errors
    /// If the version, the registry or the options differ, or an input is missing.
    pub(crate) fn check_fits(&self, name: &str, audit: &CollectedHeader) -> Result<()> {
        // It may contain more than the audit needs.
        let may_differ =
            |_: &str, class| class == Some(Class::Collected) || is_after_first_pass(class);
        let advice = "collect again with the options of the audit, or audit with the options of \
                      --collect";
        self.made_by(name).check_same(&audit.made_by("this audit"), may_differ, advice)?;
        if self.crawlers != audit.crawlers {
            return Err(Error::tally(Path::new(name), DAMAGED));
        }
        match audit.inputs.difference(&self.inputs).next() {
            None => Ok(()),
            Some(input) => Err(Error::unfit(format!(
                "{name} has no data of the input '{input}'; collect from this input, too, and \
                 merge, or use --name with the name it had then"
            ))),
        }
    }
}

impl CollectedFile {
    /// The bytes of the file. Equal findings give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        packed::Encoded::new(MAGIC, &self.header, &Body::of(self.collected.clone())).packed()
    }

    /// Reads what [`CollectedFile::to_bytes`] wrote; `path` is for errors.
    ///
    /// # Errors
    /// If it is not such a file, is damaged, of another version, or takes more than `memory`.
    pub(crate) fn from_bytes(
        bytes: &[u8],
        path: &Path,
        memory: &MemoryLimit,
    ) -> Result<CollectedFile> {
        let Some(frames) = bytes.strip_prefix(MAGIC) else {
            let why = match is_collected(bytes) {
                true => "was written by another version of botaudit; collect again",
                false => "is not a file of audit --collect",
            };
            return Err(Error::tally(path, why));
        };
        let damaged = || Error::tally(path, DAMAGED);
        let refused = |why| match why {
            Unreadable::Damaged => damaged(),
            Unreadable::TooLarge => packed::too_large(path, memory),
        };
        let (header, body) = packed::frames(frames).ok_or_else(damaged)?;
        let header: CollectedHeader = packed::unpacked(header, memory).map_err(refused)?;
        if header.schema_version != SCHEMA_VERSION {
            let why = format!(
                "was written by botaudit {}, and this version ({}) cannot read it; collect again",
                header.version,
                env!("CARGO_PKG_VERSION")
            );
            return Err(Error::tally(path, why));
        }
        let body: Body = packed::unpacked(body, memory).map_err(refused)?;
        let has_answers = body.answers.is_some();
        let collected = body.into_collected(header.crawlers.len()).ok_or_else(damaged)?;
        if has_answers != header.client_key.is_some() {
            return Err(damaged());
        }
        Ok(CollectedFile { header, collected })
    }

    /// Reads the file at `path`, which may take `memory_bytes` of memory.
    ///
    /// # Errors
    /// As [`CollectedFile::from_bytes`], or where it cannot be read.
    pub(crate) fn read(path: &Path, memory_bytes: usize) -> Result<CollectedFile> {
        let memory = MemoryLimit::new(memory_bytes);
        CollectedFile::from_bytes(&packed::read_file(READ, path, &memory)?, path, &memory)
    }
}

/// Whether a file with this beginning has the result of a first pass, in any version.
pub(crate) fn is_collected(head: &[u8]) -> bool {
    head.starts_with(MAGIC_OF_ANY_VERSION)
}

/// The result of a first pass over all logs of the files at `paths`, which may take `memory_bytes`
/// of memory. Equal files count once.
///
/// # Errors
/// If one cannot be read, two of them have an input of the same name or content, or they do not fit
/// together: another version, registry, key or option.
pub(crate) fn merge_collected(paths: &[PathBuf], memory_bytes: usize) -> Result<CollectedFile> {
    let memory = MemoryLimit::new(memory_bytes);
    let mut known = BTreeSet::new();
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut sketches = Vec::new();
    let mut sum: Option<(String, CollectedFile)> = None;
    for (number, path) in paths.iter().enumerate() {
        let bytes = packed::read_file(READ, path, &memory)?;
        if !known.insert(xxhash_rust::xxh3::xxh3_128(&bytes)) {
            continue;
        }
        let file = CollectedFile::from_bytes(&bytes, path, &memory)?;
        let name = path.display().to_string();
        for input in &file.header.inputs {
            if let Some(other) = owners.insert(input.clone(), name.clone()) {
                return Err(Error::unfit(format!(
                    "{other} and {name} both contain the input '{input}' but differ, so its \
                     lines would count twice; remove one, or give the inputs different names \
                     with audit --collect --name"
                )));
            }
        }
        let sketched = file.header.sketches.iter();
        sketches.extend(sketched.map(|(input, sketch)| (number, input.clone(), sketch.clone())));
        match &mut sum {
            None => sum = Some((name, file)),
            Some((first, sum)) => {
                check_same_run((first, &sum.header), (&name, &file.header))?;
                sum.header.inputs.extend(file.header.inputs);
                sum.header.sketches.extend(file.header.sketches);
                merge_options(&mut sum.header.options, &file.header.options);
                sum.collected.absorb(file.collected);
                if memory.left() < memory_bytes / 2 {
                    // Equal entries of several files are one entry of the sum.
                    memory.back_to(0);
                    let body = Body::of(std::mem::take(&mut sum.collected));
                    let body = packed::measure(body, &memory);
                    let body = body.map_err(|_| packed::too_large(path, &memory))?;
                    let collected = body.into_collected(sum.header.crawlers.len());
                    let damaged = || Error::tally(path, DAMAGED);
                    sum.collected = collected.ok_or_else(damaged)?;
                }
            }
        }
    }
    refuse_repeated_contents(&sketches, paths)?;
    sum.map(|(_, sum)| sum).ok_or_else(|| Error::usage("no file to merge; name one"))
}

/// `sketches` have the number of their file in `paths`, and the names of the inputs.
fn refuse_repeated_contents(
    sketches: &[(usize, String, ContentSketch)],
    paths: &[PathBuf],
) -> Result<()> {
    let contents = sketches.iter();
    let contents =
        contents.map(|(owner, name, sketch)| NamedContent { owner: *owner, name, sketch });
    match repeated_contents(contents.collect()).certain {
        None => Ok(()),
        Some((part, whole)) => Err(Error::unfit(format!(
            "the input '{}' of {} begins with all lines of the input '{}' of {}, so these lines \
             would count twice; leave one of the two logs out, and collect from the others again",
            whole.name,
            paths[whole.owner].display(),
            part.name,
            paths[part.owner].display(),
        ))),
    }
}

/// Whether options of `class` do not change what is collected.
fn is_after_first_pass(class: Option<Class>) -> bool {
    class.is_some_and(Class::is_after_first_pass)
}

fn check_same_run(
    (left_name, left): (&str, &CollectedHeader),
    (right_name, right): (&str, &CollectedHeader),
) -> Result<()> {
    let (left_by, right_by) = (left.made_by(left_name), right.made_by(right_name));
    let advice = "collect again from the logs of one of them, with the options of the other";
    left_by.check_same(&right_by, |_, class| is_after_first_pass(class), advice)?;
    if left.client_key != right.client_key {
        return Err(Error::unfit(format!(
            "{left_name} and {right_name} cannot be merged: their clients are hashed with \
             different keys; collect both again with the same --client-key"
        )));
    }
    Ok(())
}

impl Body {
    fn of(collected: Collected) -> Body {
        let Collected { addresses, answers, origins } = collected;
        Body {
            addresses: addresses.map(|addresses| {
                let (kept, others) = addresses.into_parts();
                let entry = |(DnsCandidate { crawler, address }, requests)| AddressEntry {
                    crawler,
                    address,
                    requests,
                };
                let mut kept: Vec<AddressEntry> = kept.map(entry).collect();
                kept.sort();
                Addresses { kept, requests_of_others: others }
            }),
            answers: answers.map(|answers| {
                let (days, is_cut) = answers.into_days();
                Answered { days, is_cut }
            }),
            origins: origins.map(|AskedOrigins { named, strangers }| {
                let (strangers, others) = strangers.into_parts();
                Asked {
                    named: named.into_iter().map(OriginKey::Origin).collect(),
                    strangers: strangers.map(|(origin, ())| OriginKey::Origin(origin)).collect(),
                    has_others: others.is_some(),
                }
            }),
        }
    }

    /// `None` if it is not valid for this number of crawlers.
    fn into_collected(self, crawlers: usize) -> Option<Collected> {
        let Body { addresses, answers, origins } = self;
        let mut collected = Collected::default();
        if let Some(addresses) = addresses {
            collected.addresses = Some(addresses.into_bounded(crawlers)?);
        }
        if let Some(Answered { days, is_cut }) = answers {
            collected.answers = Some(LogOutages::of_days(days, is_cut)?);
        }
        if let Some(origins) = origins {
            collected.origins = Some(origins.into_origins()?);
        }
        Some(collected)
    }
}

impl Addresses {
    fn into_bounded(self, crawlers: usize) -> Option<Bounded<DnsCandidate, u64>> {
        let mut addresses = Bounded::new(CANDIDATES_MAX);
        for AddressEntry { crawler, address, requests } in self.kept {
            if crawler.index() >= crawlers || address != address.to_canonical() {
                return None;
            }
            addresses.add(&DnsCandidate { crawler, address }, requests);
        }
        if let Some(requests) = self.requests_of_others {
            addresses.add_to_others(requests);
        }
        Some(addresses)
    }
}

impl Asked {
    fn into_origins(self) -> Option<AskedOrigins> {
        let mut origins = AskedOrigins::new(STRANGERS_MAX);
        for origin_key in &self.named {
            matches!(origin_key, OriginKey::Origin(_)).then_some(())?;
            origins.add(origin_key, OriginRank::Named);
        }
        for origin_key in &self.strangers {
            matches!(origin_key, OriginKey::Origin(_)).then_some(())?;
            origins.add(origin_key, OriginRank::Stranger(origin_key.stable_hash()));
        }
        if self.has_others {
            origins.strangers.add_to_others(());
        }
        Some(origins)
    }
}

#[cfg(test)]
mod tests;
