//! One batch: rows in, verdicts out, in the order of the rows.
//!
//! The rows are judged origin by origin. So each robots.txt is looked up once per batch, wherever its rows are, and does
//! not have to stay in memory. Consecutive rows of one origin, as in sorted lists, are recognised by one comparison.

use std::{collections::HashMap, hash::BuildHasher, hint::black_box, sync::Arc};

use foldhash::fast::RandomState;
use hashbrown::hash_table::{Entry, HashTable};

use crate::crawlers::own_names::SharedNames;
use crate::crawlers::{cache::UserAgentCache, crawler::CrawlerId};
use crate::judge::profile::Asker;
use crate::judge::{Judge, timeline::BeforeFirst, verdict::JudgedAt};
use crate::time::{UtcTime, Zone};
use crate::url::path::prepare;

use super::answer::{Detail, Outcomes, Reason, RowVerdict, VerdictWord};
use super::input_format::{
    CrawlerColumn, CrawlerSource, CrawlerValue, InputFormat, WantedColumns, crawler_of_row,
};
use super::known_origin::{KnownOrigin, OriginCache};
use super::rows::{InputRow, InputRows};
use super::summary::VerdictCounts;
use super::url_parts::{InvalidUrl, UrlParts, rest_after};

/// The settings that all batches share.
#[derive(Debug)]
pub struct BatchContext<'a> {
    /// The judge.
    pub judge: &'a Judge,
    /// The crawlers of the rows.
    pub crawlers: &'a CrawlerSource<'a>,
    /// The scheme of URLs without one.
    pub default_scheme: Option<&'a str>,
    /// How much is reported about each row.
    pub detail: Detail,
}

/// The memory of one thread between batches.
#[derive(Debug)]
pub struct BatchMemory {
    /// Origins.
    pub origins: OriginCache,
    /// User agents.
    pub user_agents: UserAgentCache,
}

/// A batch with the outcomes of its rows.
#[derive(Debug)]
pub struct JudgedBatch {
    /// As they were read.
    pub rows: InputRows,
    /// Indexes into `outcomes`; `per_row` for each row.
    pub answers: Vec<u32>,
    /// Crawlers of each row.
    pub per_row: usize,
    /// Different ones.
    pub outcomes: Outcomes,
}

impl JudgedBatch {
    /// How often each verdict was given.
    pub(crate) fn counts(&self) -> VerdictCounts {
        let mut counts = VerdictCounts::default();
        self.outcomes.iter().for_each(|outcome| counts.add(outcome.word, outcome.times));
        counts
    }

    /// The rows, each with the indexes of its outcomes, one for each crawler.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (InputRow<'_>, &[u32])> {
        self.rows.iter().zip(self.answers.chunks_exact(self.per_row))
    }
}

/// Judges `rows`, which have the format `form`.
pub fn judge(
    context: &BatchContext<'_>,
    form: &InputFormat,
    rows: InputRows,
    memory: &mut BatchMemory,
) -> JudgedBatch {
    let columns = form.cells();
    let mut batch_judge = BatchJudge::new(context, rows.len());
    let groups = ByOrigin::of(&rows, columns.url, context.default_scheme);
    for &RowTarget { row: index, .. } in groups.strays() {
        let row = rows.get(index as usize);
        let url = row.cell(columns.url).trim_ascii();
        let why = UrlParts::of(url, context.default_scheme).err().unwrap_or(InvalidUrl::BadHost);
        let verdict = RowVerdict::invalid(why);
        let (crawlers, _) = batch_judge.crawlers(&rows, index, &columns, &mut memory.user_agents);
        for (at, crawler) in crawlers {
            batch_judge.put(index, at, crawler, verdict, &None);
        }
    }
    for group in groups.iter() {
        let origin = memory.origins.origin(context.judge, group.key, &group.address);
        batch_judge.begin_origin();
        for targets in group.targets.chunks(TARGETS_AT_ONCE) {
            fetch(&rows, targets);
            for &target in targets {
                batch_judge.judge_row(&rows, target, &columns, &origin, &mut memory.user_agents);
            }
        }
    }
    drop(groups);
    let BatchJudge { per_row, answers, outcomes, .. } = batch_judge;
    JudgedBatch { rows, answers, per_row, outcomes }
}

/// Rows of an origin whose URLs are fetched at once.
const TARGETS_AT_ONCE: usize = 64;

