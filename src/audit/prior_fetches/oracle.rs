//! Awareness against the plainest search, over random requests, splits and orders of merging.

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::archive::Store;
    use crate::crawlers::registry::Registry;
    use crate::input::source::FileId;
    use crate::judge::Judge;
    use crate::judge::robots::RobotsId;
    use crate::judge::verdict::RuleRef;
    use crate::merge::Merge;
    use crate::time::UtcTime;
    use crate::url::dialect::Dialect;
    use crate::url::origin::Origin;

    use super::super::super::origin_key::{OriginKey, OriginRank};
    use super::super::super::sums::{Span, Statuses};
    use super::super::super::tally::crawler_tally::ViolationTally;
    use super::super::super::tally::example::Example;
    use super::super::super::tally::rows::{RowLimits, Rows};
    use super::super::*;
    use crate::bounded::StableHash;

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
        places: Vec<(OriginRank, OriginKey)>,
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
                let place = OriginKey::Origin(origin);
                let stranger = OriginRank::Stranger(place.stable_hash());
                (if at < 2 { OriginRank::Named } else { stranger }, place)
            });
            let places = places.collect();
            World { registry, robots, places }
        }

        fn add(&self, request: &Request, tallies: &mut Rows) {
            let (standing, place) = &self.places[request.place];
            let origin = tallies.origin(place, *standing);
            let tally = tallies.row(origin, request.actor);
            let time = UtcTime::from_unix_seconds(request.second).unwrap();
            match request.event {
                Event::Fetch(method, status) => tally.readings.count_fetch(time, method, status),
                Event::Violation { line } => {
                    let mut minutes = TimeBuckets::default();
                    minutes.add(time.unix_minute(), 1);
                    let target = Box::default();
                    let one = ViolationTally {
                        requests: 1,
                        statuses: Statuses::default(),
                        bytes: 0,
                        span: Span::at(time),
                        minutes,
                        example: Example {
                            time,
                            file: FileId::from_index(0),
                            line: 1,
                            target,
                            snapshot: None,
                        },
                    };
                    let key = RuleRef { robots: self.robots, line };
                    match tally.violations.get_mut(&key) {
                        Some(sum) => sum.absorb(one),
                        None => drop(tally.violations.entry_or_insert_with(key, || one)),
                    }
                }
            }
            tallies.bound_times(1);
        }

        /// What the code under test says, by place, actor and line.
        fn told(&self, tallies: Rows) -> BTreeMap<(String, Actor, u32), Figures> {
            let mut told = BTreeMap::new();
            let crawlers: Vec<Crawler> =
                self.registry.iter().map(|(_, crawler)| crawler.clone()).collect();
            for origin in tallies.finish().origins {
                let readers = Readers::new(&origin.rows, &crawlers);
                for (actor, tally) in &origin.rows {
                    let knowledge = readers.knowledge(*actor);
                    for (key, sum) in &tally.violations {
                        let awareness = knowledge.before(&sum.minutes, sum.requests);
                        assert!(awareness.holds() && awareness.total() == sum.requests);
                        told.insert(
                            (origin.place.to_string(), *actor, key.line),
                            figures(&awareness),
                        );
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
            let is_named = |&place: &usize| self.places[place].0 == OriginRank::Named;
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
                let mut actors: Vec<Actor> = actors.into_iter().collect();
                actors.sort_by_key(|actor| (&self.registry.crawler(actor.0).name, actor.1));
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
    ) -> Rows {
        let workers = 1 + random(state, 4);
        let limits = RowLimits { strangers_max: STRANGERS_MAX, time_buckets_max: buckets_max };
        let mut parts = vec![Rows::new(limits, world.registry.ranks().into()); workers];
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
        const READ_AT: i64 = 10;
        let minutes = [(10, 1), (12, 2), (13, 3), (900, 1)];
        let ages = minutes.map(|(minute, violations)| (minute - READ_AT, violations));
        awareness.ages = TimeBuckets::of(ages.to_vec());
        assert_eq!(awareness.ages(), Some(Ages { min: 0, median: 3, max: 890 }));
    }
}
