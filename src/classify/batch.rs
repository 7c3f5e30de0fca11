//! One batch: rows in, answers out, in the order of the rows.
//!
//! The rows are judged origin by origin, so that each robots.txt is looked up once a batch and
//! need not stay in memory.

use std::collections::HashMap;
use std::sync::Arc;

use crate::crawlers::cache::UserAgentCache;
use crate::crawlers::crawler::CrawlerId;
use crate::judge::dated::{Dated, Judgement};
use crate::judge::robots::Robots;
use crate::judge::timeline::{BeforeFirst, Ruling};
use crate::judge::{Claim, Judge};
use crate::time::{UtcTime, Zone};
use crate::url::origin::Origin;
use crate::url::path::{PathQuery, prepare};

use super::address::{Address, Invalid};
use super::asker::{Askers, Asking, asker_of_row};
use super::form::{AskerColumn, Form};
use super::outcome::{Answer, Outcome, Reason};
use super::rows::{Row, Rows};
use super::summary::Counts;

/// Digits of a digest by which a snapshot is named.
const DIGEST_DIGITS: usize = 16;

/// What all batches share.
#[derive(Debug)]
pub struct Context<'a> {
    /// What is forbidden.
    pub judge: &'a Judge,
    /// Who asks.
    pub askers: &'a Askers<'a>,
    /// Of URLs that name none.
    pub default_scheme: Option<&'a str>,
}

/// A batch and what is said of its rows.
#[derive(Debug)]
pub struct Judged {
    /// As they were read.
    pub rows: Rows,
    /// Into `outcomes`; for each row as many as there are askers.
    pub answers: Vec<u32>,
    /// Different ones.
    pub outcomes: Vec<Outcome>,
}

impl Judged {
    /// How often each answer was given.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for &outcome in &self.answers {
            counts.0[self.outcomes[outcome as usize].answer as usize] += 1;
        }
        counts
    }

    /// The outcomes of the row at `index`, one for each asker.
    pub fn outcomes_of(&self, index: usize) -> impl Iterator<Item = usize> {
        let per_row = self.answers.len() / self.rows.len().max(1);
        self.answers[index * per_row..][..per_row].iter().map(|&outcome| outcome as usize)
    }
}

/// Rows of one origin.
#[derive(Debug)]
struct Group<'a> {
    address: Address<'a>,
    rows: Vec<u32>,
}

/// Judges `rows`, which have the form `form`.
pub fn judge(context: &Context<'_>, form: &Form, rows: Rows, cache: &mut UserAgentCache) -> Judged {
    let mut bench = Bench::new(context, rows.len());
    let url_cell = form.url_cell();
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut by_authority: HashMap<&[u8], usize> = HashMap::new();
    for (index, row) in (0..).zip(rows.iter()) {
        let url = row.cell(url_cell).trim_ascii();
        match Address::of(url, context.default_scheme) {
            Err(why) => bench.answer_all(index, Answer::InvalidUrl, Reason::Invalid(why)),
            Ok(address) => {
                let key = &url[..url.len() - address.rest.len()];
                let group = *by_authority.entry(key).or_insert_with(|| {
                    groups.push(Group { address, rows: Vec::new() });
                    groups.len() - 1
                });
                groups[group].rows.push(index);
            }
        }
    }
    let (asker_cell, time_cell) = (form.asker_cell(), form.time_cell());
    for group in &groups {
        bench.open(&group.address);
        for &index in &group.rows {
            let row = rows.get(index as usize);
            let url = row.cell(url_cell).trim_ascii();
            let rest = Address::of(url, context.default_scheme).map_or(&[][..], |parts| parts.rest);
            let when = match time_cell {
                None => When::Newest,
                Some(cell) => when(row.cell(cell)),
            };
            match (&context.askers, &asker_cell) {
                (Askers::OfRow(registry), Some(column)) => {
                    match asker_of_row(registry, asking(row, column), cache) {
                        Some(crawler) => bench.answer(index, 0, crawler.0, when, rest),
                        None => bench.put(index, 0, 0, Answer::Unknown, Reason::NoSuchCrawler),
                    }
                }
                (askers, _) => (0..askers.per_row()).zip(0..).for_each(|(place, asker)| {
                    bench.answer(index, place, asker, when, rest);
                }),
            }
        }
    }
    drop((groups, by_authority));
    Judged { rows, answers: bench.answers, outcomes: bench.outcomes }
}

