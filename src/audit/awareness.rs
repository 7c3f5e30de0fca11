//! Who had read robots.txt before a violation, and how long before.
//!
//! For each violation the question is asked of the crawler itself first, then
//! of the other crawlers of its operator, who may share copies. Only readings of
//! the same origin and of the same identity class count: a spoofed crawler knows
//! nothing of what its namesake has read, and nobody shares with it. All is
//! resolved by the minute, after everything is merged; within one minute the
//! reading counts as earlier.

use crate::crawlers::crawler::CrawlerId;
use crate::crawlers::identity::Identity;
use crate::crawlers::registry::Registry;

use super::merge::Merge;
use super::places::PlaceTally;
use super::readings::ReadingTally;
use super::series::Series;
use super::tally::{Actor, Times};

/// Violations by who had read robots.txt before: each is one of the first four.
#[derive(Clone, Debug, Default)]
pub struct Awareness {
    /// The crawler itself had.
    pub read_by_itself: u64,
    /// It had not, but another crawler of its operator had.
    pub read_by_operator: u64,
    /// Neither had, as far as these logs show.
    pub not_read_in_logs: u64,
    /// The times of requests were given up, so that nobody can say.
    pub reading_unknown: u64,
    /// Of `not_read_in_logs`: the crawler had asked for robots.txt, but that was no reading.
    pub asked_without_reading: u64,
    /// Of those that were read: the last reading before was answered 200.
    pub last_reading_200: u64,
    /// Of those that were read: the last reading before was answered 304.
    pub last_reading_304: u64,
    /// Violations by the age of that reading in minutes.
    ages: Series,
}

/// How old the last reading before a violation was, in minutes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ages {
    /// Of the violation soonest after a reading.
    pub min: u64,
    /// No more than this for at least half of the violations.
    pub median: u64,
    /// Of the violation longest after a reading.
    pub max: u64,
}

impl Awareness {
    /// All violations.
    pub fn total(&self) -> u64 {
        self.read_by_itself + self.read_by_operator + self.not_read_in_logs + self.reading_unknown
    }

    /// Whether the parts agree.
    pub fn holds(&self) -> bool {
        let read = self.read_by_itself + self.read_by_operator;
        self.last_reading_200 + self.last_reading_304 == read
            && self.ages.total() == read
            && self.asked_without_reading <= self.not_read_in_logs
    }

    /// The ages of readings; `None` where nothing had been read.
    pub fn ages(&self) -> Option<Ages> {
        let ages = self.ages.buckets();
        let minutes = |&(age, _): &(i64, u64)| age.unsigned_abs();
        let half = self.ages.total().div_ceil(2);
        let mut sum = 0;
        let median = ages.iter().find(|(_, count)| {
            sum += count;
            sum >= half
        });
        Some(Ages {
            min: minutes(ages.first()?),
            median: minutes(median?),
            max: minutes(ages.last()?),
        })
    }

    fn count_read(&mut self, minute: i64, reading: Reading, violations: u64) {
        match reading.answer {
            Answer::Ok => self.last_reading_200 += violations,
            Answer::NotModified => self.last_reading_304 += violations,
        }
        self.ages.add(minute - reading.minute, violations);
    }
}

impl Merge for Awareness {
    fn absorb(&mut self, other: Awareness) {
        self.read_by_itself += other.read_by_itself;
        self.read_by_operator += other.read_by_operator;
        self.not_read_in_logs += other.not_read_in_logs;
        self.reading_unknown += other.reading_unknown;
        self.asked_without_reading += other.asked_without_reading;
        self.last_reading_200 += other.last_reading_200;
        self.last_reading_304 += other.last_reading_304;
        self.ages.absorb(other.ages);
    }
}

/// Who read the robots.txt of one place, and when.
#[derive(Debug)]
pub struct Readers<'a> {
    registry: &'a Registry,
    actors: Vec<Reader>,
}

