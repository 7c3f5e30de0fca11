//! Sessions and gaps against the plainest count: all requests of an input are sorted first.

use std::sync::Mutex;

use super::time_order::WINDOW_SECONDS;
use super::*;
use crate::crawlers::{crawler::CrawlerId, identity::Identity};
use crate::random::Random;

const SILENCE_MINUTES: usize = 2;

/// A request of `client` at one of two origins, whose robots.txt changes every five minutes: two of three versions
/// have a Crawl-delay.
fn request(random: &mut Random, second: i64, clients: usize) -> ClientRequest {
    let actor = (CrawlerId(random.below(2) as u16), Identity::Unverified);
    let client = random.below(clients) as u64;
    let origin = [OriginKey::Unnamed, OriginKey::Invalid][random.below(2)].clone();
    let version = (second / 300 % 3) as u32;
    ClientRequest {
        actor,
        client: (random.below(20) > 0).then_some(client),
        network: (client > 0).then(|| format!("network {}", client % 3).into()),
        url: (random.below(9) > 0).then(|| random.below(40) as u64),
        time: UtcTime::from_unix_seconds(second).unwrap(),
        at: (random.below(9) > 0).then(|| GapEnd {
            origin_key: Arc::new(origin),
            rank: OriginRank::Named,
            delay: (version > 0).then(|| (RobotsId(version), u64::from(version) * 40_000)),
        }),
    }
}

/// Requests that are at most the window out of order. Many are at the same second.
fn log(random: &mut Random, clients: usize) -> Vec<ClientRequest> {
    let mut second = 1_000_000;
    let mut log: Vec<ClientRequest> = Vec::new();
    for _ in 0..200 {
        second += [0, 0, 1, 30, 60, 119, 120, 121][random.below(8)];
        log.push(request(random, second, clients));
    }
    disordered(random, log)
}

/// In another order, with nothing further than the window out of order.
fn disordered(random: &mut Random, log: Vec<ClientRequest>) -> Vec<ClientRequest> {
    let mut log: Vec<(i64, usize, ClientRequest)> = log
        .into_iter()
        .map(|request| {
            let wait = random.below(WINDOW_SECONDS as usize + 1) as i64;
            (request.time.unix_seconds() + wait, random.below(1000), request)
        })
        .collect();
    log.sort_by_key(|(end, tie, _)| (*end, *tie));
    log.into_iter().map(|(.., request)| request).collect()
}

/// The sums of `inputs` in chunks that end at random, which `threads` take in a random order.
fn counted(random: &mut Random, inputs: &[&[ClientRequest]], threads: usize) -> SessionCounts {
    let sessions = Sessions::new(SILENCE_MINUTES);
    let mut chunks = Vec::new();
    for (input, mut rest) in inputs.iter().copied().enumerate() {
        let (file, mut sequence) = (FileId::from_index(input), 0);
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at((1 + random.below(30)).min(rest.len()));
            let at = random.below(chunks.len() + 1);
            chunks.insert(at, (file, Some((sequence, chunk.to_vec())), 0));
            (rest, sequence) = (after, sequence + 1);
        }
        chunks.insert(random.below(chunks.len() + 1), (file, None, sequence));
    }
    let chunks = Mutex::new(chunks);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((file, chunk, count)) = { lock(&chunks).pop() } {
                    match chunk {
                        Some((sequence, requests)) => sessions.take(file, sequence, requests),
                        None => sessions.end(file, count),
                    }
                }
            });
        }
    });
    sessions.into_counts()
}

/// The sizes of sessions by crawler and network, late requests, and gaps by origin, crawler and version.
#[derive(Debug, Default, PartialEq)]
struct Plain {
    sizes: BTreeMap<(Actor, String), BTreeMap<i64, u64>>,
    without: u64,
    late: u64,
    gaps: BTreeMap<(String, Actor, RobotsId), (u64, u64)>,
}

impl Plain {
    fn of(counts: &SessionCounts) -> Plain {
        let mut plain = Plain::default();
        for (actor, tally) in &counts.sessions {
            for (network, sums) in &tally.networks {
                let sizes: BTreeMap<i64, u64> = sums.sizes.buckets().collect();
                if !sizes.is_empty() {
                    plain.sizes.insert((*actor, network.clone()), sizes);
                }
            }
            let total = tally.total();
            plain.without += total.without_session;
            plain.late += total.late;
        }
        for (at, (_, gaps)) in &counts.gaps {
            let key = (at.origin_key.to_string(), at.actor, at.robots);
            plain.gaps.insert(key, (gaps.requests, gaps.kept));
        }
        plain
    }

