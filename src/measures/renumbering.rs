//! The numbers of one tally as those of another.
//!
//! Counts name inputs, crawlers and versions of robots.txt by numbers, and each tally has its own.

use crate::crawlers::{crawler::CrawlerId, identity::Actor};
use crate::error::{Error, Result};
use crate::input::source::FileId;
use crate::judge::{robots::RobotsId, verdict::RuleRef};
use crate::merge::Merge;

use super::short_map::ShortMap;

/// A map of the numbers of one tally to those of another; `None` if it lacks the entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Renumbering {
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
    pub(crate) fn crawler(&self, crawler: CrawlerId) -> Result<CrawlerId> {
        find(&self.crawlers, crawler.index(), "crawler")
    }

    /// `actor` with the new number of its crawler.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub(crate) fn actor(&self, (crawler, identity): Actor) -> Result<Actor> {
        Ok((self.crawler(crawler)?, identity))
    }

    /// The new number of `input`.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub(crate) fn input(&self, input: FileId) -> Result<FileId> {
        find(&self.inputs, input.index(), "input")
    }

    /// `tallies` with the new numbers of crawlers.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub(crate) fn by_actor<T: Merge>(&self, tallies: &mut ShortMap<Actor, T>) -> Result<()> {
        let of_actors = std::mem::take(tallies).into_iter();
        let of_actors = of_actors.map(|(actor, tally)| Ok((self.actor(actor)?, tally)));
        *tallies = of_actors.collect::<Result<_>>()?;
        Ok(())
    }

    /// `rule` with the new number of its robots.txt.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub(crate) fn rule(&self, rule: RuleRef) -> Result<RuleRef> {
        Ok(RuleRef { robots: self.version(rule.robots)?, line: rule.line })
    }

    /// The new number of `robots`.
    ///
    /// # Errors
    /// As [`Renumbering::crawler`].
    pub(crate) fn version(&self, robots: RobotsId) -> Result<RobotsId> {
        find(&self.robots, robots.index(), "robots.txt")
    }
}

fn find<T: Copy>(numbers: &[Option<T>], number: usize, what: &str) -> Result<T> {
    let found = numbers.get(number).copied().flatten();
    found.ok_or_else(|| {
        Error::inconsistent(format!("the tally is damaged: it has no {what} number {number}"))
    })
}
