//! One chunk to sums: the hot loop.
//!
//! The cheapest checks come first. Most lines are from browsers and end after the user agent; only
//! requests of crawlers are parsed in full and judged.

mod collect;
mod judged;
mod kind_sums;
mod known_clients;
mod known_referers;
mod known_rules;
mod lines;
mod objects;
mod origin_ids;
mod reading;
mod signatures;
mod usual_lines;
mod visitor_counts;
mod visitors;

use std::sync::Arc;

use ipnet::IpNet;
use memchr::memmem::Finder;

use crate::crawlers::{cache::UserAgentCache, crawler::CrawlerId, network_names::NetworkNames};
use crate::crawlers::{identify::Identified, registry::Registry};
use crate::input::marks::{MarkKind, MarkedLines, Marks};
use crate::input::{chunks::Chunk, source::FileId};
use crate::judge::origin_history::{OriginHistory, RuleChange};
use crate::judge::verdict::{JudgedAt, Verdict};
use crate::judge::{Judge, profile::Asker};
use crate::logs::record::{Fields, Record, Scratch};
use crate::logs::{format::Format, reject::Reject};
use crate::measures::{example::Position, reactions::ReactionLimits, request::JudgedRequest};
use crate::measures::{request_kind::RequestKind, sums::Span};
use crate::merge::{Merge, merge_fields};
use crate::time::LastHour;
use crate::url::path::Target;

use super::client::ClientKey;
use super::day_counters::{ChunkDays, DayCounters, DayKey};
use super::evidence::ViolatingRequest;
use super::prepass::{Collected, Wanted};
use super::same_requests::RequestSampler;
use super::sessions::{ClientRequest, Sessions};
use super::sites::{SiteId, Sites};
use super::tally::counter::Counter;
use super::{identities::Identities, input_tally::InputTally, origin_key::OriginKey};
use super::{options::Options, origin_options::Captured, own_site::OwnSite};
use judged::{
    Judged, client_request, compared, fetch_answer, judged, policy_file, violating_client,
    violating_request,
};
use kind_sums::KindSums;
use known_clients::KnownClients;
use known_referers::KnownReferers;
use known_rules::KnownRules;
use origin_ids::OriginIds;
use reading::Reading;
use visitor_counts::{DeclaredNames, UnlistedRuled, Visitors, sampled};

/// The most bytes of an unknown crawler's user agent that are kept.
pub(crate) const UNKNOWN_USER_AGENT_BYTES_MAX: usize = 1024;

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// The registry of crawlers.
    pub registry: &'a Registry,
    /// The judge.
    pub judge: &'a Judge,
    /// The settings of the audit.
    pub options: &'a Options,
    /// The origins in the names of files.
    pub from_paths: Box<[Option<Captured>]>,
    /// The identities of crawlers.
    pub identities: &'a Identities,
    /// The task: judge requests, or collect data.
    pub pass: Pass,
    /// Sessions of clients, if they are counted.
    pub sessions: Option<Sessions>,
    /// The key for hashes of clients; `None` if none are collected.
    pub client_key: Option<&'a ClientKey>,
    /// Whether each day has its own counter.
    pub is_by_day: bool,
    /// The rank of each crawler's name.
    pub ranks: Arc<[u16]>,
    /// The rows of WordPress.
    pub own_site: Option<OwnSite>,
}

/// The counts of one thread, or of all.
#[derive(Clone, Debug)]
pub(crate) struct WorkerCounts {
    /// Requests of crawlers, and lines.
    pub counters: DayCounters,
    /// The data that the first pass collects.
    pub collected: Collected,
}

impl WorkerCounts {
    /// Nothing yet.
    pub(crate) fn new(context: &Context<'_>) -> WorkerCounts {
        WorkerCounts { counters: DayCounters::default(), collected: context.collected() }
    }
}

merge_fields!(WorkerCounts { counters, collected });

impl<'a> Context<'a> {
    /// The proxies before clients, and the names of their networks.
    fn clients(&self) -> (&'a [IpNet], Option<&'a NetworkNames>) {
        (&self.options.trusted_proxies, self.options.networks.as_deref())
    }

    /// A counter that has counted nothing.
    pub(crate) fn counter(&self) -> Counter {
        Counter::new(self.options.limits, Arc::clone(&self.ranks))
    }

