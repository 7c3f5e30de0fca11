//! The interface to verdicts: which robots.txt governs an origin at a time, which of its rules bind
//! a crawler, and what they decide for a path.
//!
//! A policy depends only on the rules, so each rule set is compiled once, on first use, and shared
//! by all crawlers, files and origins.

pub(crate) mod answer_size;
mod by_crawler;
pub mod candidates;
mod change_search;
pub(crate) mod constant_rules;
pub mod crawl_delay;
pub mod explained;
pub mod file_restriction;
mod known;
mod loaded;
pub mod messages;
pub mod origin_history;
pub mod outages;
pub mod policy_files;
pub mod profile;
pub mod restriction;
pub mod robots;
pub(crate) mod rule_differences;
pub mod timeline;
pub mod usage;
pub mod verdict;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use crate::archive::{Store, kept::KeptFiles, memory::MemoryArchive};
use crate::archive::{snapshot::Snapshot, writer::KEPT_BYTES_MAX};
use crate::crawlers::{crawler::CrawlerId, registry::Registry};
use crate::digest::Digest;
use crate::error::Result;
use crate::matcher::select::Selection;
use crate::matcher::{compiled::CompiledPolicy, decision::Decision, dfa_cache::DfaCache};
use crate::matcher::{limits::Limits, rule_set_key::RuleSetKey};
use crate::mutex::lock;
use crate::robots::RobotsBody;
use crate::robots::foreign::{Foreign, foreign};
use crate::robots::parse::{cut, parse_body};
use crate::robots::usage::UsageSignal;
use crate::url::origin::Origin;
use crate::url::path::{Dialect, PathQuery};

use by_crawler::{ByCrawler, ByName};
use loaded::{FAILURES_MAX, Loaded, MemoryBudget, file_bytes, name_bytes};
use messages::{
    compiled, cut_message, foreign_message, foreign_messages, ignored_message, slow_decisions,
};
use outages::KnownOutages;
use policy_files::NamedFiles;
use profile::{Asker, CrawlerProfile, Profiles};
use robots::{BoundRules, Robots, RobotsId};

/// The only crawler of a judge made by [`Judge::ad_hoc`].
pub(crate) const AD_HOC: CrawlerId = CrawlerId(0);

/// The source of the origin of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HostSource {
    /// The user, or the log's own field for the host: ours.
    Own,
    /// Only the target of the request, which may name any host; or a port that a single robots.txt
    /// is not for.
    Foreign,
}

/// Judges requests by the robots.txt files of a store.
///
/// ```
/// use botaudit::crawlers::registry::Registry;
/// use botaudit::judge::verdict::{JudgedAt, Verdict};
/// use botaudit::judge::{HostSource, Judge};
/// use botaudit::archive::Store;
/// use botaudit::url::{origin::Origin, path::{Dialect, prepare}};
///
/// # let dir = tempfile::tempdir()?;
/// # let robots = dir.path();
/// std::fs::write(robots.join("example.com"), "User-agent: GPTBot\nDisallow: /\n")?;
/// let registry = Registry::builtin();
/// let judge = Judge::new(Store::open(robots)?, &registry, Dialect::Google)?;
///
/// // Once an origin, and once a user agent:
/// let origin = Origin::parse(b"https://example.com/page").ok_or("no origin")?;
/// let known = judge.known(&origin, HostSource::Own);
/// let crawler = registry.find("GPTBot").ok_or("nobody")?;
/// // For each request; allocates nothing:
/// let mut scratch = Vec::new();
/// let path = prepare(b"/page", judge.dialect(), &mut scratch);
/// let dated = judge.verdict(known.as_deref(), crawler, Some(path), JudgedAt::Newest);
/// assert!(matches!(dated.verdict, Verdict::Violation(rule) if rule.line == 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Judge {
    store: Store,
    single_file: Option<Arc<Robots>>,
    /// Earlier versions of the files of the store, if they are kept.
    kept_files: Option<KeptFiles>,
    profiles: Arc<Profiles>,
    /// The crawler that only `*` binds.
    generic: Option<CrawlerId>,
    dialect: Dialect,
    limits: Limits,
    /// Automata, shared by all policies.
    dfa_cache: Mutex<Arc<DfaCache>>,
    memory: MemoryBudget,
    loaded: Mutex<Loaded>,
    policies: Mutex<Policies>,
    /// For the dialect that the judge does not use; only for explanations.
    /// By the first line of each group.
    other_bindings: Mutex<OtherBindings>,
    /// Outages from logs, if they are used.
    known_outages: Option<KnownOutages>,
    /// Statements about use that are ignored.
    ignored_usage: Vec<UsageSignal>,
    /// Whether all crawlers are held to the rules.
    includes_unbound: bool,
}

