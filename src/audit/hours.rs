//! Requests by hour, of the last hours of the logs.
//!
//! The set of hours alone decides which ones stay, so that two sums merge exactly: an hour that one
//! of them dropped has enough later ones after it.

use serde::{Deserialize, Serialize};

use crate::crawlers::identity::Actor;
use crate::error::Result;
use crate::judge::verdict::Verdict;
use crate::measures::{short_map::ShortMap, sums::is_default};
use crate::merge::{Merge, merge_fields};
use crate::time::Hour;

/// The most hours that are kept, 62 days: each takes 40 bytes per crawler.
pub(crate) const HOURS_MAX: usize = 62 * 24;

/// Requests of one hour.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
// Each is the column of the same name, described in src/table/columns.rs.
pub(crate) struct HourSums {
    pub requests: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub allowed: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub violations: u64,
    pub bytes: u64,
}

impl HourSums {
    /// Requests with this verdict that were answered with `bytes` bytes in all.
    pub(crate) fn of(verdict: Verdict, requests: u64, bytes: u64) -> HourSums {
        let (allowed, violations) = match verdict {
            Verdict::Allowed(_) | Verdict::AllowedIgnoringStar(_) => (requests, 0),
            Verdict::Violation(_) => (0, requests),
            _ => (0, 0),
        };
        HourSums { requests, allowed, violations, bytes }
    }
}

merge_fields!(HourSums { requests, allowed, violations, bytes });

/// Requests by hour and crawler, at all origins together.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Hours {
    hours_max: usize,
    kept: ShortMap<Hour, ShortMap<Actor, HourSums>>,
    earlier: HourSums,
}

impl Default for Hours {
    fn default() -> Hours {
        Hours::new(HOURS_MAX)
    }
}

impl Hours {
    /// Keeps the last `hours_max` hours with requests.
    pub(crate) fn new(hours_max: usize) -> Hours {
        Hours { hours_max, kept: ShortMap::default(), earlier: HourSums::default() }
    }

    /// Adds requests of `actor`.
    pub(crate) fn add(&mut self, hour: Hour, actor: Actor, requests: HourSums) {
        self.sums(hour, actor).absorb(requests);
    }

    /// Each hour, in order, with the counts of each crawler.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (Hour, &ShortMap<Actor, HourSums>)> {
        self.kept.iter().map(|(hour, actors)| (*hour, actors))
    }

    /// The same, with the result of `new` in place of each crawler and identity.
    ///
    /// # Errors
    /// As `new` has them.
    pub(crate) fn renumbered(self, new: impl Fn(Actor) -> Result<Actor>) -> Result<Hours> {
        let Hours { hours_max, kept, earlier } = self;
        let hour = |(hour, actors): (Hour, ShortMap<Actor, HourSums>)| {
            let actors = actors.into_iter().map(|(actor, sums)| Ok((new(actor)?, sums)));
            Ok((hour, actors.collect::<Result<_>>()?))
        };
        let kept = kept.into_iter().map(hour).collect::<Result<_>>()?;
        Ok(Hours { hours_max, kept, earlier })
    }

    /// The requests of all hours before those.
    pub(crate) fn earlier(&self) -> HourSums {
        self.earlier
    }

    /// The requests of all hours.
    pub(crate) fn total(&self) -> HourSums {
        let mut total = self.earlier;
        self.kept.values().flat_map(ShortMap::values).for_each(|sums| total.absorb(*sums));
        total
    }

    fn sums(&mut self, hour: Hour, actor: Actor) -> &mut HourSums {
        if self.kept.get_mut(&hour).is_none() {
            let is_full = self.kept.len() >= self.hours_max;
            if is_full && self.kept.first_key().is_none_or(|first| hour < *first) {
                return &mut self.earlier;
            }
            self.kept.entry(hour);
            self.give_up_the_first();
        }
        self.kept.entry(hour).entry(actor)
    }

    fn give_up_the_first(&mut self) {
        while self.kept.len() > self.hours_max
            && let Some((_, actors)) = self.kept.pop_first()
        {
            actors.into_iter().for_each(|(_, sums)| self.earlier.absorb(sums));
        }
    }
}

impl Merge for Hours {
    fn absorb(&mut self, other: Hours) {
        let Hours { hours_max, kept, earlier } = other;
        self.hours_max = self.hours_max.min(hours_max);
        self.kept.absorb(kept);
        self.earlier.absorb(earlier);
        self.give_up_the_first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::crawler::CrawlerId;
    use crate::crawlers::identity::Identity;
    use crate::judge::verdict::RuleRef;
    use crate::time::{UtcTime, Zone};

    type HourCounts = (Vec<(Hour, ShortMap<Actor, HourSums>)>, HourSums);

    fn hours(requests: &[(i64, usize)], hours_max: usize) -> Hours {
        let mut hours = Hours::new(hours_max);
        for &(at, crawler) in requests {
            let time = UtcTime::from_unix_seconds(1_774_000_000 + at * 1_800).unwrap();
            let rule = RuleRef::on_line(1);
            let violates = at % 3 == 0;
            let verdict = if violates { Verdict::Violation(rule) } else { Verdict::Allowed(None) };
            let actor = (CrawlerId(crawler as u16), Identity::Unverified);
            hours.add(Zone::UTC.hour_of(time), actor, HourSums::of(verdict, 1, 10));
        }
        hours
    }

    fn hour_counts(hours: &Hours) -> HourCounts {
        let kept = hours.kept().map(|(hour, actors)| (hour, actors.clone()));
        (kept.collect(), hours.earlier())
    }

    #[test]
    fn order_and_split_do_not_show() {
        let requests: Vec<(i64, usize)> = (0..400).map(|i| (i * i % 157, i as usize % 3)).collect();
        let backwards: Vec<_> = requests.iter().rev().copied().collect();
        for hours_max in [0, 1, 7, 1_000] {
            let whole = hours(&requests, hours_max);
            assert_eq!(hour_counts(&hours(&backwards, hours_max)), hour_counts(&whole));
            for cut in [0, 1, 133, 400] {
                let mut left = hours(&requests[..cut], hours_max);
                left.absorb(hours(&requests[cut..], hours_max));
                assert_eq!(hour_counts(&left), hour_counts(&whole), "{hours_max}, cut at {cut}");
            }
            assert_eq!(whole.kept().count(), hours_max.min(57));
            assert_eq!((whole.total().requests, whole.total().bytes), (400, 4_000));
        }
    }

    #[test]
    fn the_last_hours_stay() {
        let whole = hours(&[(0, 0), (9, 0), (3, 0), (3, 1)], 2);
        let kept: Vec<String> = whole.kept().map(|(hour, _)| hour.to_string()).collect();
        assert_eq!(kept, ["2026-03-20 11", "2026-03-20 14"]);
        assert_eq!(whole.earlier(), HourSums { requests: 1, violations: 1, allowed: 0, bytes: 10 });
    }
}