/// RFC 3339, a date or a date and time in UTC, or seconds since 1970.
fn when(cell: &[u8]) -> When {
    let text = std::str::from_utf8(cell.trim_ascii()).unwrap_or_default();
    let seconds = || UtcTime::from_unix_seconds(text.parse().ok()?);
    seconds().or_else(|| Zone::UTC.parse(text)).map_or(When::Unsaid, When::At)
}

fn asking<'a>(row: Row<'a>, column: &AskerColumn<usize>) -> Asking<'a> {
    match column {
        AskerColumn::Crawler(cell) => Asking::Crawler(row.cell(*cell).trim_ascii()),
        AskerColumn::UserAgent(cell) => Asking::UserAgent(row.cell(*cell)),
    }
}

/// When a row is to be judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum When {
    /// As far as is known: by the newest snapshot.
    Newest,
    At(UtcTime),
    /// It does not say.
    Unsaid,
}

/// Where one origin after the other is judged.
struct Bench<'a> {
    context: &'a Context<'a>,
    per_row: usize,
    scratch: Vec<u8>,
    answers: Vec<u32>,
    outcomes: Vec<Outcome>,
    /// Outcomes of the origin in hand, by what tells them apart.
    known: HashMap<Key, u32>,
    origin: Option<Arc<str>>,
    site: Site,
}

/// What is known of an origin.
enum Site {
    Nowhere,
    Unknown,
    Unreadable,
    Known(Dated, Newest),
}

/// What the newest snapshot of an origin amounts to.
enum Newest {
    Rules(Arc<Robots>),
    NoRobotsTxt,
    Unreachable,
}

/// What is said of one row, and by which robots.txt.
struct Said<'r> {
    answer: Answer,
    reason: Reason,
    line: u32,
    robots: Option<&'r Arc<Robots>>,
}

/// Asker, answer, reason, line, and the place of the robots.txt in memory.
type Key = (u16, Answer, Reason, u32, usize);

impl<'a> Bench<'a> {
    fn new(context: &'a Context<'a>, rows: usize) -> Bench<'a> {
        let per_row = context.askers.per_row();
        Bench {
            context,
            per_row,
            scratch: Vec::new(),
            answers: vec![0; rows * per_row],
            outcomes: Vec::new(),
            known: HashMap::new(),
            origin: None,
            site: Site::Nowhere,
        }
    }

    fn open(&mut self, address: &Address<'_>) {
        self.known.clear();
        let origin = Origin::from_authority(address.scheme, address.authority);
        self.site = origin.as_ref().map_or(Site::Nowhere, |origin| self.site_of(origin));
        self.origin = origin.map(|origin| origin.as_str().into());
    }

    fn site_of(&self, origin: &Origin) -> Site {
        let judge = self.context.judge;
        match judge.dated(origin, Claim::Own) {
            Ok(Some(dated)) => {
                let newest = newest(&dated);
                Site::Known(dated, newest)
            }
            Ok(None) if !judge.is_named(origin) => Site::Unknown,
            Ok(None) | Err(_) => Site::Unreadable,
        }
    }

    fn answer(&mut self, row: u32, place: usize, asker: u16, when: When, rest: &[u8]) {
        // Put back below: what is said may borrow from it.
        let site = std::mem::replace(&mut self.site, Site::Nowhere);
        let said = match &site {
            Site::Nowhere => Said::of(Answer::InvalidUrl, Reason::Invalid(Invalid::BadHost)),
            Site::Unknown => Said::of(Answer::Unknown, Reason::NothingKnown),
            Site::Unreadable => Said::of(Answer::Unknown, Reason::Unreadable),
            Site::Known(dated, newest) => {
                let judge = self.context.judge;
                let path = prepare(rest, judge.dialect(), &mut self.scratch);
                match (when, newest) {
                    (When::Unsaid, _) => Said::of(Answer::Unknown, Reason::BadTime),
                    _ if path.is_robots_txt() => Said::of(Answer::Allowed, Reason::RobotsTxt),
                    (When::At(time), _) => say_at(judge, dated, CrawlerId(asker), path, time),
                    (When::Newest, Newest::Unreachable) => Said::unreachable(),
                    (When::Newest, Newest::NoRobotsTxt) => {
                        Said::of(Answer::Allowed, Reason::NoRobotsTxt)
                    }
                    (When::Newest, Newest::Rules(robots)) => {
                        let verdict = judge.verdict(robots, CrawlerId(asker), path);
                        let answer =
                            if verdict.allowed { Answer::Allowed } else { Answer::Disallowed };
                        Said::by_rules(answer, robots, verdict.by)
                    }
                }
            }
        };
        self.put_said(row, place, asker, &said);
        self.site = site;
    }

    /// The same for all askers of a row.
    fn answer_all(&mut self, row: u32, answer: Answer, reason: Reason) {
        for (place, asker) in (0..self.per_row).zip(0..) {
            self.put(row, place, asker, answer, reason);
        }
    }

    fn put(&mut self, row: u32, place: usize, asker: u16, answer: Answer, reason: Reason) {
        self.put_said(row, place, asker, &Said::of(answer, reason));
    }

    fn put_said(&mut self, row: u32, place: usize, asker: u16, said: &Said<'_>) {
        let at = row as usize * self.per_row + place;
        let robots = said.robots.map_or(0, |robots| Arc::as_ptr(robots).addr());
        let key = (asker, said.answer, said.reason, said.line, robots);
        self.answers[at] = match self.known.get(&key) {
            Some(&known) => known,
            None => {
                let index = u32::try_from(self.outcomes.len()).expect("a batch is far below 4 GiB");
                self.outcomes.push(self.outcome(asker, said));
                self.known.insert(key, index);
                index
            }
        };
    }

    fn outcome(&self, asker: u16, said: &Said<'_>) -> Outcome {
        let rule = said.robots.filter(|_| said.line > 0);
        let rule = rule.map(|robots| robots.deciding_rule(said.line, CrawlerId(asker)).into());
        let snapshot = said.robots.map(|robots| short_digest(robots).into());
        let (answer, reason) = (said.answer, said.reason);
        Outcome { origin: self.origin.clone(), asker, answer, reason, rule, snapshot }
    }
}

