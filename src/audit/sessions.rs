//! Sessions of clients, and the gaps between their requests, in the order of each input.
//!
//! A session is a run of requests of one client with the user agent of one crawler, each within
//! some minutes of the one before. Lines count in the order of their input, and each input for
//! itself. Clients are only remembered while an input is read; the result has sums alone.
//!
//! At most [`CLIENTS_MAX`] clients of an input are remembered. If there are more, those are
//! forgotten whose session has ended, at most once a minute of the log; if too many are left, requests of further clients are counted
//! without sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::input::source::FileId;
use crate::judge::robots::RobotsId;
use crate::merge::{Merge, merge_fields, sum};
use crate::mutex::lock;
use crate::time::UtcTime;

use super::origin_key::{OriginKey, OriginRank};
use super::sums::{Compliance, is_default};
use super::tally::crawler_tally::Actor;
use super::time_buckets::TimeBuckets;

/// The most clients of one input that are remembered.
pub const CLIENTS_MAX: usize = if cfg!(test) { 3 } else { 100_000 };

/// The least time of a log between two searches for clients to forget, because each takes time.
const SWEEP_SECONDS: u64 = 60;

/// The number of distinct paths from which on it is estimated, from this many smallest hashes.
pub const PATHS_MAX: usize = if cfg!(test) { 256 } else { 1024 };

/// Sessions.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct SessionSums {
    /// Sessions by their number of requests.
    pub sizes: TimeBuckets,
    /// Requests of clients that were not remembered.
    #[serde(skip_serializing_if = "is_default")]
    pub without_session: u64,
}

/// The sessions of one crawler.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct SessionTally {
    /// By the name of the network of the client; empty if it is not known.
    pub networks: BTreeMap<String, SessionSums>,
    /// The smallest hashes of requested paths.
    pub paths: BTreeSet<u64>,
}

impl SessionTally {
    /// The distinct paths, and whether their number is exact: otherwise it is an estimate.
    pub fn distinct_paths(&self) -> (u64, bool) {
        match self.paths.last() {
            Some(last) if self.paths.len() >= PATHS_MAX => {
                let part = *last as f64 / 2f64.powi(64);
                (((PATHS_MAX - 1) as f64 / part).round() as u64, false)
            }
            _ => (self.paths.len() as u64, true),
        }
    }

    /// The sessions of all networks.
    pub fn total(&self) -> SessionSums {
        sum(self.networks.values().cloned())
    }

    /// All requests; `None` if the sums cannot be.
    pub fn requests(&self) -> Option<u64> {
        let mut networks = self.networks.values();
        networks.try_fold(0u64, |total, sums| total.checked_add(sums.requests()?))
    }

    fn bound_paths(&mut self) {
        while self.paths.len() > PATHS_MAX {
            self.paths.pop_last();
        }
    }

    fn add_path(&mut self, hash: u64) {
        let is_small = self.paths.last().is_none_or(|last| hash < *last);
        if is_small || self.paths.len() < PATHS_MAX {
            self.paths.insert(hash);
            self.bound_paths();
        }
    }
}

impl SessionSums {
    /// All requests; `None` if the sums cannot be.
    pub fn requests(&self) -> Option<u64> {
        let mut sizes = self.sizes.buckets();
        sizes.try_fold(self.without_session, |sum, (size, sessions)| {
            let size = u64::try_from(size).ok().filter(|size| *size > 0)?;
            sum.checked_add(size.checked_mul(sessions)?)
        })
    }
}

merge_fields!(SessionSums { sizes, without_session });
merge_fields!(SessionTally { networks, paths }, bound_paths);

/// The requests of a crawler at an origin under a version of robots.txt with a Crawl-delay.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct DelayedAt {
    /// The origin.
    pub origin_key: Arc<OriginKey>,
    /// The crawler.
    pub actor: Actor,
    /// The version of robots.txt.
    pub robots: RobotsId,
}

/// A request of a client.
#[derive(Clone, Debug)]
pub struct ClientRequest {
    /// The crawler.
    pub actor: Actor,
    /// A hash of the client.
    pub client: u64,
    /// The name of its network, if it is known.
    pub network: Option<Arc<str>>,
    /// A hash of origin and path, if it has a path.
    pub path: Option<u64>,
    /// The time.
    pub time: UtcTime,
    /// Its Crawl-delay in milliseconds.
    pub delayed: Option<(DelayedAt, OriginRank, u64)>,
}

/// The sums of inputs.
#[derive(Debug, Default)]
pub struct SessionCounts {
    /// By crawler.
    pub sessions: BTreeMap<Actor, SessionTally>,
    /// Gaps between requests, and those that kept the delay.
    pub gaps: HashMap<DelayedAt, (OriginRank, Compliance), RandomState>,
}

