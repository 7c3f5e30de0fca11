//! Fetches from many origins: several threads fetch, one caller stores. Of each host there is one request at a time, with
//! a pause between two; a thread never waits for a busy host while another host can be asked.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque, hash_map::Entry};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Condvar, Mutex};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::mutex::{lock, unpoisoned};
use crate::url::origin::Origin;

use super::fetch::{Fetched, Step, Walk};
use super::settings::Settings;

/// Work that waits for a host.
pub(super) trait OfHost {
    /// The host that it will ask next.
    fn host(&self) -> String;

    /// The end of its time; it is then handed out without waiting for its host.
    fn until(&self) -> Option<Instant>;
}

/// Items of all threads, by host.
#[derive(Debug)]
pub(super) struct HostQueue<T> {
    pause: Duration,
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    /// Not yet assigned to a host, the next one last.
    backlog: Vec<T>,
    /// Hosts that are closed, or have items.
    hosts: HashMap<String, Host<T>>,
    /// Open hosts that have items, the next one first.
    ready: VecDeque<String>,
    /// Closed hosts by the time when their pause ends.
    pausing: BinaryHeap<Reverse<(Instant, String)>>,
    /// Items whose time was over before their host was free.
    spent: Vec<T>,
    /// The ends of the time of items, the earliest last.
    untils: Vec<Instant>,
    /// Items at hosts.
    waiting: usize,
    /// Items that threads work on.
    running: usize,
    is_stopped: bool,
}

#[derive(Debug)]
struct Host<T> {
    /// Whether it is asked, or its pause is not over.
    is_closed: bool,
    items: VecDeque<T>,
}

/// An item to work on. Hand it back with [`HostQueue::done`].
#[derive(Debug)]
pub(super) struct Turn<T> {
    pub item: T,
    /// The host that nobody else asks meanwhile; `None` if the time of the item is over.
    host: Option<String>,
}

