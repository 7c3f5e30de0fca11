//! What a crawler did on a day, and an event about it.

use crate::measures::sums::Sums;
use crate::merge::merge_fields;
use crate::report::nights::EventRow;
use crate::time::Day;

/// The least violations for an event about more or fewer of them.
pub(super) const VIOLATIONS_MIN: u64 = 20;

/// A crawler of one identity at one site.
pub(super) type SiteActor<'a> = (&'a str, &'a str, &'a str);

/// The sums of a crawler on one day.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfDay {
    pub(super) sums: Sums,
    pub(super) successful_fetches: u64,
}

merge_fields!(OfDay { sums, successful_fetches });

/// An event of a crawler.
pub(super) fn about(
    (site, crawler, identity): SiteActor<'_>,
    day: Day,
    kind: &'static str,
    (before, now): (String, String),
    message: String,
) -> EventRow {
    let crawler = Some((crawler.to_owned(), identity.to_owned()));
    let (site, source) = (site.to_owned(), String::new());
    EventRow { site, day, kind, crawler, source, before, now, message }
}