#[derive(Debug)]
struct Reader {
    actor: Actor,
    /// When it read, ascending.
    readings: Vec<Reading>,
    /// When it first asked for robots.txt, whatever the answer.
    first_asked: Option<i64>,
    times: Times,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Reading {
    minute: i64,
    /// Within one minute, 200 counts as the last.
    answer: Answer,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Answer {
    NotModified,
    Ok,
}

/// All that one crawler could know.
#[derive(Debug)]
pub struct Knowledge<'a> {
    own: &'a Reader,
    /// Of the other crawlers of its operator, ascending.
    operator: Vec<Reading>,
    /// Whether all of those crawlers' readings are known.
    operator_times: Times,
}

impl<'a> Readers<'a> {
    /// Who read the robots.txt of `place`.
    pub fn new(place: &PlaceTally, registry: &'a Registry) -> Readers<'a> {
        let reader = |(&actor, tally): (&Actor, &super::tally::CrawlerTally)| Reader {
            actor,
            readings: readings(&tally.readings),
            first_asked: tally.readings.fetched.map(|span| span.first.unix_minute()),
            times: tally.times,
        };
        Readers { registry, actors: place.iter().map(reader).collect() }
    }

    /// What `actor`, who is one of them, could know.
    pub fn knowledge(&self, actor: Actor) -> Knowledge<'_> {
        let own = self.actors.iter().find(|reader| reader.actor == actor);
        let own = own.expect("only those who were given are asked for");
        let others = || self.actors.iter().filter(|reader| self.may_share(reader.actor, actor));
        let mut operator: Vec<Reading> =
            others().flat_map(|reader| reader.readings.iter().copied()).collect();
        operator.sort_unstable();
        let is_known = others().all(|reader| reader.times == Times::Kept);
        let operator_times = if is_known { Times::Kept } else { Times::GivenUp };
        Knowledge { own, operator, operator_times }
    }

    /// Whether two different crawlers may have shared a copy.
    fn may_share(&self, left: Actor, right: Actor) -> bool {
        let of = |crawler: CrawlerId| self.registry.crawler(crawler);
        left.0 != right.0
            && left.1 == right.1
            && left.1 != Identity::Spoofed
            && of(left.0).operator == of(right.0).operator
            && of(left.0).has_one_operator()
    }
}

impl Knowledge<'_> {
    /// Who had read before the violations of `minutes`, of which there are `requests`.
    pub fn before(&self, minutes: &Series, requests: u64) -> Awareness {
        let mut awareness = Awareness::default();
        if self.own.times == Times::GivenUp {
            awareness.reading_unknown = requests;
            return awareness;
        }
        for (minute, violations) in minutes.buckets() {
            if let Some(reading) = last_by(&self.own.readings, minute) {
                awareness.read_by_itself += violations;
                awareness.count_read(minute, reading, violations);
            } else if self.operator_times == Times::GivenUp {
                awareness.reading_unknown += violations;
            } else if let Some(reading) = last_by(&self.operator, minute) {
                awareness.read_by_operator += violations;
                awareness.count_read(minute, reading, violations);
            } else {
                awareness.not_read_in_logs += violations;
                if self.own.first_asked.is_some_and(|asked| asked <= minute) {
                    awareness.asked_without_reading += violations;
                }
            }
        }
        awareness
    }
}

fn readings(tally: &ReadingTally) -> Vec<Reading> {
    let of = |series: &Series, answer| {
        series.buckets().into_iter().map(move |(minute, _)| Reading { minute, answer })
    };
    let mut readings: Vec<Reading> =
        of(&tally.read_200, Answer::Ok).chain(of(&tally.read_304, Answer::NotModified)).collect();
    readings.sort_unstable();
    readings
}