impl<T: OfHost> HostQueue<T> {
    /// A queue of `items`, the first ones first, which waits for `pause` after each request to a
    /// host.
    pub(crate) fn new(mut items: Vec<T>, pause: Duration) -> HostQueue<T> {
        let mut untils: Vec<Instant> = items.iter().filter_map(OfHost::until).collect();
        untils.sort_unstable_by_key(|until| Reverse(*until));
        untils.dedup();
        items.reverse();
        let state = State {
            backlog: items,
            hosts: HashMap::new(),
            ready: VecDeque::new(),
            pausing: BinaryHeap::new(),
            spent: Vec::new(),
            untils,
            waiting: 0,
            running: 0,
            is_stopped: false,
        };
        HostQueue { pause, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The next item whose host is free; waits for it. `None` if all work is done.
    pub(crate) fn next(&self) -> Option<Turn<T>> {
        let mut state = lock(&self.state);
        loop {
            if state.is_stopped {
                return None;
            }
            let now = Instant::now();
            state.open(now);
            state.give_up(now);
            if let Some(turn) = state.take(now) {
                state.running += 1;
                return Some(turn);
            }
            if state.running == 0 && state.waiting == 0 {
                self.changed.notify_all();
                return None;
            }
            state = match state.next_change() {
                None => unpoisoned(self.changed.wait(state)),
                Some(at) => {
                    let left = at.saturating_duration_since(now);
                    unpoisoned(self.changed.wait_timeout(state, left)).0
                }
            };
        }
    }

    /// Ends a turn at `host`; `next` is what follows, if anything does.
    pub(crate) fn done(&self, host: Option<String>, next: Option<T>) {
        let mut state = lock(&self.state);
        state.running -= 1;
        if let Some(host) = host {
            match self.pause.is_zero() {
                true => state.open_host(host),
                false => state.pausing.push(Reverse((Instant::now() + self.pause, host))),
            }
        }
        if let Some(next) = next {
            state.add(next);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// No item is handed out from now on.
    pub(crate) fn stop(&self) {
        lock(&self.state).is_stopped = true;
        self.changed.notify_all();
    }
}

impl<T> Turn<T> {
    /// The item and its host.
    pub(crate) fn into_parts(self) -> (T, Option<String>) {
        (self.item, self.host)
    }
}

impl<T: OfHost> State<T> {
    /// Opens the hosts whose pause is over.
    fn open(&mut self, now: Instant) {
        while let Some(Reverse((at, _))) = self.pausing.peek()
            && *at <= now
            && let Some(Reverse((_, host))) = self.pausing.pop()
        {
            self.open_host(host);
        }
    }

    fn open_host(&mut self, host: String) {
        let Some(known) = self.hosts.get_mut(&host) else { return };
        known.is_closed = false;
        match known.items.is_empty() {
            true => drop(self.hosts.remove(&host)),
            false => self.ready.push_back(host),
        }
    }

    /// Takes the items away from their hosts whose time is over.
    fn give_up(&mut self, now: Instant) {
        if self.untils.pop_if(|until| *until <= now).is_none() {
            return;
        }
        for host in self.hosts.values_mut() {
            let items = std::mem::take(&mut host.items);
            let (spent, left): (VecDeque<T>, VecDeque<T>) =
                items.into_iter().partition(|item: &T| item.until().is_some_and(|at| at <= now));
            host.items = left;
            self.waiting -= spent.len();
            self.spent.extend(spent);
        }
        self.hosts.retain(|_, host| host.is_closed || !host.items.is_empty());
        let hosts = &self.hosts;
        self.ready.retain(|host| hosts.contains_key(host));
    }

    fn take(&mut self, now: Instant) -> Option<Turn<T>> {
        if let Some(item) = self.spent.pop() {
            return Some(Turn { item, host: None });
        }
        if let Some(name) = self.ready.pop_front() {
            let host = self.hosts.get_mut(&name)?;
            let item = host.items.pop_front()?;
            host.is_closed = true;
            self.waiting -= 1;
            return Some(Turn { item, host: Some(name) });
        }
        while let Some(item) = self.backlog.pop() {
            if item.until().is_some_and(|until| until <= now) {
                return Some(Turn { item, host: None });
            }
            match self.hosts.entry(item.host()) {
                // An open host with items would be ready.
                Entry::Occupied(mut host) => {
                    host.get_mut().items.push_back(item);
                    self.waiting += 1;
                }
                Entry::Vacant(host) => {
                    let name = host.key().clone();
                    host.insert(Host { is_closed: true, items: VecDeque::new() });
                    return Some(Turn { item, host: Some(name) });
                }
            }
        }
        None
    }

    /// Adds an item that needs another request.
    fn add(&mut self, item: T) {
        if item.until().is_some_and(|until| until <= Instant::now()) {
            self.spent.push(item);
            return;
        }
        self.waiting += 1;
        let name = item.host();
        let host = self
            .hosts
            .entry(name.clone())
            .or_insert_with(|| Host { is_closed: false, items: VecDeque::new() });
        host.items.push_back(item);
        if !host.is_closed && host.items.len() == 1 {
            self.ready.push_back(name);
        }
    }

    /// When something changes although no thread does anything.
    fn next_change(&self) -> Option<Instant> {
        let pause = self.pausing.peek().map(|Reverse((at, _))| *at);
        pause.into_iter().chain(self.untils.last().copied()).min()
    }
}

/// Counters for a progress bar while [`fetch_all`] runs.
#[derive(Debug, Default)]
pub struct FetchProgress {
    /// Origins passed to the sink.
    pub done: AtomicU64,
}

/// Origins that are fetched alike.
#[derive(Debug)]
pub struct FetchBatch<'s> {
    /// The origins.
    pub origins: Vec<Origin>,
    /// The settings.
    pub settings: &'s Settings,
    /// The end of the time for this batch, if there is one. What is not fetched by then is given
    /// up.
    pub until: Option<Instant>,
}

/// Fetches the robots.txt of each origin with `jobs` threads, those of the first batch first, and
/// passes each to `sink` on the thread of the caller, in the order of arrival. A host gets one
/// request at a time, with a pause of `pause` after each; meanwhile other hosts are asked.
///
/// Memory holds at most three bodies per thread, because fetching waits for storing.
///
/// # Errors
/// The first error of `sink`; no further origin is fetched then. Or if no thread can be started.
pub fn fetch_all(
    batches: &[FetchBatch<'_>],
    pause: Duration,
    jobs: usize,
    progress: &FetchProgress,
    mut sink: impl FnMut(&Origin, Fetched) -> Result<()>,
) -> Result<()> {
    let all = batches.iter().flat_map(|batch| {
        batch.origins.iter().map(move |origin| Item { origin, batch, walk: None })
    });
    let queue = &HostQueue::new(all.collect(), pause);
    let (sender, receiver) = mpsc::sync_channel(jobs.max(1));
    thread::scope(|scope| {
        for started in 0..jobs.max(1) {
            let sender = sender.clone();
            let thread = Builder::new().name("fetch".to_owned());
            match thread.spawn_scoped(scope, move || work(queue, &sender)) {
                Ok(_) => {}
                Err(err) if started == 0 => {
                    return Err(Error::system(format!(
                        "cannot start a thread for fetches: {err}; raise the limit of processes \
                         (ulimit -u)"
                    )));
                }
                // Fewer threads fetch the same.
                Err(_) => break,
            }
        }
        drop(sender);
        let stored = receiver.iter().try_for_each(|(origin, fetched)| {
            sink(origin, fetched)?;
            progress.done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        queue.stop();
        drop(receiver);
        stored
    })
}

/// An origin, and how far its fetch is.
#[derive(Debug)]
struct Item<'a> {
    origin: &'a Origin,
    batch: &'a FetchBatch<'a>,
    walk: Option<Box<Walk>>,
}

impl OfHost for Item<'_> {
    fn host(&self) -> String {
        let host = self.walk.as_ref().map_or_else(|| self.origin.host(), |walk| walk.host());
        host.to_owned()
    }

    fn until(&self) -> Option<Instant> {
        self.batch.until
    }
}

/// Stops all threads if one of them panics. They would wait for its host forever.
struct StopOnPanic<'q, 'a>(&'q HostQueue<Item<'a>>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

fn work<'a>(queue: &HostQueue<Item<'a>>, sender: &SyncSender<(&'a Origin, Fetched)>) {
    let _stop = StopOnPanic(queue);
    while let Some(turn) = queue.next() {
        let (Item { origin, batch, walk }, host) = turn.into_parts();
        let walk = walk.map_or_else(|| Walk::to(origin, batch.settings, batch.until), Ok);
        let step = walk.map_or_else(Step::Done, |walk| walk.ask(batch.settings));
        match step {
            Step::Next(walk) => queue.done(host, Some(Item { origin, batch, walk: Some(walk) })),
            Step::Done(fetched) => {
                queue.done(host, None);
                // The caller may have given up.
                if sender.send((origin, *fetched)).is_err() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[derive(Clone, Debug)]
    struct Item(&'static str, usize, Option<Instant>);

    impl OfHost for Item {
        fn host(&self) -> String {
            self.0.to_owned()
        }

        fn until(&self) -> Option<Instant> {
            self.2
        }
    }

    fn items(hosts: &[&'static str], until: Option<Instant>) -> Vec<Item> {
        hosts.iter().enumerate().map(|(number, host)| Item(host, number, until)).collect()
    }

    /// The numbers of all items, as one thread gets them.
    fn order(queue: &HostQueue<Item>) -> Vec<usize> {
        std::iter::from_fn(|| queue.next())
            .map(|turn| {
                let (item, host) = turn.into_parts();
                queue.done(host, None);
                item.1
            })
            .collect()
    }

    #[test]
    fn one_at_a_time_for_each_host() {
        let queue = HostQueue::new(items(&["a"; 200], None), Duration::ZERO);
        let (within, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(turn) = queue.next() {
                        assert_eq!(within.fetch_add(1, Ordering::SeqCst), 0);
                        within.fetch_sub(1, Ordering::SeqCst);
                        seen.fetch_add(1, Ordering::SeqCst);
                        queue.done(turn.host, None);
                    }
                });
            }
        });
        assert_eq!(seen.into_inner(), 200);
        assert!(lock(&queue.state).hosts.is_empty());
    }

    #[test]
    fn a_busy_host_keeps_nobody_from_another() {
        let queue = HostQueue::new(items(&["a", "a", "a", "b", "c"], None), Duration::ZERO);
        let turns: Vec<_> = (0..3).map(|_| queue.next().unwrap()).collect();
        let numbers: Vec<usize> = turns.iter().map(|turn| turn.item.1).collect();
        assert_eq!(numbers, [0, 3, 4]);
        // A redirect to a busy host waits there.
        let [a, b, c] = turns.try_into().unwrap();
        queue.done(b.host, Some(Item("a", 5, None)));
        queue.done(c.host, None);
        queue.done(a.host, None);
        assert_eq!(order(&queue), [1, 2, 5]);
        assert!(queue.next().is_none());
    }

    #[test]
    fn a_pause_follows_each_request() {
        let start = Instant::now();
        let pause = Duration::from_millis(30);
        let queue = HostQueue::new(items(&["a", "b", "a"], None), pause);
        assert_eq!(order(&queue), [0, 1, 2]);
        assert!(start.elapsed() >= pause && start.elapsed() < pause * 20);
        assert!(lock(&queue.state).hosts.len() <= 2);
    }

    #[test]
    fn when_the_time_is_over_items_do_not_wait_for_their_host() {
        let until = Instant::now() + Duration::from_millis(40);
        let mut all = items(&["a"; 5], Some(until));
        all.push(Item("a", 5, None));
        let queue = HostQueue::new(all, Duration::from_secs(3600));
        let first = queue.next().unwrap();
        assert_eq!((first.item.1, first.host.as_deref()), (0, Some("a")));
        queue.done(first.host, None);
        let mut spent: Vec<usize> = (0..4)
            .map(|_| {
                let turn = queue.next().unwrap();
                assert!(turn.host.is_none());
                queue.done(turn.host, None);
                turn.item.1
            })
            .collect();
        assert!(Instant::now() >= until);
        spent.sort_unstable();
        assert_eq!(spent, [1, 2, 3, 4]);
        // The one without an end waits on.
        assert_eq!(lock(&queue.state).waiting, 1);
        queue.stop();
        assert!(queue.next().is_none());
    }
}
