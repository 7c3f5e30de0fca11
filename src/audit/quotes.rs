//! The lines of robots.txt files that a tally names, with the group that bound the crawler; and the statements about use,
//! with the requests to which they applied.
//!
//! Such requests are *fetched under reservation* or with permission; none of this is a violation.

use std::{cell::RefCell, collections::HashMap};

use crate::crawlers::crawler::{Crawler, CrawlerId};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::judge::profile::{CrawlerProfile, group_of_rule};
use crate::judge::robots::{DecidingRule, RobotsId};
use crate::judge::verdict::RuleRef;
use crate::judge::{crawl_delay::AskedDelay, usage::StatedPreference};
use crate::measures::answer_tally::AnswerTally;
use crate::robots::model::{ParsedRobotsTxt, ProductToken};

use super::tally::header::{Header, RobotsVersion};
use super::tally::rulings::Rulings;

/// A version of a robots.txt that was used, and the kept part of its text.
#[derive(Clone, Debug)]
pub struct UsedRobots {
    /// Its number in the tally.
    pub id: RobotsId,
    /// Its digest and sizes, and its text if rows quote it.
    pub version: RobotsVersion,
}

impl UsedRobots {
    /// Its text, if rows quote it.
    pub(crate) fn text(&self) -> Option<&ParsedRobotsTxt> {
        self.version.body.as_ref().map(|body| &**body.text())
    }

    /// The values of its User-agent lines, as far as they are kept.
    pub(crate) fn product_tokens(&self) -> impl Iterator<Item = ProductToken> {
        let of_text = self.text().into_iter().flat_map(|text| &text.groups);
        let of_text = of_text.flat_map(|group| &group.product_tokens).cloned();
        let kept = self.version.product_tokens.iter();
        of_text.chain(kept.map(|token| ProductToken {
            written: token.to_vec().into(),
            line: 0,
            other_field: None,
        }))
    }
}

/// By version and crawler: the product token that bound it.
type Groups = HashMap<(RobotsId, CrawlerId), Box<[u8]>>;

/// Looks up quoted lines in the versions of a header.
#[derive(Debug)]
pub(crate) struct Quotes<'a> {
    header: &'a Header,
    /// The profiles, by crawler.
    profiles: Vec<CrawlerProfile>,
    /// The product token that bound a crawler, or `*`.
    groups: RefCell<Groups>,
}

impl<'a> Quotes<'a> {
    /// Quotes of the versions in `header`.
    pub(crate) fn new(header: &'a Header) -> Quotes<'a> {
        let profile = |crawler: &Crawler| match header.rulings.includes_unbound {
            true => CrawlerProfile::new(crawler).unbound(),
            false => CrawlerProfile::new(crawler),
        };
        let profiles = header.crawlers.iter().map(profile).collect();
        Quotes { header, profiles, groups: RefCell::default() }
    }

    /// Which robots.txt governed which origin.
    pub(crate) fn rulings(&self) -> &'a Rulings {
        &self.header.rulings
    }

    /// The rule that `rule` names, as it bound `crawler`.
    ///
    /// # Errors
    /// If the tally is damaged and lacks the rule.
    pub(crate) fn rule(&self, rule: RuleRef, crawler: CrawlerId) -> Result<DecidingRule> {
        let text = self.text(rule.robots)?;
        let digest = self.header.robots[rule.robots.index()].digest;
        let (found_in, found) =
            text.rule_at(rule.line).ok_or_else(|| damaged(digest, rule.line))?;
        let directive = found.directive.as_str();
        let group = self.group(rule.robots, text, crawler);
        let group = group_of_rule(text, rule.line, &group);
        Ok(DecidingRule {
            digest,
            line: rule.line,
            directive,
            pattern: found.written().into(),
            continued_over: found_in.continued_over(&group),
            group,
        })
    }

    /// The Crawl-delay for `crawler` in version `robots`.
    ///
    /// # Errors
    /// If the tally is damaged and lacks the version.
    pub(crate) fn crawl_delay(
        &self,
        robots: RobotsId,
        crawler: CrawlerId,
    ) -> Result<Option<AskedDelay>> {
        let text = self.text(robots)?;
        let digest = self.header.robots[robots.index()].digest;
        Ok(AskedDelay::new(text, digest, &self.profiles[crawler.index()]))
    }

    /// The requests of `tally` with the version that `stated` a preference.
    ///
    /// # Errors
    /// If the tally is damaged and lacks the line.
    pub(crate) fn usage(&self, stated: StatedPreference, tally: AnswerTally) -> Result<UsageRow> {
        let lines = self.text(stated.robots)?.lines;
        let digest = self.header.robots[stated.robots.index()].digest;
        match (1..=lines).contains(&stated.line) {
            true => Ok(UsageRow { digest, stated, tally }),
            false => Err(damaged(digest, stated.line)),
        }
    }

    /// The version with `digest`, with its text if it was kept.
    ///
    /// # Errors
    /// If the tally is damaged and lacks the version.
    pub(crate) fn used(&self, digest: Digest) -> Result<UsedRobots> {
        let versions = &self.header.robots;
        let at = versions.binary_search_by_key(&digest, |known| known.digest);
        let at = at.map_err(|_| {
            Error::inconsistent(format!("the tally is damaged: no robots.txt {digest}"))
        })?;
        Ok(UsedRobots { id: RobotsId::from_index(at), version: versions[at].clone() })
    }

    /// The text of version `robots`.
    ///
    /// # Errors
    /// If the tally is damaged and lacks the bytes.
    fn text(&self, robots: RobotsId) -> Result<&'a ParsedRobotsTxt> {
        let version = self.header.robots.get(robots.index());
        let body = version.and_then(|version| version.body.as_ref()).ok_or_else(|| {
            let why = format!("the tally is damaged: no robots.txt number {}", robots.index());
            Error::inconsistent(why)
        })?;
        Ok(body.text())
    }

    /// The product token that bound `crawler`, or `*`.
    fn group(&self, robots: RobotsId, text: &ParsedRobotsTxt, crawler: CrawlerId) -> Box<[u8]> {
        let profile = &self.profiles[crawler.index()];
        let mut groups = self.groups.borrow_mut();
        let group =
            groups.entry((robots, crawler)).or_insert_with(|| profile.group_in(text).into());
        group.clone()
    }
}

fn damaged(digest: Digest, line: u32) -> Error {
    Error::inconsistent(format!("the tally is damaged: no rule on line {line} of {digest}"))
}

/// A preference, and the requests to which it applied.
#[derive(Clone, Debug)]
pub struct UsageRow {
    /// The digest of the robots.txt that stated it.
    pub digest: Digest,
    /// The preference.
    pub stated: StatedPreference,
    /// The requests.
    pub tally: AnswerTally,
}

#[cfg(test)]
mod oracle;
