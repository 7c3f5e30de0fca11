//! Awareness against the plainest search, over random requests, splits and orders of merging.

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::archive::Store;
    use crate::crawlers::registry::Registry;
    use crate::input::source::FileId;
    use crate::judge::Judge;
    use crate::judge::answer_size::SizeComparison;
    use crate::judge::robots::RobotsId;
    use crate::judge::verdict::RuleRef;
    use crate::merge::Merge;
    use crate::random::Random;
    use crate::time::UtcTime;
    use crate::url::origin::Origin;
    use crate::url::path::Dialect;

    use super::super::super::origin_key::{OriginKey, OriginRank};
    use super::super::super::tally::rows::{RowLimits, Rows};
    use super::super::*;
    use crate::bounded::StableHash;
    use crate::measures::example::Example;
    use crate::measures::fetch_answer::FetchAnswer;
    use crate::measures::sums::{Span, Statuses};
    use crate::measures::violations::ViolationTally;

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
        origin_index: usize,
        actor: Actor,
        second: i64,
        event: Event,
    }

    impl Request {
        fn minute(&self) -> i64 {
            self.second.div_euclid(60)
        }

        fn is_successful_fetch(&self) -> bool {
            matches!(self.event, Event::Fetch(b"GET", 200 | 304))
        }
    }

    struct World {
        registry: Registry,
        robots: RobotsId,
        /// The first two are named, the others strangers.
        origins: Vec<(OriginRank, OriginKey)>,
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
            let origins = (0..6).map(|at| {
                let origin = Origin::parse(format!("http://{at}.example").as_bytes()).unwrap();
                let origin_key = OriginKey::Origin(origin);
                let stranger = OriginRank::Stranger(origin_key.stable_hash());
                (if at < 2 { OriginRank::Named } else { stranger }, origin_key)
            });
            let origins = origins.collect();
            World { registry, robots, origins }
        }

        fn add(&self, request: &Request, tallies: &mut Rows) {
            let (origin_rank, origin_key) = &self.origins[request.origin_index];
            let origin = tallies.origin(origin_key, *origin_rank);
            let tally = tallies.row(origin, request.actor);
            let time = UtcTime::from_unix_seconds(request.second).unwrap();
            match request.event {
                Event::Fetch(method, status) => {
                    let answer = FetchAnswer::of(method, status, || SizeComparison::Fits);
                    tally.robots_fetches.count_fetch(time, status, answer)
                }
                Event::Violation { line } => {
                    let mut minutes = TimeBuckets::default();
                    minutes.add(time.unix_minute(), 1);
                    let target = Box::default();
                    let one = Box::new(ViolationTally {
                        requests: 1,
                        statuses: Statuses::default(),
                        bytes: 0,
                        span: Span::at(time),
                        minutes,
                        signed: 0,
                        example: Example {
                            time,
                            file: FileId::from_index(0),
                            line: 1,
                            target,
                            snapshot: None,
                        },
                    });
                    let key = RuleRef { robots: self.robots, line };
                    match tally.violations.get_mut(&key) {
                        Some(sum) => sum.absorb(one),
                        None => drop(tally.violations.entry_or_insert_with(key, || one)),
                    }
                }
            }
            tallies.bound_times(1);
        }

        /// The result of the code under test, by origin, actor and line.
        fn actual(&self, tallies: Rows) -> BTreeMap<(String, Actor, u32), ColumnCounts> {
            let mut actual = BTreeMap::new();
            let crawlers: Vec<Crawler> =
                self.registry.iter().map(|(_, crawler)| crawler.clone()).collect();
            for origin in tallies.finish().origins {
                let origin_fetches = OriginFetches::new(&origin.rows, &crawlers);
                for (actor, tally) in &origin.rows {
                    let known_fetches = origin_fetches.known_fetches(*actor);
                    for (key, sum) in &tally.violations {
                        let prior_fetches = known_fetches.before(&sum.minutes, sum.requests);
                        assert!(prior_fetches.holds() && prior_fetches.total() == sum.requests);
                        actual.insert(
                            (origin.origin_key.to_string(), *actor, key.line),
                            counts(&prior_fetches),
                        );
                    }
                }
            }
            actual
        }

        /// The same, from all requests at once, in the plainest way.
        fn expected(
            &self,
            requests: &[Request],
            buckets_max: usize,
        ) -> BTreeMap<(String, Actor, u32), ColumnCounts> {
            let indexes = self.kept_origins(requests);
            let kept = self.kept_times(requests, &indexes, buckets_max);
            let mut expected = BTreeMap::new();
            for violation in requests {
                let Event::Violation { line } = violation.event else { continue };
                let name = match indexes.contains(&violation.origin_index) {
                    true => self.origins[violation.origin_index].1.to_string(),
                    false => "(others)".to_owned(),
                };
                let key = (name, violation.actor, line);
                let counts = expected.entry(key).or_insert([0, 0, 0, 0, 0, 0, u64::MAX, 0]);
                self.judge(violation, requests, &kept, counts);
            }
            expected
        }

        fn judge(
            &self,
            violation: &Request,
            requests: &[Request],
            kept: &BTreeSet<(usize, Actor)>,
            counts: &mut ColumnCounts,
        ) {
            let here = |actor: Actor| {
                requests.iter().filter(move |request| {
                    (request.origin_index, request.actor) == (violation.origin_index, actor)
                })
            };
            let last = |actor: Actor| {
                let before = here(actor)
                    .filter(|request| request.is_successful_fetch())
                    .filter(|request| request.minute() <= violation.minute());
                before
                    .map(|request| {
                        (request.minute(), matches!(request.event, Event::Fetch(_, 200)))
                    })
                    .max()
            };
            let others: BTreeSet<Actor> = requests
                .iter()
                .filter(|request| request.origin_index == violation.origin_index)
                .map(|request| request.actor)
                .filter(|&actor| self.may_share(actor, violation.actor))
                .collect();
            if !kept.contains(&(violation.origin_index, violation.actor)) {
                return counts[3] += 1;
            }
            let (how, (minute, is_ok)) = if let Some(fetch) = last(violation.actor) {
                (0, fetch)
            } else if others.iter().any(|&other| !kept.contains(&(violation.origin_index, other))) {
                return counts[3] += 1;
            } else if let Some(fetch) = others.iter().filter_map(|&other| last(other)).max() {
                (1, fetch)
            } else {
                let asked = here(violation.actor).any(|request| {
                    matches!(request.event, Event::Fetch(..))
                        && request.minute() <= violation.minute()
                });
                counts[4] += u64::from(asked);
                return counts[2] += 1;
            };
            let age = (violation.minute() - minute) as u64;
            counts[how] += 1;
            counts[5] += u64::from(is_ok);
            counts[6] = counts[6].min(age);
            counts[7] = counts[7].max(age);
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

        /// The kept origins, in the order in which times are kept.
        fn kept_origins(&self, requests: &[Request]) -> Vec<usize> {
            let mut seen: Vec<usize> =
                requests.iter().map(|request| request.origin_index).collect();
            seen.sort_by_key(|&origin_index| &self.origins[origin_index]);
            seen.dedup();
            let is_named =
                |&origin_index: &usize| self.origins[origin_index].0 == OriginRank::Named;
            let named = seen.iter().copied().filter(is_named);
            let strangers = seen.iter().copied().filter(|origin_index| !is_named(origin_index));
            named.chain(strangers.take(STRANGERS_MAX)).collect()
        }

        fn kept_times(
            &self,
            requests: &[Request],
            indexes: &[usize],
            buckets_max: usize,
        ) -> BTreeSet<(usize, Actor)> {
            let (mut kept, mut buckets) = (BTreeSet::new(), 0);
            for &origin_index in indexes {
                let here =
                    || requests.iter().filter(|request| request.origin_index == origin_index);
                let actors: BTreeSet<Actor> = here().map(|request| request.actor).collect();
                let mut actors: Vec<Actor> = actors.into_iter().collect();
                actors.sort_by_key(|actor| (&self.registry.crawler(actor.0).name, actor.1));
                for actor in actors {
                    let own = here().filter(|request| request.actor == actor);
                    let distinct: BTreeSet<(i64, u32)> = own
                        .filter_map(|request| match request.event {
                            Event::Violation { line } => Some((request.minute(), line)),
                            Event::Fetch(_, status) => request
                                .is_successful_fetch()
                                .then(|| (request.minute(), u32::from(status))),
                        })
                        .collect();
                    buckets += distinct.len();
                    if buckets > buckets_max {
                        return kept;
                    }
                    kept.insert((origin_index, actor));
                }
            }
            kept
        }
    }

    /// Counts in the order of the columns, the least age and the greatest.
    type ColumnCounts = [u64; 8];

    fn counts(prior_fetches: &PriorFetchCounts) -> ColumnCounts {
        let ages = prior_fetches.ages();
        [
            prior_fetches.prior_fetch_own,
            prior_fetches.prior_fetch_operator,
            prior_fetches.prior_fetch_none,
            prior_fetches.prior_fetch_unknown,
            prior_fetches.prior_fetch_failed,
            prior_fetches.last_fetch_200,
            ages.map_or(u64::MAX, |ages| ages.min),
            ages.map_or(0, |ages| ages.max),
        ]
    }

    fn random_requests(world: &World, random: &mut Random) -> Vec<Request> {
        let (count, minutes) = (1 + random.below(120), 1 + random.below(30));
        let indexes = 1 + random.below(world.origins.len());
        let request = |_| {
            let crawler = world.registry.find(CRAWLERS[random.below(CRAWLERS.len())]).unwrap();
            let event = match random.below(12) {
                0 => Event::Fetch(b"GET", [200, 304][random.below(2)]),
                1 => Event::Fetch(b"GET", 404),
                2 => Event::Fetch(b"HEAD", 200),
                _ => Event::Violation { line: 2 + random.below(2) as u32 },
            };
            Request {
                origin_index: random.below(indexes),
                actor: (crawler, IDENTITIES[random.below(3)]),
                second: random.below(minutes * 60) as i64 - 300,
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
        random: &mut Random,
    ) -> Rows {
        let workers = 1 + random.below(4);
        let limits = RowLimits { strangers_max: STRANGERS_MAX, time_buckets_max: buckets_max };
        let mut parts = vec![Rows::new(limits, world.registry.ranks().into()); workers];
        let mut rest: Vec<&Request> = requests.iter().collect();
        while !rest.is_empty() {
            let request = rest.swap_remove(random.below(rest.len()));
            world.add(request, &mut parts[random.below(workers)]);
        }
        while parts.len() > 1 {
            let part = parts.swap_remove(random.below(parts.len()));
            let into = random.below(parts.len());
            parts[into].absorb(part);
        }
        parts.remove(0)
    }

    #[test]
    fn any_order_and_split_give_what_plain_search_gives() {
        let (world, random) = (World::new(), &mut Random(1));
        let (mut given_up, mut shared) = (0, 0);
        for round in 0..400 {
            let requests = random_requests(&world, random);
            let buckets_max = if round % 2 == 0 { usize::MAX / 2 } else { random.below(80) };
            let expected = world.expected(&requests, buckets_max);
            for _ in 0..3 {
                let merged = split_and_merged(&world, &requests, buckets_max, random);
                assert_eq!(world.actual(merged), expected, "{buckets_max} {requests:#?}");
            }
            given_up += expected.values().map(|counts| counts[3]).sum::<u64>();
            shared += expected.values().map(|counts| counts[1]).sum::<u64>();
        }
        assert!(given_up > 1_000 && shared > 50, "{given_up} {shared}");
    }

    #[test]
    fn ages_of_fetches() {
        let mut prior_fetches = PriorFetchCounts::default();
        assert_eq!(prior_fetches.ages(), None);
        const READ_AT: i64 = 10;
        let minutes = [(10, 1), (12, 2), (13, 3), (900, 1)];
        let ages = minutes.map(|(minute, violations)| (minute - READ_AT, violations));
        prior_fetches.ages = TimeBuckets::of(ages.to_vec());
        assert_eq!(prior_fetches.ages(), Some(Ages { min: 0, median: 3, max: 890 }));
    }
}