    fn count(&mut self, input: &[ClientRequest]) {
        let second = |request: &ClientRequest| request.time.unix_seconds();
        let mut by_client: BTreeMap<(Actor, u64), Vec<&ClientRequest>> = BTreeMap::new();
        for (at, request) in input.iter().enumerate() {
            let is_late = input[..at]
                .iter()
                .any(|before| second(before).saturating_sub(second(request)) > WINDOW_SECONDS);
            match request.client {
                _ if is_late => self.late += 1,
                None => self.without += 1,
                Some(client) => by_client.entry((request.actor, client)).or_default().push(request),
            }
        }
        for ((actor, _), mut requests) in by_client {
            requests.sort_by_key(|request| second(request));
            let silence = SILENCE_MINUTES as i64 * 60;
            let network = requests[0].network.as_deref().unwrap_or_default().to_owned();
            let sizes = self.sizes.entry((actor, network)).or_default();
            for session in requests.chunk_by(|one, next| second(next) - second(one) <= silence) {
                *sizes.entry(session.len() as i64).or_default() += 1;
            }
            for origin in [OriginKey::Unnamed, OriginKey::Invalid] {
                let at_origin = requests.iter().filter_map(|request| {
                    let at = request.at.as_ref().filter(|at| *at.origin_key == origin)?;
                    Some((second(request), at.delay))
                });
                for pair in Vec::from_iter(at_origin).windows(2) {
                    let ((one, under), (next, then_under)) = (pair[0], pair[1]);
                    let Some((robots, delay)) = then_under.filter(|_| under == then_under) else {
                        continue;
                    };
                    let sum = self.gaps.entry((origin.to_string(), actor, robots)).or_default();
                    let kept = u64::from((next - one) as u64 * 1000 >= delay);
                    *sum = (sum.0 + 1, sum.1 + kept);
                }
            }
        }
    }
}

#[track_caller]
fn check(random: &mut Random, inputs: &[&[ClientRequest]]) -> Plain {
    let mut expected = Plain::default();
    inputs.iter().for_each(|input| expected.count(input));
    for threads in 1..=8 {
        let found = counted(random, inputs, threads);
        assert_eq!(Plain::of(&found), expected, "{threads} threads");
        let total: u64 = found.sessions.values().map(|of| of.requests().unwrap()).sum();
        assert_eq!(total, inputs.iter().map(|input| input.len() as u64).sum::<u64>());
    }
    expected
}

#[test]
fn the_order_of_lines_within_the_window_does_not_matter() {
    let random = &mut Random(1);
    let (mut gaps, mut broken) = (0, 0);
    for clients in [1, 2, 2, 3, 3, 3] {
        let log = log(random, clients);
        let first = check(random, &[&log]);
        assert_eq!(first.late, 0);
        for (requests, kept) in first.gaps.values() {
            (gaps, broken) = (gaps + requests, broken + requests - kept);
        }
        let other = disordered(random, log);
        assert_eq!(check(random, &[&other]), first);
    }
    assert!(broken > 20 && gaps > broken + 20, "{gaps} {broken}");
}

#[test]
fn each_input_counts_for_itself_in_any_order() {
    let random = &mut Random(2);
    for _ in 0..4 {
        let log = log(random, 3);
        let (one, rest) = log.split_at(random.below(log.len()));
        let (two, three) = rest.split_at(random.below(rest.len() + 1));
        let expected = check(random, &[one, two, three]);
        assert_eq!(check(random, &[three, one, two]), expected);
    }
}

#[test]
fn what_is_further_out_of_order_is_late() {
    let random = &mut Random(3);
    let mut late = 0;
    for _ in 0..4 {
        let mut log = log(random, 3);
        for _ in 0..9 {
            // Only backwards: a request too early makes many others late, so that a new log begins.
            let from = random.below(log.len());
            let moved = log.remove(from);
            log.insert(from + random.below(log.len() + 1 - from), moved);
        }
        late += check(random, &[&log]).late;
    }
    assert!(late > 10, "{late}");
}

/// The gap of one client is counted if both of its ends are under one version, and nothing between.
#[test]
fn gaps_do_not_span_other_versions() {
    let gaps = |versions: &[Option<(u32, u64)>]| {
        let requests = versions.iter().zip(0..).map(|(version, at)| ClientRequest {
            client: Some(1),
            at: Some(GapEnd {
                origin_key: Arc::new(OriginKey::Unnamed),
                rank: OriginRank::Named,
                delay: version.map(|(robots, delay)| (RobotsId(robots), delay)),
            }),
            ..request(&mut Random(1), 10 * at, 1)
        });
        let requests: Vec<ClientRequest> =
            requests.map(|of| ClientRequest { actor: (CrawlerId(0), of.actor.1), ..of }).collect();
        let plain = Plain::of(&counted(&mut Random(1), &[&requests], 1));
        Vec::from_iter(plain.gaps.into_iter().map(|((_, _, robots), of)| (robots.0, of)))
    };
    let (one, two) = (Some((1, 10_000)), Some((2, 10_001)));
    assert_eq!(gaps(&[one, one, one]), [(1, (2, 2))]);
    assert_eq!(gaps(&[two, two]), [(2, (1, 0))]);
    assert_eq!(gaps(&[one, two, one]), []);
    assert_eq!(gaps(&[one, None, one, one]), [(1, (1, 1))]);
    assert_eq!(gaps(&[one, two, two, one]), [(2, (1, 0))]);
}

