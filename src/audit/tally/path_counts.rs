//! Requests by path, in order.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::audit::distinct::Distinct;
use crate::crawlers::identity::Actor;
use crate::measures::{answer_tally::AnswerTally, short_map::ShortMap};
use crate::merge::merge_fields;

use super::urls::Urls;

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