/// Reads the first byte of each URL of a few rows of an origin. The URLs may be anywhere in the
/// batch, and this way the processor loads them in parallel.
fn fetch(rows: &InputRows, targets: &[RowTarget]) {
    let bytes = targets.iter().map(|target| {
        let rest = rows.text(target.rest_start, target.rest_end);
        rest.first().unwrap_or(&0) ^ rest.last().unwrap_or(&0)
    });
    black_box(bytes.fold(0, |all, byte| all ^ byte));
}

/// RFC 3339, a date or a date and time in UTC, or seconds since 1970; `None` if it is not a time.
fn judged_at(cell: &[u8]) -> Option<JudgedAt> {
    let text = std::str::from_utf8(cell.trim_ascii()).unwrap_or_default();
    let seconds = || UtcTime::from_unix_seconds(text.parse().ok()?);
    let time = seconds().or_else(|| Zone::UTC.parse(text))?;
    Some(JudgedAt::Time(time, BeforeFirst::Unknown))
}

fn crawler_value<'a>(row: InputRow<'a>, column: &CrawlerColumn<usize>) -> CrawlerValue<'a> {
    match column {
        CrawlerColumn::Crawler(cell) => CrawlerValue::Crawler(row.cell(*cell).trim_ascii()),
        CrawlerColumn::UserAgent(cell) => CrawlerValue::UserAgent(row.cell(*cell)),
    }
}

/// Judges one row after the other.
struct BatchJudge<'a> {
    context: &'a BatchContext<'a>,
    per_row: usize,
    scratch: Vec<u8>,
    answers: Vec<u32>,
    outcomes: Outcomes,
    /// The keys of the outcomes, in the same order.
    keys: Vec<Key>,
    /// The index of the first outcome of the current origin.
    start: usize,
    /// An index of the outcomes, used once there are many.
    many: HashMap<Key, usize, RandomState>,
}

/// Crawler, verdict, reason, line, and the address of the robots.txt in memory. The address is
/// valid as long as its origin is being judged.
type Key = (Option<u16>, VerdictWord, Reason, u32, usize);

/// Up to this many outcomes of an origin are searched one by one.
const FEW: usize = 16;

impl<'a> BatchJudge<'a> {
    fn new(context: &'a BatchContext<'a>, rows: usize) -> BatchJudge<'a> {
        let per_row = context.crawlers.per_row();
        BatchJudge {
            context,
            per_row,
            scratch: Vec::new(),
            answers: vec![0; rows * per_row],
            outcomes: Outcomes::default(),
            keys: Vec::new(),
            start: 0,
            many: HashMap::default(),
        }
    }

    /// Outcomes of other origins are not compared with those of this one.
    fn begin_origin(&mut self) {
        if self.context.detail >= Detail::Origins {
            self.start = self.keys.len();
            self.many.clear();
        }
    }

    fn judge_row(
        &mut self,
        rows: &InputRows,
        target: RowTarget,
        columns: &WantedColumns<usize>,
        origin: &KnownOrigin,
        user_agents: &mut UserAgentCache,
    ) {
        let judge = self.context.judge;
        let time_cell = |cell| judged_at(rows.get(target.row as usize).cell(cell));
        let when = columns.time.map_or(Some(JudgedAt::Newest), time_cell);
        let rest = rows.text(target.rest_start, target.rest_end);
        // Taken out, because verdicts are added in the loop.
        let mut scratch = std::mem::take(&mut self.scratch);
        let path = prepare(rest, judge.dialect(), &mut scratch);
        let (crawlers, names) = self.crawlers(rows, target.row, columns, user_agents);
        let names = names.as_deref().unwrap_or_default();
        for (at, crawler) in crawlers {
            let asker = crawler.map(|crawler| Asker { crawler: CrawlerId(crawler), names });
            let verdict = match asker {
                Some(asker) => origin.known.verdict(judge, asker, path, when),
                None => RowVerdict::unknown(Reason::NoSuchCrawler),
            };
            self.put(target.row, at, crawler, verdict, &origin.origin);
        }
        self.scratch = scratch;
    }

    /// The crawlers of the row at `index`, each with its index among the verdicts, where `None` is an
    /// unknown crawler; and the other names in its user agent.
    fn crawlers(
        &self,
        rows: &InputRows,
        index: u32,
        columns: &WantedColumns<usize>,
        user_agents: &mut UserAgentCache,
    ) -> (impl Iterator<Item = (usize, Option<u16>)> + use<>, Option<SharedNames>) {
        let of_row = match (self.context.crawlers, &columns.crawler) {
            (CrawlerSource::PerRow(registry), Some(column)) => {
                let row = rows.get(index as usize);
                Some(crawler_of_row(registry, crawler_value(row, column), user_agents))
            }
            _ => None,
        };
        let (of_row, names) = of_row.map_or((None, None), |(of_row, names)| (Some(of_row), names));
        let crawlers = (0..self.per_row).zip(0..).map(move |(at, crawler)| match of_row {
            Some(crawler) => (at, crawler.map(|crawler| crawler.0)),
            None => (at, Some(crawler)),
        });
        (crawlers, names)
    }

    fn put(
        &mut self,
        row: u32,
        index: usize,
        crawler: Option<u16>,
        verdict: RowVerdict<'_>,
        origin: &Option<Arc<str>>,
    ) {
        let verdict = match self.context.detail {
            Detail::Rules => verdict,
            Detail::Verdicts | Detail::Origins => {
                RowVerdict::without_rule(verdict.word, verdict.reason)
            }
        };
        let robots = verdict.robots.map_or(0, |robots| Arc::as_ptr(robots).addr());
        let key = (crawler, verdict.word, verdict.reason, verdict.line, robots);
        let at = self.find(&key).unwrap_or_else(|| self.remember(key, verdict, origin));
        self.outcomes.count(at);
        self.answers[row as usize * self.per_row + index] =
            u32::try_from(at).expect("a batch is far below 4 GiB");
    }

    fn find(&self, key: &Key) -> Option<usize> {
        if !self.many.is_empty() {
            return self.many.get(key).copied();
        }
        // The previous outcome is the most frequent one.
        let own = &self.keys[self.start..];
        own.iter().rposition(|known| known == key).map(|at| self.start + at)
    }

    /// A function of its own: it runs once for many rows and is large.
    #[cold]
    fn remember(&mut self, key: Key, verdict: RowVerdict<'_>, origin: &Option<Arc<str>>) -> usize {
        let is_reported = self.context.detail >= Detail::Origins;
        let origin = origin.as_ref().filter(|_| is_reported).cloned();
        self.outcomes.push(verdict, key.0, origin);
        let at = self.keys.len();
        self.keys.push(key);
        if !self.many.is_empty() {
            self.many.insert(key, at);
        } else if at - self.start >= FEW {
            self.many.extend(self.keys[self.start..].iter().copied().zip(self.start..));
        }
        at
    }
}

