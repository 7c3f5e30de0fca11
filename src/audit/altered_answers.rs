//! Crawlers that asked for robots.txt and got something else.

use crate::merge::{Merge, sum};
use crate::numbers::{counted, grouped};

use super::model::ReportModel;

/// The most crawlers that the note names.
const NAMED_MAX: usize = 3;

impl ReportModel {
    /// Crawlers whose requests for robots.txt had an answer that is not robots.txt, and how many; most first.
    pub(crate) fn altered_answers(&self) -> Vec<(&str, u64)> {
        let mut by_crawler: Vec<(&str, u64)> = Vec::new();
        for row in self.rows() {
            let altered = row.tally.robots_fetches.altered;
            let name = &*self.registry.crawler(row.actor.0).name;
            if altered == 0 || !self.is_own_crawler(row.actor) {
                continue;
            }
            match by_crawler.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => count.absorb(altered),
                None => by_crawler.push((name, altered)),
            }
        }
        by_crawler.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
        by_crawler
    }

    /// What the server gave them, in a sentence.
    pub(super) fn altered_answers_note(&self) -> Option<String> {
        let by_crawler = self.altered_answers();
        let named = by_crawler.iter().take(NAMED_MAX);
        let mut named: Vec<String> =
            named.map(|(name, count)| format!("{name} {}", grouped(*count))).collect();
        let more = by_crawler.len().saturating_sub(NAMED_MAX);
        if more > 0 {
            named.push(format!("{more} more"));
        }
        let all = sum(by_crawler.iter().map(|(_, count)| *count));
        (all > 0).then(|| {
            format!(
                "{} for robots.txt got another answer, such as a challenge, which does not count as reading it: {}; see \
                 fetch_altered in robots-fetches.csv",
                counted(all, "request"),
                named.join(", ")
            )
        })
    }
}
