//! Sessions of clients, and the gaps between their requests, in the order of time.
//!
//! A session is a run of requests of one client with the user agent of one crawler, each within
//! some minutes of the one before. A gap is the time from one request of a client at an origin to the next. Each input counts for
//! itself, in the order of `time_order`. Clients are only remembered while an input is read; the result has sums alone.
//!
//! At most [`CLIENTS_MAX`] clients of an input are remembered. If there are more, those are
//! forgotten whose session has ended, at most once a minute of the log; if too many are left, requests of further clients are counted
//! without sessions.

mod time_order;

use std::sync::{Arc, Mutex};
use std::{cmp::Ordering, collections::BTreeMap, hash::Hash};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::crawlers::identity::Actor;
use crate::input::source::FileId;
use crate::judge::robots::RobotsId;
use crate::measures::sums::{Compliance, is_default};
use crate::measures::time_buckets::TimeBuckets;
use crate::merge::{Merge, merge_fields, sum};
use crate::mutex::lock;
use crate::time::UtcTime;

use super::origin_key::{OriginKey, OriginRank};
use super::tally::urls::Urls;
use time_order::{InTime, TimeOrder};

/// The most clients of one input that are remembered.
pub(crate) const CLIENTS_MAX: usize = if cfg!(test) { 12 } else { 100_000 };

/// The least time of a log between two searches for clients to forget, because each takes time.
const SWEEP_SECONDS: u64 = 60;

/// Sessions.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct SessionSums {
    /// Sessions by their number of requests.
    pub sizes: TimeBuckets,
    /// Requests of clients that were not remembered, or not named.
    #[serde(skip_serializing_if = "is_default")]
    pub without_session: u64,
    /// Requests that were further out of order than allowed.
    #[serde(skip_serializing_if = "is_default")]
    pub late: u64,
}

/// The sessions of one crawler.
// Unknown fields are refused, because one had hashes that cannot be added to these.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionTally {
    /// By the name of the network of the client; empty if it is not known.
    pub networks: BTreeMap<String, SessionSums>,
    /// The distinct URLs.
    pub urls: Urls,
}

impl SessionTally {
    /// The sessions of all networks.
    pub(crate) fn total(&self) -> SessionSums {
        sum(self.networks.values().cloned())
    }

    /// All requests; `None` if the sums cannot be.
    pub(crate) fn requests(&self) -> Option<u64> {
        let mut networks = self.networks.values();
        networks.try_fold(0u64, |total, sums| total.checked_add(sums.requests()?))
    }
}

impl SessionSums {
    /// All requests; `None` if the sums cannot be.
    pub(crate) fn requests(&self) -> Option<u64> {
        self.in_sessions()?.checked_add(self.without_session)?.checked_add(self.late)
    }

    /// The requests in sessions; `None` if the sums cannot be.
    pub(crate) fn in_sessions(&self) -> Option<u64> {
        self.sizes.buckets().try_fold(0u64, |sum, (size, sessions)| {
            let size = u64::try_from(size).ok().filter(|size| *size > 0)?;
            sum.checked_add(size.checked_mul(sessions)?)
        })
    }
}

merge_fields!(SessionSums { sizes, without_session, late });
merge_fields!(SessionTally { networks, urls });

/// The requests of a crawler at an origin under a version of robots.txt with a Crawl-delay.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct DelayedAt {
    /// The origin.
    pub origin_key: Arc<OriginKey>,
    /// The crawler.
    pub actor: Actor,
    /// The version of robots.txt.
    pub robots: RobotsId,
}

/// A request of a client.
#[derive(Clone, Debug)]
pub(crate) struct ClientRequest {
    /// The crawler.
    pub actor: Actor,
    /// A hash of the client; `None` if the log names none.
    pub client: Option<u64>,
    /// The name of its network, if it is known.
    pub network: Option<Arc<str>>,
    /// A hash of its URL, if it has a path.
    pub url: Option<u64>,
    /// The time.
    pub time: UtcTime,
    /// Where it ends a gap and begins the next; `None` for robots.txt and without a path.
    pub at: Option<GapEnd>,
}