    /// The changes of the rules for `asker`; `None` if no robots.txt has a history.
    fn changes<'h>(
        &'h self,
        known: Option<&'h OriginHistory>,
        asker: Asker<'_>,
    ) -> Option<(&'h [RuleChange], ReactionLimits)> {
        if !self.judge.has_history() && !known.is_some_and(OriginHistory::has_changes) {
            return None;
        }
        let promised_hours = self.registry.crawler(asker.crawler).reaction_hours;
        let limits = ReactionLimits { days_before: self.options.reaction_days, promised_hours };
        let changes = known.map_or(&[][..], |known| self.judge.rule_changes(known, asker));
        Some((changes, limits))
    }

    /// Empty data.
    fn collected(&self) -> Collected {
        match self.pass {
            Pass::Judge => Collected::default(),
            Pass::Collect(wanted) => Collected::new(wanted, self.options.limits.rows.strangers_max),
        }
    }
}

/// The task of a worker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pass {
    /// Judges the requests of crawlers.
    Judge,
    /// Collects data before requests are judged.
    Collect(Wanted),
}

/// The work of one thread in an audit.
pub(crate) struct Worker<'a> {
    context: &'a Context<'a>,
    sites: Sites<'a>,
    /// The id of each site in the counter.
    origins: OriginIds,
    user_agents: UserAgentCache,
    scratch: Scratch,
    /// The quotes and ends of lines.
    marks: Marks,
    path_scratch: Vec<u8>,
    referers: KnownReferers,
    known_clients: KnownClients,
    known_rules: KnownRules,
    last_hour: LastHour,
    /// Requests of crawlers that `counter` does not have yet.
    kind_sums: KindSums,
    /// Lines of browsers that `counter` does not have yet.
    visitors: Visitors,
    /// The declared names of crawlers outside the registry.
    declared_names: DeclaredNames,
    /// Searches for `robots.txt`, which any format writes like this.
    robots_txt: Finder<'static>,
    /// The counter of `day_key`, the day of the next line.
    counter: Counter,
    day_key: DayKey,
    /// The other counters.
    counters: DayCounters,
    collected: Collected,
    /// Requests of crawlers by which inputs are compared.
    sampler: RequestSampler,
    /// The requests of the chunk, if sessions are counted.
    client_requests: Vec<ClientRequest>,
    /// The site of the last collected line.
    last_asked: Option<Arc<OriginKey>>,
    /// Whether the lines of the chunk have an envelope.
    is_wrapped: bool,
    /// The last line of the beginning of the file, of which all lines are read in full.
    head_end: u64,
}