/// Rows whose URLs begin with the same scheme and authority, as they are written.
#[derive(Debug)]
pub(crate) struct RowsOfOrigin<'a> {
    /// Scheme and authority; only the authority if the URL has no scheme.
    pub key: &'a [u8],
    /// The first of its URLs.
    pub address: UrlParts<'a>,
    /// The rows, in order.
    pub targets: &'a [RowTarget],
}

/// A row, and the position of the part after the authority of its URL.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RowTarget {
    /// Its index.
    pub row: u32,
    /// A position in the text of the batch.
    pub rest_start: u32,
    /// A position in the text of the batch.
    pub rest_end: u32,
}

impl RowTarget {
    /// The target of the row at `row`, whose URL ends at `end` with `rest`.
    fn new(row: u32, rest: &[u8], end: u32) -> RowTarget {
        let bytes = u32::try_from(rest.len()).expect("a URL is not that long");
        RowTarget { row, rest_start: end - bytes, rest_end: end }
    }
}

/// All rows of a batch.
#[derive(Debug, Default)]
pub(crate) struct ByOrigin<'a> {
    heads: Vec<(&'a [u8], UrlParts<'a>)>,
    /// The start of each group in `targets`. The rows without a valid URL come last.
    starts: Vec<u32>,
    targets: Vec<RowTarget>,
}

impl<'a> ByOrigin<'a> {
    /// Groups `rows` by the URL in the cell `url_cell` of each.
    pub(crate) fn of(
        rows: &'a InputRows,
        url_cell: usize,
        scheme: Option<&'a str>,
    ) -> ByOrigin<'a> {
        let mut heads = OriginIndex::default();
        // The group and the target of each row.
        let mut found: Vec<(u32, RowTarget)> = Vec::with_capacity(rows.len());
        let (mut last_key, mut last) = (&b""[..], 0);
        for (index, row) in (0..).zip(rows.iter()) {
            let (url, url_end) = row.trimmed(url_cell);
            let rest = match rest_after(last_key, url) {
                Some(rest) => rest,
                None => {
                    let Ok(address) = UrlParts::of(url, scheme) else {
                        found.push((u32::MAX, RowTarget::new(index, b"", url_end)));
                        continue;
                    };
                    last_key = &url[..url.len() - address.rest.len()];
                    last = heads.index_of(last_key, address);
                    address.rest
                }
            };
            found.push((last, RowTarget::new(index, rest, url_end)));
        }
        let heads = heads.list;
        let (starts, targets) = counting_sort(&found, heads.len());
        ByOrigin { heads, starts, targets }
    }

    /// The groups with URLs that may be valid.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RowsOfOrigin<'_>> {
        self.heads.iter().enumerate().map(|(index, &(key, address))| {
            let rows = self.starts[index] as usize..self.starts[index + 1] as usize;
            RowsOfOrigin { key, address, targets: &self.targets[rows] }
        })
    }

    /// The rows without a valid URL.
    pub(crate) fn strays(&self) -> &[RowTarget] {
        &self.targets[self.starts[self.heads.len()] as usize..]
    }
}