/// Counts the requests of chunks, from any thread.
#[derive(Debug)]
pub struct Sessions {
    /// A longer silence ends a session, in seconds.
    silence: i64,
    inputs: Mutex<(BTreeMap<FileId, InputSessions>, SessionCounts)>,
}

/// A session that may go on.
#[derive(Debug)]
struct OpenSession {
    /// The time of its last request.
    last: i64,
    /// Its requests.
    size: u64,
    /// The name of the network of the client.
    network: Option<Arc<str>>,
}

/// An input in progress.
#[derive(Debug, Default)]
struct InputSessions {
    /// The next chunk.
    next: u64,
    /// Later ones.
    waiting: BTreeMap<u64, Vec<ClientRequest>>,
    /// Their number, once it is known.
    chunks: Option<u64>,
    /// The last session of each client.
    clients: HashMap<(Actor, u64), OpenSession, RandomState>,
    /// When ended sessions were last forgotten.
    swept: Option<i64>,
    /// The last request of each client with a Crawl-delay.
    delayed: HashMap<(DelayedAt, u64), i64, RandomState>,
}

impl Sessions {
    /// Sessions that end after `minutes` without requests.
    pub fn new(minutes: usize) -> Sessions {
        let silence = i64::try_from(minutes).unwrap_or(i64::MAX).saturating_mul(60);
        Sessions { silence, inputs: Mutex::default() }
    }

    /// Takes the `requests` of a chunk of `input`, in the order of its lines.
    pub fn take(&self, input: FileId, sequence: u64, requests: Vec<ClientRequest>) {
        let (inputs, counts) = &mut *lock(&self.inputs);
        let of_input = inputs.entry(input).or_default();
        of_input.waiting.insert(sequence, requests);
        while let Some(requests) = of_input.waiting.remove(&of_input.next) {
            of_input.next += 1;
            requests.into_iter().for_each(|request| of_input.count(request, self.silence, counts));
        }
        self.end_if_complete(inputs, counts, input);
    }

    /// Takes the number of chunks of `input`, also before the last of them.
    pub fn end(&self, input: FileId, chunks: u64) {
        let (inputs, counts) = &mut *lock(&self.inputs);
        inputs.entry(input).or_default().chunks = Some(chunks);
        self.end_if_complete(inputs, counts, input);
    }

    /// The sums of all inputs.
    pub fn into_counts(self) -> SessionCounts {
        crate::mutex::unpoisoned(self.inputs.into_inner()).1
    }

    fn end_if_complete(
        &self,
        inputs: &mut BTreeMap<FileId, InputSessions>,
        counts: &mut SessionCounts,
        input: FileId,
    ) {
        if inputs.get(&input).is_some_and(|of_input| of_input.chunks == Some(of_input.next))
            && let Some(ended) = inputs.remove(&input)
        {
            for ((actor, _), session) in ended.clients {
                counts.end_session(actor, &session);
            }
        }
    }
}

impl SessionCounts {
    fn end_session(&mut self, actor: Actor, session: &OpenSession) {
        let size = i64::try_from(session.size).unwrap_or(i64::MAX);
        self.sums(actor, session.network.as_deref()).sizes.add(size, 1);
    }

    fn sums(&mut self, actor: Actor, network: Option<&str>) -> &mut SessionSums {
        let networks = &mut self.sessions.entry(actor).or_default().networks;
        networks.entry(network.unwrap_or_default().to_owned()).or_default()
    }
}

impl InputSessions {
    fn count(&mut self, request: ClientRequest, silence: i64, counts: &mut SessionCounts) {
        let ClientRequest { actor, client, network, path, time, delayed } = request;
        let now = time.unix_seconds();
        let tally = counts.sessions.entry(actor).or_default();
        path.into_iter().for_each(|path| tally.add_path(path));
        if let Some((at, rank, delay)) = delayed {
            self.count_gap((at, client), rank, (now, delay), counts);
        }
        let key = (actor, client);
        if let Some(session) = self.clients.get_mut(&key) {
            if now.saturating_sub(session.last) > silence {
                counts.end_session(actor, session);
                session.size = 0;
            }
            (session.last, session.size) = (now, session.size + 1);
            return;
        }
        let is_swept = self.swept.is_some_and(|swept| now.abs_diff(swept) < SWEEP_SECONDS);
        if self.clients.len() >= CLIENTS_MAX && !is_swept {
            self.swept = Some(now);
            let has_ended = |last: i64| now.saturating_sub(last) > silence;
            let ended = self.clients.extract_if(|_, session| has_ended(session.last));
            ended.for_each(|((actor, _), session)| counts.end_session(actor, &session));
        }
        match self.clients.len() < CLIENTS_MAX {
            true => {
                self.clients.insert(key, OpenSession { last: now, size: 1, network });
            }
            false => counts.sums(actor, network.as_deref()).without_session += 1,
        }
    }

