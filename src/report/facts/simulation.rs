//! What a draft of a robots.txt would change, read back.

use std::collections::BTreeMap;

use crate::audit::simulate::Change;

use super::line::Line;
use super::{Kept, is_itself};

/// Of `simulation.csv`'s column `change`.
pub const NEWLY_DISALLOWED: &str = Change::NewlyDisallowed.as_str();

/// Of `simulation.csv`'s column `change`.
pub const NEWLY_ALLOWED: &str = Change::NewlyAllowed.as_str();

/// The rows of `simulation.csv`.
#[derive(Clone, Debug, Default)]
pub struct ChangeFacts {
    /// Those that weigh most.
    pub kept: Kept,
    /// Requests by change and crawler, of crawlers that are not spoofed.
    requests: BTreeMap<(String, String), u64>,
}

impl ChangeFacts {
    /// Crawlers that are not spoofed with their requests that would so change, most first.
    pub fn by_crawler(&self, change: &str) -> Vec<(&str, u64)> {
        let of_it = self.requests.iter().filter(|((of, _), _)| of == change);
        let mut crawlers: Vec<_> =
            of_it.map(|((_, name), requests)| (name.as_str(), *requests)).collect();
        // Ties stay in the order of names.
        crawlers.sort_by_key(|&(_, requests)| std::cmp::Reverse(requests));
        crawlers
    }

    pub(super) fn add(&mut self, line: Line<'_>) {
        if is_itself(line.identity()) {
            let key = (line.raw("change").to_owned(), line.text("crawler"));
            *self.requests.entry(key).or_default() += line.count("requests");
        }
    }
}
