//! Fetches of robots.txt on the days before a tally, of which its report must know: who read it yesterday has read it.

use serde::{Deserialize, Serialize};

use crate::merge::{Merge, merge_fields, sum};
use crate::time::UtcTime;

use super::sums::Span;
use super::time_buckets::TimeBuckets;

/// Successful fetches that one crawler could know.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct EarlierFetches {
    /// Its own.
    pub own: FetchMinutes,
    /// Those of the other crawlers of its operator.
    pub operator: FetchMinutes,
}

merge_fields!(EarlierFetches { own, operator });

/// The minutes of successful fetches.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct FetchMinutes {
    /// Of those with the answer 200.
    pub read_200: TimeBuckets,
    /// Of those with the answer 304.
    pub read_304: TimeBuckets,
}

merge_fields!(FetchMinutes { read_200, read_304 });

impl FetchMinutes {
    /// Adds a fetch.
    pub(crate) fn add(&mut self, minute: i64, is_304: bool) {
        let minutes = if is_304 { &mut self.read_304 } else { &mut self.read_200 };
        minutes.add(minute, 1);
    }

    /// The first and the last one.
    pub(crate) fn span(&self) -> Option<Span> {
        let minutes = [&self.read_200, &self.read_304].into_iter().flat_map(TimeBuckets::buckets);
        let times =
            minutes.filter_map(|(minute, _)| UtcTime::from_unix_seconds(minute.saturating_mul(60)));
        sum(times.map(|time| Some(Span::at(time))))
    }
}

impl EarlierFetches {
    /// Forgets those from `minute` on.
    pub(crate) fn forget_from(&mut self, minute: i64) {
        for of in [&mut self.own, &mut self.operator] {
            of.read_200.forget_from(minute);
            of.read_304.forget_from(minute);
        }
    }

    /// The first and the last one, by whomever.
    pub(crate) fn span(&self) -> Option<Span> {
        let mut span = self.own.span();
        span.absorb(self.operator.span());
        span
    }
}