    /// Counts the time since the request before, for as many clients as are remembered.
    fn count_gap(
        &mut self,
        key: (DelayedAt, u64),
        rank: OriginRank,
        (now, delay): (i64, u64),
        counts: &mut SessionCounts,
    ) {
        let is_full = self.delayed.len() >= CLIENTS_MAX;
        let Some(last) = self.delayed.get_mut(&key) else {
            if !is_full {
                self.delayed.insert(key, now);
            }
            return;
        };
        let gap = now.saturating_sub(*last).max(0).unsigned_abs().saturating_mul(1000);
        *last = now;
        let (_, sum) = counts.gaps.entry(key.0).or_insert((rank, Compliance::default()));
        sum.absorb(Compliance { requests: 1, kept: u64::from(gap >= delay) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::{crawler::CrawlerId, identity::Identity};

    fn random(state: &mut u64, below: usize) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (*state >> 33) as usize % below
    }

    /// Requests of `clients` clients, mostly in order.
    fn requests(state: &mut u64, clients: usize) -> Vec<ClientRequest> {
        let origin_key = Arc::new(OriginKey::Unnamed);
        let request = |at: usize| {
            let actor = (CrawlerId(random(state, 2) as u16), Identity::Unverified);
            let seconds = at * 20 + random(state, 400);
            let at = DelayedAt { origin_key: Arc::clone(&origin_key), actor, robots: RobotsId(0) };
            let client = random(state, clients) as u64;
            ClientRequest {
                actor,
                client,
                network: (client > 0).then(|| format!("network {}", client % 3).into()),
                path: (random(state, 9) > 0).then(|| random(state, 40) as u64),
                time: UtcTime::from_unix_seconds(seconds as i64).unwrap(),
                delayed: (random(state, 2) == 0).then_some((at, OriginRank::Named, 60_000)),
            }
        };
        (0..200).map(request).collect()
    }

    /// The sums of `requests` in chunks that end at random and come in a random order.
    fn counted(state: &mut u64, requests: &[ClientRequest], chunk_max: usize) -> SessionCounts {
        let sessions = Sessions::new(2);
        let mut chunks = Vec::new();
        let mut rest = requests;
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at((1 + random(state, chunk_max)).min(rest.len()));
            chunks.insert(random(state, chunks.len() + 1), (chunks.len() as u64, chunk.to_vec()));
            rest = after;
        }
        let count = chunks.len() as u64;
        for (at, (sequence, chunk)) in chunks.into_iter().enumerate() {
            if at == 1 {
                sessions.end(FileId::from_index(0), count);
            }
            sessions.take(FileId::from_index(0), sequence, chunk);
        }
        sessions.end(FileId::from_index(0), count);
        sessions.into_counts()
    }

    #[test]
    fn chunks_in_any_order_give_the_same() {
        let state = &mut 1;
        let mut without_session = 0;
        for clients in [1, 2, 9, 9, 9] {
            let all = requests(state, clients);
            let (whole, parts) = (counted(state, &all, 1000), counted(state, &all, 30));
            assert_eq!(whole.sessions, parts.sessions);
            assert_eq!(whole.gaps, parts.gaps);
            let total: u64 = whole.sessions.values().map(|of| of.requests().unwrap()).sum();
            assert_eq!(total, 200);
            without_session +=
                whole.sessions.values().map(|of| of.total().without_session).sum::<u64>();
        }
        assert!(without_session > 0);
    }

    #[test]
    fn many_paths_are_estimated_in_any_split() {
        let state = &mut 2;
        for distinct in [10, 256, 1_000, 20_000] {
            let mut parts = vec![SessionTally::default(); 3];
            for path in 0..2 * distinct {
                let hash = hash_of(path % distinct);
                parts[random(state, 3)].add_path(hash);
            }
            let mut whole = SessionTally::default();
            parts.into_iter().for_each(|part| whole.absorb(part));
            let (paths, is_exact) = whole.distinct_paths();
            assert_eq!(is_exact, distinct < PATHS_MAX as u64);
            let error = paths.abs_diff(distinct) as f64 / distinct as f64;
            assert!(error < if is_exact { 1e-9 } else { 0.2 }, "{distinct} as {paths}");
        }
    }

    fn hash_of(number: u64) -> u64 {
        use crate::bounded::StableHash;
        number.to_be_bytes().stable_hash()
    }
}