impl<'a> Worker<'a> {
    /// A worker that has seen nothing.
    pub(crate) fn new(context: &'a Context<'a>, sites: Sites<'a>) -> Worker<'a> {
        Worker {
            context,
            sites,
            origins: OriginIds::default(),
            user_agents: UserAgentCache::default(),
            scratch: Scratch::default(),
            marks: Marks::default(),
            path_scratch: Vec::new(),
            referers: KnownReferers::default(),
            known_clients: KnownClients::default(),
            known_rules: KnownRules::default(),
            last_hour: LastHour::default(),
            kind_sums: KindSums::default(),
            visitors: Visitors::default(),
            declared_names: DeclaredNames::default(),
            robots_txt: Finder::new(b"robots.txt"),
            counter: context.counter(),
            day_key: DayKey::AllDays,
            counters: DayCounters::default(),
            collected: context.collected(),
            sampler: RequestSampler::default(),
            client_requests: Vec::new(),
            last_asked: None,
            is_wrapped: false,
            head_end: 0,
        }
    }

    /// Adds up the lines of `chunk`, puts the violating requests among them into `evidence`,
    /// and gives how many lines there were. Lines up to `head_end` are read one by one.
    pub(crate) fn audit(
        &mut self,
        chunk: &Chunk,
        (format, head_end): (&Format, u64),
        evidence: Option<&mut Vec<ViolatingRequest>>,
    ) -> u64 {
        (self.is_wrapped, self.head_end) = (format.is_wrapped(), head_end);
        self.sites.turn_to(self.context.from_paths[chunk.file.index()].as_ref());
        let place = (chunk.file, chunk.sequence);
        self.sampler.continue_with(self.counter.files.get(&chunk.file).map(|file| &file.requests));
        let mut reading = Reading {
            position: Position { file: chunk.file, line: chunk.first_line },
            tally: InputTally::default(),
            days: self.context.is_by_day.then(|| ChunkDays::new(place)),
            // Moved out once per chunk, because it is large.
            scratch: std::mem::take(&mut self.scratch),
            evidence,
        };
        let mut marks = std::mem::take(&mut self.marks);
        let (mut reader, layout) = (format.reader(), format.usual_layout());
        let kind = match layout {
            Some(_) => MarkKind::Places,
            None if reader.objects().is_some() => MarkKind::Bits,
            None => MarkKind::None,
        };
        let mut lines = MarkedLines::new(&chunk.bytes, &mut marks, kind);
        while reading.position.line <= head_end
            && self.audit_next(&mut lines, &mut reader, &mut reading)
        {}
        if reading.days.is_some() {
            // It may have another counter.
            self.visitors.minute.forget();
        }
        match layout {
            Some(layout) if self.context.pass == Pass::Judge => {
                self.audit_usual(lines, layout, &mut reader, &mut reading);
            }
            None if kind == MarkKind::Bits => {
                self.audit_objects(lines, &mut reader, &mut reading);
            }
            _ => while self.audit_next(&mut lines, &mut reader, &mut reading) {},
        }
        let Reading { position, tally, days, scratch, .. } = reading;
        if let Some(sessions) = &self.context.sessions {
            sessions.take(chunk.file, chunk.sequence, std::mem::take(&mut self.client_requests));
        }
        self.scratch = scratch;
        self.marks = marks;
        self.add_lines(chunk.file, tally);
        days.into_iter().for_each(|days| self.counters.add_chunk(days));
        position.line - chunk.first_line
    }

    /// The counts.
    pub(crate) fn into_counted(mut self) -> WorkerCounts {
        self.add_waiting();
        let Worker { counter, day_key, mut counters, collected, .. } = self;
        counters.put(day_key, counter);
        WorkerCounts { counters, collected }
    }

    /// Goes on with the counter of `key`; `tally` has the lines that the one before has counted.
    fn turn_to_day(&mut self, key: DayKey, file: FileId, tally: &mut InputTally) {
        if key == self.day_key {
            return;
        }
        self.add_lines(file, std::mem::take(tally));
        self.add_waiting();
        let next = self.counters.take(key).unwrap_or_else(|| self.context.counter());
        let before = std::mem::replace(&mut self.counter, next);
        self.counters.put(std::mem::replace(&mut self.day_key, key), before);
        self.origins.forget();
        self.sampler.continue_with(self.counter.files.get(&file).map(|file| &file.requests));
    }

    /// Adds to the counter what waits for it.
    fn add_waiting(&mut self) {
        self.add_visitors();
        self.kind_sums.add_to(&mut self.counter);
    }

    fn add_lines(&mut self, file: FileId, mut tally: InputTally) {
        tally.requests = self.sampler.take();
        self.counter.rows.bound_times(tally.crawler);
        if tally.lines() > 0 {
            self.counter.files.entry(file).or_default().absorb(tally);
        }
    }

    fn count_unknown_crawler(
        &mut self,
        fields: &Fields<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Reject> {
        let user_agent = fields.user_agent(scratch);
        let key = &user_agent[..user_agent.len().min(UNKNOWN_USER_AGENT_BYTES_MAX)];
        let mut declared_names = std::mem::take(&mut self.declared_names);
        let name = declared_names.of(key);
        let ruled = self.rule_unlisted(fields, scratch, name);
        self.declared_names = declared_names;
        let time = ruled.ok().map(|UnlistedRuled { time, .. }| time);
        let sampled = sampled(ruled.ok());
        let day = time.map(|time| self.context.options.zone.day_of(time));
        self.counter.clients.automated.add(day, sampled);
        let user_agent = fields.user_agent(scratch);
        let key = &user_agent[..user_agent.len().min(UNKNOWN_USER_AGENT_BYTES_MAX)];
        let tally = self.counter.unknown_crawlers.entry(key);
        tally.sums.absorb(sampled.judged);
        tally.span.absorb(time.map(Span::at));
        ruled.map(|_| ())
    }

    fn count(
        &mut self,
        crawler: CrawlerId,
        record: &Record<'_>,
        position: Position,
        evidence: Option<&mut Vec<ViolatingRequest>>,
    ) {
        let (target, site) = self.address(record);
        let names = self.names_in(record.user_agent, crawler);
        let crawler = self.crawler_at(site, crawler, record);
        let asker = Asker { crawler, names: names.as_deref().unwrap_or_default() };
        let (signature, answer) = self.identified(site, target, crawler, record);
        let actor = (crawler, answer.identity);
        let origin = self.origins.of(site, &self.sites, &mut self.counter.rows);
        let (context, site_id, site) = (self.context, site, self.sites.get(site));
        let at = JudgedAt::Time(record.time, context.options.before_first);
        let rules = self.known_rules.of((site_id, asker), &self.sites, context.judge);
        let (by, scratch) = ((context.judge, rules), &mut self.path_scratch);
        let Judged { dated, directives, path } = judged(by, asker, target, at, site, scratch);
        let hour = self.last_hour.of(&context.options.zone, record.time);
        let kind = RequestKind::new((hour.day, record), &dated, directives.1, answer);
        self.kind_sums.add((origin, actor, kind), (hour, record), &mut self.counter);
        let policy_file = policy_file(context.judge, site, &dated, path);
        self.sampler.count(record, path.filter(|_| dated.verdict != Verdict::RobotsTxt));
        let tally = self.counter.rows.row(origin, actor);
        let known = site.known(context.judge);
        let request = JudgedRequest {
            record,
            position,
            path,
            dated,
            has_delay: directives.0,
            stated: &context.judge.usage(known, &dated, (asker, path), at),
            changes: context.changes(known, asker),
            compared: compared(context.options.draft.as_deref(), site, asker, path, dated.verdict),
            client: violating_client(context.clients(), dated.verdict, record),
            fetch: (dated.verdict == Verdict::RobotsTxt).then(|| fetch_answer(known, record)),
            policy_file,
            is_signed: signature.as_ref().is_some_and(|signature| signature.is_valid()),
        };
        tally.count(&request);
        if let Some(path) = path.filter(|_| context.options.paths) {
            let path = (path, context.options.url_part);
            self.counter.count_path((origin, site.ranked()), path, actor, record);
        }
        if context.sessions.is_some() {
            let (by, of) =
                ((context.judge, context.clients(), context.options.url_part), (&dated, path));
            self.client_requests.push(client_request(by, site, (actor, asker), of, record));
        }
        if let (Some(evidence), of) = (evidence, (record, position.line, signature.as_deref())) {
            evidence.extend(violating_request(
                &context.options.trusted_proxies,
                site,
                actor,
                &dated,
                of,
            ));
        }
        if let (Some(signature), verdict) = (signature, dated.verdict) {
            let by = &context.registry.crawler(crawler).name;
            self.count_signature(site_id, by, &signature, (record, Some(verdict)));
        }
    }

    /// The other names of `crawler` in its user agent.
    #[inline]
    fn names_in(&mut self, user_agent: &[u8], crawler: CrawlerId) -> Option<Arc<[String]>> {
        let who = Identified::Crawler(crawler);
        self.user_agents.other_names(self.context.registry, who, user_agent)
    }

    /// The crawler of a request: WordPress, which calls itself, may be the site's own or another's.
    fn crawler_at(&self, site: SiteId, crawler: CrawlerId, record: &Record<'_>) -> CrawlerId {
        match self.context.own_site {
            Some(own_site) if own_site.own == crawler => {
                let (key, aliases) = (&self.sites.get(site).origin_key, self.sites.aliases());
                own_site.crawler(record.user_agent, key, aliases)
            }
            _ => crawler,
        }
    }

    /// The target and its site.
    #[inline(always)]
    fn address<'r>(&mut self, record: &Record<'r>) -> (Target<'r>, SiteId) {
        let target = Target::of(record.method, record.target.unwrap_or_default());
        let own = self.sites.own(record.host, record.port, record.scheme);
        match target {
            Target::Absolute { scheme, authority, .. } => {
                (target, self.sites.absolute(scheme, authority, own))
            }
            _ => (target, own),
        }
    }
}
