//! From the sums of a run to a record.

use std::collections::BTreeMap;

use crate::audit::file::FileTally;
use crate::audit::hours::{HourSums, Hours};
use crate::audit::places::{PlaceTally, PlacesParts, Standing};
use crate::audit::readings::ReadingTally;
use crate::audit::series::Series;
use crate::audit::sums::{Span, Statuses};
use crate::audit::tally::{Actor, CrawlerTally, Example, Tally, Times, UserAgentTally};
use crate::input::source::FileId;
use crate::logs::reject::{Reject, Skip};
use crate::time::Hour;

use super::in_force::InForceRecord;
use super::{
    ActorRecord, DayRecord, ExampleRecord, FileRecord, HourRecord, Ids, PaceRecord, PlaceRecord,
    ReadingRecord, TimesEnd, UnknownRecord, ViolationRecord,
};

/// Numbers of inputs by file, and the other names.
struct Encoder<'a> {
    ids: Ids<'a>,
    inputs: BTreeMap<FileId, i64>,
}

pub fn encode(tally: Tally, in_force: InForceRecord, ids: Ids<'_>) -> DayRecord {
    let inputs = ids.files.iter().map(|(&input, &file)| (file, input)).collect();
    let encoder = Encoder { ids, inputs };
    let Tally { files, places, unknown_crawlers, hours, suspects: _, witness: _ } = tally;
    let PlacesParts { named, strangers, others, times_end } = places.into_parts();
    let (unknown, other_unknown) = unknown_crawlers.into_parts();
    let places = |places: Vec<_>| {
        let record = |(place, actors): (crate::audit::place::Place, PlaceTally)| PlaceRecord {
            place: place.to_string(),
            actors: encoder.actors(actors),
        };
        places.into_iter().map(record).collect()
    };
    DayRecord {
        files: files.iter().map(|(file, tally)| encoder.file(*file, tally)).collect(),
        named: places(named),
        strangers: places(strangers),
        others: others.map(|actors| encoder.actors(actors)),
        times_end: times_end.map(|(standing, place, actor)| {
            let (crawler, identity) = encoder.actor(actor);
            let stranger = match standing {
                Standing::Named => None,
                Standing::Stranger(hash) => Some(hash),
            };
            TimesEnd { stranger, place: place.to_string(), crawler, identity }
        }),
        unknown: unknown.map(|(agent, tally)| (text(&agent), unknown_record(tally))).collect(),
        other_unknown: other_unknown.map(unknown_record),
        hours: encoder.hours(&hours),
        in_force,
    }
}

impl Encoder<'_> {
    fn input(&self, file: FileId) -> i64 {
        *self.inputs.get(&file).expect("every file that was read has a number")
    }

    fn actor(&self, (crawler, identity): Actor) -> (String, String) {
        (self.ids.registry.crawler(crawler).name.clone(), identity.as_str().to_owned())
    }

    fn hours(&self, hours: &Hours) -> Vec<HourRecord> {
        let record = |(hour, actors): (Hour, &BTreeMap<Actor, HourSums>)| {
            let of_actor = |(&actor, sums): (&Actor, &HourSums)| {
                let HourSums { requests, allowed, violations, bytes } = *sums;
                let (crawler, identity) = self.actor(actor);
                let sums = [requests, allowed, violations, bytes];
                HourRecord { hour: hour.hour, crawler, identity, sums }
            };
            actors.iter().map(of_actor).collect::<Vec<_>>()
        };
        hours.kept().flat_map(record).collect()
    }

    fn file(&self, file: FileId, tally: &FileTally) -> FileRecord {
        let rejected = Reject::ALL.iter().zip(&tally.rejected);
        let rejected = rejected.filter(|(_, reject)| reject.lines > 0).map(|(reason, reject)| {
            let first = reject.sample.as_ref().map_or(0, |sample| sample.0);
            (reason.as_str().to_owned(), (reject.lines, first))
        });
        let skipped = Skip::ALL.iter().zip(tally.skipped).filter(|&(_, lines)| lines > 0);
        FileRecord {
            input: self.input(file),
            crawler: tally.crawler,
            other: tally.other,
            bytes: tally.bytes,
            rejected: rejected.collect(),
            skipped: skipped.map(|(why, lines)| (why.as_str().to_owned(), lines)).collect(),
        }
    }

    fn actors(&self, actors: PlaceTally) -> Vec<ActorRecord> {
        actors.into_iter().map(|(actor, tally)| self.actor_record(actor, &tally)).collect()
    }

    fn actor_record(&self, actor: Actor, tally: &CrawlerTally) -> ActorRecord {
        let (crawler, identity) = self.actor(actor);
        let digest = |robots| self.ids.judge.digest(robots).to_string();
        let violations = tally.violations.iter().map(|(key, sum)| ViolationRecord {
            robots: digest(key.robots),
            line: key.line,
            requests: sum.requests,
            statuses: statuses(sum.statuses),
            bytes: sum.bytes,
            span: span(sum.span),
            minutes: series(&sum.minutes),
            example: self.example(&sum.example),
        });
        let paces = tally.paces.iter().map(|(robots, pace)| PaceRecord {
            robots: digest(*robots),
            requests: pace.requests,
            hours: series(&pace.hours),
        });
        ActorRecord {
            crawler,
            identity,
            sums: tally.total().counts(),
            span: tally.span.map(span),
            violations: violations.collect(),
            readings: reading(&tally.readings),
            paces: paces.collect(),
            before_first: tally.before_first,
            times_given_up: tally.times == Times::GivenUp,
        }
    }

    fn example(&self, example: &Example) -> ExampleRecord {
        ExampleRecord {
            time: example.time.unix_seconds(),
            input: self.input(example.file),
            line: example.line,
            target: text(&example.target),
            snapshot: example.snapshot.map(|time| time.unix_seconds()),
        }
    }
}

fn reading(readings: &ReadingTally) -> ReadingRecord {
    ReadingRecord {
        statuses: statuses(readings.statuses),
        fetched: readings.fetched.map(span),
        readings: readings.readings,
        read: readings.read.map(span),
        read_200: series(&readings.read_200),
        read_304: series(&readings.read_304),
        waiting: series(&readings.waiting),
    }
}

fn unknown_record(tally: UserAgentTally) -> UnknownRecord {
    UnknownRecord { sums: tally.sums.counts(), span: tally.span.map(span) }
}

/// A character for each byte.
fn text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn span(span: Span) -> (i64, i64) {
    (span.first.unix_seconds(), span.last.unix_seconds())
}

fn statuses(statuses: Statuses) -> [u64; 5] {
    let Statuses { status_2xx, status_3xx, status_4xx, status_5xx, status_other } = statuses;
    [status_2xx, status_3xx, status_4xx, status_5xx, status_other]
}

/// The distance to the bucket before, then the count, and so on.
fn series(series: &Series) -> Vec<i64> {
    let mut last = 0;
    let mut numbers = Vec::new();
    for (bucket, count) in series.buckets() {
        numbers.push(bucket - last);
        numbers.push(i64::try_from(count).unwrap_or(i64::MAX));
        last = bucket;
    }
    numbers
}
