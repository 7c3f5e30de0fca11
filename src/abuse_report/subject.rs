//! What a folder is about: one crawler at one origin.

use crate::audit::crawler_row::{ActorRow, Broken};
use crate::audit::tally::identity_sources::IdentitySources;
use crate::audit::{model::ReportModel, prior_fetches::PriorFetchCounts};
use crate::crawlers::{crawler::Crawler, identity::Identity};
use crate::error::{Error, Result};
use crate::measures::sums::{Span, Sums};
use crate::merge::{Merge, sum};
use crate::table::escape::visible;
use crate::url::origin::Origin;

/// The rows of one crawler at one origin. Spoofed ones are not its own; they are the subject only
/// where there are no others.
pub(crate) struct Subject<'a> {
    pub audit: &'a ReportModel,
    pub crawler: &'a Crawler,
    pub origin: &'a Origin,
    pub identities: &'a IdentitySources,
    pub rows: Vec<&'a ActorRow>,
}

impl<'a> Subject<'a> {
    /// The rows of the crawler `name` at `origin` with violations.
    pub(crate) fn new(
        audit: &'a ReportModel,
        identities: &'a IdentitySources,
        (name, origin): (&str, &'a Origin),
    ) -> Result<Subject<'a>> {
        let of_crawler = |row: &&ActorRow| {
            let is_it = audit.registry.crawler(row.actor.0).name.eq_ignore_ascii_case(name);
            is_it && !row.broken.is_empty()
        };
        let all: Vec<&ActorRow> = audit.rows().iter().filter(of_crawler).collect();
        let here = all.iter().copied().filter(|row| row.origin == origin.as_str());
        let (spoofed, own): (Vec<_>, Vec<_>) =
            here.partition(|row| row.actor.1 == Identity::Spoofed);
        let rows = if own.is_empty() { spoofed } else { own };
        let Some(first) = rows.first() else {
            let mut origins: Vec<&str> = all.iter().map(|row| row.origin.as_str()).collect();
            origins.dedup();
            let others = match origins.is_empty() {
                true => "or at any other origin".to_owned(),
                false => format!("only at {}", origins.join(", ")),
            };
            let origin = origin.as_str();
            return Err(Error::usage(format!(
                "the report has no violation by {name} at {origin}, {others}"
            )));
        };
        let crawler = audit.registry.crawler(first.actor.0);
        Ok(Subject { audit, crawler, origin, identities, rows })
    }

    pub(crate) fn sums(&self) -> Sums {
        sum(self.rows.iter().map(|row| row.tally.total()))
    }

    pub(crate) fn prior_fetches(&self) -> PriorFetchCounts {
        sum(self.rows.iter().map(|row| row.prior_fetches.clone()))
    }

    /// The first and the last violation.
    pub(crate) fn span(&self) -> Option<Span> {
        let mut all = None;
        self.broken().for_each(|broken| all.absorb(Some(broken.tally.span)));
        all
    }

    pub(crate) fn broken(&self) -> impl Iterator<Item = &'a Broken> {
        self.rows.iter().flat_map(|row| &row.broken)
    }

    /// Whether a row of a table with this origin, crawler and identity is about the subject.
    pub(crate) fn has(&self, [origin, crawler, identity]: [&str; 3]) -> bool {
        origin == self.origin.as_str()
            && crawler == visible(self.crawler.name.as_bytes())
            && self.rows.iter().any(|row| row.actor.1.as_str() == identity)
    }
}