/// Groups by their keys.
#[derive(Default)]
struct OriginIndex<'a> {
    list: Vec<(&'a [u8], UrlParts<'a>)>,
    /// A copy of all keys in one place. In the batch they are far apart, and each comparison would
    /// wait for memory.
    keys: Vec<u8>,
    /// The end of each group's key.
    ends: Vec<usize>,
    by_key: HashTable<u32>,
    hasher: RandomState,
}

impl<'a> OriginIndex<'a> {
    /// The group of `key`; a new one with `address` if there is none yet.
    fn index_of(&mut self, key: &'a [u8], address: UrlParts<'a>) -> u32 {
        let OriginIndex { list, keys, ends, by_key, hasher } = self;
        let key_of = |index: u32| {
            let index = index as usize;
            &keys[index.checked_sub(1).map_or(0, |before| ends[before])..ends[index]]
        };
        let is_same = |&index: &u32| key_of(index) == key;
        match by_key.entry(hasher.hash_one(key), is_same, |&index| hasher.hash_one(key_of(index))) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => {
                let index = u32::try_from(list.len()).expect("a batch is far below 4 GiB");
                vacant.insert(index);
                list.push((key, address));
                keys.extend_from_slice(key);
                ends.push(keys.len());
                index
            }
        }
    }
}

/// The targets by group, those without a group last, and the start of each group.
fn counting_sort(found: &[(u32, RowTarget)], groups: usize) -> (Vec<u32>, Vec<RowTarget>) {
    let index = |group: u32| (group as usize).min(groups);
    let mut starts = vec![0_u32; groups + 1];
    found.iter().for_each(|(group, _)| starts[index(*group)] += 1);
    let mut sum = 0;
    for start in &mut starts {
        sum += std::mem::replace(start, sum);
    }
    let mut next = starts.clone();
    let mut targets = vec![RowTarget::default(); found.len()];
    for &(group, target) in found {
        let at = &mut next[index(group)];
        targets[*at as usize] = target;
        *at += 1;
    }
    (starts, targets)
}

#[cfg(test)]
mod tests {
    use super::super::input_format::InputFormat;
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &[(&str, &[u32])], strays: &[u32]) {
        let rows = InputRows::read(&InputFormat::Lines, list.as_bytes().to_vec());
        let groups = ByOrigin::of(&rows, 0, Some("https"));
        let rows_of =
            |targets: &[RowTarget]| targets.iter().map(|target| target.row).collect::<Vec<_>>();
        let found: Vec<(&str, Vec<u32>)> = groups
            .iter()
            .map(|group| (std::str::from_utf8(group.key).unwrap(), rows_of(group.targets)))
            .collect();
        let expected: Vec<(&str, Vec<u32>)> =
            expected.iter().map(|(key, rows)| (*key, rows.to_vec())).collect();
        assert_eq!(found, expected);
        assert_eq!(rows_of(groups.strays()), strays);
        for group in groups.iter() {
            for target in group.targets {
                let rest = rows.text(target.rest_start, target.rest_end);
                let url = [group.key, rest].concat();
                assert_eq!(url, rows.get(target.row as usize).cell(0));
            }
        }
    }

    #[test]
    fn rows_find_their_origins() {
        check("", &[], &[]);
        check("/a", &[], &[0]);
        check(
            "http://a/1\nhttp://b\nhttp://a\n/x\nhttp://a?2\nb/\nmailto:x\nhttp://A/\n//b",
            &[
                ("http://a", &[0, 2, 4]),
                ("http://b", &[1]),
                ("b", &[5]),
                ("http://A", &[7]),
                ("//b", &[8]),
            ],
            &[3, 6],
        );
    }
}
