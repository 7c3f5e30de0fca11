//! From a record to the sums of a run.

use crate::audit::file::{FileTally, RejectTally};
use crate::audit::hours::HourSums;
use crate::audit::pace::PaceTally;
use crate::audit::place::Place;
use crate::audit::places::{PlaceTally, Places, PlacesParts, Standing};
use crate::audit::readings::ReadingTally;
use crate::audit::series::Series;
use crate::audit::sums::{Span, Statuses, Sums};
use crate::audit::tally::{
    Actor, CrawlerTally, Example, Tally, Times, UserAgentTally, ViolationTally,
};
use crate::error::Result;
use crate::input::source::FileId;
use crate::judge::robots::Robots;
use crate::judge::verdict::RuleRef;
use crate::logs::reject::{Reject, Skip};
use crate::time::{Day, Hour, UtcTime};
use crate::url::origin::Origin;

use super::{
    ActorRecord, DayRecord, ExampleRecord, FileRecord, Ids, PlaceRecord, ReadingRecord,
    UnknownRecord, damaged, identity,
};

struct Decoder<'a> {
    day: Day,
    ids: Ids<'a>,
}

pub fn decode(record: &DayRecord, day: Day, ids: Ids<'_>) -> Result<Tally> {
    let decoder = Decoder { day, ids };
    let mut tally = Tally::default();
    for file in &record.files {
        tally.files.insert(decoder.file(file.input)?, file_tally(file)?);
    }
    let places = |places: &[PlaceRecord]| {
        let part =
            |record: &PlaceRecord| Ok((place(&record.place)?, decoder.actors(&record.actors)?));
        places.iter().map(part).collect::<Result<Vec<_>>>()
    };
    let times_end = record.times_end.as_ref().map(|end| {
        let standing = end.stranger.map_or(Standing::Named, Standing::Stranger);
        Ok((standing, place(&end.place)?, decoder.actor(&end.crawler, &end.identity)?))
    });
    tally.places = Places::from_parts(PlacesParts {
        named: places(&record.named)?,
        strangers: places(&record.strangers)?,
        others: record.others.as_ref().map(|actors| decoder.actors(actors)).transpose()?,
        times_end: times_end.transpose()?,
    });
    for (user_agent, unknown) in &record.unknown {
        tally.unknown_crawlers.add(bytes(user_agent).as_slice(), user_agent_tally(unknown)?);
    }
    if let Some(others) = &record.other_unknown {
        tally.unknown_crawlers.add_to_others(user_agent_tally(others)?);
    }
    for hour in &record.hours {
        let actor = decoder.actor(&hour.crawler, &hour.identity)?;
        let [requests, allowed, violations, bytes] = hour.sums;
        let sums = HourSums { requests, allowed, violations, bytes };
        tally.hours.add(Hour { day, hour: hour.hour }, actor, sums);
    }
    Ok(tally)
}