/// The last of `readings` in `minute` or before.
fn last_by(readings: &[Reading], minute: i64) -> Option<Reading> {
    let count = readings.partition_point(|reading| reading.minute <= minute);
    Some(readings[count.checked_sub(1)?])
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::input::source::FileId;
    use crate::judge::Judge;
    use crate::judge::robots::RobotsId;
    use crate::store::Store;
    use crate::time::UtcTime;
    use crate::url::dialect::Dialect;
    use crate::url::origin::Origin;

    use super::super::bounded::StableHash;
    use super::super::place::Place;
    use super::super::places::{Places, Standing};
    use super::super::sums::{Span, Statuses};
    use super::super::tally::{Example, RuleKey, ViolationTally};
    use super::*;

    /// Two crawlers of one operator, two of another, and two that only share a word.
    const CRAWLERS: [&str; 6] =
        ["GPTBot", "OAI-SearchBot", "ClaudeBot", "Claude-SearchBot", "curl", "wget"];
    const IDENTITIES: [Identity; 3] = [Identity::Verified, Identity::Spoofed, Identity::Unverified];
    const STRANGERS_MAX: usize = 3;

    #[derive(Clone, Copy, Debug)]
    enum Event {
        Fetch(&'static [u8], u16),
        Violation { line: u32 },
    }

    #[derive(Clone, Debug)]
    struct Request {
        place: usize,
        actor: Actor,
        second: i64,
        event: Event,
    }

    impl Request {
        fn minute(&self) -> i64 {
            self.second.div_euclid(60)
        }

        fn is_reading(&self) -> bool {
            matches!(self.event, Event::Fetch(b"GET", 200 | 304))
        }
    }

    struct World {
        registry: Registry,
        robots: RobotsId,
        /// The first two are named, the others strangers.
        places: Vec<(Standing, Place)>,
    }

    impl World {
        fn new() -> World {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("robots.txt");
            std::fs::write(&path, "User-agent: *\nDisallow: /\n").unwrap();
            let registry = Registry::builtin();
            let judge =
                Judge::new(Store::open(&path).unwrap(), &registry, Dialect::Google).unwrap();
            let robots = judge.unnamed().unwrap().id;
            let places = (0..6).map(|at| {
                let origin = Origin::parse(format!("http://{at}.example").as_bytes()).unwrap();
                let place = Place::Origin(origin);
                let stranger = Standing::Stranger(place.stable_hash());
                (if at < 2 { Standing::Named } else { stranger }, place)
            });
            let places = places.collect();
            World { registry, robots, places }
        }

        fn add(&self, request: &Request, tallies: &mut Places) {
            let (standing, place) = &self.places[request.place];
            let tally = tallies.entry(place, *standing).entry(request.actor).or_default();
            let time = UtcTime::from_unix_seconds(request.second).unwrap();
            match request.event {
                Event::Fetch(method, status) => tally.readings.count_fetch(time, method, status),
                Event::Violation { line } => {
                    let mut minutes = Series::default();
                    minutes.add(time.unix_minute(), 1);
                    let target = Box::default();
                    let one = ViolationTally {
                        requests: 1,
                        statuses: Statuses::default(),
                        bytes: 0,
                        span: Span::at(time),
                        minutes,
                        example: Example { time, file: FileId::from_index(0), line: 1, target },
                    };
                    let key = RuleKey { robots: self.robots, line };
                    match tally.violations.get_mut(&key) {
                        Some(sum) => sum.absorb(one),
                        None => drop(tally.violations.insert(key, one)),
                    }
                }
            }
            tallies.bound_times(1);
        }

        /// What the code under test says, by place, actor and line.
        fn told(&self, tallies: Places) -> BTreeMap<(String, Actor, u32), Figures> {
            let mut told = BTreeMap::new();
            for (place, actors) in tallies.into_map() {
                let readers = Readers::new(&actors, &self.registry);
                for (actor, tally) in &actors {
                    let knowledge = readers.knowledge(*actor);
                    for (key, sum) in &tally.violations {
                        let awareness = knowledge.before(&sum.minutes, sum.requests);
                        assert!(awareness.holds() && awareness.total() == sum.requests);
                        told.insert((place.to_string(), *actor, key.line), figures(&awareness));
                    }
                }
            }
            told
        }

        /// The same, from all requests at once, in the plainest way.
        fn expected(
            &self,
            requests: &[Request],
            buckets_max: usize,
        ) -> BTreeMap<(String, Actor, u32), Figures> {
            let places = self.kept_places(requests);
            let kept = self.kept_times(requests, &places, buckets_max);
            let mut expected = BTreeMap::new();
            for violation in requests {
                let Event::Violation { line } = violation.event else { continue };
                let place = match places.contains(&violation.place) {
                    true => self.places[violation.place].1.to_string(),
                    false => "(others)".to_owned(),
                };
                let key = (place, violation.actor, line);
                let figures = expected.entry(key).or_insert([0, 0, 0, 0, 0, 0, u64::MAX, 0]);
                self.judge(violation, requests, &kept, figures);
            }
            expected
        }

        fn judge(
            &self,
            violation: &Request,
            requests: &[Request],
            kept: &BTreeSet<(usize, Actor)>,
            figures: &mut Figures,
        ) {
            let here = |actor: Actor| {
                requests.iter().filter(move |request| {
                    (request.place, request.actor) == (violation.place, actor)
                })
            };
            let last = |actor: Actor| {
                let before = here(actor)
                    .filter(|request| request.is_reading())
                    .filter(|request| request.minute() <= violation.minute());
                before
                    .map(|request| {
                        (request.minute(), matches!(request.event, Event::Fetch(_, 200)))
                    })
                    .max()
            };
            let others: BTreeSet<Actor> = requests
                .iter()
                .filter(|request| request.place == violation.place)
                .map(|request| request.actor)
                .filter(|&actor| self.may_share(actor, violation.actor))
                .collect();
            if !kept.contains(&(violation.place, violation.actor)) {
                return figures[3] += 1;
            }
            let (how, (minute, is_ok)) = if let Some(reading) = last(violation.actor) {
                (0, reading)
            } else if others.iter().any(|&other| !kept.contains(&(violation.place, other))) {
                return figures[3] += 1;
            } else if let Some(reading) = others.iter().filter_map(|&other| last(other)).max() {
                (1, reading)
            } else {
                let asked = here(violation.actor).any(|request| {
                    matches!(request.event, Event::Fetch(..))
                        && request.minute() <= violation.minute()
                });
                figures[4] += u64::from(asked);
                return figures[2] += 1;
            };
            let age = (violation.minute() - minute) as u64;
            figures[how] += 1;
            figures[5] += u64::from(is_ok);
            figures[6] = figures[6].min(age);
            figures[7] = figures[7].max(age);
        }

        fn may_share(&self, left: Actor, right: Actor) -> bool {
            let pair = |actor: Actor| {
                let name = &self.registry.crawler(actor.0).name;
                CRAWLERS.iter().position(|crawler| crawler.eq_ignore_ascii_case(name)).unwrap() / 2
            };
            left.0 != right.0
                && left.1 == right.1
                && left.1 != Identity::Spoofed
                && pair(left) == pair(right)
                && pair(left) < 2
        }

        /// Places that are told apart, in the order in which times are kept.
        fn kept_places(&self, requests: &[Request]) -> Vec<usize> {
            let mut seen: Vec<usize> = requests.iter().map(|request| request.place).collect();
            seen.sort_by_key(|&place| &self.places[place]);
            seen.dedup();
            let is_named = |&place: &usize| self.places[place].0 == Standing::Named;
            let named = seen.iter().copied().filter(is_named);
            let strangers = seen.iter().copied().filter(|place| !is_named(place));
            named.chain(strangers.take(STRANGERS_MAX)).collect()
        }

        fn kept_times(
            &self,
            requests: &[Request],
            places: &[usize],
            buckets_max: usize,
        ) -> BTreeSet<(usize, Actor)> {
            let (mut kept, mut buckets) = (BTreeSet::new(), 0);
            for &place in places {
                let here = || requests.iter().filter(|request| request.place == place);
                let actors: BTreeSet<Actor> = here().map(|request| request.actor).collect();
                for actor in actors {
                    let own = here().filter(|request| request.actor == actor);
                    let distinct: BTreeSet<(i64, u32)> = own
                        .filter_map(|request| match request.event {
                            Event::Violation { line } => Some((request.minute(), line)),
                            Event::Fetch(_, status) => {
                                request.is_reading().then(|| (request.minute(), u32::from(status)))
                            }
                        })
                        .collect();
                    buckets += distinct.len();
                    if buckets > buckets_max {
                        return kept;
                    }
                    kept.insert((place, actor));
                }
            }
            kept
        }
    }

    /// Counts in the order of the columns, the least age and the greatest.
    type Figures = [u64; 8];

    fn figures(awareness: &Awareness) -> Figures {
        let ages = awareness.ages();
        [
            awareness.read_by_itself,
            awareness.read_by_operator,
            awareness.not_read_in_logs,
            awareness.reading_unknown,
            awareness.asked_without_reading,
            awareness.last_reading_200,
            ages.map_or(u64::MAX, |ages| ages.min),
            ages.map_or(0, |ages| ages.max),
        ]
    }

    fn random(state: &mut u64, below: usize) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (*state >> 33) as usize % below
    }

    fn random_requests(world: &World, state: &mut u64) -> Vec<Request> {
        let (count, minutes) = (1 + random(state, 120), 1 + random(state, 30));
        let places = 1 + random(state, world.places.len());
        let request = |_| {
            let crawler = world.registry.find(CRAWLERS[random(state, CRAWLERS.len())]).unwrap();
            let event = match random(state, 12) {
                0 => Event::Fetch(b"GET", [200, 304][random(state, 2)]),
                1 => Event::Fetch(b"GET", 404),
                2 => Event::Fetch(b"HEAD", 200),
                _ => Event::Violation { line: 2 + random(state, 2) as u32 },
            };
            Request {
                place: random(state, places),
                actor: (crawler, IDENTITIES[random(state, 3)]),
                second: random(state, minutes * 60) as i64 - 300,
                event,
            }
        };
        (0..count).map(request).collect()
    }

    /// Splits requests over workers at random, and merges these in random order.
    fn split_and_merged(
        world: &World,
        requests: &[Request],
        buckets_max: usize,
        state: &mut u64,
    ) -> Places {
        let workers = 1 + random(state, 4);
        let mut parts = vec![Places::new(STRANGERS_MAX, buckets_max); workers];
        let mut rest: Vec<&Request> = requests.iter().collect();
        while !rest.is_empty() {
            let request = rest.swap_remove(random(state, rest.len()));
            world.add(request, &mut parts[random(state, workers)]);
        }
        while parts.len() > 1 {
            let part = parts.swap_remove(random(state, parts.len()));
            let into = random(state, parts.len());
            parts[into].absorb(part);
        }
        parts.remove(0)
    }

    #[test]
    fn any_order_and_split_give_what_plain_search_gives() {
        let (world, state) = (World::new(), &mut 1);
        let (mut given_up, mut shared) = (0, 0);
        for round in 0..400 {
            let requests = random_requests(&world, state);
            let buckets_max = if round % 2 == 0 { usize::MAX / 2 } else { random(state, 80) };
            let expected = world.expected(&requests, buckets_max);
            for _ in 0..3 {
                let merged = split_and_merged(&world, &requests, buckets_max, state);
                assert_eq!(world.told(merged), expected, "{buckets_max} {requests:#?}");
            }
            given_up += expected.values().map(|figures| figures[3]).sum::<u64>();
            shared += expected.values().map(|figures| figures[1]).sum::<u64>();
        }
        assert!(given_up > 1_000 && shared > 50, "{given_up} {shared}");
    }

    #[test]
    fn ages_of_readings() {
        let mut awareness = Awareness::default();
        assert_eq!(awareness.ages(), None);
        let reading = Reading { minute: 10, answer: Answer::Ok };
        for (minute, violations) in [(10, 1), (12, 2), (13, 3), (900, 1)] {
            awareness.count_read(minute, reading, violations);
        }
        assert_eq!(awareness.ages(), Some(Ages { min: 0, median: 3, max: 890 }));
    }
}