impl<'r> Said<'r> {
    fn of(answer: Answer, reason: Reason) -> Said<'r> {
        Said { answer, reason, line: 0, robots: None }
    }

    fn unreachable() -> Said<'r> {
        Said::of(Answer::Unreachable, Reason::Unreachable)
    }

    fn by_rules(answer: Answer, robots: &'r Arc<Robots>, by: Option<u32>) -> Said<'r> {
        let reason = by.map_or(Reason::NoRuleMatches, |_| Reason::Rule);
        Said { answer, reason, line: by.unwrap_or(0), robots: Some(robots) }
    }
}

fn newest(dated: &Dated) -> Newest {
    let time = dated.newest().map_or(UtcTime::EPOCH, |seen| seen.fetched_at);
    let Some(standing) = dated.at(time, BeforeFirst::AsFirst) else {
        return Newest::NoRobotsTxt;
    };
    match (dated.rules(standing.ruling), standing.ruling) {
        (Some(robots), _) => Newest::Rules(Arc::clone(robots)),
        (None, Ruling::Unreachable) => Newest::Unreachable,
        (None, _) => Newest::NoRobotsTxt,
    }
}

/// What is said at `time`, when other rules may have been in force.
fn say_at<'r>(
    judge: &Judge,
    dated: &'r Dated,
    crawler: CrawlerId,
    path: PathQuery<'_>,
    time: UtcTime,
) -> Said<'r> {
    let judgement = judge.verdict_at(dated, crawler, path, time, BeforeFirst::Unknown);
    let (answer, decided) = match judgement {
        Judgement::Unknown => return Said::of(Answer::Unknown, Reason::BeforeFirst),
        Judgement::Unreachable(_) => return Said::unreachable(),
        Judgement::AllowedByAbsence(_) => return Said::of(Answer::Allowed, Reason::NoRobotsTxt),
        Judgement::Allowed(decided) => (Answer::Allowed, decided),
        Judgement::Grace(decided) => (Answer::Grace, decided),
        Judgement::Disallowed(decided) => (Answer::Disallowed, decided),
    };
    match dated.rules(decided.standing.ruling) {
        Some(robots) => Said::by_rules(answer, robots, decided.verdict.by),
        None => Said::of(answer, Reason::NoRuleMatches),
    }
}

/// `sha256:` and the first digits.
fn short_digest(robots: &Robots) -> String {
    let mut digest = robots.digest.to_string();
    digest.truncate(digest.find(':').map_or(0, |colon| colon + 1) + DIGEST_DIGITS);
    digest
}
