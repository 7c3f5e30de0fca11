//! The ordered counts of a tally, by numbers of its header; with those by path, and of unknown user agents that look
//! automated.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::audit::{distinct::Distinct, hours::Hours, input_tally::InputTally};
use crate::audit::{origin_key::OriginKey, sessions::SessionTally};
use crate::crawlers::identity::{Actor, Identity};
use crate::crawlers::{crawler::CrawlerId, products::ProductId};
use crate::error::Result;
use crate::judge::origin_history::{SnapshotHistory, SnapshotInForce};
use crate::measures::clients::{ClientTally, SampledPaths};
use crate::measures::crawler_tally::{CrawlerTally, Times};
use crate::measures::robots_fetches::{FetchTally, settle_answers};
use crate::measures::short_map::ShortMap;
use crate::measures::signatures::SignatureCounts;
use crate::measures::sums::{Span, Sums, is_default};
use crate::measures::{answer_tally::AnswerTally, renumbering::Renumbering};
use crate::merge::{merge_fields, sum};

use super::rulings::Rulings;
use super::urls::{SectionCounts, Urls};

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
    /// Requests of clients that the registry does not name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub clients: ClientTally,
    /// Sessions by crawler and identity, if they are counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<(Actor, SessionTally)>,
    /// Signed requests.
    #[serde(default, skip_serializing_if = "SignatureCounts::is_empty")]
    pub(crate) signatures: SignatureCounts,
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
    /// The judged part of browsers' requests.
    #[serde(default, skip_serializing_if = "is_default")]
    pub browsers: SampledPaths,
}

/// Requests of visitors by the product that sent them.
pub(crate) type Visits = ShortMap<ProductId, AnswerTally>;

impl OriginRows {
    /// The time from the first request to the last; `None` without requests.
    pub(crate) fn span(&self) -> Option<Span> {
        sum(self.rows.iter().map(|(_, tally)| tally.span))
    }

    /// Forgets fetches of earlier days that are in these logs, because several nights are reported together.
    pub(crate) fn cut_earlier_fetches(&mut self) {
        let Some(span) = self.span() else { return };
        let earlier = self.rows.iter_mut().filter_map(|(_, tally)| tally.earlier_fetches.as_mut());
        earlier.for_each(|earlier| earlier.forget_from(span.first.unix_minute()));
    }

    /// Decides what the doubtful answers to requests for robots.txt were.
    pub(crate) fn settle_answers(&mut self) {
        let tallies = self.rows.iter_mut().map(|(_, tally)| {
            let has_times = tally.times == Times::Kept;
            (&mut tally.robots_fetches, has_times)
        });
        settle_answers(&mut tallies.collect::<Vec<_>>());
    }

    /// The fetches of robots.txt of each row, as its report counts them.
    pub(crate) fn settled_fetches(&self) -> Vec<FetchTally> {
        let fetches = self.rows.iter().map(|(_, tally)| {
            let has_times = tally.times == Times::Kept;
            (tally.robots_fetches.clone(), has_times)
        });
        let mut fetches: Vec<_> = fetches.collect();
        let settled = fetches.iter_mut().map(|(fetches, has_times)| (fetches, *has_times));
        settle_answers(&mut settled.collect::<Vec<_>>());
        fetches.into_iter().map(|(fetches, _)| fetches).collect()
    }

    /// The history of its robots.txt in `rulings`, and the snapshots in force between the first and
    /// the last request; `None` without a history or requests.
    pub(crate) fn in_force<'a>(
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

/// `counts` with the new numbers of crawlers.
///
/// # Errors
/// If the tally is damaged and lacks a number.
pub(crate) fn renumbered_sections(
    mut counts: SectionCounts,
    numbers: &Renumbering,
) -> Result<SectionCounts> {
    let tallies = counts.iter_mut().flatten();
    tallies.into_iter().try_for_each(|(_, tallies)| numbers.by_actor(tallies))?;
    Ok(counts)
}

/// The same for paths.
///
/// # Errors
/// As [`renumbered_sections`].
pub(crate) fn renumbered_paths(
    mut counts: PathCounts,
    numbers: &Renumbering,
) -> Result<PathCounts> {
    counts.paths.iter_mut().try_for_each(|(_, tallies)| numbers.by_actor(tallies))?;
    numbers.by_actor(&mut counts.others)?;
    numbers.by_actor(&mut counts.urls)?;
    Ok(counts)
}

/// The number of URLs of a path that are many.
const URLS_MANY: usize = 10;

/// Requests for one path.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PathTally {
    /// The requests.
    pub answers: AnswerTally,
    /// Its URLs, which differ in their queries.
    pub urls: Distinct<URLS_MANY>,
}

merge_fields!(PathTally { answers, urls });

impl PathTally {
    /// Whether many queries were requested.
    pub(crate) fn has_many_urls(&self) -> bool {
        self.urls.is_full()
    }
}

/// Requests for one path by crawler.
pub(crate) type PathTallies = ShortMap<Actor, PathTally>;

/// What was counted, in order.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PathCounts {
    /// By the key of the path, ascending.
    pub paths: Vec<(ByteBuf, PathTallies)>,
    /// The sum of those that did not fit in `paths`.
    pub others: PathTallies,
    /// The distinct URLs of each crawler at all origins.
    pub urls: ShortMap<Actor, Urls>,
}

/// Requests of one unknown user agent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct UserAgentTally {
    /// Counts by the decision of the groups of its declared name, or else of the `*` groups.
    pub sums: Sums,
    /// `None` while no request had a time that could be read.
    pub span: Option<Span>,
}

merge_fields!(UserAgentTally { sums, span });
