//! The sums of a day as they are kept between runs: by names, so that another run can add to them.
//!
//! Ids of crawlers, files and robots.txt versions are those of one run. A record has the names of
//! crawlers, the digests of robots.txt files, and the numbers that whoever keeps it gives to inputs.
//! No address of a client is in it, nor the text of a line that is no record, which may hold one.

mod decode;
mod encode;
pub mod in_force;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::crawlers::identity::Identity;
use crate::crawlers::registry::Registry;
use crate::error::{Error, Result};
use crate::input::source::FileId;
use crate::judge::Judge;
use crate::time::Day;

use super::sums::Sums;
use super::tally::Tally;
use in_force::InForceRecord;

/// Grows by one when a record changes its meaning.
pub const VERSION: u32 = 1;

/// The sums of a day.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct DayRecord {
    files: Vec<FileRecord>,
    named: Vec<PlaceRecord>,
    strangers: Vec<PlaceRecord>,
    others: Option<Vec<ActorRecord>>,
    times_end: Option<TimesEnd>,
    unknown: Vec<(String, UnknownRecord)>,
    other_unknown: Option<UnknownRecord>,
    hours: Vec<HourRecord>,
    /// What was in force.
    pub in_force: InForceRecord,
}

/// What the ids of a run stand for.
#[derive(Clone, Copy, Debug)]
pub struct Ids<'a> {
    /// Of crawlers.
    pub registry: &'a Registry,
    /// Of versions of robots.txt. It must know all that a record names.
    pub judge: &'a Judge,
    /// Of inputs: the file of each number.
    pub files: &'a BTreeMap<i64, FileId>,
}

/// What one crawler did in one day at one place, in short.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ActorSums<'a> {
    /// The `origin` column.
    pub origin: &'a str,
    /// Its name.
    pub crawler: &'a str,
    /// The word for its identity.
    pub identity: &'a str,
    /// By outcome.
    pub sums: Sums,
    /// Readings of robots.txt: a GET that was answered 200 or 304.
    pub readings: u64,
}

/// A place by the words of its column.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct PlaceRecord {
    place: String,
    actors: Vec<ActorRecord>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct FileRecord {
    input: i64,
    crawler: u64,
    other: u64,
    bytes: u64,
    /// Lines, and the number of the first of them, by reason.
    rejected: BTreeMap<String, (u64, u64)>,
    skipped: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct ActorRecord {
    crawler: String,
    identity: String,
    sums: [u64; Sums::COUNTS],
    span: Option<(i64, i64)>,
    violations: Vec<ViolationRecord>,
    readings: ReadingRecord,
    paces: Vec<PaceRecord>,
    before_first: u64,
    times_given_up: bool,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct ViolationRecord {
    robots: String,
    line: u32,
    requests: u64,
    statuses: [u64; 5],
    bytes: u64,
    span: (i64, i64),
    minutes: Vec<i64>,
    example: ExampleRecord,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct ExampleRecord {
    time: i64,
    input: i64,
    line: u64,
    target: String,
    snapshot: Option<i64>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct ReadingRecord {
    statuses: [u64; 5],
    fetched: Option<(i64, i64)>,
    readings: u64,
    read: Option<(i64, i64)>,
    read_200: Vec<i64>,
    read_304: Vec<i64>,
    waiting: Vec<i64>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct PaceRecord {
    robots: String,
    requests: u64,
    hours: Vec<i64>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct UnknownRecord {
    sums: [u64; Sums::COUNTS],
    span: Option<(i64, i64)>,
}

/// What one crawler did in an hour, wherever that was: requests, allowed, violations, bytes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct HourRecord {
    hour: u8,
    crawler: String,
    identity: String,
    sums: [u64; 4],
}

/// The first crawler whose times are not kept.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct TimesEnd {
    stranger: Option<u64>,
    place: String,
    crawler: String,
    identity: String,
}

impl DayRecord {
    /// Of `tally`, the sums of one day.
    pub fn new(tally: Tally, in_force: InForceRecord, ids: Ids<'_>) -> DayRecord {
        encode::encode(tally, in_force, ids)
    }

    /// The sums of `day` that this is a record of.
    ///
    /// # Errors
    /// Where it names what nobody knows.
    pub fn tally(&self, day: Day, ids: Ids<'_>) -> Result<Tally> {
        decode::decode(self, day, ids)
    }

    /// Reads a record.
    ///
    /// # Errors
    /// Where it is none.
    pub fn parse(json: &[u8]) -> Result<DayRecord> {
        serde_json::from_slice(json).map_err(|err| damaged(&err.to_string()))
    }

    /// As [`DayRecord::parse`] reads it.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings and numbers are JSON")
    }

    /// The numbers of the inputs that have lines in it.
    pub fn inputs(&self) -> impl Iterator<Item = i64> {
        self.files.iter().map(|file| file.input)
    }

    /// The digests of all versions of robots.txt that are named.
    pub fn digests(&self) -> impl Iterator<Item = &str> {
        let by_actor = self.actors().flat_map(|(_, actor)| {
            let broken = actor.violations.iter().map(|violation| violation.robots.as_str());
            broken.chain(actor.paces.iter().map(|pace| pace.robots.as_str()))
        });
        by_actor.chain(self.in_force.digests())
    }

    /// The names of all crawlers.
    pub fn crawlers(&self) -> impl Iterator<Item = &str> {
        let end = self.times_end.iter().map(|end| end.crawler.as_str());
        self.actors().map(|(_, actor)| actor.crawler.as_str()).chain(end)
    }

    /// What each crawler did at each place.
    pub fn sums(&self) -> impl Iterator<Item = ActorSums<'_>> {
        self.actors().map(|(origin, actor)| ActorSums {
            origin,
            crawler: &actor.crawler,
            identity: &actor.identity,
            sums: Sums::of_counts(actor.sums),
            readings: actor.readings.readings,
        })
    }

    fn actors(&self) -> impl Iterator<Item = (&str, &ActorRecord)> {
        let places = self.named.iter().chain(&self.strangers);
        let placed =
            places.flat_map(|place| place.actors.iter().map(|actor| (place.place.as_str(), actor)));
        let others = self.others.iter().flatten();
        placed.chain(others.map(|actor| ("(others)", actor)))
    }
}

fn identity(word: &str) -> Option<Identity> {
    Identity::ALL.into_iter().find(|identity| identity.as_str() == word)
}

fn damaged(what: &str) -> Error {
    Error::inconsistent(format!("the kept sums of a day cannot be read: {what}"))
}

#[cfg(test)]
mod tests;
