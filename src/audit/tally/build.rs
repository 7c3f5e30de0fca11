//! Builds a tally from a counter: ordered, by names.

use std::collections::{BTreeMap, BTreeSet};

use serde_bytes::ByteBuf;

use crate::audit::parse_rate::proposed_format;
use crate::audit::{extent::InputEnd, identities::Identities, origin_key::OriginKey};
use crate::crawlers::{bundled_ranges::BundledRanges, crawler::CrawlerId, key_archive::KeyArchive};
use crate::crawlers::{range_files::Versions, ranges::Ranges, registry::Registry};
use crate::error::{Error, Result};
use crate::input::copies::Repeats;
use crate::input::source::{FileId, Source};
use crate::judge::origin_history::{OriginHistory, SnapshotHistory, SnapshotSummary};
use crate::judge::robots::{Robots, RobotsId};
use crate::judge::{Judge, timeline::BeforeFirst};
use crate::logs::reject::Skip;
use crate::measures::renumbering::Renumbering;
use crate::time::Day;
use crate::url::origin::Origin;

use super::header::{
    DraftSummary, Header, InputSummary, OutageSummary, RegistrySummary, ReportedOptions,
    RobotsVersion, SCHEMA_VERSION,
};
use super::identity_sources::{
    BundledSources, IdentitySources, KeySources, ListVersions, RangeListSummary, RangeSources,
};
use super::{Tally, counter::Counter, rulings::Rulings};

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// The options of the user, as in `run.json`.
    pub options: &'a ReportedOptions,
    /// The registry of crawlers.
    pub registry: &'a Registry,
    /// The judge.
    pub judge: &'a Judge,
    /// The day of the tally, if each day has its own.
    pub day: Option<Day>,
    /// How requests before the first snapshot of a robots.txt were judged.
    pub before_first: BeforeFirst,
    /// How identities were verified.
    pub identities: &'a Identities,
    /// The draft that requests were also judged by, and its robots.txt.
    pub draft: Option<(&'a DraftSummary, &'a Robots)>,
}

/// The tally of `counter`. `sources` are ordered by name, and `ends` has the same order.
///
/// # Errors
/// If sums that must hold do not.
pub(crate) fn tally(
    mut counter: Counter,
    sources: &[Source],
    ends: Vec<InputEnd>,
    run: Run<'_>,
) -> Result<Tally> {
    let mut inputs = Vec::with_capacity(sources.len());
    for (at, (source, end)) in sources.iter().zip(ends).enumerate() {
        let tally = counter.files.entry(FileId::from_index(at)).or_default();
        if tally.lines() != end.ending.lines {
            return Err(Error::inconsistent(format!(
                "{}: {} lines read, {} accounted for",
                source.name,
                end.ending.lines,
                tally.lines()
            )));
        }
        if end.ending.partial_line {
            tally.skip(Skip::Partial, b"", false);
        }
        inputs.push(end.summary(source.name.clone()));
    }
    let numbers = (0..inputs.len()).map(|at| Some(FileId::from_index(at))).collect();
    in_order(counter, inputs, numbers, run)
}

/// The tally of `counter`. `inputs` are ordered by name, and `input_numbers` has the index of each
/// counted file in them.
///
/// # Errors
/// As [`tally`].
pub(crate) fn in_order(
    counter: Counter,
    mut inputs: Vec<InputSummary>,
    input_numbers: Vec<Option<FileId>>,
    run: Run<'_>,
) -> Result<Tally> {
    let quoted = counter.rows.quoted_robots();
    let origin_keys: Vec<OriginKey> = counter.rows.origin_keys().cloned().collect();
    let (rulings, mut used) = rulings(&origin_keys, run);
    used.extend(&quoted);
    let (robots, robots_numbers) = robots(&used, &quoted, run);
    let (crawlers, crawler_numbers) = crawlers(&counter, run.registry);
    let present = counter.rows.crawlers();
    let numbers =
        Renumbering { inputs: input_numbers, crawlers: crawler_numbers, robots: robots_numbers };
    let counts = counter.finish(inputs.len(), &numbers)?;
    let has_json_fields = !run.options.get("json_fields").is_null();
    for (input, tally) in inputs.iter_mut().zip(&counts.inputs) {
        input.proposal = proposed_format(tally, has_json_fields);
    }
    let header = Header {
        program: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        schema_version: SCHEMA_VERSION,
        options: run.options.clone(),
        registry: RegistrySummary::of(run.registry),
        days: run.day.into_iter().collect(),
        inputs,
        crawlers,
        robots,
        rulings,
        identities: identity_sources(&present, run),
        outages: run.judge.known_outages().map(|outages| OutageSummary {
            hours: outages.hours,
            origins: outages.origins,
            hours_near_a_snapshot: outages.hours_passed_over,
        }),
        draft: run.draft.map(|(draft, _)| draft.clone()),
        repeats: Repeats::default(),
    };
    Ok(Tally { header, counts })
}

