//! One row of a finished audit: what one crawler of one identity did at one origin, checked.

use crate::crawlers::identity::{Actor, Identity};
use crate::error::{Error, Result};
use crate::judge::{crawl_delay::AskedDelay, robots::DecidingRule};
use crate::measures::crawler_tally::{CrawlerTally, Times};
use crate::measures::{clients::SampledPaths, delay_kept::DelayKept, sums::Compliance};
use crate::measures::{time_buckets::TimeBuckets, violations::ViolationTally};
use crate::merge::{Merge, sum};

use super::prior_fetches::{KnownFetches, PriorFetchCounts};
use super::quotes::{Quotes, UsageRow};
use super::reaction_rows::{OriginReactions, ReactionRow};

/// The counts of one crawler at one origin.
#[derive(Debug)]
pub struct ActorRow {
    /// The `origin` column.
    pub origin: String,
    /// The crawler and its identity.
    pub actor: Actor,
    /// All its requests, without the counts below.
    pub tally: CrawlerTally,
    /// The rules that it broke, by version of robots.txt and line.
    pub broken: Vec<Broken>,
    /// Earlier fetches of robots.txt before these violations.
    pub prior_fetches: PriorFetchCounts,
    /// Whether it, or another crawler of its operator, has fetched robots.txt successfully.
    pub has_read: bool,
    /// Its Crawl-delays, by version of robots.txt.
    pub delayed: Vec<Delayed>,
    /// Its requests for paths with a preference about their use, by version of robots.txt.
    pub usage: Vec<UsageRow>,
    /// What it did after changes of robots.txt, by change and direction.
    pub reactions: Vec<ReactionRow>,
    /// Requests since its first fetch of robots.txt, and those on a copy that is not older than its
    /// operator promises; `None` if no time is promised, or times are not known.
    pub on_promised_copy: Option<Compliance>,
    /// A sample of the requests of browsers at the origin.
    pub browsers: SampledPaths,
}

/// A Crawl-delay of a crawler, and the pace of its requests.
#[derive(Debug)]
pub struct Delayed {
    /// The Crawl-delay.
    pub asked: AskedDelay,
    /// Its requests, without those for robots.txt and those without a path.
    pub requests: u64,
    /// The comparison; `None` if times were not kept.
    pub pace: Option<DelayKept>,
    /// Times between requests of one client; none if sessions are not counted.
    pub gaps: Compliance,
}

/// A broken rule, and its requests.
#[derive(Debug)]
pub struct Broken {
    /// The rule.
    pub rule: DecidingRule,
    /// The requests.
    pub tally: Box<ViolationTally>,
    /// Earlier fetches of robots.txt before them.
    pub prior_fetches: PriorFetchCounts,
}

impl ActorRow {
    /// The row of `actor` at `origin`.
    pub(super) fn new(
        origin: String,
        actor: Actor,
        mut tally: CrawlerTally,
        known_fetches: &KnownFetches<'_>,
        origin_reactions: &OriginReactions,
        quotes: &Quotes<'_>,
    ) -> Result<ActorRow> {
        let violations = std::mem::take(&mut tally.violations);
        let mut prior_fetches = PriorFetchCounts::default();
        let broken = violations.into_iter().map(|(key, mut tally)| {
            let before = known_fetches.before(&tally.minutes, tally.requests);
            // Stored as ages from here on.
            tally.minutes = TimeBuckets::default();
            prior_fetches.absorb(before.clone());
            Ok(Broken { rule: quotes.rule(key, actor.0)?, tally, prior_fetches: before })
        });
        let mut broken: Vec<Broken> = broken.collect::<Result<_>>()?;
        broken.sort_by_key(|broken| (broken.rule.digest, broken.rule.line));
        let times = tally.times;
        let mut delayed = Vec::new();
        for (robots, pace) in std::mem::take(&mut tally.paces) {
            let Some(asked) = quotes.crawl_delay(robots, actor.0)? else { continue };
            let is_known = times == Times::Kept;
            let (requests, gaps) = (pace.requests, pace.gaps);
            let pace = is_known.then(|| DelayKept::new(&pace.hours, asked.milliseconds));
            delayed.push(Delayed { asked, requests, pace, gaps });
        }
        delayed.sort_by_key(|delayed: &Delayed| delayed.asked.digest);
        let usage = std::mem::take(&mut tally.usage).into_iter();
        let usage = usage.map(|(stated, usage)| quotes.usage(stated, usage));
        let mut usage = usage.collect::<Result<Vec<UsageRow>>>()?;
        usage.sort_by_key(|row| (row.digest, row.stated));
        let reactions = tally.reactions.take().filter(|_| times == Times::Kept);
        let rows = reactions.map(|reactions| origin_reactions.rows(&reactions, known_fetches));
        let reactions = rows.transpose()?.unwrap_or_default();
        // Where times are given up, the number of its fetches is still known.
        let has_read = known_fetches.are_there() || tally.robots_fetches.successful_fetches > 0;
        let total = tally.total();
        let others = total.requests.saturating_sub(total.robots_txt_requests);
        Ok(ActorRow {
            origin,
            actor,
            on_promised_copy: known_fetches.on_promised_copy(&tally.robots_fetches, others),
            tally,
            broken,
            prior_fetches,
            has_read,
            delayed,
            usage,
            reactions,
            browsers: SampledPaths::default(),
        })
    }

    /// Checks that separate sums agree.
    pub(super) fn check(&self) -> Result<()> {
        let total = self.tally.total();
        let broken: u64 = sum(self.broken.iter().map(|broken| broken.tally.requests));
        let fetches = self.tally.robots_fetches.statuses.total();
        let delayed: u64 = sum(self.delayed.iter().map(|delayed| delayed.requests));
        let is_complete = |broken: &Broken| broken.prior_fetches.total() == broken.tally.requests;
        let holds = self.tally.holds()
            && broken == total.violations
            && delayed <= total.requests - total.robots_txt_requests - total.no_path
            && self
                .delayed
                .iter()
                .all(|of| of.gaps.kept <= of.gaps.requests && of.gaps.requests <= of.requests)
            && self.broken.iter().all(is_complete)
            && self.usage.iter().all(|row| {
                row.tally.holds(self.tally.span)
                    && row.tally.requests <= total.allowed + total.not_bound
            })
            && (self.tally.of_other_time == 0 || self.actor.1 == Identity::Unverified)
            && self.prior_fetches.total() == total.violations
            && self.prior_fetches.holds();
        if holds {
            return Ok(());
        }
        Err(Error::inconsistent(format!(
            "{}, {:?}: {total:?}, {broken} broken, {fetches} fetches, {delayed} delayed, {:?}",
            self.origin, self.actor, self.prior_fetches
        )))
    }
}