/// By the file and its groups.
type OtherBindings = HashMap<(RobotsId, Box<[u32]>), Arc<BoundRules>>;

/// By the rules that they were compiled from. Keys are thousands of bytes long.
type Policies = hashbrown::HashMap<RuleSetKey, Arc<CompiledPolicy>, foldhash::fast::RandomState>;

impl Judge {
    /// A judge of the crawlers in `registry`.
    ///
    /// # Errors
    /// If the single robots.txt file cannot be read.
    pub fn new(store: Store, registry: &Registry, dialect: Dialect) -> Result<Judge> {
        Judge::of_registry(store, registry, dialect, |profile| profile)
    }

    /// As [`Judge::new`], but judges all crawlers as if the rules bound them.
    ///
    /// # Errors
    /// If the single robots.txt file cannot be read.
    pub(crate) fn of_rules_alone(
        store: Store,
        registry: &Registry,
        dialect: Dialect,
    ) -> Result<Judge> {
        Judge::of_registry(store, registry, dialect, CrawlerProfile::bound)
    }

    /// As [`Judge::new`], but the rules bind all crawlers, also those that are documented to ignore
    /// robots.txt or `*`.
    ///
    /// # Errors
    /// If the single robots.txt file cannot be read.
    pub(crate) fn of_everyone(
        store: Store,
        registry: &Registry,
        dialect: Dialect,
    ) -> Result<Judge> {
        let judge = Judge::of_registry(store, registry, dialect, CrawlerProfile::unbound)?;
        Ok(Judge { includes_unbound: true, ..judge })
    }

    fn of_registry(
        store: Store,
        registry: &Registry,
        dialect: Dialect,
        change: fn(CrawlerProfile) -> CrawlerProfile,
    ) -> Result<Judge> {
        let judge = Judge::of(store, Profiles::of_registry(registry, change), dialect)?;
        Ok(Judge { generic: Some(registry.generic()), ..judge })
    }

    /// A judge of one crawler outside of the registry, [`AD_HOC`].
    ///
    /// # Errors
    /// If the single robots.txt file cannot be read.
    pub(crate) fn ad_hoc(store: Store, profile: CrawlerProfile, dialect: Dialect) -> Result<Judge> {
        Judge::of(store, Profiles::of(vec![profile]), dialect)
    }

    /// A judge of any number of origins, with a memory limit of about `bytes_max`. Crawlers are
    /// numbered in the order of `profiles`, and all are judged as if the rules bound them.
    ///
    /// # Errors
    /// If the single robots.txt file cannot be read.
    pub fn of_many(
        store: Store,
        profiles: Vec<CrawlerProfile>,
        dialect: Dialect,
        bytes_max: usize,
    ) -> Result<Judge> {
        let profiles = profiles.into_iter().map(CrawlerProfile::bound).collect();
        let judge = Judge::of(store, Profiles::of(profiles), dialect)?;
        Ok(Judge { memory: MemoryBudget::of(bytes_max), ..judge })
    }