/// The crawlers with rows, by name, and the number of each.
fn crawlers(
    counter: &Counter,
    registry: &Registry,
) -> (Vec<crate::crawlers::crawler::Crawler>, Vec<Option<CrawlerId>>) {
    let mut present: Vec<CrawlerId> = counter.rows.crawlers().into_iter().collect();
    present.sort_by(|left, right| registry.crawler(*left).name.cmp(&registry.crawler(*right).name));
    let mut numbers = vec![None; registry.len()];
    for (crawler, number) in present.iter().zip(0..) {
        numbers[crawler.index()] = Some(CrawlerId(number));
    }
    (present.into_iter().map(|id| registry.crawler(id).clone()).collect(), numbers)
}

/// The `used` versions, by digest, and the number of each. The bytes of `quoted` versions are kept.
fn robots(
    used: &BTreeSet<RobotsId>,
    quoted: &BTreeSet<RobotsId>,
    run: Run<'_>,
) -> (Vec<RobotsVersion>, Vec<Option<RobotsId>>) {
    let mut all: BTreeMap<_, (Option<RobotsId>, RobotsVersion)> = BTreeMap::new();
    for &id in used {
        let robots = run.judge.version(id);
        all.insert(robots.digest, (Some(id), version(&robots, quoted.contains(&id))));
    }
    // The draft has its own judge, with its own numbers.
    if let Some((_, draft)) = run.draft {
        let known = all.entry(draft.digest).or_insert_with(|| (None, version(draft, true)));
        known.1 = version(draft, true);
    }
    let len = used.iter().map(|id| id.index() + 1).max().unwrap_or(0);
    let mut numbers = vec![None; len];
    for (at, (id, _)) in all.values().enumerate() {
        if let Some(id) = id {
            numbers[id.index()] = Some(RobotsId::from_index(at));
        }
    }
    (all.into_values().map(|(_, version)| version).collect(), numbers)
}

fn version(robots: &Robots, is_quoted: bool) -> RobotsVersion {
    let body = robots.body.clone().filter(|_| is_quoted);
    let tokens = robots.text.groups.iter().flat_map(|group| &group.product_tokens);
    let mut product_tokens: Vec<ByteBuf> = match is_quoted {
        true => Vec::new(),
        false => tokens.map(|token| ByteBuf::from(token.written.to_vec())).collect(),
    };
    product_tokens.sort_unstable();
    product_tokens.dedup();
    RobotsVersion {
        digest: robots.digest,
        size_bytes: robots.size_bytes as u64,
        parsed_bytes: robots.parsed_bytes as u64,
        foreign: robots.foreign,
        body,
        product_tokens,
    }
}

/// The robots.txt files of `origin_keys`, and their versions.
fn rulings(origin_keys: &[OriginKey], run: Run<'_>) -> (Rulings, BTreeSet<RobotsId>) {
    let Run { judge, before_first, .. } = run;
    let mut used = BTreeSet::new();
    let mut rulings = Rulings {
        is_single_file: judge.has_single_file(),
        is_archive: judge.has_history(),
        is_unknown_before_first: before_first == BeforeFirst::Unknown,
        includes_unbound: judge.includes_unbound(),
        ignored_names: judge.ignored_names().into_iter().collect(),
        failures: judge.failures(),
        ..Rulings::default()
    };
    let origins = origin_keys.iter().filter_map(|origin_key| match origin_key {
        OriginKey::Origin(origin) => Some(Some(origin)),
        OriginKey::Unnamed => Some(None),
        OriginKey::Invalid | OriginKey::Others => None,
    });
    // A single file counts even without requests.
    for origin in origins.chain(judge.has_single_file().then_some(None)) {
        let Some(source) = judge.source(origin) else {
            if let Some((origin, other)) = origin.and_then(|of| Some((of, of.other_scheme()?)))
                && let Some(source) = judge.source(Some(&other))
            {
                rulings.other_schemes.insert(origin.to_string(), source);
            }
            continue;
        };
        let history = match judge.has_history() {
            true => origin.and_then(|origin| judge.history(origin)),
            false => judge.file_history(origin),
        };
        match (history, origin) {
            (Some(history), _) => {
                let origin = origin.map_or(OriginKey::Unnamed.as_str(), Origin::as_str);
                add_history((origin, source), &history, &mut rulings, &mut used);
            }
            (None, Some(_)) if judge.has_history() => {}
            (None, _) => {
                if let Some(robots) = judge.looked_at(&source) {
                    used.insert(robots.id);
                    rulings.files.insert((source, robots.digest));
                }
            }
        }
    }
    (rulings, used)
}

