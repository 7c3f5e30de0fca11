//! One batch: rows in, verdicts out, in the order of the rows.
//!
//! The rows are judged origin by origin. So each robots.txt is looked up once per batch and does
//! not have to stay in memory.

use std::{collections::HashMap, hint::black_box, sync::Arc};

use foldhash::fast::RandomState;

use crate::crawlers::cache::UserAgentCache;
use crate::judge::{Judge, timeline::BeforeFirst, verdict::JudgedAt};
use crate::time::{UtcTime, Zone};
use crate::url::path::prepare;

use super::answer::{Reason, RowVerdict, VerdictWord};
use super::by_origin::{ByOrigin, RowTarget};
use super::input_format::{
    CrawlerColumn, CrawlerSource, CrawlerValue, InputFormat, WantedColumns, crawler_of_row,
};
use super::known_origin::{KnownOrigin, OriginCache};
use super::outcome::{Detail, Outcomes};
use super::rows::{InputRow, InputRows};
use super::summary::VerdictCounts;
use super::url_parts::{InvalidUrl, UrlParts};

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
        for (at, crawler) in batch_judge.crawlers(&rows, index, &columns, &mut memory.user_agents) {
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
        for (at, crawler) in self.crawlers(rows, target.row, columns, user_agents) {
            let verdict = match crawler {
                Some(crawler) => origin.known.verdict(judge, crawler, path, when),
                None => RowVerdict::unknown(Reason::NoSuchCrawler),
            };
            self.put(target.row, at, crawler, verdict, &origin.origin);
        }
        self.scratch = scratch;
    }

    /// The crawlers of the row at `index`, each with its index among the verdicts; `None` is an
    /// unknown crawler.
    fn crawlers(
        &self,
        rows: &InputRows,
        index: u32,
        columns: &WantedColumns<usize>,
        user_agents: &mut UserAgentCache,
    ) -> impl Iterator<Item = (usize, Option<u16>)> + use<> {
        let of_row = match (self.context.crawlers, &columns.crawler) {
            (CrawlerSource::PerRow(registry), Some(column)) => {
                let row = rows.get(index as usize);
                Some(crawler_of_row(registry, crawler_value(row, column), user_agents))
            }
            _ => None,
        };
        (0..self.per_row).zip(0..).map(move |(at, crawler)| match of_row {
            Some(crawler) => (at, crawler.map(|crawler| crawler.0)),
            None => (at, Some(crawler)),
        })
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