impl Decoder<'_> {
    fn file(&self, input: i64) -> Result<FileId> {
        let file = self.ids.files.get(&input).copied();
        file.ok_or_else(|| damaged(&format!("there is no input {input}")))
    }

    fn actor(&self, crawler: &str, word: &str) -> Result<Actor> {
        let found = self.ids.registry.find(crawler).zip(identity(word));
        found.ok_or_else(|| damaged(&format!("{crawler} ({word}) is no crawler")))
    }

    fn actors(&self, actors: &[ActorRecord]) -> Result<PlaceTally> {
        let tally = |record: &ActorRecord| {
            Ok((self.actor(&record.crawler, &record.identity)?, self.crawler_tally(record)?))
        };
        actors.iter().map(tally).collect()
    }

    fn crawler_tally(&self, record: &ActorRecord) -> Result<CrawlerTally> {
        let mut tally = CrawlerTally {
            days: [(self.day, Sums::of_counts(record.sums))].into(),
            span: record.span.map(span).transpose()?,
            readings: reading(&record.readings)?,
            before_first: record.before_first,
            times: if record.times_given_up { Times::GivenUp } else { Times::Kept },
            ..CrawlerTally::default()
        };
        for violation in &record.violations {
            let (robots, line) = (self.robots(&violation.robots)?, violation.line);
            if robots.text.rule_at(line).is_none() {
                return Err(damaged(&format!(
                    "there is no rule on line {line} of {}",
                    robots.digest
                )));
            }
            let sum = ViolationTally {
                requests: violation.requests,
                statuses: statuses(violation.statuses),
                bytes: violation.bytes,
                span: span(violation.span)?,
                minutes: series(&violation.minutes),
                example: self.example(&violation.example)?,
            };
            tally.violations.insert(RuleRef { robots: robots.id, line }, sum);
        }
        for pace in &record.paces {
            let sum = PaceTally { requests: pace.requests, hours: series(&pace.hours) };
            tally.paces.insert(self.robots(&pace.robots)?.id, sum);
        }
        Ok(tally)
    }

    fn robots(&self, digest: &str) -> Result<std::sync::Arc<Robots>> {
        let known = self.ids.judge.interned(digest);
        known.ok_or_else(|| damaged(&format!("there is no robots.txt {digest}")))
    }

    fn example(&self, example: &ExampleRecord) -> Result<Example> {
        Ok(Example {
            time: time(example.time)?,
            file: self.file(example.input)?,
            line: example.line,
            target: bytes(&example.target).into(),
            snapshot: example.snapshot.map(time).transpose()?,
        })
    }
}

fn file_tally(record: &FileRecord) -> Result<FileTally> {
    let mut tally = FileTally {
        crawler: record.crawler,
        other: record.other,
        bytes: record.bytes,
        ..FileTally::default()
    };
    for (word, &(lines, first)) in &record.rejected {
        let reason = Reject::ALL.iter().position(|reason| reason.as_str() == word);
        let reason = reason.ok_or_else(|| damaged(&format!("{word} is no reason")))?;
        tally.rejected[reason] = RejectTally { lines, sample: Some((first, Box::default())) };
    }
    for (word, &lines) in &record.skipped {
        let reason = Skip::ALL.iter().position(|reason| reason.as_str() == word);
        tally.skipped[reason.ok_or_else(|| damaged(&format!("{word} is no reason")))?] = lines;
    }
    Ok(tally)
}

fn reading(record: &ReadingRecord) -> Result<ReadingTally> {
    Ok(ReadingTally {
        statuses: statuses(record.statuses),
        fetched: record.fetched.map(span).transpose()?,
        readings: record.readings,
        read: record.read.map(span).transpose()?,
        read_200: series(&record.read_200),
        read_304: series(&record.read_304),
        waiting: series(&record.waiting),
    })
}

fn user_agent_tally(record: &UnknownRecord) -> Result<UserAgentTally> {
    Ok(UserAgentTally {
        sums: Sums::of_counts(record.sums),
        span: record.span.map(span).transpose()?,
    })
}

/// Reads what [`Place`] writes.
fn place(text: &str) -> Result<Place> {
    for place in [Place::Unnamed, Place::Invalid, Place::Others] {
        if place.to_string() == text {
            return Ok(place);
        }
    }
    let origin = Origin::parse(text.as_bytes()).map(Place::Origin);
    origin.ok_or_else(|| damaged(&format!("{text} is no origin")))
}

fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect()
}

fn time(seconds: i64) -> Result<UtcTime> {
    UtcTime::from_unix_seconds(seconds).ok_or_else(|| damaged("a time that no calendar has"))
}

fn span((first, last): (i64, i64)) -> Result<Span> {
    Ok(Span { first: time(first)?, last: time(last)? })
}

fn series(numbers: &[i64]) -> Series {
    let mut series = Series::default();
    let mut bucket: i64 = 0;
    for pair in numbers.chunks_exact(2) {
        bucket = bucket.saturating_add(pair[0]);
        series.add(bucket, pair[1].unsigned_abs());
    }
    series
}

fn statuses(counts: [u64; 5]) -> Statuses {
    let [status_2xx, status_3xx, status_4xx, status_5xx, status_other] = counts;
    Statuses { status_2xx, status_3xx, status_4xx, status_5xx, status_other }
}