#[test]
fn a_session_ends_after_the_silence() {
    for (silence, expected) in [(119, 1), (120, 1), (121, 2)] {
        let one = |second| ClientRequest {
            actor: (CrawlerId(0), Identity::Unverified),
            client: Some(1),
            ..request(&mut Random(1), second, 1)
        };
        let found = counted(&mut Random(1), &[&[one(silence), one(0)]], 1);
        let total = found.sessions.values().next().unwrap().total();
        assert_eq!(total.sizes.total(), expected, "{silence}");
    }
}

#[test]
fn clients_past_the_limit_have_no_session() {
    let random = &mut Random(4);
    let mut without_session = 0;
    for _ in 0..4 {
        let log: Vec<ClientRequest> = (0..200).map(|at| request(random, at, 40)).collect();
        let (whole, parts) = (counted(random, &[&log], 1), counted(random, &[&log], 8));
        assert_eq!(Plain::of(&whole), Plain::of(&parts));
        let total: u64 = whole.sessions.values().map(|of| of.requests().unwrap()).sum();
        assert_eq!(total, 200);
        without_session +=
            whole.sessions.values().map(|of| of.total().without_session).sum::<u64>();
    }
    assert!(without_session > 100, "{without_session}");
}

/// They were of other texts, and fewer.
#[test]
fn hashes_of_earlier_versions_are_refused() {
    #[derive(Serialize)]
    struct Earlier {
        networks: BTreeMap<String, SessionSums>,
        paths: Vec<u64>,
    }
    let read = |tally: &[u8]| rmp_serde::from_slice::<SessionTally>(tally).is_ok();
    let earlier = Earlier { networks: BTreeMap::new(), paths: vec![1] };
    assert!(!read(&rmp_serde::to_vec_named(&earlier).unwrap()));
    assert!(read(&rmp_serde::to_vec_named(&SessionTally::default()).unwrap()));
}

/// Ended sessions are looked for once a minute at most, and only if there is no room.
#[test]
fn room_for_clients_is_made_once_a_minute() {
    let (mut clients, mut counts) = (Clients::default(), SessionCounts::default());
    let actor = (CrawlerId(0), Identity::Unverified);
    let mut count = |second: i64, client: usize| {
        clients.count_session(second, (actor, client as u64), None, 120, &mut counts);
        let without = counts.sums(actor, None).without_session;
        (clients.sessions.len(), without)
    };
    for client in 0..CLIENTS_MAX {
        assert_eq!(count(0, client), (client + 1, 0));
    }
    let first_new = CLIENTS_MAX;
    assert_eq!(count(100, first_new), (CLIENTS_MAX, 1), "none has ended");
    assert_eq!(count(159, first_new + 1), (CLIENTS_MAX, 2), "all have, but it was just looked");
    assert_eq!(count(160, first_new + 2), (1, 2));
    let sizes: Vec<(i64, u64)> = counts.sums(actor, None).sizes.buckets().collect();
    assert_eq!(sizes, [(1, CLIENTS_MAX as u64)]);
}

#[test]
fn gaps_are_counted_for_as_many_clients_as_are_remembered() {
    let (mut clients, mut counts) = (Clients::default(), SessionCounts::default());
    let actor = (CrawlerId(0), Identity::Unverified);
    for second in [0, 50] {
        for client in 0..=CLIENTS_MAX as u64 {
            let origin_key = Arc::new(OriginKey::Unnamed);
            let delay = Some((RobotsId(1), 50_000));
            let at = GapEnd { origin_key, rank: OriginRank::Named, delay };
            clients.count_gap(second, (actor, client), at, &mut counts);
        }
    }
    let gaps: Vec<Compliance> = counts.gaps.values().map(|(_, gaps)| *gaps).collect();
    let all = CLIENTS_MAX as u64;
    assert_eq!(gaps, [Compliance { requests: all, kept: all }]);
}

/// The file may come from a stranger.
#[test]
fn sessions_have_requests() {
    let sums = |size| SessionSums { sizes: TimeBuckets::of(vec![(size, 3)]), ..Default::default() };
    assert_eq!(sums(1).requests(), Some(3));
    for size in [0, -1, i64::MAX] {
        assert_eq!(sums(size).requests(), None, "{size}");
    }
}