fn add_history(
    (origin, source): (&str, String),
    known: &OriginHistory,
    rulings: &mut Rulings,
    used: &mut BTreeSet<RobotsId>,
) {
    let snapshots = known.snapshots().map(|(snapshot, robots)| {
        used.extend(robots.map(|robots| robots.id));
        let summary = SnapshotSummary {
            outcome: snapshot.outcome,
            max_age_seconds: snapshot.max_age_seconds,
            digest: robots.map(|robots| robots.digest),
        };
        (snapshot.fetched_at, summary)
    });
    let snapshots = snapshots.collect();
    rulings.histories.insert(origin.to_string(), SnapshotHistory { source, snapshots });
}

fn identity_sources(crawlers: &BTreeSet<CrawlerId>, run: Run<'_>) -> IdentitySources {
    let Identities { ranges, bundled, names, keys, archived_names } = run.identities;
    IdentitySources {
        ranges: ranges.as_ref().map(|ranges| range_sources(ranges, crawlers, run.registry)),
        bundled: bundled.as_ref().map(|bundled| bundled_sources(bundled, crawlers, run.registry)),
        names: names.as_ref().map(|names| names.sources.clone()),
        keys: keys.as_ref().map(key_sources),
        archived_names: archived_names.as_ref().map(|names| names.sources.clone()),
    }
}

fn bundled_sources(
    bundled: &BundledRanges,
    crawlers: &BTreeSet<CrawlerId>,
    registry: &Registry,
) -> BundledSources {
    let mut sources = BundledSources::default();
    for &crawler in crawlers.iter().filter(|&&crawler| bundled.have(crawler)) {
        let lists = || bundled.lists_of(crawler);
        sources.lists.extend(lists().map(|list| (list.url.to_owned(), list.at)));
        let urls = lists().map(|list| list.url.to_owned()).collect();
        sources.of_crawlers.insert(registry.crawler(crawler).name.clone(), urls);
    }
    sources
}

fn key_sources(keys: &KeyArchive) -> KeySources {
    let (directories, span) = keys.extent();
    let (first, last) = span.unzip();
    let mut faults = keys.faults();
    let first_fault = faults.next().map(str::to_owned);
    let faulty = usize::from(first_fault.is_some()) + faults.count();
    KeySources { directories, first, last, faulty, first_fault }
}

fn versions(versions: &Versions) -> ListVersions {
    let Versions { count, span, faulty, first_fault } = versions.clone();
    let (first, last) = span.unzip();
    ListVersions { count, first, last, faulty, first_fault }
}

fn range_sources(
    ranges: &Ranges,
    crawlers: &BTreeSet<CrawlerId>,
    registry: &Registry,
) -> RangeSources {
    let mut sources = RangeSources { unused: ranges.unused().to_vec(), ..RangeSources::default() };
    for &crawler in crawlers {
        let mut urls = Vec::new();
        for list in ranges.lists_of(crawler) {
            urls.push(list.url.clone());
            sources.lists.insert(
                list.url.clone(),
                RangeListSummary {
                    file: list.file.clone(),
                    created: list.created,
                    fetched_at: list.fetched_at,
                    fault: list.fault.clone(),
                    versions: list.versions.as_ref().map(versions),
                },
            );
        }
        sources.of_crawlers.insert(registry.crawler(crawler).name.clone(), urls);
    }
    sources
}
