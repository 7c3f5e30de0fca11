//! One origin, and what is known of it.

use std::sync::Arc;

use crate::crawlers::crawler::CrawlerId;
use crate::judge::dated::{Dated, Judgement};
use crate::judge::robots::Robots;
use crate::judge::timeline::{BeforeFirst, Ruling};
use crate::judge::{Claim, Judge};
use crate::time::UtcTime;
use crate::url::origin::Origin;
use crate::url::path::PathQuery;

use super::answer::{Answer, Reason, Said};
use super::url_parts::{InvalidUrl, UrlParts};

/// Bytes that an origin takes, about, besides its name.
const SITE_BYTES: usize = 512;

/// Bytes that a snapshot of an archive takes, about.
const SNAPSHOT_BYTES: usize = 192;

/// An origin.
#[derive(Debug)]
pub struct Site {
    /// In canonical form; `None` where there can be no such origin.
    pub origin: Option<Arc<str>>,
    /// What is known of it.
    pub known: Known,
}

/// What is known of an origin.
#[derive(Debug)]
pub enum Known {
    /// There can be no such origin.
    Nowhere,
    /// Nothing.
    Nothing,
    /// There is something, but it cannot be read.
    Unreadable,
    /// What was in force when, and what is now.
    Dated(Dated, Newest),
}

/// What the newest snapshot of an origin amounts to.
#[derive(Debug)]
pub enum Newest {
    /// Rules.
    Rules(Arc<Robots>),
    /// There is no robots.txt.
    NoRobotsTxt,
    /// 429, 5xx or no answer.
    Unreachable,
}

/// When a row is to be judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum When {
    /// As far as is known: by the newest snapshot.
    Newest,
    /// Then.
    At(UtcTime),
    /// It does not say.
    Unsaid,
}

impl Site {
    /// Where URLs lead that are none.
    pub fn nowhere() -> Site {
        Site { origin: None, known: Known::Nowhere }
    }

    /// Looks up what the judge knows of the origin of `address`.
    pub fn open(judge: &Judge, address: &UrlParts<'_>) -> Site {
        let Some(origin) = Origin::from_authority(address.scheme, address.authority) else {
            return Site::nowhere();
        };
        let known = match judge.dated(&origin, Claim::Own) {
            Ok(Some(dated)) => {
                let newest = Newest::of(&dated);
                Known::Dated(dated, newest)
            }
            Ok(None) if !judge.is_named(&origin) => Known::Nothing,
            Ok(None) | Err(_) => Known::Unreadable,
        };
        Site { origin: Some(origin.as_str().into()), known }
    }

    /// Bytes that it takes, about, but for what it shares with others.
    pub fn size_bytes(&self) -> usize {
        let snapshots = match &self.known {
            Known::Dated(dated, _) => dated.snapshots(),
            Known::Nowhere | Known::Nothing | Known::Unreadable => 0,
        };
        let name = self.origin.as_ref().map_or(0, |origin| origin.len());
        SITE_BYTES + name + snapshots * SNAPSHOT_BYTES
    }
}

impl Newest {
    fn of(dated: &Dated) -> Newest {
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
}

impl Known {
    /// May `asker` request `path`?
    pub fn say(&self, judge: &Judge, asker: u16, path: PathQuery<'_>, when: When) -> Said<'_> {
        let (dated, newest) = match self {
            Known::Nowhere => {
                return Said::of(Answer::InvalidUrl, Reason::Invalid(InvalidUrl::BadHost));
            }
            Known::Nothing => return Said::of(Answer::Unknown, Reason::NothingKnown),
            Known::Unreadable => return Said::of(Answer::Unknown, Reason::Unreadable),
            Known::Dated(dated, newest) => (dated, newest),
        };
        match (when, newest) {
            (When::Unsaid, _) => Said::of(Answer::Unknown, Reason::BadTime),
            _ if path.is_robots_txt() => Said::of(Answer::Allowed, Reason::RobotsTxt),
            (When::At(time), _) => say_at(judge, dated, CrawlerId(asker), path, time),
            (When::Newest, Newest::Unreachable) => Said::unreachable(),
            (When::Newest, Newest::NoRobotsTxt) => Said::of(Answer::Allowed, Reason::NoRobotsTxt),
            (When::Newest, Newest::Rules(robots)) => {
                let verdict = judge.verdict(robots, CrawlerId(asker), path);
                let answer = if verdict.allowed { Answer::Allowed } else { Answer::Disallowed };
                Said::by_rules(answer, robots, verdict.by)
            }
        }
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
