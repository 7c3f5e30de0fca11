//! The statements about use that concern one crawler.

use crate::crawlers::crawler::CrawlerId;
use crate::robots::usage::{UsageCategory, UsageSignal};

use super::by_crawler::ByCrawler;

use UsageCategory::{AiInput, AiTrain, Search, TrainAi, Use};
use UsageSignal::{ContentSignal, ContentUsage};

/// A field and a kind of use.
pub(super) type Kind = (UsageSignal, UsageCategory);

/// The statements of one version of robots.txt that concern one crawler.
#[derive(Debug)]
pub(super) struct CrawlerUsage {
    /// The kinds of use that its purpose concerns.
    pub kinds: &'static [Kind],
    /// Prepared paths, the longest first, each with its index in the file's statements.
    pub statements: Box<[(Box<[u8]>, usize)]>,
    /// The control tokens of the operator, as crawlers.
    pub controls: Box<[CrawlerId]>,
}

/// By crawler; `None` if the file has no statement about use.
pub(super) type UsageByCrawler = Option<ByCrawler<CrawlerUsage>>;

/// The kinds of use that a crawler's purpose directly concerns.
pub(super) fn kinds(purpose: &str) -> &'static [Kind] {
    match purpose {
        "ai-training" => &[(ContentUsage, TrainAi), (ContentSignal, AiTrain)],
        "ai-search" => &[
            (ContentUsage, Search),
            (ContentSignal, Search),
            (ContentSignal, AiInput),
            (ContentSignal, Use),
        ],
        "ai-user" => &[(ContentSignal, AiInput), (ContentSignal, Use)],
        "search" => &[(ContentUsage, Search), (ContentSignal, Search)],
        _ => &[],
    }
}
