//! The ordered counts of a tally, by numbers of its header.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::crawlers::{crawler::CrawlerId, identity::Identity, products::ProductId};
use crate::error::{Error, Result};
use crate::input::source::FileId;
use crate::judge::snapshot_history::{SnapshotHistory, SnapshotInForce};
use crate::judge::{robots::RobotsId, usage::StatedPreference, verdict::RuleRef};

use super::super::hours::Hours;
use super::super::input_tally::InputTally;
use super::super::origin_key::OriginKey;
use super::super::sessions::SessionTally;
use super::path_counts::PathCounts;
use super::section_counts::SectionCounts;
use super::{rulings::Rulings, user_agents::UserAgentTally};
use crate::measures::answer_tally::AnswerTally;
use crate::measures::crawler_tally::{Actor, CrawlerTally};
use crate::measures::short_map::ShortMap;
use crate::measures::sums::Span;
use crate::merge::{Merge, sum};

/// The counts of a tally.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Counts {
    /// Lines by input.
    pub inputs: Vec<InputTally>,
    /// Requests of crawlers by origin, ascending; the rows of each by crawler and identity.
    pub origins: Vec<OriginRows>,
    /// The first row whose times are not kept.
    pub times_end: Option<TimesEnd>,
    /// Requests of crawlers by hour.
    pub hours: Hours,
    /// Requests of crawlers by section, if they were counted.
    #[serde(default)]
    pub sections: SectionCounts,
    /// The same by path, if they were counted.
    #[serde(default)]
    pub paths: PathCounts,
    /// Unknown user agents that look automated, ascending.
    pub unknown_crawlers: Vec<(ByteBuf, UserAgentTally)>,
    /// The sum of those that did not fit in `unknown_crawlers`.
    pub other_unknown_crawlers: Option<UserAgentTally>,
    /// Sessions by crawler and identity, if they are counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<(Actor, SessionTally)>,
}

/// The rows of one origin.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OriginRows {
    /// Where requests were addressed.
    pub origin_key: OriginKey,
    /// Whether it may be folded.
    pub is_stranger: bool,
    /// By crawler and identity.
    pub rows: Vec<(Actor, CrawlerTally)>,
    /// Visits that products sent.
    #[serde(default, skip_serializing_if = "ShortMap::is_empty")]
    pub visits: Visits,
}

/// Requests of visitors by the product that sent them.
pub type Visits = ShortMap<ProductId, AnswerTally>;

impl OriginRows {
    /// The time from the first request to the last; `None` without requests.
    pub fn span(&self) -> Option<Span> {
        sum(self.rows.iter().map(|(_, tally)| tally.span))
    }

    /// The history of its robots.txt in `rulings`, and the snapshots in force between the first and
    /// the last request; `None` without a history or requests.
    pub fn in_force<'a>(
        &self,
        rulings: &'a Rulings,
    ) -> Option<(&'a SnapshotHistory, Vec<SnapshotInForce>)> {
        let history = rulings.histories.get(&self.origin_key.to_string())?;
        let span = self.span()?;
        Some((history, history.between(span.first, span.last, rulings.before_first())))
    }
}

/// The first row without times, in the order in which rows keep them.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct TimesEnd {
    /// Whether its origin may be folded.
    pub is_stranger: bool,
    /// Its origin.
    pub origin_key: OriginKey,
    /// Its crawler.
    pub crawler: CrawlerId,
    /// Its identity.
    pub identity: Identity,
}

/// A map of the numbers of one tally to those of another; `None` if it lacks the entry.
#[derive(Clone, Debug, Default)]
pub struct Renumbering {
    /// The numbers of inputs.
    pub inputs: Vec<Option<FileId>>,
    /// The numbers of crawlers.
    pub crawlers: Vec<Option<CrawlerId>>,
    /// The numbers of versions of robots.txt.
    pub robots: Vec<Option<RobotsId>>,
}

impl Renumbering {
    /// The new number of `crawler`.
    ///
    /// # Errors
    /// If the tally is damaged and lacks the number.
    pub fn crawler(&self, crawler: CrawlerId) -> Result<CrawlerId> {
        find(&self.crawlers, crawler.index(), "crawler")
    }

    /// `actor` with the new number of its crawler.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub fn actor(&self, (crawler, identity): Actor) -> Result<Actor> {
        Ok((self.crawler(crawler)?, identity))
    }

    /// The new number of `input`.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub fn input(&self, input: FileId) -> Result<FileId> {
        find(&self.inputs, input.index(), "input")
    }

    /// `counts` with the new numbers of crawlers.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub fn sections(&self, mut counts: SectionCounts) -> Result<SectionCounts> {
        let tallies = counts.iter_mut().flatten();
        tallies.into_iter().try_for_each(|(_, tallies)| self.by_actor(tallies))?;
        Ok(counts)
    }

    /// The same for paths.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub fn paths(&self, mut counts: PathCounts) -> Result<PathCounts> {
        counts.paths.iter_mut().try_for_each(|(_, tallies)| self.by_actor(tallies))?;
        self.by_actor(&mut counts.others)?;
        self.by_actor(&mut counts.urls)?;
        Ok(counts)
    }

    fn by_actor<T: Merge>(&self, tallies: &mut ShortMap<Actor, T>) -> Result<()> {
        let of_actors = std::mem::take(tallies).into_iter();
        let of_actors = of_actors.map(|(actor, tally)| Ok((self.actor(actor)?, tally)));
        *tallies = of_actors.collect::<Result<_>>()?;
        Ok(())
    }

    fn rule(&self, rule: RuleRef) -> Result<RuleRef> {
        Ok(RuleRef { robots: self.version(rule.robots)?, line: rule.line })
    }

    fn version(&self, robots: RobotsId) -> Result<RobotsId> {
        find(&self.robots, robots.index(), "robots.txt")
    }

    /// `tally` with the new numbers.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub fn row(&self, mut tally: CrawlerTally) -> Result<CrawlerTally> {
        let violations = std::mem::take(&mut tally.violations);
        let violations = violations.into_iter().map(|(rule, mut violation)| {
            violation.example.file = self.input(violation.example.file)?;
            Ok((self.rule(rule)?, violation))
        });
        tally.violations = violations.collect::<Result<_>>()?;
        let paces = std::mem::take(&mut tally.paces).into_iter();
        let paces = paces.map(|(robots, pace)| Ok((self.version(robots)?, pace)));
        tally.paces = paces.collect::<Result<_>>()?;
        let usage = std::mem::take(&mut tally.usage).into_iter();
        let usage = usage.map(|(stated, usage)| {
            Ok((StatedPreference { robots: self.version(stated.robots)?, ..stated }, usage))
        });
        tally.usage = usage.collect::<Result<_>>()?;
        if let Some(simulated) = &mut tally.simulated {
            let changes = std::mem::take(&mut simulated.changes).into_iter();
            let changes = changes.map(|(mut key, mut change)| {
                key.present = key.present.map(|rule| self.rule(rule)).transpose()?;
                change.example.file = self.input(change.example.file)?;
                Ok((key, change))
            });
            simulated.changes = changes.collect::<Result<_>>()?;
        }
        Ok(tally)
    }
}

fn find<T: Copy>(numbers: &[Option<T>], number: usize, what: &str) -> Result<T> {
    let found = numbers.get(number).copied().flatten();
    found.ok_or_else(|| {
        Error::inconsistent(format!("the tally is damaged: it has no {what} number {number}"))
    })
}
