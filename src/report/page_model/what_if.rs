//! What a draft of a robots.txt would change.

use std::collections::BTreeMap;

use crate::audit::simulate::Change;

use super::Heaviest;
use super::rows::ChangeRow;

/// The rows of `what-if.csv`.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Those that weigh most.
    pub heaviest: Heaviest<ChangeRow>,
    /// Requests by change and crawler, of crawlers that are not spoofed.
    pub requests: BTreeMap<(Change, String), u64>,
}

impl Changes {
    /// Crawlers that are not spoofed with their requests that would so change, most first.
    pub fn by_crawler(&self, change: Change) -> Vec<(&str, u64)> {
        let of_it = self.requests.iter().filter(|((of, _), _)| *of == change);
        let mut crawlers: Vec<_> =
            of_it.map(|((_, name), requests)| (name.as_str(), *requests)).collect();
        // Ties stay in the order of names.
        crawlers.sort_by_key(|&(_, requests)| std::cmp::Reverse(requests));
        crawlers
    }
}
