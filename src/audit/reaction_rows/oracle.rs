//! Reactions against the plainest search, over random histories, requests, splits and orders of
//! merging.

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::archive::Store;
    use crate::archive::reader::Archive;
    use crate::archive::snapshot::{Failure, Fetch, SnapshotOutcome};
    use crate::archive::writer::NewSnapshot;
    use crate::crawlers::crawler::Crawler;
    use crate::crawlers::identity::Identity;
    use crate::crawlers::registry::Registry;
    use crate::judge::origin_history::OriginHistory;
    use crate::judge::origin_history::{SnapshotHistory, SnapshotSummary};
    use crate::judge::robots::Robots;
    use crate::judge::{HostSource, Judge};
    use crate::random::Random;
    use crate::url::origin::Origin;
    use crate::url::path::Dialect;
    use crate::url::path::prepare;

    use crate::audit::origin_key::{OriginKey, OriginRank};
    use crate::audit::prior_fetches::{FetchedBy, OriginFetches};
    use crate::audit::reaction_rows::plain::Facts;
    use crate::audit::reaction_rows::{OriginReactions, ReactionRow, ReactionThresholds};
    use crate::audit::tally::rows::{RowLimits, Rows};
    use crate::crawlers::identity::Actor;
    use crate::judge::answer_size::SizeComparison;
    use crate::measures::crawler_tally::{CrawlerTally, Times};
    use crate::measures::draft_effect::WhatIfChange;
    use crate::measures::fetch_answer::FetchAnswer;
    use crate::measures::reactions::{
        BUCKETS_PER_CHANGE, MINUTES_MAX, ReactionLimits, TimedRequest,
    };
    use crate::measures::sums::Span;
    use crate::merge::Merge;
    use crate::time::{DAY_SECONDS, UtcTime};

    /// Two crawlers of one operator, and one of another.
    const CRAWLERS: [&str; 3] = ["GPTBot", "OAI-SearchBot", "bingbot"];
    const PATHS: [&str; 5] = ["/a", "/b", "/c", "/d", "/robots.txt"];
    const START: i64 = 1_772_000_000;
    const ORIGIN: &str = "https://a.example";

    struct Request {
        actor: Actor,
        time: i64,
        path: &'static str,
        status: u16,
    }

    impl Request {
        fn answer(&self) -> FetchAnswer {
            FetchAnswer::of(b"GET", self.status, || SizeComparison::Fits)
        }

        fn is_fetch(&self) -> bool {
            self.path == "/robots.txt" && self.status == 200
        }

        fn minute(&self) -> i64 {
            self.time.div_euclid(60)
        }
    }

    struct World<'a> {
        registry: &'a Registry,
        judge: Judge,
        known: std::sync::Arc<OriginHistory>,
        limits: ReactionLimits,
        thresholds: ReactionThresholds,
        time_buckets_max: usize,
        _dir: tempfile::TempDir,
    }

    fn utc(seconds: i64) -> UtcTime {
        UtcTime::from_unix_seconds(seconds).unwrap()
    }

    fn number(random: &mut Random, below: i64) -> i64 {
        random.below(below as usize) as i64
    }

    /// Rules for GPTBot and for all; each path may be disallowed.
    fn random_body(random: &mut Random) -> String {
        let mut body = String::new();
        for group in ["GPTBot", "*"] {
            if number(random, 4) > 0 {
                body += &format!("User-agent: {group}\nDisallow:\n");
                for path in &PATHS[..3] {
                    body += &format!("{}: {path}\n", ["Disallow", "#"][number(random, 2) as usize]);
                }
            }
        }
        body
    }

    impl<'a> World<'a> {
        fn new(registry: &'a Registry, random: &mut Random, horizon: i64) -> World<'a> {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("archive");
            let origin = Origin::parse(ORIGIN.as_bytes()).unwrap();
            let mut writer = Archive::writer(&path).unwrap();
            let count = 1 + number(random, 6);
            let times: BTreeSet<i64> =
                (0..count).map(|_| START + number(random, horizon)).collect();
            for time in times {
                let outcome = match number(random, 6) {
                    0 => SnapshotOutcome::Failure(Failure::Timeout),
                    1 => SnapshotOutcome::Status(404),
                    _ => SnapshotOutcome::Status(200),
                };
                let is_ok = outcome == SnapshotOutcome::Status(200);
                let body = if is_ok { random_body(random).into_bytes() } else { Vec::new() };
                let fetch =
                    Fetch { fetched_at: utc(time), outcome, max_age_seconds: None, chain: vec![] };
                let (origin, source, body) = (origin.clone(), String::new(), body.into());
                writer.push(NewSnapshot { origin, fetch, source, body }).unwrap();
            }
            writer.flush().unwrap();
            let judge = Judge::new(Store::open(&path).unwrap(), registry, Dialect::Google).unwrap();
            let known = judge.known(&origin, HostSource::Own).unwrap();
            let promised = [None, Some(0), Some(24)][number(random, 3) as usize];
            let limits = ReactionLimits {
                days_before: number(random, 40) as usize,
                promised_hours: promised,
            };
            let thresholds = ReactionThresholds {
                requests: 1 + number(random, 4) as u64,
                quiet_seconds: number(random, 10) * DAY_SECONDS,
            };
            let time_buckets_max = [usize::MAX / 2, number(random, 300) as usize];
            let time_buckets_max = time_buckets_max[usize::from(number(random, 3) == 0)];
            World { registry, judge, known, limits, thresholds, time_buckets_max, _dir: dir }
        }

        fn add(&self, request: &Request, rows: &mut Rows) {
            let origin_key = OriginKey::Origin(Origin::parse(ORIGIN.as_bytes()).unwrap());
            let origin = rows.origin(&origin_key, OriginRank::Named);
            let tally = rows.row(origin, request.actor);
            let time = utc(request.time);
            tally.span.absorb(Some(Span::at(time)));
            let is_robots_txt = request.path == "/robots.txt";
            if is_robots_txt {
                tally.robots_fetches.count_fetch(time, request.status, request.answer());
            }
            let path = (!is_robots_txt).then_some(request.path.as_bytes());
            let is_fetch = is_robots_txt && request.answer() == FetchAnswer::Read;
            let changes = self.judge.rule_changes(&self.known, request.actor.0);
            let reactions = tally.reactions.get_or_insert_default();
            reactions.count(changes, TimedRequest { time, path, is_fetch }, self.limits);
            rows.bound_times(1);
        }

        fn actual(&self, rows: Rows, crawlers: &[Crawler]) -> Vec<String> {
            let snapshots = self.known.snapshots().map(|(snapshot, robots)| {
                let digest = robots.map(|robots| robots.digest);
                let (outcome, max_age_seconds) = (snapshot.outcome, None);
                (snapshot.fetched_at, SnapshotSummary { outcome, max_age_seconds, digest })
            });
            let history = SnapshotHistory { source: String::new(), snapshots: snapshots.collect() };
            let mut actual = Vec::new();
            for origin in rows.finish().origins {
                let reactions =
                    OriginReactions::new(self.thresholds, Some(&history), origin.span());
                let fetches = OriginFetches::new(&origin.rows, crawlers);
                for (actor, tally) in origin.rows {
                    let text = serde_json::to_string(&tally).unwrap();
                    let read: CrawlerTally = serde_json::from_str(&text).unwrap();
                    assert_eq!(read, tally);
                    let known_fetches = fetches.known_fetches(actor);
                    let Some(tally) = read.reactions.filter(|_| read.times == Times::Kept) else {
                        continue;
                    };
                    let rows = reactions.rows(&tally, &known_fetches).unwrap();
                    actual.extend(rows.iter().map(|row| format!("{actor:?} {}", cells(row))));
                }
            }
            actual.sort();
            actual
        }

        fn disallowing(&self, robots: Option<&Robots>, actor: Actor, path: &str) -> Option<u32> {
            let mut scratch = Vec::new();
            let path = prepare(path.as_bytes(), self.judge.dialect(), &mut scratch);
            let decision = self.judge.decide(robots?, actor.0, path)?;
            decision.line.filter(|_| !decision.allowed)
        }

        fn may_share(&self, actor: Actor, other: Actor) -> bool {
            let is_openai = |actor: Actor| self.registry.crawler(actor.0).name != "bingbot";
            other.0 != actor.0
                && other.1 == actor.1
                && actor.1 != Identity::Spoofed
                && is_openai(other)
                && is_openai(actor)
        }

        /// The successful copies of robots.txt.
        fn copies(&self) -> Vec<(i64, Option<&Robots>)> {
            let copies = self
                .known
                .snapshots()
                .filter(|(snapshot, _)| matches!(snapshot.outcome, SnapshotOutcome::Status(_)));
            let copies = copies.map(|(snapshot, robots)| {
                (snapshot.fetched_at.unix_seconds(), robots.map(|robots| &**robots))
            });
            copies.collect()
        }

        fn expected(&self, requests: &[Request]) -> Vec<String> {
            let mut expected = Vec::new();
            let actors: Vec<Actor> = requests.iter().map(|request| request.actor).collect();
            for actor in self.kept(&actors, requests) {
                expected.extend(self.expected_of(actor, requests));
            }
            expected.sort();
            expected
        }

        /// The crawlers with times: those whose fetches and changes fit, in the order of names.
        fn kept(&self, actors: &[Actor], requests: &[Request]) -> Vec<Actor> {
            let mut actors = actors.to_vec();
            actors.sort_by_key(|actor| (&self.registry.crawler(actor.0).name, actor.1));
            actors.dedup();
            let mut buckets = 0;
            actors.retain(|actor| {
                let own = requests.iter().filter(|request| request.actor == *actor);
                let fetches: BTreeSet<i64> =
                    own.filter(|request| request.is_fetch()).map(Request::minute).collect();
                buckets += fetches.len() + self.changes_of(*actor).len() * BUCKETS_PER_CHANGE;
                buckets <= self.time_buckets_max
            });
            actors
        }

        fn changes_of(&self, actor: Actor) -> Vec<[(i64, Option<&Robots>); 2]> {
            let copies = self.copies();
            let is_change = |pair: &&[(i64, Option<&Robots>)]| {
                PATHS.iter().any(|path| {
                    let old = self.disallowing(pair[0].1, actor, path);
                    old.is_some() != self.disallowing(pair[1].1, actor, path).is_some()
                })
            };
            copies.windows(2).filter(is_change).map(|pair| [pair[0], pair[1]]).collect()
        }

        fn expected_of(&self, actor: Actor, requests: &[Request]) -> Vec<String> {
            let changes = self.changes_of(actor);
            let mut rows = Vec::new();
            for (at, change) in changes.iter().enumerate() {
                let [(after, old), (before, new)] = [change[0], change[1]];
                let since = at.checked_sub(1).map_or(i64::MIN, |last| changes[last][1].0);
                let from = since.max(after - self.limits.days_before as i64 * DAY_SECONDS);
                let until = changes.get(at + 1).map_or(i64::MAX, |next| next[0].0);
                for direction in WhatIfChange::ALL {
                    let line = |path: &str| {
                        let old = self.disallowing(old, actor, path);
                        let new = self.disallowing(new, actor, path);
                        match (old, new, direction) {
                            (None, Some(line), WhatIfChange::NewlyDisallowed) => Some(line),
                            (Some(line), None, WhatIfChange::NewlyAllowed) => Some(line),
                            _ => None,
                        }
                    };
                    if PATHS.iter().any(|path| line(path).is_some()) {
                        let times = [from, after, before, until];
                        let digest = |robots: Option<&Robots>| robots.map(|robots| robots.digest);
                        let row = self.plain_row(actor, requests, times, direction, line);
                        rows.push(format!(
                            "{actor:?} {after} {before} {:?} {:?} {row}",
                            digest(old),
                            digest(new)
                        ));
                    }
                }
            }
            rows
        }

        /// The minute of the first own fetch, the first fetch, and whether there may be an earlier one.
        fn fetches(
            &self,
            actor: Actor,
            requests: &[Request],
            before: i64,
            until: i64,
        ) -> (Option<i64>, Option<(i64, FetchedBy)>, bool) {
            let actors: Vec<Actor> = requests.iter().map(|request| request.actor).collect();
            let kept = self.kept(&actors, requests);
            let fetched = |actor: Actor| {
                let fetches = requests.iter().filter(|of| of.actor == actor && of.is_fetch());
                let minutes = fetches.map(Request::minute);
                minutes.filter(|at| at * 60 >= before && at * 60 + 59 <= until).min()
            };
            let others = actors.iter().filter(|other| self.may_share(actor, **other));
            let (known, given_up): (Vec<Actor>, Vec<Actor>) =
                others.partition(|other| kept.contains(other));
            let by_own = fetched(actor).map(|at| (at, FetchedBy::Own));
            let by_other = known.into_iter().filter_map(fetched).min();
            let fetch =
                by_own.into_iter().chain(by_other.map(|at| (at, FetchedBy::Operator))).min();
            (by_own.map(|(minute, _)| minute), fetch, !given_up.is_empty())
        }

        fn plain_row(
            &self,
            actor: Actor,
            requests: &[Request],
            [from, after, before, until]: [i64; 4],
            direction: WhatIfChange,
            line: impl Fn(&str) -> Option<u32>,
        ) -> String {
            let logs: Vec<i64> = requests.iter().map(|request| request.time).collect();
            let (first, last) = (*logs.iter().min().unwrap(), *logs.iter().max().unwrap());
            let own = || requests.iter().filter(|request| request.actor == actor);
            let touched: Vec<&Request> = own()
                .filter(|request| (from..=until).contains(&request.time))
                .filter(|request| line(request.path).is_some())
                .collect();
            let days = after - from.max(first);
            let is_since = |request: &&Request| (before..=until).contains(&request.time);
            let (by_own, fetch, is_unknown) = self.fetches(actor, requests, before, until);
            let around = |of: &[&Request]| around(of, fetch, by_own);
            let since: Vec<&Request> = touched.iter().copied().filter(is_since).collect();
            let all: Vec<&Request> = own().filter(is_since).collect();
            let others = fetch.and_then(|(_, by)| {
                let fetch = u64::from(by == FetchedBy::Own);
                Some(around(&all)?.1 - around(&since)?.1 - fetch)
            });
            let requests_before = touched.iter().filter(|request| request.time <= after).count();
            let promise = self
                .limits
                .promised_hours
                .map_or(i64::MAX, |hours| before + i64::from(hours) * 3600);
            let last_touched = touched.iter().map(|request| request.time).max();
            let facts = Facts {
                days,
                requests_before,
                end: until.min(last),
                before,
                fetch: fetch.map(|(minute, _)| minute),
                since: since.iter().map(|request| request.time).collect(),
                has_requests: !all.is_empty(),
                has_others: others != Some(0),
            };
            let first_since = since.iter().map(|request| request.time).min();
            let reaction = match direction {
                _ if is_unknown => "unknown",
                WhatIfChange::NewlyAllowed if first_since.is_some() => "found",
                WhatIfChange::NewlyAllowed => "not-found",
                WhatIfChange::NewlyDisallowed => facts.reaction(self.thresholds),
            };
            let seconds = match reaction {
                "found" => first_since.map(|at| ((at - before).max(0), at - after)),
                "obeyed-at-once" | "obeyed-late" => {
                    let last = last_touched.unwrap();
                    let stop = last.max(fetch.unwrap().0 * 60);
                    Some(((last - before).max(0), stop - after))
                }
                _ => None,
            };
            let lines: BTreeSet<u32> = touched.iter().filter_map(|of| line(of.path)).collect();
            format!(
                "{} {lines:?} {:?} {} {} {} {:?} {:?} {} {last_touched:?} {others:?} {reaction} {seconds:?}",
                direction.as_str(),
                [own().filter(|of| (from..=after).contains(&of.time)).count(), all.len()],
                days.max(0),
                requests_before,
                touched.len() - requests_before - since.len(),
                fetch.map(|(minute, by)| (minute * 60, by)),
                around(&since),
                since.iter().filter(|request| request.time >= promise).count(),
            )
        }
    }

    /// The requests before and after the fetch; `None` if a tally does not keep all these minutes.
    fn around(
        of: &[&Request],
        fetch: Option<(i64, FetchedBy)>,
        own: Option<i64>,
    ) -> Option<(u64, u64)> {
        let Some((fetch, _)) = fetch else { return Some((of.len() as u64, 0)) };
        let minutes: BTreeSet<i64> = of.iter().map(|request| request.minute()).collect();
        let kept = minutes.into_iter().filter(|at| own.is_none_or(|own| *at < own));
        if kept.skip(MINUTES_MAX).any(|minute| minute < fetch) {
            return None;
        }
        let until = of.iter().filter(|request| request.minute() < fetch).count();
        Some((until as u64, (of.len() - until) as u64))
    }

    fn cells(row: &ReactionRow) -> String {
        let ReactionRow { times, tally, .. } = row;
        format!(
            "{} {} {:?} {:?} {} {:?} {:?} {} {} {} {:?} {:?} {} {:?} {:?} {} {:?}",
            times.after.unix_seconds(),
            times.before.unix_seconds(),
            row.old_digest,
            row.new_digest,
            row.direction.as_str(),
            tally.lines,
            row.all,
            row.seconds_before,
            tally.before,
            tally.uncertain,
            row.first_fetch.map(|(time, by)| (time.unix_seconds(), by)),
            row.around_fetch,
            tally.after_promise,
            tally.last.map(UtcTime::unix_seconds),
            row.others_after,
            row.reaction.as_str(),
            row.seconds,
        )
    }

    fn random_requests(world: &World<'_>, random: &mut Random, horizon: i64) -> Vec<Request> {
        let (count, crawlers) = (1 + number(random, 200), 1 + number(random, 3));
        let identities = [Identity::Verified, Identity::Spoofed];
        let (is_fetching, habit) = (number(random, 6), number(random, 3));
        let stop = START + number(random, horizon);
        let request = |_| {
            let name = CRAWLERS[number(random, crawlers) as usize];
            let time = START - horizon / 4 + number(random, horizon * 3 / 2);
            let path = match number(random, 25) < is_fetching {
                true => "/robots.txt",
                // After a time, the crawler obeys all rules, or only reads them.
                false if time > stop && habit == 1 => "/d",
                false if time > stop && habit == 2 => return None,
                false => PATHS[number(random, 4) as usize],
            };
            let status = [200, 404][usize::from(number(random, 4) == 0)];
            let actor = (world.registry.find(name)?, identities[number(random, 2) as usize]);
            Some(Request { actor, time, path, status })
        };
        (0..count).filter_map(request).collect()
    }

    /// Splits requests over workers at random, and merges these in random order.
    fn split_and_merged(world: &World<'_>, requests: &[Request], random: &mut Random) -> Rows {
        let workers = 1 + number(random, 4) as usize;
        let limits = RowLimits { strangers_max: 3, time_buckets_max: world.time_buckets_max };
        let mut parts = vec![Rows::new(limits, world.registry.ranks().into()); workers];
        let mut rest: Vec<&Request> = requests.iter().collect();
        while !rest.is_empty() {
            let request = rest.swap_remove(number(random, rest.len() as i64) as usize);
            world.add(request, &mut parts[number(random, workers as i64) as usize]);
        }
        while parts.len() > 1 {
            let part = parts.swap_remove(number(random, parts.len() as i64) as usize);
            let into = number(random, parts.len() as i64) as usize;
            parts[into].absorb(part);
        }
        parts.remove(0)
    }

    #[test]
    fn any_order_and_split_give_what_plain_search_gives() {
        let registry = Registry::builtin();
        let crawlers: Vec<Crawler> = registry.crawlers().cloned().collect();
        let random = &mut Random(7);
        let mut seen: Vec<(String, usize)> = Vec::new();
        for round in 0..400 {
            let horizon = [900, 3 * DAY_SECONDS, 60 * DAY_SECONDS][round % 3];
            let world = World::new(&registry, random, horizon);
            let requests = random_requests(&world, random, horizon);
            if requests.is_empty() {
                continue;
            }
            let expected = world.expected(&requests);
            for _ in 0..2 {
                let merged = split_and_merged(&world, &requests, random);
                assert_eq!(world.actual(merged, &crawlers), expected, "round {round}");
            }
            for row in &expected {
                let is_unsplit = row.contains(") None ");
                for word in row.split(' ').chain(is_unsplit.then_some("unsplit")) {
                    match seen.iter_mut().find(|(known, _)| known == word) {
                        Some((_, count)) => *count += 1,
                        None => seen.push((word.to_owned(), 1)),
                    }
                }
            }
        }
        let words = "obeyed-at-once obeyed-late still-requesting never-fetched gone \
                     too-few-requests found not-found Operator)) Own)) unsplit unknown";
        for word in words.split_whitespace() {
            let count = seen.iter().find(|(known, _)| known == word).map_or(0, |(_, count)| *count);
            assert!(count > 0, "{word}: {count}");
        }
    }
}