    /// As [`Judge::of_many`], by the robots.txt file, directory or archive at `robots`.
    ///
    /// # Errors
    /// If it cannot be read, or a directory names an origin twice.
    pub(crate) fn open_many(
        robots: &Path,
        profiles: Vec<CrawlerProfile>,
        dialect: Dialect,
        bytes_max: usize,
    ) -> Result<Judge> {
        Judge::of_many(Store::open(robots)?, profiles, dialect, bytes_max)
    }

    fn of(store: Store, profiles: Profiles, dialect: Dialect) -> Result<Judge> {
        let mut judge = Judge {
            store: Store::Memory(MemoryArchive::default()),
            single_file: None,
            kept_files: None,
            profiles: Arc::new(profiles),
            generic: None,
            dialect,
            limits: Limits::default(),
            dfa_cache: Mutex::default(),
            memory: MemoryBudget::default(),
            loaded: Mutex::default(),
            policies: Mutex::default(),
            other_bindings: Mutex::default(),
            known_outages: None,
            ignored_usage: Vec::new(),
            includes_unbound: false,
        };
        judge.set_store(store)?;
        Ok(judge)
    }

    /// The dialect in which paths must be prepared.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether one robots.txt file governs the whole log.
    pub(crate) fn has_single_file(&self) -> bool {
        self.single_file.is_some()
    }

    /// The robots.txt of requests without an origin: the single file.
    pub fn unnamed(&self) -> Option<Arc<Robots>> {
        self.single_file.clone()
    }

    /// The robots.txt of `origin`; `None` if there is none. Call it once per origin, not once per
    /// request. A single file never governs a foreign host.
    pub(crate) fn site(&self, origin: &Origin, host_source: HostSource) -> Option<Arc<Robots>> {
        if let Some(single_file) = &self.single_file {
            return (host_source == HostSource::Own).then(|| Arc::clone(single_file));
        }
        match self.store.source(origin) {
            None => None,
            Some(source) => {
                if let Some(known) = lock(&self.loaded).sources.get(&source) {
                    return known.clone();
                }
                let snapshot = self.store.snapshot(origin);
                self.remember(source, snapshot)
            }
        }
    }

    /// Whether robots.txt files have a history, so that the time of a request decides.
    pub(crate) fn has_history(&self) -> bool {
        self.store.has_history()
    }

    /// Whether a file of the user is for `origin`.
    pub(crate) fn is_named(&self, origin: &Origin) -> bool {
        self.store.source(origin).is_some()
    }