/// Where and how fast a request could be made.
#[derive(Clone, Debug)]
pub(crate) struct GapEnd {
    /// The origin.
    pub origin_key: Arc<OriginKey>,
    /// Its rank.
    pub rank: OriginRank,
    /// The version of robots.txt in force and its Crawl-delay in milliseconds, if it has one.
    pub delay: Option<(RobotsId, u64)>,
}

/// A request of a client that waits.
#[derive(Debug)]
struct TimedRequest {
    actor: Actor,
    client: Option<u64>,
    network: Option<Arc<str>>,
    at: Option<GapEnd>,
}

impl TimedRequest {
    /// Requests that are equal in this do not differ at one time.
    fn key(&self) -> (Actor, Option<u64>, Option<&OriginKey>) {
        (self.actor, self.client, self.at.as_ref().map(|at| &*at.origin_key))
    }
}

impl Ord for TimedRequest {
    fn cmp(&self, other: &TimedRequest) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for TimedRequest {
    fn partial_cmp(&self, other: &TimedRequest) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for TimedRequest {
    fn eq(&self, other: &TimedRequest) -> bool {
        self.key() == other.key()
    }
}

impl Eq for TimedRequest {}

/// The sums of inputs.
#[derive(Debug, Default)]
pub(crate) struct SessionCounts {
    /// By crawler.
    pub sessions: BTreeMap<Actor, SessionTally>,
    /// Gaps between requests, and those that kept the delay.
    pub gaps: HashMap<DelayedAt, (OriginRank, Compliance), RandomState>,
}

/// Counts the requests of chunks, from any thread.
#[derive(Debug)]
pub(crate) struct Sessions {
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
    /// Requests of the chunks before.
    order: TimeOrder<TimedRequest>,
    /// The clients before them.
    clients: Clients,
}

/// The clients of a log.
#[derive(Debug, Default)]
struct Clients {
    /// The last session of each client.
    sessions: HashMap<(Actor, u64), OpenSession, RandomState>,
    /// When ended sessions were last forgotten.
    swept: Option<i64>,
    /// The last request of each client at an origin, if it was under a Crawl-delay.
    delayed: HashMap<ClientAtOrigin, (i64, RobotsId), RandomState>,
}

/// An origin, a crawler and the identifier of a client.
type ClientAtOrigin = (Arc<OriginKey>, Actor, u64);

impl Sessions {
    /// Sessions that end after `minutes` without requests.
    pub(crate) fn new(minutes: usize) -> Sessions {
        let silence = i64::try_from(minutes).unwrap_or(i64::MAX).saturating_mul(60);
        Sessions { silence, inputs: Mutex::default() }
    }

    /// Takes the `requests` of a chunk of `input`, in the order of its lines.
    pub(crate) fn take(&self, input: FileId, sequence: u64, requests: Vec<ClientRequest>) {
        let (inputs, counts) = &mut *lock(&self.inputs);
        let of_input = inputs.entry(input).or_default();
        of_input.waiting.insert(sequence, requests);
        while let Some(requests) = of_input.waiting.remove(&of_input.next) {
            of_input.next += 1;
            requests.into_iter().for_each(|request| of_input.take(request, self.silence, counts));
        }
        self.end_if_complete(inputs, counts, input);
    }

    /// Takes the number of chunks of `input`, also before the last of them.
    pub(crate) fn end(&self, input: FileId, chunks: u64) {
        let (inputs, counts) = &mut *lock(&self.inputs);
        inputs.entry(input).or_default().chunks = Some(chunks);
        self.end_if_complete(inputs, counts, input);
    }

    /// The sums of all inputs.
    pub(crate) fn into_counts(self) -> SessionCounts {
        crate::mutex::unpoisoned(self.inputs.into_inner()).1
    }

    fn end_if_complete(
        &self,
        inputs: &mut BTreeMap<FileId, InputSessions>,
        counts: &mut SessionCounts,
        input: FileId,
    ) {
        if inputs.get(&input).is_some_and(|of_input| of_input.chunks == Some(of_input.next))
            && let Some(mut ended) = inputs.remove(&input)
        {
            ended.end(self.silence, counts);
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
    /// Takes the next request of the input.
    fn take(&mut self, request: ClientRequest, silence: i64, counts: &mut SessionCounts) {
        let ClientRequest { actor, client, network, url, time, at } = request;
        let tally = counts.sessions.entry(actor).or_default();
        url.into_iter().for_each(|url| tally.urls.add(url));
        let InputSessions { order, clients, .. } = self;
        let request = TimedRequest { actor, client, network, at };
        order.add(time.unix_seconds(), request, &mut |second, request| {
            clients.count(second, request, silence, counts);
        });
    }

    fn end(&mut self, silence: i64, counts: &mut SessionCounts) {
        let InputSessions { order, clients, .. } = self;
        order.end(&mut |second, request| clients.count(second, request, silence, counts));
        clients.end(counts);
    }
}

impl Clients {
    /// Counts a request; those that are not late come in the order of time.
    fn count(
        &mut self,
        second: i64,
        request: InTime<TimedRequest>,
        silence: i64,
        counts: &mut SessionCounts,
    ) {
        match request {
            InTime::NewLog => self.end(counts),
            InTime::Late(TimedRequest { actor, network, .. }) => {
                counts.sums(actor, network.as_deref()).late += 1;
            }
            InTime::Next(TimedRequest { actor, client: None, network, .. }) => {
                counts.sums(actor, network.as_deref()).without_session += 1;
            }
            InTime::Next(TimedRequest { actor, client: Some(client), network, at }) => {
                at.into_iter().for_each(|at| self.count_gap(second, (actor, client), at, counts));
                self.count_session(second, (actor, client), network, silence, counts);
            }
        }
    }

    fn count_session(
        &mut self,
        now: i64,
        key: (Actor, u64),
        network: Option<Arc<str>>,
        silence: i64,
        counts: &mut SessionCounts,
    ) {
        let has_ended = |last: i64| now.saturating_sub(last) > silence;
        if let Some(session) = self.sessions.get_mut(&key) {
            if has_ended(session.last) {
                counts.end_session(key.0, session);
                session.size = 0;
            }
            (session.last, session.size) = (now, session.size + 1);
            return;
        }
        let is_swept = self.swept.is_some_and(|swept| now.abs_diff(swept) < SWEEP_SECONDS);
        if self.sessions.len() >= CLIENTS_MAX && !is_swept {
            self.swept = Some(now);
            let ended = self.sessions.extract_if(|_, session| has_ended(session.last));
            ended.for_each(|((actor, _), session)| counts.end_session(actor, &session));
        }
        match self.sessions.len() < CLIENTS_MAX {
            true => {
                self.sessions.insert(key, OpenSession { last: now, size: 1, network });
            }
            false => counts.sums(key.0, network.as_deref()).without_session += 1,
        }
    }

    /// Counts the time since the request before, if both were under one version of robots.txt with a
    /// Crawl-delay, for as many clients and origins as are remembered.
    fn count_gap(
        &mut self,
        now: i64,
        (actor, client): (Actor, u64),
        at: GapEnd,
        counts: &mut SessionCounts,
    ) {
        let GapEnd { origin_key, rank, delay } = at;
        let key = (origin_key, actor, client);
        let Some((robots, delay)) = delay else {
            self.delayed.remove(&key);
            return;
        };
        let is_full = self.delayed.len() >= CLIENTS_MAX;
        let Some(before) = self.delayed.get_mut(&key) else {
            if !is_full {
                self.delayed.insert(key, (now, robots));
            }
            return;
        };
        let (last, last_robots) = std::mem::replace(before, (now, robots));
        if last_robots != robots {
            return;
        }
        let gap = now.abs_diff(last).saturating_mul(1000);
        let under = DelayedAt { origin_key: key.0, actor, robots };
        let (_, sum) = counts.gaps.entry(under).or_insert((rank, Compliance::default()));
        sum.absorb(Compliance { requests: 1, kept: u64::from(gap >= delay) });
    }

    /// Ends all sessions.
    fn end(&mut self, counts: &mut SessionCounts) {
        let Clients { sessions, .. } = std::mem::take(self);
        sessions.into_iter().for_each(|((actor, _), session)| counts.end_session(actor, &session));
    }
}

#[cfg(test)]
mod tests;