    /// The decision of the rules of `robots` on `path` for `asker`, bound or not: a part of a
    /// [verdict](Judge::verdict). `None` if several groups may bind it and decide differently. Takes a lock only the
    /// first time that a crawler meets a file.
    pub fn decide<'n>(
        &self,
        robots: &Robots,
        asker: impl Into<Asker<'n>>,
        path: PathQuery<'_>,
    ) -> Option<Decision> {
        self.binding(robots, asker.into())
            .decision(|rules| rules.policy.decide(path.as_bytes()).with_lines(&rules.lines))
    }

    /// The version with this number.
    pub(crate) fn version(&self, robots: RobotsId) -> Arc<Robots> {
        Arc::clone(&lock(&self.loaded).versions[robots.index()])
    }

    /// Entries of a directory of robots.txt files whose names are not hosts.
    pub(crate) fn ignored_names(&self) -> Vec<String> {
        self.store.ignored_names()
    }

    /// A sentence about these entries, if there are any.
    pub fn ignored_message(&self) -> Option<String> {
        ignored_message(self.ignored_names().iter())
    }

    /// The robots.txt files that could not be read, by name, and why.
    pub fn failures(&self) -> BTreeMap<String, String> {
        lock(&self.loaded).failures.clone()
    }

    /// The robots.txt with this name, if it was read.
    pub(crate) fn looked_at(&self, source: &str) -> Option<Arc<Robots>> {
        lock(&self.loaded).sources.get(source).cloned().flatten()
    }

    /// A sentence for each file that is not a robots.txt, by name.
    pub fn foreign_files(&self) -> Vec<String> {
        let loaded = lock(&self.loaded);
        loaded.foreign.iter().map(|(source, what)| foreign_message(source, *what)).collect()
    }

    /// The same in at most a few sentences.
    pub(crate) fn foreign_files_in_short(&self) -> Vec<String> {
        foreign_messages(&lock(&self.loaded).foreign, FAILURES_MAX)
    }

    /// A sentence on the files so far of which bytes past the limit were ignored, if there are any.
    pub(crate) fn cut_message(&self) -> Option<String> {
        cut_message(lock(&self.loaded).cut.iter().map(String::as_str))
    }

    /// The rules and automata that were compiled so far, with the size of the automata.
    pub(crate) fn compiled_message(&self) -> String {
        let policies = lock(&self.policies);
        let rules: usize = policies.values().map(|policy| policy.rules()).sum();
        let dfa_cache = lock(&self.dfa_cache);
        compiled(rules, policies.len(), (dfa_cache.automata(), dfa_cache.heap_bytes()))
    }

    /// Whether all crawlers are judged as if `*` bound them, too.
    pub(crate) fn includes_unbound(&self) -> bool {
        self.includes_unbound
    }

    /// The name of the robots.txt of `origin`, readable or not; `None` if there is none. A single
    /// file governs every origin, also an unnamed one.
    pub(crate) fn source(&self, origin: Option<&Origin>) -> Option<String> {
        match &self.store {
            Store::File(path) => Some(path.display().to_string()),
            Store::Directory(_) | Store::Archive(_) | Store::Memory(_) => {
                self.store.source(origin?)
            }
        }
    }

    fn select<'a>(&self, robots: &'a Robots, crawler: CrawlerId) -> Selection<'a> {
        self.profiles.get(crawler).select(&robots.text)
    }

    fn compile(&self, selection: &Selection<'_>, dialect: Dialect) -> BoundRules {
        let rules = selection.rules();
        let key = RuleSetKey::new(&rules, dialect);
        let known = lock(&self.policies).get(&key).cloned();
        let policy = known.unwrap_or_else(|| {
            let dfa_cache = Arc::clone(&lock(&self.dfa_cache));
            let compiled =
                CompiledPolicy::with_dfa_cache(&rules, dialect, &self.limits, &dfa_cache);
            // A file that the user named for the whole log is asked often.
            if self.has_single_file() {
                compiled.compile();
            }
            self.memory.add(compiled.heap_bytes());
            Arc::clone(lock(&self.policies).entry(key).or_insert_with(|| Arc::new(compiled)))
        });
        let lines = rules.iter().map(|rule| rule.line).collect();
        BoundRules { lines, policy, restriction: OnceLock::new() }
    }

    fn load(&self, snapshot: Snapshot) -> Arc<Robots> {
        let source = snapshot.source.clone();
        self.remember(source, Ok(Some(snapshot))).expect("a snapshot that was read is a robots.txt")
    }

    /// Two workers may read the same file at once; the first to be here is kept.
    fn remember(&self, source: String, snapshot: Result<Option<Snapshot>>) -> Option<Arc<Robots>> {
        let version = |Snapshot { body, .. }: Snapshot| {
            // Of the bytes that an archive keeps, so that a file has one digest everywhere.
            let kept = &body[..body.len().min(KEPT_BYTES_MAX)];
            self.version_of(Digest::of(kept), &body)
        };
        let read = snapshot.map(|snapshot| snapshot.map(version));
        let mut loaded = lock(&self.loaded);
        if let Some(known) = loaded.sources.get(&source) {
            return known.clone();
        }
        let bytes = name_bytes(&source);
        let robots = read.unwrap_or_else(|err| {
            if self.memory.bytes_max.is_none() || loaded.failures.len() < FAILURES_MAX {
                loaded.failures.insert(source.clone(), err.to_string());
            }
            None
        });
        robots.iter().for_each(|robots| loaded.note(&source, robots));
        loaded.sources.insert(source, robots.clone());
        drop(loaded);
        self.keep(bytes);
        robots
    }

    /// The version with the bytes `body` and their `digest`. Its size counts towards the memory
    /// limit.
    fn version_of(&self, digest: Digest, body: &[u8]) -> Arc<Robots> {
        if let Some(known) = lock(&self.loaded).by_digest.get(&digest) {
            return Arc::clone(known);
        }
        // Computed without the lock, so that others do not have to wait.
        let text = Arc::new(parse_body(body));
        let usage = self.states_usage(&text).then(|| ByCrawler::new(self.profiles.len));
        // A file in a directory may be empty to allow everything; one given alone is a mistake.
        let is_mistake = body.is_empty() && matches!(self.store, Store::File(_));
        let mut loaded = lock(&self.loaded);
        if let Some(known) = loaded.by_digest.get(&digest) {
            return Arc::clone(known);
        }
        let count = u32::try_from(loaded.versions.len());
        let id = RobotsId(count.expect("nobody has four thousand million robots.txt files"));
        // With a memory limit, nothing is quoted later.
        let is_quoted = self.memory.bytes_max.is_none();
        let robots = Arc::new(Robots {
            id,
            digest,
            size_bytes: body.len(),
            parsed_bytes: cut(body).len(),
            foreign: if is_mistake { Some(Foreign::Empty) } else { foreign(&text) },
            body: is_quoted.then(|| RobotsBody::new(Arc::clone(&text))),
            profiles: Arc::clone(&self.profiles),
            bindings: ByCrawler::new(self.profiles.len),
            shared: Mutex::default(),
            by_name: ByName::default(),
            usage,
            named_files: NamedFiles::default(),
            crawl_delays: OnceLock::new(),
            compressed_bytes: OnceLock::new(),
            text,
        });
        loaded.versions.push(Arc::clone(&robots));
        loaded.by_digest.insert(digest, Arc::clone(&robots));
        loaded.dropped.note_read(digest);
        drop(loaded);
        self.memory.add(file_bytes(&robots));
        robots
    }

    /// Adds `bytes` to the memory in use. Past the limit, everything is dropped; current users keep
    /// their own references.
    fn keep(&self, bytes: usize) {
        if self.memory.bytes_max.is_none() {
            return;
        }
        let in_use = self.memory.add(bytes) + lock(&self.dfa_cache).heap_bytes();
        if self.memory.is_exceeded_by(in_use) {
            self.memory.forget();
            let mut dfa_cache = lock(&self.dfa_cache);
            *dfa_cache = Arc::new(dfa_cache.emptied());
            drop(dfa_cache);
            lock(&self.policies).clear();
            lock(&self.loaded).forget();
        }
    }

    /// A sentence on decisions that robots.txt files with thousands of wildcard rules made slow, if
    /// there were any.
    pub fn slow_message(&self) -> Option<String> {
        let slow = lock(&self.dfa_cache).slow_decisions();
        (slow > 0).then(|| slow_decisions(slow))
    }

    /// Leaves `bytes` of the limit of [`Judge::of_many`] to the caller from now on. The judge keeps
    /// less then, and reads files again.
    pub(crate) fn lend_memory(&self, bytes: usize) {
        self.memory.lend(bytes);
    }

    /// How often a robots.txt was read and compiled again because it had been dropped to stay within the
    /// limit of [`Judge::of_many`].
    pub(crate) fn times_read_again(&self) -> u64 {
        lock(&self.loaded).dropped.read_again()
    }

    /// How often the judge dropped everything to stay within the limit of [`Judge::of_many`].
    /// Callers that keep files must drop them when this number grows.
    pub(crate) fn times_forgotten(&self) -> u64 {
        self.memory.times_forgotten()
    }
}

#[cfg(test)]
mod tests;
